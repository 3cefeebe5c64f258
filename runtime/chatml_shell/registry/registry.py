"""A registry of live runtimes and tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from chatml.diagnostics.errors import ChatmlError
from chatml_runtime.moderation.vocabulary import ToolCall
from chatml_shell.errors import Refusal, ShellError
from chatml_shell.executor.run import execute
from chatml_shell.instantiate.tools import LiveTool
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.manifest.record import Manifest
from chatml_shell.plans.command import Command
from chatml_shell.plans.outcome import status_json
from chatml_shell.plans.request import Request, of_command
from chatml_shell.plans.result import CommandRecord
from chatml_shell.processes.launcher import Launcher
from chatml_shell.tools.inputs import InputError, read_inputs
from chatml_shell.tools.requests import build_request
from chatml_shell.tools.results import error_text, result_text

INVALID_ARGUMENTS = "shell.moderator_invalid_arguments"
RUNTIME_MISSING = "shell.moderator_runtime_missing"
RATIONALE = "the conversation's moderator runs this"


class UnknownToolError(ChatmlError):
    """A call of a tool that the registry has not."""


class ProcessError(ChatmlError):
    """A process that a moderator wanted and did not get; the message is `[code] reason` (section 21)."""


@attrs.frozen(kw_only=True)
class CallOutcome:
    """What came of a call: `output` is what the model gets, `code` None for a result, else why there is none or why it
    counts as an error; `records` are the commands that were carried out."""

    output: str
    code: str | None = None
    records: Sequence[CommandRecord] = ()


@attrs.frozen(kw_only=True, eq=False)
class Registry:
    """The runtimes and tools of a manifest, live. Made by `open_registry`; any number of calls may run at once."""

    manifest: Manifest
    runtimes: Mapping[str, LiveRuntime]
    by_name: Mapping[str, LiveTool]
    launcher: Launcher

    @property
    def tools(self) -> tuple[LiveTool, ...]:
        """The tools, sorted by name."""
        return tuple(self.by_name.values())

    async def call(self, name: str, arguments_json: str) -> str:
        """What a model gets for a call. Raises `UnknownToolError`; everything else is a text."""
        return (await self.run(name, arguments_json)).output

    async def run(self, name: str, arguments_json: str) -> CallOutcome:
        """A call with the records of its commands. Raises `UnknownToolError`; a cancellation passes when all
        processes are gone."""
        tool = self.by_name.get(name)
        if tool is None:
            known = ", ".join(self.by_name) or "none"
            raise UnknownToolError(f"unknown shell tool `{name}`; known: {known}")
        redact = tool.runtime.redactor.redact
        try:
            inputs = read_inputs(tool.declaration, arguments_json, tool.runtime.bounds.max_stdin)
            request = build_request(tool.declaration, inputs, tool.around)
            result = await execute(tool.runtime, request, self.launcher)
        except InputError as error:
            return CallOutcome(output=error_text(error.code, redact(error.message)), code=error.code)
        except Refusal as refusal:
            return CallOutcome(output=error_text(refusal.code, redact(refusal.reason)), code=refusal.code)
        except ShellError as error:
            found = error.diagnostics[0]
            return CallOutcome(output=error_text(found.code, redact(found.message)), code=found.code)
        output, code = result_text(tool.declaration, result)
        return CallOutcome(output=output, code=code, records=result.commands)

    async def run_tool(self, call: ToolCall) -> str:
        """A `ToolRunner` for `run_conversation` and the toolboxes of `chatml_runtime`: one call that was reviewed."""
        return await self.call(call.name, json.dumps(call.args, ensure_ascii=False))

    async def process_run(self, program: str, args: Any) -> str:
        """`Process.run` of a moderator, in the runtime that the document names for it (section 21).

        Raises `ProcessError` with the code and the reason of a refusal.
        """
        named = self.manifest.material.moderator_runtime
        if named is None:
            raise ProcessError("Process.run is not configured: the document has no <moderator_runtime>")
        runtime = self.runtimes.get(named)
        if runtime is None:
            raise ProcessError(worded(RUNTIME_MISSING, f"unknown runtime `{named}`"))
        is_list = isinstance(args, Sequence) and not isinstance(args, str)
        if not is_list or not all(isinstance(arg, str) and "\0" not in arg for arg in args) or "\0" in program:
            raise ProcessError(worded(INVALID_ARGUMENTS, "the arguments are not an array of strings"))
        command = Command(program, tuple(args))
        request = Request(chain=of_command(command), origin="moderator", rationale=RATIONALE)
        try:
            result = await execute(runtime, request, self.launcher)
        except Refusal as refusal:
            raise ProcessError(str(refusal)) from None
        return result.stdout + result.stderr

    def close(self) -> None:
        """Close the audits. The launcher is its owner's to close."""
        for runtime in self.runtimes.values():
            runtime.recorder.close()


def record_json(record: CommandRecord) -> dict[str, Any]:
    """A command as the command line shows it."""
    return {
        "argv": list(record.argv),
        "status": status_json(record.status),
        "backend": record.backend,
        "intercepted_by": record.intercepted_by,
    }


def worded(code: str, why: str) -> str:
    """A failure of a process as the moderator's script sees it."""
    return f"[{code}] {why}"
