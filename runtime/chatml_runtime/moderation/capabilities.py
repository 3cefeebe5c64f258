"""What a host of a moderator can do, in terms of plain data (runtime.md section 9.9).

A capability *answers* with a record, and an answer may be an error: the script receives it as a value. A capability
*fails* by raising, usually `OperationFailed`: the task fails, and the script may catch it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import attrs

from chatml.border.python import from_json
from chatml.diagnostics.errors import BoundaryError
from chatml.values.model import Value
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.items import json_argument
from chatml_runtime.script.drivers import discard
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.script.operations import OpCallable, OpContext
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.standard import Handlers


@attrs.frozen
class ToolOk:
    """A tool's answer."""

    result: Json


@attrs.frozen
class ToolError:
    """A tool that ran and reports an error."""

    message: str


@attrs.frozen
class ModelOk:
    """A model's answer."""

    result: Json


@attrs.frozen
class ModelRefused:
    """A model that declines."""

    message: str


@attrs.frozen
class ModelError:
    """A model that reports an error."""

    message: str


ToolCallResult: TypeAlias = ToolOk | ToolError
ModelResult: TypeAlias = ModelOk | ModelRefused | ModelError


@attrs.frozen
class ModelRecipe:
    """A model under a name that the host chose. `call` may be async; `spawn` starts a job and returns its id."""

    call: Callable[[Json], ModelResult | Awaitable[ModelResult]]
    spawn: Callable[[Json], str] | None = None


@attrs.frozen(eq=False)
class Capabilities:
    """What a moderator's script can reach. Whatever is None is not configured; logs and notices are then dropped.

    >>> capabilities = Capabilities(tool_call=lambda name, args: ToolOk({"called": name}))
    >>> capabilities.registry.get("Tool.call").kind.value
    'external_sync'
    """

    log: Callable[[str, str], Any] | None = None
    ui_notify: Callable[[str], Any] | None = None
    tool_call: Callable[[str, Json], ToolCallResult | Awaitable[ToolCallResult]] | None = None
    tool_spawn: Callable[[str, Json], str] | None = None
    model_recipes: Mapping[str, ModelRecipe] = attrs.field(factory=dict)
    process_run: Callable[[str, Sequence[str]], str | Awaitable[str]] | None = None
    schedule_after_ms: Callable[[int, Value], str] | None = None
    schedule_cancel: Callable[[str], Any] | None = None

    @cached_property
    def registry(self) -> OpRegistry:
        """The standard operations over these capabilities; all moderators that share the bundle share it."""
        return OpRegistry.standard(self.to_handlers())

    def to_handlers(self) -> Handlers:
        """The handlers of the standard operations that these capabilities carry out."""
        return Handlers(
            log=drop if self.log is None else plainly(self.log),
            ui_notify=plainly(self.ui_notify),
            tool_call=with_json(self.tool_call, TOOL_ANSWERS),
            tool_spawn=with_json(self.tool_spawn),
            model_call=self._call_model,
            model_spawn=self._spawn_model,
            process_run=plainly(self.process_run),
            schedule_after_ms=plainly(self.schedule_after_ms),
            schedule_cancel=plainly(self.schedule_cancel),
        )

    def _call_model(self, context: OpContext, name: str, payload: Value) -> Any:
        recipe = self._recipe(context.op, name)
        return answered(context.op, recipe.call(json_argument(context.op, payload)), MODEL_ANSWERS)

    def _spawn_model(self, context: OpContext, name: str, payload: Value) -> Any:
        recipe = self._recipe(context.op, name)
        if recipe.spawn is None:
            raise OperationFailed(f'{context.op} is not configured for the model recipe "{name}"')
        return recipe.spawn(json_argument(context.op, payload))

    def _recipe(self, op: str, name: str) -> ModelRecipe:
        recipe = self.model_recipes.get(name)
        if recipe is None:
            known = ", ".join(f'"{one}"' for one in self.model_recipes) or "none"
            raise OperationFailed(
                f'{op} is not configured: model recipe "{name}" is not registered (registered: {known})'
            )
        return recipe


def drop(context: OpContext, *args: Value) -> None:
    """What becomes of log lines that nobody takes."""


def plainly(capability: Callable[..., Any] | None) -> OpCallable | None:
    """The handler that hands a capability the operation's own arguments; arrays are copied."""
    if capability is None:
        return None

    def call(context: OpContext, *args: Value) -> Any:
        return capability(*[arg.copy() if type(arg) is list else arg for arg in args])

    return call


def with_json(capability: Callable[..., Any] | None, answers: Mapping[type, str] | None = None) -> OpCallable | None:
    """The handler that hands a capability a name and plain data, and takes one of these records as its answer."""
    if capability is None:
        return None

    def call(context: OpContext, name: str, args: Value) -> Any:
        answer = capability(name, json_argument(context.op, args))
        return answer if answers is None else answered(context.op, answer, answers)

    return call


TOOL_ANSWERS: Mapping[type, str] = {ToolOk: "Ok", ToolError: "Error"}
MODEL_ANSWERS: Mapping[type, str] = {ModelOk: "Ok", ModelRefused: "Refused", ModelError: "Error"}
"""The records that a capability may answer with, and the tags that scripts match."""


def answered(op: str, answer: Any, tags: Mapping[type, str]) -> Any:
    """A capability's answer as a value, or an awaitable of it if the capability is async."""
    return Coming(op, answer, tags) if inspect.isawaitable(answer) else as_value(op, answer, tags)


@attrs.frozen(eq=False)
class Coming:
    """An answer that is still to come, and is made a value then."""

    op: str
    answer: Awaitable[Any]
    tags: Mapping[type, str]

    def __await__(self) -> Generator[Any, Any, Value]:
        return as_value(self.op, (yield from self.answer.__await__()), self.tags)

    def close(self) -> None:
        """End what nobody will await."""
        discard(self.answer)


def as_value(op: str, answer: Any, tags: Mapping[type, str]) -> Value:
    """A capability's answer as the variant that scripts match; `OperationFailed` if it is none of the records."""
    tag = tags.get(type(answer))
    if tag is None:
        expected = ", ".join(record.__name__ for record in tags)
        raise OperationFailed(f"{op}: the host answered with {type(answer).__name__}, not one of {expected}")
    try:
        return (tag, from_json(answer.result) if tag == "Ok" else checked_text(answer.message))
    except BoundaryError as error:
        raise OperationFailed(f"{op}: the host's answer cannot become a value: {error}") from None


def checked_text(text: Any) -> Value:
    """A host's text as a string of the language."""
    if not isinstance(text, str):
        raise BoundaryError(f"expected a string, got {type(text).__name__}")
    return from_json(text)[1]
