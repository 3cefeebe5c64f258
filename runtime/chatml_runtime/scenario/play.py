"""Playing a scenario: a script, a host described as data, and one record per delivered event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from chatml.diagnostics.errors import SessionError
from chatml.values.model import Value
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.items import Item
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.results import EventInput, RunRecord
from chatml_runtime.moderation.vocabulary import Event, ItemAppended
from chatml_runtime.scenario.brief import brief_effect, brief_event, value_text
from chatml_runtime.scenario.host import DataHost
from chatml_runtime.scenario.model import Advance, Append, Deliver, Line, Respond, Scenario
from chatml_runtime.scenario.records import Ending, Record, ShownEffect, Status, problem_of
from chatml_runtime.script.errors import (
    CommitRejectedError,
    HandlerError,
    ReplayError,
    SessionEndedError,
    SessionSuspendedError,
)
from chatml_runtime.script.scripts import ScriptArtifact
from chatml_runtime.script.session import RunStatus

DRAIN_LIMIT = 100


class Stage:
    """A session of a script with a data host, and the records that wait to be taken."""

    def __init__(self, artifact: ScriptArtifact, scenario: Scenario, printed: list[str]) -> None:
        """Starts the session; `RuntimeFailure` if the top level of the script fails.

        `printed` takes what the top level prints; what is left in it is part of the first record.
        """
        session = scenario.session
        self.session = session
        self.host = DataHost(scenario.host, session.now_ms)
        self.allocator = EntryIdAllocator(session.id)
        self.history = [HistoryEntry(self.allocator.allocate(), item) for item in session.history]
        self.printed = printed
        self.records: list[Record] = []
        self.replaying = False
        self.asked: tuple[str, str, str] | None = None
        self.coming = ("", "")
        self.moderator = Moderator.create(
            artifact,
            allocator=self.allocator,
            capabilities=self.host.capabilities,
            max_internal_event_drain=DRAIN_LIMIT,
            observer=self.observe,
            print=self.printed.append,
        )

    def play(self, line: Line) -> list[Record]:
        """Carry out one line of the scenario, and return its records."""
        self.records = []
        match line:
            case Deliver(event=event):
                self.deliver(event)
            case Append(item=item):
                entry = HistoryEntry(self.allocator.allocate(), item)
                self.history.append(entry)
                self.deliver(ItemAppended(Item(entry.id.encode(), item)))
            case Respond(text=text):
                self.respond(text)
            case Advance(ms=ms):
                self.advance(ms)
        return self.records

    def ending(self) -> Ending:
        """How things stand."""
        moderator = self.moderator
        return Ending(
            value_text(moderator.state),
            tuple(value_text(event) for event in moderator.queued_events),
            moderator.is_halted,
            tuple(entry.item for entry in moderator.effective_history(self.history)),
        )

    def given(self) -> EventInput:
        session = self.session
        return EventInput(session.id, self.host.now_ms, tuple(self.history), session.tools, session.meta)

    def deliver(self, event: Event) -> None:
        self.replaying = False
        self.announce(event.to_value())
        try:
            self.moderator.handle_event(event, self.given())
        except SessionError as error:
            self.refuse((event.phase.value, *self.coming), error)
        except (HandlerError, CommitRejectedError, ReplayError):
            return  # the observer has recorded it

    def respond(self, text: str) -> None:
        self.replaying = False
        if self.asked is not None:
            self.coming = self.asked[1:]
        try:
            self.moderator.resume(text, self.given())
        except SessionError as error:
            self.refuse((None, None, "") if self.asked is None else self.asked, error)
        except (HandlerError, CommitRejectedError, ReplayError):
            return  # the observer has recorded it

    def advance(self, ms: int) -> None:
        for arrived in self.host.advance(ms):
            if arrived:  # what a failed replay has left waits for the next event
                self.arrive(arrived)

    def arrive(self, events: Sequence[Value]) -> None:
        """Replay events that come from outside."""
        self.replaying = True
        try:
            for event in events:
                self.moderator.enqueue(event)
            self.announce(self.moderator.queued_events[0])
            self.moderator.replay(self.given(), max_events=DRAIN_LIMIT)
        except (SessionEndedError, SessionSuspendedError, ReplayError):
            return  # nothing is delivered, or the observer has recorded what failed

    def observe(self, run: RunRecord) -> None:
        """Make the record of a handler run that has just ended."""
        phase, (event, brief) = run.phase.value, self.coming
        self.asked = (phase, event, brief) if run.status is RunStatus.SUSPENDED else None
        self.records.append(
            self.record(
                phase,
                event,
                "failed" if run.status is None else run.status.value,
                effects=tuple(
                    ShownEffect(
                        effect.op,
                        tuple(value_text(arg) for arg in effect.args),
                        brief_effect(effect.op, effect.args),
                    )
                    for effect in run.effects
                ),
                emitted=tuple(value_text(emitted) for emitted in run.outcome.emitted_events),
                decision=run.outcome.tool_decision,
                requests=run.outcome.runtime_requests,
                error=None if run.error is None else problem_of(run.error),
                replayed=self.replaying,
                brief=brief,
            )
        )
        self.replaying = True
        if self.moderator.queued_events:
            self.announce(self.moderator.queued_events[0])

    def announce(self, event: Value) -> None:
        """Keep the texts of the event that comes next: its handler may write to the arrays that it holds."""
        self.coming = value_text(event), brief_event(event)

    def refuse(self, of: tuple[str | None, str | None, str], error: SessionError) -> None:
        """Make the record of an event or answer that was not delivered: its phase, its text, and its short form."""
        phase, event, brief = of
        self.records.append(self.record(phase, event, "refused", error=problem_of(error), brief=brief))

    def record(self, phase: str | None, event: str | None, status: Status, **facts: Any) -> Record:
        """A record of what has just happened, with how things stand now."""
        moderator = self.moderator
        return Record(
            phase,
            event,
            status,
            value_text(moderator.state),
            queue=tuple(value_text(queued) for queued in moderator.queued_events),
            pending=moderator.pending,
            halted=moderator.is_halted,
            logs=taken(self.host.logs),
            printed=taken(self.printed),
            **facts,
        )


Element = TypeVar("Element")


def taken(elements: list[Element]) -> tuple[Element, ...]:
    """The elements of a list, which is empty afterwards."""
    both = tuple(elements)
    elements.clear()
    return both


def play(artifact: ScriptArtifact, scenario: Scenario) -> Iterator[Record | Ending]:
    """Play a scenario: a record per delivered event, in order, and the ending. `RuntimeFailure` if no session starts.

    >>> from chatml_runtime import ArtifactCache
    >>> from chatml_runtime.scenario import read_scenario
    >>> source = "let initial_state = 0 let on_event ctx st ev = Task.pure(st + 1)"
    >>> played = play(ArtifactCache().get("main", source), read_scenario("[{phase: 'turn_start'}]"))
    >>> [(line.state, getattr(line, "status", "ending")) for line in played]
    [('1', 'committed'), ('1', 'ending')]
    """
    printed: list[str] = []
    stage = Stage(artifact, scenario, printed)
    printed.clear()
    for line in scenario.events:
        yield from stage.play(line)
    yield stage.ending()
