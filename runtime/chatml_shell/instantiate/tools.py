"""Tools made live: schemas and descriptions, and script files as they are now (section 11.3)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import attrs

from chatmd.shell.tool import ScriptFile, ShellTool, mode_of
from chatml_shell.errors import Refusal
from chatml_shell.executor.script_file import read_digest
from chatml_shell.instantiate.runtime import Making
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.plans.request import PreparedScript
from chatml_shell.problems import fault
from chatml_shell.tools.requests import Surroundings
from chatml_shell.tools.schema import describe, schema


@attrs.frozen(kw_only=True, eq=False)
class LiveTool:
    """A tool as a model sees it (`name`, `description`, `parameters`, `kind`), with what carries it out."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    kind: str
    declaration: ShellTool = attrs.field(repr=False)
    runtime: LiveRuntime = attrs.field(repr=False)
    around: Surroundings = attrs.field(repr=False)


def make_tool(tool: ShellTool, runtime: LiveRuntime, making: Making) -> LiveTool:
    """A live tool. Raises `ShellError`: `shell.script_unavailable`, `_too_large`, `_executable_unavailable`,
    `_not_executable`."""
    script = _prepared(tool, tool.mode, runtime, making) if isinstance(tool.mode, ScriptFile) else None
    return LiveTool(
        name=tool.name,
        description=describe(tool),
        parameters=schema(tool),
        kind=mode_of(tool),
        declaration=tool,
        runtime=runtime,
        around=Surroundings(making.host.environment, making.path, script),
    )


def _prepared(tool: ShellTool, mode: ScriptFile, runtime: LiveRuntime, making: Making) -> PreparedScript:
    """A script file with the digest that it has now, and what executes it."""
    here = ("tool", tool.name)
    file = making.path(mode.script)
    try:
        digest = read_digest(file, mode.max_source_bytes)
    except OSError as error:
        facts = {"file": file, "why": os.strerror(error.errno or 0)}
        raise fault("shell.script_unavailable", tool.span, path=here, **facts) from None
    except ValueError:
        limit = mode.max_source_bytes
        raise fault("shell.script_too_large", tool.span, path=here, file=file, limit=limit) from None
    executed = file if mode.interpreter is None else making.path(mode.interpreter)
    code = "shell.script_not_executable" if mode.interpreter is None else "shell.script_executable_unavailable"
    try:
        launcher = runtime.resolver.resolve(executed, runtime.cwd)
    except Refusal as refusal:
        raise fault(code, tool.span, path=here, file=executed, why=refusal.reason) from None
    return PreparedScript(path=file, sha256=digest, max_bytes=mode.max_source_bytes, launcher=launcher)
