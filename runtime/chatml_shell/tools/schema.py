"""What a model is told of a tool: a JSON schema, and a description that is always there (sections 12.1 and 12.2)."""

from __future__ import annotations

from typing import Any

from chatmd.shell.tool import Chain, Fixed, Raw, ScriptFile, ShellTool, Structured, mode_of
from chatmd.text.attributes import WHITE

STRING = {"type": "string"}
STRINGS = {"type": "array", "items": {"type": "string"}}

FIELDS: dict[type, tuple[dict[str, Any], tuple[str, ...]]] = {
    Fixed: ({"arguments": STRINGS}, ()),
    Structured: ({"program": STRING, "arguments": STRINGS}, ("program", "arguments")),
    Chain: ({"command": STRING}, ("command",)),
    Raw: ({"script": STRING}, ("script",)),
    ScriptFile: ({"arguments": STRINGS}, ()),
}
"""The fields of each mode, and which of them must be there."""

RUNS = {
    "structured": "Runs one program with literal arguments: `program` is its name or path, `arguments` its words. "
    "Nothing is expanded, so quote and escape nothing.",
    "chain": "Runs `command`: words joined by `|`, `;`, `&&` and `||`. This is not a shell: no redirection, no "
    "substitution, no globs, and `$NAME` is literal.",
    "raw": "Runs `script` as text for the shell {what}.",
    "script": "Runs the script {what} with `arguments` as its words.",
}
STDIN = {
    "none": "It reads no input.",
    "optional": "`stdin` may hold its input.",
    "required": "`stdin` holds its input and must be given.",
}
RATIONALE = {
    "none": "",
    "optional": "`rationale` may say why you call it.",
    "required": "`rationale` must say why you call it.",
}
RESULTS = {
    "combined": "The result is what it writes to its output, then what it writes to its error channel.",
    "stdout": "The result is what it writes to its output.",
    "structured": "The result is a JSON object with `status`, `stdout`, `stderr` and the commands that ran.",
}
NONZERO = {
    "result": "A command that fails is a result like any other.",
    "error": "A command that fails is an error that carries its result.",
}
GOVERNED = (
    "The runtime's policy, approvals, sandbox, limits, interceptors, redaction and audit apply to every call: "
    'it may be refused, asked about, or cut. A refusal is a JSON object `{"error": {"code", "message"}}`.'
)


def schema(tool: ShellTool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments.

    >>> schema(ShellTool(name="t", runtime="r", mode=Structured(), rationale="none"))["required"]
    ['program', 'arguments']
    """
    fields, needed = FIELDS[type(tool.mode)]
    properties, required = dict(fields), list(needed)
    if isinstance(tool.mode, Fixed):
        if tool.mode.arguments.mode == "none":
            properties = {}
        elif tool.mode.arguments.mode == "required":
            required.append("arguments")
    for name in ("stdin", "rationale"):
        use = getattr(tool, name)
        if use != "none":
            properties[name] = STRING
        if use == "required":
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def describe(tool: ShellTool) -> str:
    """What a model reads about a tool; the declaration's own description comes last."""
    parts = [_runs(tool), STDIN[tool.stdin], RATIONALE[tool.rationale], RESULTS[tool.result], NONZERO[tool.nonzero]]
    text = " ".join(part for part in (*parts, GOVERNED) if part)
    guidance = (tool.description or "").strip(WHITE)
    return f"{text}\n\nAdditional tool guidance: {guidance}" if guidance else text


def _runs(tool: ShellTool) -> str:
    mode = tool.mode
    if isinstance(mode, Fixed):
        takes = {
            "none": "It takes no arguments.",
            "optional": "`arguments` are added to it as literal words.",
            "required": "`arguments` must be given and are added to it as literal words.",
        }
        return f"Runs {_command(mode)}. {takes[mode.arguments.mode]}"
    what = mode.executable if isinstance(mode, Raw) else mode.script if isinstance(mode, ScriptFile) else ""
    return RUNS[mode_of(tool)].format(what=f"`{what}`")


def _command(mode: Fixed) -> str:
    """What a fixed tool runs: its line, or the program or alias of the command."""
    if mode.command is not None:
        return f"the command `{mode.command}`"
    line = mode.line
    alias = mode.executable_ref or (line.executable_ref if line is not None else None)
    return f"the executable `{alias}`" if line is None or line.program is None else f"the program `{line.program}`"
