"""One conversation: runs of model requests and tool calls under a turn driver (runtime.md section 13.3)."""

from __future__ import annotations

import asyncio
import enum
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress

import attrs

from chatml_runtime.host.hosts import ModelClient, Steering, ToolRunner
from chatml_runtime.host.policy import collapse, decide_after_turn
from chatml_runtime.host.responses import items_of
from chatml_runtime.host.succession import (
    Append,
    AwaitOutput,
    AwaitResponse,
    BeginRequest,
    EndTurn,
    OpenCall,
    Review,
    StartTool,
    Step,
    Stop,
    TakeNotes,
    TellOutput,
    Turn,
    closing_outputs,
    next_step,
    unreviewed,
)
from chatml_runtime.host.turns import Requests, TurnDriver, TurnInput
from chatml_runtime.host.workers import abandon, called
from chatml_runtime.moderation.identities import EntryId, EntryIdAllocator, HistoryEntry, Json, validate_history
from chatml_runtime.moderation.items import check_json
from chatml_runtime.moderation.outcome import RuntimeRequest
from chatml_runtime.moderation.tool_calls import ReviewedCall, output_of
from chatml_runtime.moderation.vocabulary import ToolCall, ToolDesc
from chatml_runtime.script import problems
from chatml_runtime.script.errors import BudgetExceededError, SessionBusyError, SessionEndedError

LOGGER = logging.getLogger("chatml_runtime")

GRACE_SECONDS = 1.0
"""How long a run that fails waits for its tools to notice that they are cancelled."""


class RunEnd(enum.Enum):
    """How a run that did not fail ended: it had nothing more to do, or the session has ended."""

    STOPPED = "stopped"
    ENDED = "ended"


@attrs.frozen
class RunReport:
    """What came of a run. `requests` are all that the script made, collapsed; `history` is the whole history."""

    history: tuple[HistoryEntry, ...]
    end: RunEnd
    end_reason: str | None = None
    requests: tuple[RuntimeRequest, ...] = ()
    compaction_requested: bool = False


def check_history(allocator: EntryIdAllocator, history: Sequence[HistoryEntry]) -> None:
    """Refuse a history that no run could go on from: with `IdentityError` or `BoundaryError`."""
    validate_history(allocator, history)
    for entry in history:
        check_json(f"the entry {entry.id.encode()}", entry.item)


