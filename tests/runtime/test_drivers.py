"""The two drivers, cancellation, interrupts, threads (runtime.md sections 5.4 and 20, X-24, X-26)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from chatml.values.limits import Budget, Limits
from chatml.values.model import Catch, Perform, Pure, Ref, Task
from chatml_runtime.script.errors import LimitExceededError, OperationFailed, SessionBusyError, TaskFailedError
from chatml_runtime.script.operations import OpContext
from chatml_runtime.script.session import RunStatus, Session
from chatml_runtime.script.standard import Handlers
from tests.runtime.puppets import TICK, TURN_START, PuppetInstance, function, session, then

CALL = Perform("Tool.call", ("t", ("Null",)))


def calling(tool_call: Callable[..., Any], *rest: Callable[[Any], Task]) -> tuple[Session, Ref]:
    """A session that writes to a ref, calls a tool and commits its answer."""
    instance, ref = PuppetInstance(), Ref("old")

    def handler(state: Any, event: Any) -> Task:
        instance.machine.set_ref(ref, "new")
        if event[0] == "Ask":
            return then(Perform("Approval.ask_text", ("go?",)), lambda _: CALL)
        return then(Perform("Turn.prepend_system", ("x",)), lambda _: CALL, *rest, lambda answer: Pure(answer))

    return session(handler, "initial", handlers=Handlers(tool_call=tool_call), instance=instance), ref


def untouched(it: Session, ref: Ref) -> bool:
    """Whether a session and a ref are as before the first event, and nothing is going on."""
    return (it.state, ref.content, it.committed_effects, it.is_running, it.pending, it.queued_events) == (
        "initial",
        "old",
        (),
        False,
        None,
        (),
    )


async def answer_later(context: OpContext, name: str, args: Any) -> Any:
    await asyncio.sleep(0)
    return ("Ok", name)


def test_the_async_driver_awaits() -> None:
    it, ref = calling(answer_later)
    result = asyncio.run(it.ahandle_event(TURN_START, TICK))
    assert (result.status, it.state, ref.content) == (RunStatus.COMMITTED, ("Ok", "t"), "new")


def test_a_limit_exceeded_inside_a_callable_passes_every_catch() -> None:
    """A callable that runs functions of the script cannot turn an exceeded limit into a task failure."""

    def tool_call(context: OpContext, name: str, args: Any) -> Any:
        raise Budget(Limits(steps=7)).exceeded("steps")

    it = session(lambda state, event: Catch(CALL, function(lambda m: Pure(m))), handlers=Handlers(tool_call=tool_call))
    with pytest.raises(LimitExceededError, match="steps") as raised:
        it.handle_event(TURN_START, TICK)
    assert raised.value.limit == "steps"


def test_the_async_driver_takes_plain_callables() -> None:
    it, _ = calling(lambda context, name, args: ("Ok", args))
    asyncio.run(it.ahandle_event(TURN_START, TICK))
    assert it.state == ("Ok", ("Null",))


def test_the_plain_driver_refuses_an_awaitable() -> None:
    """The operation fails by name; the coroutine is closed, so that nothing is left to be awaited."""
    it, ref = calling(answer_later)
    with pytest.raises(TaskFailedError, match=r"Tool\.call.*asynchronous.*async interface"):
        it.handle_event(TURN_START, TICK)
    assert untouched(it, ref)


def test_the_plain_driver_cancels_a_future() -> None:
    futures: list[asyncio.Future[Any]] = []

    async def main() -> None:
        def tool_call(context: OpContext, name: str, args: Any) -> Any:
            futures.append(asyncio.get_running_loop().create_future())
            return futures[-1]

        it, _ = calling(tool_call)
        with pytest.raises(TaskFailedError):
            it.handle_event(TURN_START, TICK)

    asyncio.run(main())
    assert futures[0].cancelled()


class Speechless(Exception):
    pass


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class RateLimited(Exception):
    limit = 5


RAISED = {
    "with_a_limit": (RateLimited("slow down"), "slow down"),
    "expected": (OperationFailed("refused"), "refused"),
    "unexpected": (OSError("disk full"), "disk full"),
    "textless": (Speechless(), "Speechless"),
    "stop_iteration": (StopIteration(), "StopIteration"),
    "surrogate": (OSError("bad \udcff name"), "bad ? name"),
    "unprintable": (Unprintable(), "Unprintable"),
    "recursion": (RecursionError("too deep"), "too deep"),
}


def check_failure(tool_call: Callable[..., Any], text: str) -> None:
    """A failing callable fails its task with the text; a catch sees the same."""
    it, ref = calling(tool_call)
    with pytest.raises(TaskFailedError) as raised:
        asyncio.run(it.ahandle_event(TURN_START, TICK))
    assert str(raised.value) == text
    assert untouched(it, ref)
    catching = Catch(CALL, function(lambda m: Pure(m)))
    caught = session(lambda state, event: catching, handlers=Handlers(tool_call=tool_call))
    asyncio.run(caught.ahandle_event(TURN_START, TICK))
    assert caught.state == text


@pytest.mark.parametrize(("error", "text"), RAISED.values(), ids=RAISED)
def test_exceptions_of_callables_are_task_failures(error: Exception, text: str) -> None:
    """Any ordinary exception becomes a failure with its text, or the name of its class."""

    def tool_call(context: OpContext, name: str, args: Any) -> Any:
        raise error

    check_failure(tool_call, text)


@pytest.mark.parametrize("case", ["expected", "unexpected", "textless"])
def test_exceptions_of_async_callables_are_task_failures(case: str) -> None:
    """What an awaitable raises is a failure, just as what a plain callable raises."""
    error, text = RAISED[case]

    async def tool_call(context: OpContext, name: str, args: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    check_failure(tool_call, text)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_interrupts_roll_back_and_pass(interrupt: type[BaseException]) -> None:
    """What is not an `Exception` is not a task failure: it undoes the run, clears the marker and propagates."""

    def tool_call(context: OpContext, name: str, args: Any) -> Any:
        if name == "t":
            raise interrupt
        return None

    it, ref = calling(tool_call)
    with pytest.raises(interrupt):
        it.handle_event(TURN_START, TICK)
    assert untouched(it, ref)
    it.handle_event(TURN_START, ("Ask",))
    with pytest.raises(interrupt):
        it.resume("go")
    assert untouched(it, ref)


def test_an_interrupt_inside_the_script_rolls_back() -> None:
    def handler(state: Any, event: Any) -> Task:
        instance.machine.set_ref(ref, "new")
        raise KeyboardInterrupt

    instance, ref = PuppetInstance(), Ref("old")
    it = session(handler, "initial", instance=instance)
    with pytest.raises(KeyboardInterrupt):
        it.handle_event(TURN_START, TICK)
    assert untouched(it, ref)
    assert instance.machine.journal is None


async def cancel_while_awaiting(it: Session, start: Callable[[], Any], reached: asyncio.Event) -> None:
    """Start a run, wait until its tool call is awaited, cancel it."""
    task = asyncio.ensure_future(start())
    await reached.wait()
    assert it.is_running
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_cancellation_rolls_back() -> None:
    """A cancelled caller leaves nothing behind; a cancelled resume drops the suspended run."""

    async def main() -> None:
        reached = asyncio.Event()

        async def never(context: OpContext, name: str, args: Any) -> Any:
            reached.set()
            await asyncio.Event().wait()

        it, ref = calling(never)
        await cancel_while_awaiting(it, lambda: it.ahandle_event(TURN_START, TICK), reached)
        assert untouched(it, ref)
        reached.clear()
        await it.ahandle_event(TURN_START, ("Ask",))
        assert it.pending is not None
        await cancel_while_awaiting(it, lambda: it.aresume("go"), reached)
        assert untouched(it, ref)

    asyncio.run(main())


def test_a_second_event_is_refused_while_one_awaits() -> None:
    """One session handles one event at a time; readers meanwhile see that it runs."""

    async def main() -> None:
        reached, go = asyncio.Event(), asyncio.Event()

        async def wait(context: OpContext, name: str, args: Any) -> Any:
            reached.set()
            await go.wait()
            return ("Ok", name)

        it, _ = calling(wait)
        first = asyncio.ensure_future(it.ahandle_event(TURN_START, TICK))
        await reached.wait()
        with pytest.raises(SessionBusyError):
            await it.ahandle_event(TURN_START, TICK)
        with pytest.raises(SessionBusyError):
            it.handle_event(TURN_START, TICK)
        it.enqueue(("Late",))
        assert (it.is_running, it.phase, len(it.pending_effects)) == (True, "turn_start", 1)
        go.set()
        assert (await first).status is RunStatus.COMMITTED
        assert it.queued_events == (("Late",),)

    asyncio.run(main())


def test_a_coroutine_that_is_closed_while_it_awaits_rolls_back() -> None:
    """A loop that ends under a run closes its coroutine: the run is undone."""

    async def never(context: OpContext, name: str, args: Any) -> Any:
        await asyncio.sleep(3600)

    async def main() -> None:
        coroutine = it.ahandle_event(TURN_START, TICK)
        coroutine.send(None)
        assert it.is_running
        coroutine.close()

    it, ref = calling(never)
    asyncio.run(main())
    assert untouched(it, ref)


def test_a_second_thread_is_refused() -> None:
    """While one thread handles an event, another is refused at once, whatever it asks but to enqueue."""
    reached, go = threading.Event(), threading.Event()

    def tool_call(context: OpContext, name: str, args: Any) -> Any:
        reached.set()
        assert go.wait(timeout=10)
        return "done"

    it, _ = calling(tool_call)
    thread = threading.Thread(target=it.handle_event, args=(TURN_START, TICK))
    thread.start()
    assert reached.wait(timeout=10)
    for refused in (
        lambda: it.handle_event(TURN_START, TICK),
        lambda: it.resume("x"),
        lambda: it.restore(0, [], False),
    ):
        with pytest.raises(SessionBusyError):
            refused()
    it.enqueue(("Late",))
    go.set()
    thread.join(timeout=10)
    assert (it.state, it.queued_events) == ("done", (("Late",),))


def test_threads_never_interleave() -> None:
    """Of many threads at once, each either has its event handled alone or is refused."""
    inside, overlaps, refused = threading.Lock(), [], []

    def tool_call(context: OpContext, name: str, args: Any) -> int:
        if not inside.acquire(blocking=False):
            overlaps.append(name)
        time.sleep(0.0005)
        inside.release()
        return 1

    it = session(lambda state, event: then(CALL, lambda _: Pure(state + 1)), handlers=Handlers(tool_call=tool_call))
    start = threading.Barrier(4)

    def deliver() -> None:
        start.wait(timeout=10)
        for _ in range(50):
            try:
                it.handle_event(TURN_START, TICK)
            except SessionBusyError:
                refused.append(1)

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert not overlaps
    assert refused
    assert it.state + len(refused) == 200
    assert not it.is_running


def test_a_context_is_of_use_in_its_own_run_only() -> None:
    """A context kept beyond its run can neither emit nor end the session, not even in a later run."""
    kept: list[OpContext] = []

    def tool_call(context: OpContext, name: str, args: Any) -> Any:
        kept.append(context)
        if len(kept) == 2:
            with pytest.raises(OperationFailed, match=r"Tool\.call"):
                kept[0].emit(("Stray",))
            context.emit(("Own",))
        return 1

    it, _ = calling(tool_call)
    it.handle_event(TURN_START, TICK)
    with pytest.raises(OperationFailed):
        kept[0].request_end("stray")
    it.handle_event(TURN_START, TICK)
    assert (it.queued_events, it.is_halted) == ((("Own",),), False)
