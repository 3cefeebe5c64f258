"""Calls from several threads and tasks (runtime.md section 20; R-070, X-24, X-26)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.host.turns import TurnDriver, TurnInput
from chatml_runtime.moderation.capabilities import Capabilities, ToolOk
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.tool_calls import ToolCall
from chatml_runtime.moderation.vocabulary import InternalEvent
from chatml_runtime.script.approvals import AskText
from chatml_runtime.script.errors import SessionBusyError, SessionClosedError
from tests.runtime.conversations import TICK, Conversation

COUNT = "| `Add(n) -> Task.pure(st + n)"
RUN = '| `Tick -> let* out = Process.run("slow", ["x"]) in Task.pure(st + 1) | `Next -> Task.pure(st * 10) '
NEXT = ("Next",)


def process(run: Any) -> Capabilities:
    return Capabilities(process_run=run)


def test_r_070_a_second_event_waits_for_the_run_that_awaits() -> None:
    order = list[str]()

    async def slow(command: str, args: Sequence[str]) -> str:
        order.append("started")
        await asyncio.sleep(0.02)
        order.append("finished")
        return ""

    talk = Conversation(RUN, capabilities=process(slow), observer=lambda run: order.append(run.event[0]))

    async def main() -> None:
        first = asyncio.create_task(talk.moderator.ahandle_event(InternalEvent(TICK), talk.given))
        await asyncio.sleep(0)
        await talk.moderator.ahandle_event(InternalEvent(NEXT), talk.given)
        await first

    asyncio.run(main())
    assert (order, talk.state) == (["started", "finished", "Tick", "Next"], 10)


def test_r_070_a_reentrant_call_is_refused_and_an_enqueue_lands_behind() -> None:
    told = list[str]()

    async def slow(command: str, args: Sequence[str]) -> str:
        for call in (
            talk.moderator.ahandle_event(InternalEvent(NEXT), talk.given),
            talk.moderator.areplay(talk.given),
            talk.moderator.aresume("x"),
            talk.moderator.asnapshot(),
        ):
            with pytest.raises(SessionBusyError):
                await call
            told.append("refused")
        await talk.moderator.aenqueue(("Inside",))
        return ""

    talk = Conversation(
        '| `Tick -> let* () = Runtime.emit(`Own) in let* out = Process.run("slow", ["x"]) in Task.pure(1)',
        capabilities=process(slow),
        replay_after_events=False,
    )
    asyncio.run(talk.moderator.ahandle_event(InternalEvent(TICK), talk.given))
    assert told == ["refused"] * 4
    assert talk.queue == ["`Own", "`Inside"]


def test_an_enqueue_from_inside_survives_a_failing_run() -> None:
    def run(command: str, args: Sequence[str]) -> str:
        talk.moderator.enqueue(("Inside",))
        return ""

    talk = Conversation(
        '| `Tick -> let* out = Process.run("x", ["x"]) in Task.fail("no") | `Inside -> Task.pure(7)',
        capabilities=process(run),
    )
    with pytest.raises(Exception, match="no"):
        talk.tick()
    assert talk.queue == ["`Inside"]
    talk.tick(("Other",))
    assert talk.state == 7


def test_an_enqueue_from_outside_waits_for_the_run() -> None:
    async def slow(command: str, args: Sequence[str]) -> str:
        await asyncio.sleep(0.02)
        return ""

    talk = Conversation(RUN, capabilities=process(slow), replay_after_events=False)

    async def main() -> list[int]:
        first = asyncio.create_task(talk.moderator.ahandle_event(InternalEvent(TICK), talk.given))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(talk.moderator.aenqueue(NEXT))
        talk.moderator.enqueue(NEXT)  # the plain method, in the same thread: set aside instead of blocking the loop
        await asyncio.sleep(0)
        before = len(talk.queue)
        await asyncio.gather(first, waiting)
        return [before, len(talk.queue)]

    assert asyncio.run(main()) == [0, 2]


def test_the_plain_methods_refuse_to_block_their_own_event_loop() -> None:
    async def slow(command: str, args: Sequence[str]) -> str:
        await asyncio.sleep(0.02)
        return ""

    talk = Conversation(RUN, capabilities=process(slow))

    async def main() -> None:
        first = asyncio.create_task(talk.moderator.ahandle_event(InternalEvent(TICK), talk.given))
        await asyncio.sleep(0)
        with pytest.raises(SessionBusyError, match="await the async method"):
            talk.tick(NEXT)
        await first
        talk.tick(NEXT)

    asyncio.run(main())
    assert talk.state == 10


def test_a_suspended_run_does_not_hold_the_lock() -> None:
    talk = Conversation(
        '| `Tick -> let* a = Approval.ask_text("?") in Task.pure(1) | `Add(n) -> Task.pure(st + n)',
        surface=UI_MODERATOR,
    )
    talk.tick()
    thread = threading.Thread(target=lambda: talk.moderator.enqueue(("Add", 5)))
    thread.start()
    thread.join(5)
    assert talk.queue == ["`Add(5)"]
    assert talk.moderator.pending == AskText("?")
    talk.moderator.resume("ok")
    assert talk.state == 6


def test_events_of_several_threads_are_serialised() -> None:
    """Events that several threads deliver, queue and replay at once each count exactly once, and none is refused."""
    talk = Conversation(COUNT)

    def work() -> None:
        for _ in range(25):
            talk.tick(("Add", 1))
            talk.moderator.enqueue(("Add", 100))
            talk.replay()
            talk.moderator.snapshot()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    talk.replay()
    assert (talk.state, talk.queue) == (6 * 25 * 101, [])


def test_threads_and_tasks_share_one_moderator() -> None:
    async def soon(command: str, args: Sequence[str]) -> str:
        await asyncio.sleep(0)
        return ""

    talk = Conversation(
        "let initial_state = 0 let on_event ctx st ev = match ev with | `Add(n) -> Task.pure(st + n)"
        ' | `Slow(n) -> let* o = Process.run("x", ["x"]) in Task.pure(st + n) | _ -> Task.pure(st)',
        capabilities=process(soon),
    )

    def in_thread() -> None:
        for _ in range(50):
            talk.tick(("Add", 1))

    async def in_tasks() -> None:
        async def one() -> None:
            for _ in range(10):
                await talk.moderator.ahandle_event(InternalEvent(("Slow", 1)), talk.given)

        await asyncio.gather(*(one() for _ in range(5)))

    thread = threading.Thread(target=in_thread)
    thread.start()
    asyncio.run(in_tasks())
    thread.join(30)
    assert talk.state == 100


def test_a_cancelled_event_rolls_back_and_lets_the_next_through() -> None:
    async def never(command: str, args: Sequence[str]) -> str:
        await asyncio.Event().wait()
        return ""

    talk = Conversation("| `Add(n) -> Task.pure(st + n)" + RUN, capabilities=process(never))

    async def main() -> None:
        first = asyncio.create_task(talk.moderator.ahandle_event(InternalEvent(TICK), talk.given))
        second = asyncio.create_task(talk.moderator.ahandle_event(InternalEvent(("Add", 3)), talk.given))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)

    asyncio.run(main())
    assert talk.state == 3


def test_a_cancelled_answer_drops_the_suspended_run() -> None:
    async def never(command: str, args: Sequence[str]) -> str:
        await asyncio.Event().wait()
        return ""

    talk = Conversation(
        '| `Tick -> let* a = Approval.ask_text("?") in let* o = Process.run("x", ["x"]) in Task.pure(1)',
        surface=UI_MODERATOR,
        capabilities=process(never),
    )

    async def main() -> None:
        await talk.moderator.ahandle_event(InternalEvent(TICK), talk.given)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(talk.moderator.aresume("yes"), 0.02)

    asyncio.run(main())
    assert (talk.state, talk.moderator.pending) == (0, None)
    talk.tick(("Other",))


def test_what_is_read_needs_no_lock() -> None:
    seen = list[Any]()

    def run(command: str, args: Sequence[str]) -> str:
        moderator = talk.moderator
        seen.append((moderator.state, moderator.pending, moderator.is_halted, moderator.overlay.revision))
        seen.append(moderator.effective_history(talk.history))
        return ""

    talk = Conversation(
        '| `Tick -> let* () = Turn.prepend_system("x") in let* o = Process.run("x", ["x"]) in Task.pure(1)',
        capabilities=process(run),
    )
    talk.tick()
    assert seen == [(0, None, False, 0), ()]


def test_another_moderator_may_be_called_from_inside_a_run() -> None:
    inner = Conversation(COUNT)

    def call(name: str, args: Json) -> ToolOk:
        inner.tick(("Add", 5))
        return ToolOk(inner.state)

    outer = Conversation(
        '| `Tick -> let* r = Tool.call("nested", `Null) in Task.pure(1)', capabilities=Capabilities(tool_call=call)
    )
    outer.tick()
    assert (inner.state, outer.state) == (5, 1)


def test_a_wakeup_that_calls_back_is_refused_and_the_commit_stands() -> None:
    refused = list[Exception]()

    def wake() -> None:
        try:
            talk.replay()
        except SessionBusyError as error:
            refused.append(error)
            raise

    talk = Conversation('| `Tick -> let* () = Turn.prepend_system("x") in Task.pure(1)')
    talk.moderator.subscribe(wake)
    talk.tick()
    assert (len(refused), talk.state) == (1, 1)


def test_closing_drops_the_suspended_run_and_the_subscriptions() -> None:
    talk = Conversation(
        '| `Tick -> let* a = Approval.ask_text("?") in Task.pure(1) '
        '| `Pre -> let* () = Turn.prepend_system("x") in Task.pure(2)',
        surface=UI_MODERATOR,
    )
    talk.tick()
    talk.moderator.close()
    assert (talk.moderator.pending, talk.published()) == (None, ())


def test_a_closed_moderator_takes_no_more_events() -> None:
    talk = Conversation("| `Tick -> Task.pure(st + 1)")
    talk.tick()
    talk.moderator.close()
    talk.moderator.close()
    for refused in (
        talk.tick,
        talk.replay,
        lambda: talk.moderator.resume("yes", talk.given),
        lambda: talk.moderator.enqueue(("Tick",)),
        lambda: asyncio.run(talk.moderator.ahandle_event(InternalEvent(("Tick",)), talk.given)),
        lambda: asyncio.run(talk.moderator.aenqueue(("Tick",))),
    ):
        with pytest.raises(SessionClosedError, match="closed"):
            refused()
    assert (talk.state, talk.moderator.queued_events, talk.moderator.is_halted) == (1, (), False)
    again = Conversation(talk.artifact, snapshot=talk.moderator.snapshot(), allocator=talk.allocator)
    again.tick()
    assert again.state == 2


def test_nothing_goes_on_unmoderated_behind_a_closed_moderator() -> None:
    """A turn driver fails closed: a call is not approved because nobody looked at it."""
    talk = Conversation('| `Pre_tool_call(call) -> let* () = Tool.reject("no") in Task.pure(st)')
    driver = TurnDriver(talk.moderator, session_id="s1")
    talk.moderator.close()
    with pytest.raises(SessionClosedError):
        driver.review_tool_call(TurnInput(tuple(talk.history)), ToolCall("c1", "rm", {}))


def test_a_job_that_ends_in_a_thread_during_a_run_is_queued_behind_it() -> None:
    def run(command: str, args: Sequence[str]) -> str:
        job = threading.Thread(target=lambda: talk.moderator.enqueue(("Done",)))
        job.start()
        jobs.append(job)
        time.sleep(0.01)
        return ""

    jobs = list[threading.Thread]()
    talk = Conversation(
        '| `Tick -> let* () = Runtime.emit(`Own) in let* o = Process.run("x", ["x"]) in Task.pure(1)',
        capabilities=process(run),
        replay_after_events=False,
    )
    talk.tick()
    jobs[0].join(5)
    assert talk.queue == ["`Own", "`Done"]
