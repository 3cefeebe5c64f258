"""The two drivers that carry out what some steps want: plainly, and in `asyncio` (X-24)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from chatml_runtime.script import problems
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.script.tasks import Call

Wish = TypeVar("Wish")
Result = TypeVar("Result")


def start_plainly(call: Call) -> Any:
    """The answer of a call; one that is still to come fails the operation."""
    answer = call.start()
    if inspect.isawaitable(answer):
        discard(answer)
        raise OperationFailed(problems.asynchronous_operation(call.op.name))
    return answer


def drive(steps: Generator[Wish, Any, Result], start: Callable[[Any], Any] = start_plainly) -> Result:
    """Carry out every wish at once. A callable that answers with an awaitable fails its operation."""
    try:
        wish = next(steps)
        while True:
            try:
                answer = start(wish)
            except BaseException as error:
                wish = steps.throw(error)
            else:
                wish = steps.send(answer)
    except StopIteration as finished:
        result: Result = finished.value
        return result
    finally:
        steps.close()


async def adrive(steps: Generator[Wish, Any, Result], start: Callable[[Any], Any] = Call.start) -> Result:
    """Carry out every wish, and await those that answer with an awaitable."""
    try:
        wish = next(steps)
        while True:
            try:
                answer = start(wish)
                if inspect.isawaitable(answer):
                    answer = await answer
            except BaseException as error:
                wish = steps.throw(error)
            else:
                wish = steps.send(answer)
    except StopIteration as finished:
        result: Result = finished.value
        return result
    finally:
        steps.close()


def discard(awaitable: Any) -> None:
    """End something awaitable that nobody will await: a coroutine is closed, a future cancelled."""
    for name in ("close", "cancel"):
        end = getattr(awaitable, name, None)
        if end is not None:
            end()
            return