def wall_clock_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Conversation:
    """A canonical history, and what it takes to go on with it. One run at a time.

    `history` is consistent whenever no run is active, also after one that failed or was cancelled: it only ever grew,
    holds nothing whose event the moderator failed to handle, and has one output for every call. A call that a failed
    run left open has an output that says so.
    """

    def __init__(
        self,
        driver: TurnDriver,
        *,
        history: Sequence[HistoryEntry],
        allocator: EntryIdAllocator,
        model: ModelClient,
        tools: Sequence[ToolDesc] = (),
        run_tool: ToolRunner,
        steering: Steering | None = None,
        parallel_tools: bool = True,
        max_parallel_tools: int = 8,
        on_runtime_request: Callable[[RuntimeRequest], object] | None = None,
        on_entry: Callable[[HistoryEntry], object] | None = None,
        clock_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        """As for `run_conversation`. `IdentityError` for a history whose identities clash, `BoundaryError` for an entry
        that no script could be shown."""
        check_history(allocator, history)
        self.driver = driver
        self._history = list(history)
        self._allocator = allocator
        self._model = model
        self._tools = tuple(tools)
        self._run_tool = run_tool
        self._steering = steering
        self._parallel = parallel_tools
        self._slots = asyncio.Semaphore(max_parallel_tools)
        self._on_request = on_runtime_request
        self._on_entry = on_entry
        self._clock_ms = clock_ms
        self._turn = Turn()
        self._response: AsyncGenerator[Json, None] | None = None
        self._running_tools: dict[EntryId, asyncio.Task[Json]] = {}
        self._requests: list[RuntimeRequest] = []
        self._running = False

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """The canonical history so far."""
        return tuple(self._history)

    def given(self, *more: HistoryEntry) -> TurnInput:
        """What the driver is told: the history, with some entries that are about to join it."""
        return TurnInput((*self._history, *more), self._tools, self._clock_ms())

    def add(self, item: Json) -> HistoryEntry:
        """Let an item join the history as it is, such as a message of the user; no event is delivered for it.

        `BoundaryError` for one that no script could be shown, such as a text with half an emoji: it does not join.
        """
        check_json("the item", item)
        entry = HistoryEntry(self._allocator.allocate(), item)
        self._join(entry)
        return entry

    def replace_history(self, history: Sequence[HistoryEntry]) -> None:
        """Take another history, a compacted one. `SessionBusyError` during a run; `IdentityError` if ids clash."""
        if self._running:
            raise SessionBusyError(problems.BUSY_CONVERSATION)
        check_history(self._allocator, history)
        self._history = list(history)

    async def append(self, entry: HistoryEntry) -> None:
        """Have the moderator look at an entry (`Item_appended`), then let it join the history.

        `BoundaryError` for one that no script could be shown.
        """
        check_json(f"the entry {entry.id.encode()}", entry.item)
        await self._announce(entry)
        self._join(entry)

    async def run(self) -> RunReport:
        """Ask the model, run its tools, and go on as long as there is reason to (section 13.3).

        What follows what says `succession`. Whatever the driver, the model client or a tool raises ends the run and
        passes; `BudgetExceededError`, with the history, if the script keeps asking for turns. `SessionBusyError` if a
        run is active.
        """
        if self._running:
            raise SessionBusyError(problems.BUSY_CONVERSATION)
        self._running, self._requests, self._turn = True, [], Turn().wanted()
        try:
            step = next_step(self._turn, self._end_reason)
            while not isinstance(step, Stop):
                await self._take(step)
                step = next_step(self._turn, self._end_reason)
            return self._report(RunEnd.ENDED if step.ended else RunEnd.STOPPED)
        finally:
            try:
                await self._stop_reading()
            finally:
                await self._close()
                self._running = False

    @property
    def _end_reason(self) -> str | None:
        """Why the session has ended; None while it has not."""
        return (self.driver.end_reason or "") if self.driver.is_ended else None

    async def _take(self, step: Step) -> None:
        """Do what comes next, and have the turn know."""
        match step:
            case BeginRequest():
                await self._begin()
            case Review(entry=entry, call=call):
                self._turn = self._turn.reviewed(await self._review(call, entry))
            case Append(entry=entry):
                await self._announce(entry)
                self._turn = self._turn.joined()
                self._join(entry)
            case StartTool(opened=opened):
                await self._start(opened)
            case AwaitResponse():
                await self._read()
            case AwaitOutput(opened=opened):
                output = await self._running_tools[opened.entry]
                del self._running_tools[opened.entry]
                self._turn = self._turn.answered(opened.entry, output)
            case TellOutput(call=call, item=item):
                await self._tell_output(call, item)
            case TakeNotes():
                self._turn = self._turn.noted(() if self._steering is None else self._steering.take_entries())
            case EndTurn():
                await self._deliver(lambda: self.driver.aend_turn(self.given()))
                self._end_turn()

    async def _begin(self) -> None:
        prepared = await self.driver.abegin_request(self.given(), self._steering)
        self._observe(prepared.requests)
        if not prepared.ended:
            self._response = items_of(self._model.respond(prepared.inputs, self._tools))
            self._turn = self._turn.begun()

    async def _read(self) -> None:
        """Take the next item of the response, or its end."""
        assert self._response is not None
        try:
            item = await anext(self._response)
        except StopAsyncIteration:
            await self._stop_reading()
            self._turn = self._turn.over()
        else:
            self._turn = self._turn.received(HistoryEntry(self._allocator.allocate(), item))

    async def _stop_reading(self) -> None:
        response, self._response = self._response, None
        if response is not None:
            await response.aclose()

    async def _start(self, opened: OpenCall) -> None:
        """Start a tool; if tools run one after another, wait for it."""
        task = asyncio.create_task(self._run(opened.call))
        self._running_tools[opened.entry] = task
        self._turn = self._turn.running(opened.entry)
        if not self._parallel:
            await asyncio.wait({task})
            task.result()

    async def _run(self, call: ToolCall) -> Json:
        async with self._slots:
            return output_of(call.name, await called(self._run_tool, call))

    async def _tell_output(self, call: ToolCall, item: Json) -> None:
        """Have the moderator look at an output before anyone else does."""
        entry = HistoryEntry(self._allocator.allocate(), item)
        await self._deliver(
            lambda: self.driver.atool_result(self.given(entry), name=call.name, kind=call.kind, output_item=item)
        )
        self._turn = self._turn.told()
        self._join(entry)

    def _end_turn(self) -> None:
        if self.driver.is_ended:
            return
        try:
            self._turn = self._turn.closed(self.driver.policy)
        except BudgetExceededError as error:
            raise BudgetExceededError(str(error), self.history) from None

    async def _close(self) -> None:
        """End the tools of the calls that a failing run leaves open, and give each of these calls an output."""
        outputs, self._turn = closing_outputs(self._turn), Turn()
        tasks = list(self._running_tools.values())
        self._running_tools = {}
        for task in tasks:
            abandon(task)
        entries = [HistoryEntry(self._allocator.allocate(), item) for item in outputs]
        self._history += entries
        for entry in entries:
            try:
                self._tell(entry)
            except Exception:
                LOGGER.exception("on_entry failed for an output that closes a failed run")
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)

    async def _announce(self, entry: HistoryEntry) -> None:
        await self._deliver(lambda: self.driver.aentry_appended(self.given(entry)))

    async def _review(self, call: ToolCall, entry: HistoryEntry) -> ReviewedCall:
        reviewed = unreviewed(entry)

        async def review() -> Requests:
            nonlocal reviewed
            reviewed = await self.driver.areview_tool_call(self.given(), call, entry=entry)
            return reviewed.requests

        await self._deliver(review)
        return reviewed

    async def _deliver(self, operation: Callable[[], Awaitable[Requests]]) -> None:
        """Have the driver deliver something, unless the session has ended, by whoever's event."""
        if not self.driver.is_ended:
            with suppress(SessionEndedError):
                requests = await operation()
                self._turn = self._turn.asked(requests)
                self._observe(requests)

    def _join(self, entry: HistoryEntry) -> None:
        self._history.append(entry)
        self._tell(entry)

    def _tell(self, entry: HistoryEntry) -> None:
        if self._on_entry is not None:
            self._on_entry(entry)

    def _observe(self, requests: Sequence[RuntimeRequest]) -> None:
        self._requests += requests
        if self._on_request is not None:
            for request in requests:
                self._on_request(request)

    def _report(self, end: RunEnd) -> RunReport:
        requests = collapse(self._requests)
        decision = decide_after_turn(self.driver.policy, tool_followup=False, requests=requests)
        reason = self.driver.end_reason if end is RunEnd.ENDED else None
        return RunReport(self.history, end, reason, requests, decision.compaction_requested)


