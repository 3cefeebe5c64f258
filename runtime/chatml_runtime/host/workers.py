"""Calling a host's callables from `asyncio`, whether or not they are asynchronous themselves."""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chatml.lazy import lazy

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = lazy("asyncio")


async def called(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a callable. A coroutine function runs in the event loop, anything else in a thread of its own.

    If that thread's result is awaitable, it is awaited in the event loop.
    """
    answer = function(*args) if is_coroutine_function(function) else await in_thread(function, *args)
    return await answer if inspect.isawaitable(answer) else answer


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine: an `async def`, or an object whose `__call__` is one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a callable that may block.

    The thread is a daemon and is not one of a pool: one that hangs costs no other call its place, and does not keep
    the program from ending. A cancellation does not stop the thread; what it gives then is dropped.
    """
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if finished.done():
            return
        if error is None:
            finished.set_result(result)
        else:
            finished.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(function, *args)
        except BaseException as raised:
            # a future takes no StopIteration: it would end the coroutine that awaits it
            error = RuntimeError(str(raised)) if isinstance(raised, StopIteration) else raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name=f"chatml-{getattr(function, '__name__', 'call')}", daemon=True).start()
    return await finished


async def within(limit_ms: int | None, task: asyncio.Task[Any]) -> bool:
    """Whether a task ends in time; it is not told to end if it does not."""
    done, _ = await asyncio.wait({task}, timeout=None if limit_ms is None else limit_ms / 1000)
    return bool(done)


def abandon(task: asyncio.Task[Any]) -> None:
    """Tell a task to end, if it has not, and wait no longer; whatever comes of it is dropped."""
    task.cancel()
    task.add_done_callback(drop)


def drop(task: asyncio.Task[Any]) -> None:
    """Take what came of a task, so that it is not reported as never taken."""
    if not task.cancelled():
        task.exception()
