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

from chatml.boundary import from_json
from chatml.errors import BoundaryError
from chatml.values import Value
from chatml_runtime.drivers import discard
from chatml_runtime.errors import OperationFailed
from chatml_runtime.identities import Json
from chatml_runtime.items import json_argument
from chatml_runtime.operations import OpContext
from chatml_runtime.registry import OpRegistry
from chatml_runtime.standard import Handlers


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
            log=self._log,
            ui_notify=None if self.ui_notify is None else self._ui_notify,
            tool_call=None if self.tool_call is None else self._tool_call,
            tool_spawn=None if self.tool_spawn is None else self._tool_spawn,
            model_call=self._model_call,
            model_spawn=self._model_spawn,
            process_run=None if self.process_run is None else self._process_run,
            schedule_after_ms=None if self.schedule_after_ms is None else self._schedule_after_ms,
            schedule_cancel=None if self.schedule_cancel is None else self._schedule_cancel,
        )

    def _log(self, context: OpContext, level: str, message: str) -> Any:
        return None if self.log is None else self.log(level, message)

    def _ui_notify(self, context: OpContext, message: str) -> Any:
        assert self.ui_notify is not None
        return self.ui_notify(message)

    def _tool_call(self, context: OpContext, name: str, args: Value) -> Any:
        assert self.tool_call is not None
        return answered(context.op, self.tool_call(name, json_argument(context.op, args)), TOOL_ANSWERS)

    def _tool_spawn(self, context: OpContext, name: str, args: Value) -> Any:
        assert self.tool_spawn is not None
        return self.tool_spawn(name, json_argument(context.op, args))

    def _model_call(self, context: OpContext, name: str, payload: Value) -> Any:
        recipe = self._recipe(context.op, name)
        return answered(context.op, recipe.call(json_argument(context.op, payload)), MODEL_ANSWERS)

    def _model_spawn(self, context: OpContext, name: str, payload: Value) -> Any:
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

    def _process_run(self, context: OpContext, command: str, args: Value) -> Any:
        assert self.process_run is not None
        return self.process_run(command, tuple(args))

    def _schedule_after_ms(self, context: OpContext, delay: int, event: Value) -> Any:
        assert self.schedule_after_ms is not None
        return self.schedule_after_ms(delay, event)

    def _schedule_cancel(self, context: OpContext, timer_id: str) -> Any:
        assert self.schedule_cancel is not None
        return self.schedule_cancel(timer_id)


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
