"""What a model wrote, checked against its tool (section 12.3).

The order is fixed: the object, the names and types of its fields, standard input, the rationale, and then what the mode
asks for. The first fault is the one that the model is told.
"""

from __future__ import annotations

import json
from typing import Any, TypeGuard

import attrs

from chatmd.shell.tool import Arguments, Chain, Fixed, Raw, ScriptFile, ShellTool, Structured
from chatml.diagnostics.errors import ChatmlError

KNOWN = ("program", "command", "script", "arguments", "stdin", "rationale")
FIELDS: dict[type, tuple[str, ...]] = {
    Fixed: ("arguments",),
    Structured: ("program", "arguments"),
    Chain: ("command",),
    Raw: ("script",),
    ScriptFile: ("arguments",),
}
COMMON = ("stdin", "rationale")


class InputError(ChatmlError):
    """A call that the model can mend; `code` is one of section 12.3."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"[{code}] {message}")


@attrs.frozen(kw_only=True)
class Inputs:
    """The fields of a call, each of its type; what was left out is empty."""

    program: str = ""
    command: str = ""
    script: str = ""
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    rationale: str | None = None


def read_inputs(tool: ShellTool, arguments_json: str, max_stdin: int) -> Inputs:
    """The fields of a call. `max_stdin` is in bytes. Raises `InputError`.

    >>> from chatmd.shell.tool import Fixed
    >>> read_inputs(ShellTool(name="t", runtime="r", mode=Fixed(command="ls")), '{"arguments": ["-l"]}', 10).arguments
    ('-l',)
    """
    given = _object(arguments_json)
    _check_fields(tool, given)
    _check_stdin(tool, given.get("stdin"), max_stdin)
    _check_rationale(tool, given.get("rationale"))
    _check_mode(tool, given)
    for word in (given.get("program", "x"), *given.get("arguments", ())):
        if "\0" in word:
            raise InputError("shell.tool_invalid_input", "a word of a command cannot hold the character NUL")
    if "\0" in given.get("script", ""):
        raise InputError("shell.tool_invalid_input", "`script` cannot hold the character NUL")
    return Inputs(**{**given, "arguments": tuple(given.get("arguments", ()))})


def _object(text: str) -> dict[str, Any]:
    repeated: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) != len(pairs):
            names = [name for name, _ in pairs]
            repeated.append(next(name for name in names if names.count(name) > 1))
        return record

    try:
        given = json.loads(text or "{}", object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise InputError("shell.tool_invalid_input", "the arguments are not JSON") from None
    if repeated:
        raise InputError("shell.tool_duplicate_input", f"`{repeated[0]}` is given twice")
    if not isinstance(given, dict):
        raise InputError("shell.tool_invalid_input", "the arguments are not a JSON object")
    return given


def _check_fields(tool: ShellTool, given: dict[str, Any]) -> None:
    allowed = (*FIELDS[type(tool.mode)], *COMMON)
    for name in given:
        if name not in KNOWN:
            raise InputError("shell.tool_unknown_input", f"unknown field `{name}`; this tool has {_listed(allowed)}")
    for name in given:
        if name not in allowed:
            raise InputError("shell.tool_field_forbidden", f"this tool has no field `{name}`, but {_listed(allowed)}")
    for name, value in given.items():
        wanted = "an array of strings" if name == "arguments" else "a string"
        if not (_are_texts(value) if name == "arguments" else _is_text(value)):
            raise InputError("shell.tool_invalid_input", f"`{name}` must be {wanted}")


def _is_text(value: Any) -> TypeGuard[str]:
    """Whether a value is a text that can leave as UTF-8: JSON can spell half a surrogate pair."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(one) for one in value)


def _check_stdin(tool: ShellTool, stdin: str | None, max_stdin: int) -> None:
    if tool.stdin == "none" and stdin:
        raise InputError("shell.tool_stdin_forbidden", "this tool reads no standard input")
    if tool.stdin == "required" and not stdin:
        raise InputError("shell.tool_stdin_required", "`stdin` must be given and not be empty")
    size = len((stdin or "").encode("utf-8"))
    if size > max_stdin:
        raise InputError("shell.tool_stdin_too_large", f"`stdin` has {size} bytes; {max_stdin} are allowed")


def _check_rationale(tool: ShellTool, rationale: str | None) -> None:
    if tool.rationale == "none" and rationale:
        raise InputError("shell.tool_rationale_forbidden", "this tool takes no rationale")
    if tool.rationale == "required" and not (rationale or "").strip():
        raise InputError("shell.tool_rationale_required", "`rationale` must say why the tool is called")


def _check_mode(tool: ShellTool, given: dict[str, Any]) -> None:
    mode = tool.mode
    if isinstance(mode, Structured):
        if "program" not in given:
            raise InputError("shell.tool_program_required", "`program` must be given")
        if "arguments" not in given:
            raise InputError("shell.tool_arguments_required", "`arguments` must be given; it may be empty")
        if not given["program"]:
            raise InputError("shell.tool_invalid_input", "`program` must not be empty")
    elif isinstance(mode, Chain) and not given.get("command"):
        raise InputError("shell.tool_command_required", "`command` must be given and not be empty")
    elif isinstance(mode, Raw) and not given.get("script"):
        raise InputError("shell.tool_script_required", "`script` must be given and not be empty")
    elif isinstance(mode, Fixed):
        _check_arguments(mode.arguments, given.get("arguments", []))


def _check_arguments(bounds: Arguments, arguments: list[str]) -> None:
    if bounds.mode == "none" and arguments:
        raise InputError("shell.tool_arguments_forbidden", "this tool takes no arguments")
    least = bounds.min_count if bounds.min_count is not None else 1 if bounds.mode == "required" else 0
    if len(arguments) < least:
        raise InputError(
            "shell.tool_too_few_arguments", f"`arguments` needs at least {least}, and has {len(arguments)}"
        )
    if bounds.max_count is not None and len(arguments) > bounds.max_count:
        raise InputError(
            "shell.tool_too_many_arguments", f"`arguments` takes at most {bounds.max_count}, and has {len(arguments)}"
        )
    most = bounds.max_item_bytes
    if most is not None and any(len(one.encode("utf-8")) > most for one in arguments):
        raise InputError("shell.tool_argument_too_large", f"an argument has at most {most} bytes")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
