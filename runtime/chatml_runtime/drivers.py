"""The two drivers that carry out what a session's steps want: plainly, and in `asyncio` (X-24)."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from chatml_runtime import problems
from chatml_runtime.errors import OperationFailed
from chatml_runtime.tasks import Call

Result = TypeVar("Result")
CallSteps: TypeAlias = Generator[Call, Any, Result]


def drive(steps: CallSteps[Result]) -> Result:
    """Carry out every call at once. A callable that answers with an awaitable fails its operation."""
    try:
        call = next(steps)
        while True:
            try:
                answer = call.start()
                if inspect.isawaitable(answer):
                    discard(answer)
                    raise OperationFailed(problems.asynchronous_operation(call.op.name))
            except BaseException as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as finished:
        result: Result = finished.value
        return result
    finally:
        steps.close()


async def adrive(steps: CallSteps[Result]) -> Result:
    """Carry out every call, and await those that answer with an awaitable."""
    try:
        call = next(steps)
        while True:
            try:
                answer = call.start()
                if inspect.isawaitable(answer):
                    answer = await answer
            except BaseException as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
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
