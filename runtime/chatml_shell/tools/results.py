"""What a model gets back: texts, always (section 12.5)."""

from __future__ import annotations

import json
from typing import Any

from chatmd.shell.tool import ShellTool
from chatml_shell.plans.outcome import SUCCESS, show_status
from chatml_shell.plans.result import Result, result_json

NONZERO = "shell.tool_nonzero"


def error_text(code: str, message: str, **more: Any) -> str:
    """An error or a refusal as the output of a tool.

    >>> error_text("denied", "rule `no`")
    '{"error":{"code":"denied","message":"rule `no`"}}'
    """
    return json.dumps({"error": {"code": code, "message": message, **more}}, ensure_ascii=False, separators=(",", ":"))


def result_text(tool: ShellTool, result: Result) -> tuple[str, str | None]:
    """The output of a tool that ran, and the code when it counts as an error."""
    value: Any = result_json(result) if tool.result == "structured" else result.stdout
    if tool.result == "combined":
        value = result.stdout + result.stderr
    if tool.nonzero == "error" and result.status != SUCCESS:
        return error_text(NONZERO, f"the command ended with {show_status(result.status)}", result=value), NONZERO
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text, None
