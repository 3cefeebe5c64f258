"""A conversation in plain calls: what a host does with a submission and with a response (runtime.md section 13.3).

It takes the steps of `succession`, as `Conversation` does in an event loop, and stops where a model or a person is to
speak: the model speaks with the next `{ model: … }` of the scenario, the person with the next `{ answer: … }`. So a
scenario can hold no conversation that a host would not have.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias, TypeVar

from chatml_runtime.host.succession import (
    Append,
    AwaitResponse,
    BeginRequest,
    EndTurn,
    Review,
    Stage,
    StartTool,
    Step,
    Stop,
    TakeNotes,
    TellOutput,
    Turn,
    closing_outputs,
    next_step,
)
from chatml_runtime.host.turns import Question, Steps, TurnDriver, TurnInput
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry, Json
from chatml_runtime.moderation.vocabulary import ToolCall
from chatml_runtime.script.approvals import Response

Asking: TypeAlias = Generator[Question, Response, None]
"""Goes on as far as it can, and yields each question whose answer it needs to go on."""

Result = TypeVar("Result")


class Dialogue:
    """A canonical history and how far its run has come."""

    def __init__(
        self,
        driver: TurnDriver,
        allocator: EntryIdAllocator,
        history: list[HistoryEntry],
        run_tool: Callable[[ToolCall], Json],
        given: Callable[..., TurnInput],
    ) -> None:
        """`given` is what the driver is told: the history, with an entry that is about to join it. `run_tool` gives the
        output of a call."""
        self.driver = driver
        self.allocator = allocator
        self.history = history
        self.run_tool = run_tool
        self.given = given
        self.turn = Turn()
        self.notes: list[HistoryEntry] = []

    @property
    def is_requesting(self) -> bool:
        """Whether a request waits for the model's response."""
        return self.turn.stage is Stage.OPEN

    def say(self, item: Json) -> Asking:
        """A submission; while a request is open, a note, which joins the history before the turn ends."""
        entry = HistoryEntry(self.allocator.allocate(), item)
        if self.is_requesting:
            self.notes.append(entry)
            return
        self.history.append(entry)
        self.turn = Turn().wanted()
        yield from self.go_on()

    def speak(self, items: Sequence[Json]) -> Asking:
        """The whole response to the request that is open."""
        for item in items:
            self.turn = self.turn.received(HistoryEntry(self.allocator.allocate(), item))
            yield from self.go_on()
        self.turn = self.turn.over()
        yield from self.go_on()

    def begin(self) -> None:
        """A request is open: its `Turn_start` was delivered by hand."""
        self.turn = Turn().wanted().begun()

    def close(self) -> None:
        """End the run, as one that has failed, or whose `Turn_end` was delivered by hand."""
        for output in closing_outputs(self.turn):
            self.history.append(HistoryEntry(self.allocator.allocate(), output))
        self.turn = Turn()

    def go_on(self) -> Asking:
        step = self.next_step()
        while not isinstance(step, (Stop, AwaitResponse)):
            yield from self.take(step)
            step = self.next_step()
        if isinstance(step, Stop):
            self.turn = Turn()

    def next_step(self) -> Step:
        return next_step(self.turn, (self.driver.end_reason or "") if self.driver.is_ended else None)

    def take(self, step: Step) -> Asking:
        """Do what comes next, and have the turn know."""
        driver = self.driver
        match step:
            case BeginRequest():
                prepared = yield from asking(driver.begin_request_steps(self.given(), None))
                if not prepared.ended:
                    self.turn = self.turn.begun()
            case Review(entry=entry, call=call):
                reviewed = yield from asking(driver.review_steps(self.given(), call, entry))
                self.turn = self.turn.reviewed(reviewed).asked(reviewed.requests)
            case Append(entry=entry):
                yield from self.append(entry, driver.entry_appended_steps)
                self.turn = self.turn.joined()
            case StartTool(opened=opened):
                self.turn = self.turn.running(opened.entry).answered(opened.entry, self.run_tool(opened.call))
            case TellOutput(call=call, item=item):
                entry = HistoryEntry(self.allocator.allocate(), item)
                yield from self.append(entry, lambda given: driver.tool_result_steps(given, call.name, call.kind, item))
                self.turn = self.turn.told()
            case TakeNotes():
                self.turn, self.notes = self.turn.noted(self.notes), []
            case EndTurn():
                self.turn = self.turn.asked((yield from asking(driver.end_turn_steps(self.given()))))
                if not driver.is_ended:
                    self.turn = self.turn.closed(driver.policy)

    def append(self, entry: HistoryEntry, tell: Callable[[TurnInput], Steps[Any]]) -> Asking:
        """Have the moderator look at an entry that is about to join the history, unless the session has ended."""
        if not self.driver.is_ended:
            self.turn = self.turn.asked((yield from asking(tell(self.given(entry)))))
        self.history.append(entry)


def asking(steps: Steps[Result]) -> Generator[Question, Response, Result]:
    """Carry out what the driver wants in plain calls; its questions are handed on."""
    try:
        wish = next(steps)
        while True:
            if isinstance(wish, Question):
                answer: Any = yield wish
            else:
                try:
                    answer = wish.plain()
                except BaseException as error:
                    wish = steps.throw(error)
                    continue
            wish = steps.send(answer)
    except StopIteration as finished:
        result: Result = finished.value
        return result
    finally:
        steps.close()
