"""The tools of a host: what the model is told of them, and how a call of one always has an output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import attrs

from chatml.builtins.json_data import read_data, write_data
from chatml.builtins.json_reader import JsonError
from chatml.diagnostics.suggest import near
from chatml_runtime.host.workers import abandon, called, within
from chatml_runtime.moderation.capabilities import ToolCallResult, ToolError, ToolOk
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.tool_calls import output_of
from chatml_runtime.moderation.vocabulary import ToolCall, ToolDesc, ToolKind
from chatml_runtime.script import problems
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.script.tasks import failure_text

ToolFunction: TypeAlias = Callable[[Json], Any]
"""Takes the arguments of a call, as data, and gives its output. May be a coroutine function."""


@attrs.frozen
class Tool:
    """A tool. `timeout_ms` is how long a call may take; None leaves that to the toolbox."""

    description: ToolDesc
    function: ToolFunction
    timeout_ms: int | None = None


class Toolbox:
    r"""Tools by name; to be handed to a run as its `run_tool`.

    A call always has an output: an exception, an unknown tool and a timeout become `{"error": "…"}`, which the model
    can read and a script can match. `toolbox.capability` gives the same tools to scripts, as `Tool.call`.

    >>> toolbox = Toolbox()
    >>> @toolbox.tool("add", "Adds two numbers.")
    ... async def add(args):
    ...     return {"sum": args["a"] + args["b"]}
    >>> asyncio.run(toolbox(ToolCall("c1", "add", {"a": 1, "b": 2})))
    '{"sum":3}'
    >>> print(asyncio.run(toolbox(ToolCall("c2", "ad", {}))))
    {"error":"Unknown tool \"ad\"; known: add"}
    """

    def __init__(self, tools: Iterable[Tool] = (), *, timeout_ms: int | None = None) -> None:
        """`timeout_ms` holds for every tool that has none of its own."""
        self._timeout_ms = timeout_ms
        self._tools = {tool.description.name: tool for tool in tools}

    def tool(
        self, name: str, description: str = "", input_schema: Json = None, *, timeout_ms: int | None = None
    ) -> Callable[[ToolFunction], ToolFunction]:
        """A decorator that adds a function as a tool, in place of one of the same name."""

        def add(function: ToolFunction) -> ToolFunction:
            self._tools[name] = Tool(ToolDesc(name, description, input_schema), function, timeout_ms)
            return function

        return add

    @property
    def descriptions(self) -> tuple[ToolDesc, ...]:
        """What the model is told."""
        return tuple(tool.description for tool in self._tools.values())

    def __iter__(self) -> Iterator[Tool]:
        return iter(tuple(self._tools.values()))

    async def __call__(self, call: ToolCall) -> Json:
        """The output of a call; never an exception of the tool."""
        try:
            check_arguments(call)
            return output_of(call.name, await self._run(call.name, call.args))
        except OperationFailed as failure:
            return output_of(call.name, {"error": str(failure)})

    async def capability(self, name: str, args: Json) -> ToolCallResult:
        """A call by a script: `Tool.call` and `Tool.spawn` with these tools; `` `Null `` stands for no arguments."""
        args = {} if args is None else args
        try:
            check_arguments(ToolCall("", name, args))
            return ToolOk(await self._run(name, args))
        except OperationFailed as failure:
            return ToolError(str(failure))

    async def _run(self, name: str, args: Json) -> Json:
        """What a tool answers; `OperationFailed` says why it has none."""
        tool = self._tools.get(name)
        if tool is None:
            raise OperationFailed(problems.unknown_tool(name, near(name, self._tools) or self._tools))
        limit_ms = self._timeout_ms if tool.timeout_ms is None else tool.timeout_ms
        task = asyncio.create_task(called(tool.function, args))
        try:
            if await within(limit_ms, task):
                return task.result()
        except Exception as error:
            raise OperationFailed(failure_text(error)) from error
        finally:
            abandon(task)
        raise OperationFailed(problems.tool_timed_out(name, limit_ms))


LONGEST_SHOWN = 80


def check_arguments(call: ToolCall) -> None:
    """Refuse, with `OperationFailed`, arguments that no function expects: all take an object, or a custom tool's text.

    >>> check_arguments(ToolCall("c", "read", [1]))
    Traceback (most recent call last):
    ...
    chatml_runtime.script.errors.OperationFailed: The arguments of the tool "read" are [1]. Write them as a JSON object
    """
    if isinstance(call.args, dict) or (call.kind is ToolKind.CUSTOM and isinstance(call.args, str)):
        return
    problem = f"are {write_data(call.args)[:LONGEST_SHOWN]}"
    if isinstance(call.args, str) and call.payload == call.args:
        try:
            read_data(call.payload)
        except JsonError as error:
            problem = f"are not JSON: {error.reason}"
    raise OperationFailed(problems.foreign_arguments(call.name, problem))
