"""Reading what a model client answers: finished provider items, one after another (runtime.md section 13.3)."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from chatml.diagnostics.errors import BoundaryError
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.items import SHAPES, Mismatch, check_json
from chatml_runtime.moderation.tool_calls import CALLS, OUTPUTS
from chatml_runtime.script import problems
from chatml_runtime.script.errors import ModelResponseError


async def items_of(answer: Any) -> AsyncGenerator[Json, None]:
    """The items of a response: of an async iterator, of an iterable, or of an awaitable of one.

    `ModelResponseError` for something else, and for an item that cannot join a history. An async generator is closed
    when the reader stops early.
    """
    if inspect.isawaitable(answer):
        answer = await answer
    position = 0
    if hasattr(answer, "__aiter__"):
        try:
            async for item in answer:
                yield checked(item, position)
                position += 1
        finally:
            close = getattr(answer, "aclose", None)
            if close is not None:
                await close()
        return
    if isinstance(answer, (str, bytes, Mapping)) or not hasattr(answer, "__iter__"):
        raise ModelResponseError(problems.foreign_response(type(answer).__name__))
    for item in answer:
        yield checked(item, position)
        position += 1


def is_call(item: Json) -> bool:
    """Whether an item is a tool call."""
    return item["type"] in CALLS


def checked(item: Json, position: int) -> Json:
    """An item that can join a history: a call must be complete, an output is not the model's to give.

    What else there is, of types that nothing here knows, is the provider's own and passes.
    """
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(kind, str):
        raise ModelResponseError(problems.foreign_model_item(position, "expected an object with a string field `type`"))
    try:
        check_json("it", item)
    except BoundaryError as error:
        raise ModelResponseError(problems.foreign_model_item(position, str(error))) from None
    if kind in OUTPUTS.values():
        raise ModelResponseError(problems.foreign_model_item(position, "an output is the host's to give"))
    if kind in CALLS:
        try:
            SHAPES[kind](item, "")
        except Mismatch as mismatch:
            raise ModelResponseError(problems.foreign_model_item(position, str(mismatch))) from None
    return item
