"""Playing a scenario: a script, a host described as data, and one record per delivered event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from chatml.diagnostics.errors import ChatmlError, SessionError
from chatml.values.model import Value
from chatml_runtime.host.turns import TurnDriver, TurnInput, unexpected_decision
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.items import Item
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.results import EventInput, RunRecord
from chatml_runtime.moderation.vocabulary import Event, ItemAppended, Phase, TurnEnd, TurnStart
from chatml_runtime.scenario.brief import brief_effect, brief_event, item_line, value_text
from chatml_runtime.scenario.dialogue import Asking, Dialogue
from chatml_runtime.scenario.host import MOST_MOMENTS, DataHost
from chatml_runtime.scenario.model import Advance, Append, Deliver, Line, Respond, Say, Scenario, Speak
from chatml_runtime.scenario.records import Ending, Problem, Record, ShownEffect, Status, problem_of
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import Answered, Expired, PendingRequest, Response
from chatml_runtime.script.errors import (
    BudgetExceededError,
    CommitRejectedError,
    HandlerError,
    ReplayError,
    SessionEndedError,
    SessionSuspendedError,
)
from chatml_runtime.script.scripts import ScriptArtifact
from chatml_runtime.script.session import RunStatus

DRAIN_LIMIT = 100


class Nobody:
    """Answers no question at once: the scenario does so later."""

    def answer(self, request: PendingRequest, problem: str | None) -> str:
        raise AssertionError("the driver's questions are taken from its steps")


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
        self.delivered = False
        self.replaying = False
        self.asked: tuple[str, str, str] | None = None
        self.coming = ("", "")
        self.expires_ms: int | None = None
        self.moderator = Moderator.create(
            artifact,
            allocator=self.allocator,
            capabilities=self.host.capabilities,
            max_internal_event_drain=DRAIN_LIMIT,
            observer=Watcher(self),
            print=self.printed.append,
        )
        driver = TurnDriver(self.moderator, session_id=session.id, session_meta=session.meta, approval=Nobody())
        self.dialogue = Dialogue(driver, self.allocator, self.history, self.host.run_tool, self.turn_input)
        self.conversing: Asking | None = None

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
            case Say():
                self.say(line)
            case Speak():
                self.speak(line)
            case Respond(text=text, by=by):
                self.respond(Answered(text, by, self.host.now_ms))
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

    # What a line does

    def given(self) -> EventInput:
        session = self.session
        return EventInput(session.id, self.host.now_ms, tuple(self.history), session.tools, session.meta)

    def turn_input(self, *more: HistoryEntry) -> TurnInput:
        return TurnInput((*self.history, *more), self.session.tools, self.host.now_ms)

    def deliver(self, event: Event) -> None:
        self.delivered = True
        try:
            self.moderator.handle_event(event, self.given())
        except SessionError as error:
            value = event.to_value()
            self.refuse((event.phase.value, value_text(value), brief_event(value)), error)
        except (HandlerError, CommitRejectedError, ReplayError):
            return  # the observer has recorded it
        else:
            if isinstance(event, TurnStart):
                self.dialogue.begin()
            elif isinstance(event, TurnEnd):
                self.dialogue.close()
        finally:
            self.delivered = False

    def say(self, line: Say) -> None:
        refusal = self.refusal()
        if refusal is None:
            self.converse(self.dialogue.say(line.item))
        else:
            self.refuse((None, None, item_line(line.item)), refusal, line="user")

    def speak(self, line: Speak) -> None:
        refusal = self.refusal()
        if refusal is None and not self.dialogue.is_requesting:
            refusal = SessionError(problems.NO_REQUEST)
        if refusal is None:
            self.converse(self.dialogue.speak(line.items))
        else:
            self.refuse((None, None, " · ".join(item_line(item) for item in line.items)), refusal, line="model")

    def refusal(self) -> SessionError | None:
        """Why nobody can say anything now."""
        if self.moderator.pending is not None:
            return SessionSuspendedError(problems.SUSPENDED, self.moderator.pending)
        return SessionEndedError(problems.ENDED) if self.moderator.is_halted else None

    def converse(self, steps: Asking) -> None:
        """Let a run go on as far as it can."""
        self.conversing = steps
        self.go_on(None)

    def go_on(self, answer: Response | None) -> None:
        """Go on with a run, with the answer if it waits for one; what goes wrong ends the run, as in every host."""
        steps = self.conversing
        assert steps is not None
        try:
            question = next(steps) if answer is None else steps.send(answer)
        except StopIteration:
            self.conversing = None
        except ChatmlError as error:
            self.conversing = None
            self.dialogue.close()
            if isinstance(error, BudgetExceededError):
                self.records.append(self.record(None, None, "failed", error=problem_of(error), line="run"))
        else:
            if question.problem is not None:
                self.refuse(self.asked or (None, None, ""), SessionError(question.problem))

    def respond(self, response: Response) -> None:
        self.replaying = False
        if self.asked is not None:
            self.coming = self.asked[1:]
        if self.conversing is not None:
            self.go_on(response)
            return
        try:
            self.moderator.resume(response, self.given())
        except SessionError as error:
            self.refuse((None, None, "") if self.asked is None else self.asked, error)
        except (HandlerError, CommitRejectedError, ReplayError):
            return  # the observer has recorded it

    def advance(self, ms: int) -> None:
        """Let time pass; a question expires on the way, after what arrives at that moment."""
        end_ms = self.host.now_ms + ms
        for _ in range(MOST_MOMENTS):
            expires_ms = self.expires_ms
            if expires_ms is None or expires_ms > end_ms:
                break
            self.pass_time(expires_ms - self.host.now_ms)
            self.respond(Expired())
        self.pass_time(end_ms - self.host.now_ms)

    def pass_time(self, ms: int) -> None:
        for arrived in self.host.advance(ms):
            if arrived:  # what a failed replay has left waits for the next event
                self.arrive(arrived)

    def arrive(self, events: Sequence[Value]) -> None:
        """Replay events that come from outside."""
        try:
            for event in events:
                self.moderator.enqueue(event)
            self.moderator.replay(self.given(), max_events=DRAIN_LIMIT)
        except (SessionEndedError, SessionSuspendedError, ReplayError):
            return  # nothing is delivered, or the observer has recorded what failed

    # What the moderator did

    def run_started(self, phase: Phase, event: Value) -> None:
        """Keep the texts of an event before its handler may write to the arrays that it holds."""
        self.replaying = phase is Phase.INTERNAL_EVENT and not self.delivered
        self.delivered = False
        self.coming = value_text(event), brief_event(event)

    def run_ended(self, run: RunRecord) -> None:
        """Make the record of a handler run that has just ended."""
        phase, (event, brief) = run.phase.value, self.coming
        within_ms = None if run.pending is None else run.pending.within_ms
        self.expires_ms = None if within_ms is None else self.host.now_ms + within_ms
        self.asked = (phase, event, brief) if run.status is RunStatus.SUSPENDED else None
        problem = unexpected_decision(run.outcome, run.phase)
        self.records.append(
            self.record(
                phase,
                event,
                "failed" if run.status is None or problem is not None else run.status.value,
                effects=tuple(
                    ShownEffect(
                        effect.op,
                        tuple(value_text(arg) for arg in effect.args),
                        brief_effect(effect.op, effect.args),
                        effect.site,
                    )
                    for effect in run.effects
                ),
                emitted=tuple(value_text(emitted) for emitted in run.outcome.emitted_events),
                decision=run.outcome.tool_decision,
                requests=run.outcome.runtime_requests,
                error=Problem("host", problem) if problem else None if run.error is None else problem_of(run.error),
                replayed=self.replaying,
                brief=brief,
            )
        )

    def refuse(self, of: tuple[str | None, str | None, str], error: SessionError, **facts: Any) -> None:
        """Make the record of what was not delivered: its phase, its text, and its short form."""
        phase, event, brief = of
        self.records.append(self.record(phase, event, "refused", error=problem_of(error), brief=brief, **facts))

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
            expires_ms=self.expires_ms,
            halted=moderator.is_halted,
            logs=taken(self.host.logs),
            printed=taken(self.printed),
            **facts,
        )


class Watcher:
    """The observer of a stage's moderator: see `Observer`."""

    def __init__(self, stage: Stage) -> None:
        self.run_started = stage.run_started
        self.run_ended = stage.run_ended

    def __call__(self, run: RunRecord) -> None:
        self.run_ended(run)


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