async def run_conversation(
    driver: TurnDriver,
    *,
    history: Sequence[HistoryEntry],
    allocator: EntryIdAllocator,
    model: ModelClient,
    tools: Sequence[ToolDesc] = (),
    run_tool: ToolRunner,
    steering: Steering | None = None,
    parallel_tools: bool = True,
    max_parallel_tools: int = 8,
    on_runtime_request: Callable[[RuntimeRequest], object] | None = None,
    on_entry: Callable[[HistoryEntry], object] | None = None,
    clock_ms: Callable[[], int] = wall_clock_ms,
) -> RunReport:
    """Run one conversation until the model has nothing more to say, under the driver's moderator and policy.

    `history` ends with the user's message; `allocator` is the moderator's own. `tools` is what the model is told,
    `run_tool` carries a call out; up to `max_parallel_tools` calls of a response run at a time, or one after another.
    `on_entry` is told of each entry as it joins the history, `on_runtime_request` of each request of the script.

    To have the history also when the run fails, keep a `Conversation` and call its `run`.
    """
    conversation = Conversation(
        driver,
        history=history,
        allocator=allocator,
        model=model,
        tools=tools,
        run_tool=run_tool,
        steering=steering,
        parallel_tools=parallel_tools,
        max_parallel_tools=max_parallel_tools,
        on_runtime_request=on_runtime_request,
        on_entry=on_entry,
        clock_ms=clock_ms,
    )
    return await conversation.run()
