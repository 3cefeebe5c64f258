"""Timers: what is due when, cancelling, closing (runtime.md section 16.3; R-066)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_runtime.host.agenda import Agenda
from chatml_runtime.host.clocks import ManualClock
from chatml_runtime.host.scheduler import Scheduler
from chatml_runtime.host.work import AsyncWork
from chatml_runtime.moderation.capabilities import ToolOk
from chatml_runtime.moderation.vocabulary import InternalEvent, SessionStart
from chatml_runtime.script.errors import OperationFailed, TaskFailedError
from tests.runtime.conversations import Conversation
from tests.runtime.turns.runs import in_loop

SETTING = """
let initial_state = []
let on_event ctx st ev =
  match ev with
  | `Set(ms, tag) -> let* id = Schedule.after_ms(ms, `T(tag)) in Task.pure(Array.append(st, [id]))
  | `Cancel(id) -> let* () = Schedule.cancel(id) in Task.pure(st)
  | `Cancel_slowly(id) ->
      let* wait = Tool.call("wait", `Null) in let* () = Schedule.cancel(id) in Task.pure(st)
  | `Stop -> let* () = Runtime.end_session("over") in Task.pure(st)
  | _ -> Task.pure(st)
"""


class Host:
    """A session whose clock is moved by hand."""

    def __init__(self, **options: Any) -> None:
        self.clock = ManualClock()
        self.work = AsyncWork(clock=self.clock, **options)
        self.woken = 0
        self.gate = asyncio.Event()
        capabilities = self.work.capabilities("s1", tools=self.wait_for_gate)
        self.talk = Conversation(SETTING, capabilities=capabilities)
        self.work.register("s1", self.talk.moderator, self.wake)

    async def wait_for_gate(self, name: str, args: Any) -> ToolOk:
        await self.gate.wait()
        return ToolOk(None)

    def wake(self) -> None:
        self.woken += 1

    async def tell(self, *event: Any) -> Any:
        await self.talk.moderator.ahandle_event(InternalEvent(event), self.talk.given)
        return self.talk.state[-1] if self.talk.state else None

    async def advance(self, ms: float) -> None:
        self.clock.advance(ms)
        while self.work.post.is_busy:
            await asyncio.sleep(0)


def test_r_066_a_negative_delay_fails() -> None:
    async def main() -> None:
        host = Host()
        with pytest.raises(TaskFailedError, match=r"Schedule\.after_ms.*non-negative"):
            await host.tell("Set", -1, "a")
        with pytest.raises(OperationFailed, match="non-negative"):
            host.work.timers.after_ms("s1", -1, ("T",))

    in_loop(main())


def test_r_066_the_event_itself_is_queued_when_it_is_due() -> None:
    async def main() -> None:
        host = Host()
        assert await host.tell("Set", 5, "a") == "timer-1"
        await host.advance(4)
        assert host.talk.queue == []
        await host.advance(1)
        assert (host.talk.queue, host.woken, len(host.work.timers)) == (["`T(a)"], 1, 0)
        await host.advance(100)
        assert (host.talk.queue, host.woken) == (["`T(a)"], 1)

    in_loop(main())


def test_r_066_a_delay_of_nothing_is_still_asynchronous() -> None:
    async def main() -> None:
        host = Host()
        await host.tell("Set", 0, "a")
        assert host.talk.queue == []
        await host.advance(0)
        assert host.talk.queue == ["`T(a)"]

    in_loop(main())


def test_r_066_cancelled_in_time_and_twice() -> None:
    async def main() -> None:
        host = Host()
        for tag in "abc":
            await host.tell("Set", 5, tag)
        for timer in ("timer-2", "timer-2", "timer-99", "model-job-1"):
            await host.tell("Cancel", timer)
        await host.advance(5)
        await host.tell("Cancel", "timer-1")  # has fired: it is replayed, not cancelled
        assert host.talk.queue == []
        assert host.woken == 2

    in_loop(main())


def test_a_session_cannot_cancel_the_timer_of_another() -> None:
    async def main() -> None:
        host = Host()
        other = host.work.timers.after_ms("s2", 5, ("T", "other"))
        await host.tell("Cancel", other)
        assert len(host.work.timers) == 1
        host.work.timers.cancel(other)
        assert len(host.work.timers) == 0

    in_loop(main())


def test_a_timer_that_is_cancelled_while_it_fires_is_not_delivered() -> None:
    """It was due while the handler ran that cancels it: its event waits for the session, so it is pending still."""

    async def main() -> None:
        host = Host()
        host.talk.moderator.drain_limit = None
        for tag in "abc":
            await host.tell("Set", 5, tag)
        handling = asyncio.create_task(host.tell("Cancel_slowly", "timer-1"))
        await asyncio.sleep(0)
        host.clock.advance(5)
        for _ in range(5):
            await asyncio.sleep(0)
        assert (host.talk.queue, len(host.work.timers)) == ([], 3)
        host.gate.set()
        await handling
        await host.advance(0)
        assert (host.talk.queue, host.woken) == (["`T(b)", "`T(c)"], 2)

    in_loop(main())


def test_a_timer_that_waits_behind_another_can_be_cancelled() -> None:
    async def main() -> None:
        host = Host()
        host.talk.moderator.drain_limit = None
        for tag in "abc":
            await host.tell("Set", 5, tag)
        handling = asyncio.create_task(host.tell("Cancel_slowly", "timer-2"))
        await asyncio.sleep(0)
        host.clock.advance(5)
        await asyncio.sleep(0)
        host.gate.set()
        await handling
        await host.advance(0)
        assert host.talk.queue == ["`T(a)", "`T(c)"]

    in_loop(main())


def test_an_ended_session_gets_none() -> None:
    async def main() -> None:
        host = Host()
        await host.tell("Set", 5, "a")
        await host.tell("Stop")
        await host.advance(5)
        assert (host.talk.queue, host.woken) == ([], 0)

    in_loop(main())


def test_closing_and_forgetting() -> None:
    async def main() -> None:
        host = Host()
        await host.tell("Set", 5, "a")
        host.work.timers.after_ms("s2", 5, ("T",))
        host.work.forget("s1")
        assert len(host.work.timers) == 1
        host.work.register("s1", host.talk.moderator, host.wake)
        await host.tell("Set", 5, "b")
        host.work.close()
        await host.advance(5)
        assert (host.talk.queue, host.woken, len(host.work.timers)) == ([], 0, 0)
        with pytest.raises(TaskFailedError, match=r"Schedule\.after_ms: the host has closed"):
            await host.tell("Set", 5, "c")

    in_loop(main())


def test_a_script_cannot_set_timers_without_end() -> None:
    async def main() -> None:
        host = Host(max_timers=2)
        await host.tell("Set", 5, "a")
        await host.tell("Set", 5, "b")
        with pytest.raises(TaskFailedError, match="at most 2 timers"):
            await host.tell("Set", 5, "c")
        await host.advance(5)
        await host.tell("Set", 5, "c")

    in_loop(main())


def test_timers_of_the_event_loop_itself() -> None:
    async def main() -> None:
        work = AsyncWork()
        talk = Conversation(SETTING, capabilities=work.capabilities("s1"))
        arrived = asyncio.Queue[None]()
        work.register("s1", talk.moderator, lambda: arrived.put_nowait(None))
        for ms, tag in ((300, "late"), (0, "soon"), (2**60, "never")):
            await talk.moderator.ahandle_event(InternalEvent(("Set", ms, tag)), talk.given)
        for _ in range(2):
            await arrived.get()
        assert talk.queue == ["`T(soon)", "`T(late)"]
        assert len(work.timers) == 1
        await work.aclose()

    in_loop(main())


def test_nothing_is_set_without_an_event_loop() -> None:
    with pytest.raises(OperationFailed, match="BackgroundLoop"):
        Scheduler().after_ms("s1", 5, ("T",))
    talk = Conversation("| `Session_start -> let* id = Schedule.after_ms(1, `T) in Task.pure(st)")
    with pytest.raises(TaskFailedError, match=r"Schedule\.after_ms is not configured"):
        talk.send(SessionStart())


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(0, 5)),
            st.tuples(st.just("remove"), st.integers(0, 30)),
            st.tuples(st.just("due"), st.integers(0, 6)),
        )
    )
)
def test_an_agenda_is_a_sorted_list(steps: list[tuple[str, int]]) -> None:
    """What is due comes by time, then by the order in which it was put down, and never after it was taken away."""
    agenda: Agenda[int] = Agenda()
    model: list[tuple[int, int]] = []
    added = 0
    for step, number in steps:
        if step == "add":
            agenda.add(number, str(added), added)
            model.append((number, added))
            added += 1
        elif step == "remove":
            expected = next((thing for _, thing in model if thing == number), None)
            assert agenda.remove(str(number)) == expected
            model = [(at, thing) for at, thing in model if thing != number]
        else:
            due = sorted((at, thing) for at, thing in model if at <= number)
            assert agenda.due(number) == [(str(thing), thing) for _, thing in due]
            model = [entry for entry in model if entry not in due]
        assert len(agenda) == len(model)
        assert agenda.next_at == min((at for at, _ in model), default=None)


def test_an_agenda_does_not_keep_what_was_taken_away() -> None:
    agenda: Agenda[None] = Agenda()
    for number in range(10_000):
        agenda.add(10**9, str(number), None)
        agenda.remove(str(number))
    assert len(agenda._heap) < 200
