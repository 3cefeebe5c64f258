"""Two tools: reading a file below a root, and a calculation that can do nothing but calculate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chatml
from chatml_runtime import Toolbox

MOST_CHARACTERS = 10_000
LIMITS = chatml.Limits(steps=100_000, depth=1_000, text=10_000)


def toolbox(root: Path) -> Toolbox:
    """The tools. What they raise becomes an output that says so; a call that takes too long does, too."""
    tools = Toolbox(timeout_ms=5_000)
    root = root.resolve()

    @tools.tool(
        "read_file",
        "Reads a file of the workspace.",
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    )
    def read_file(args: Any) -> str:
        path = (root / args["path"]).resolve()
        if not path.is_relative_to(root):
            raise PermissionError(f"{args['path']} is outside of the workspace")
        return path.read_text(encoding="utf-8")[:MOST_CHARACTERS]

    @tools.tool(
        "calculate",
        "Gives the value of an expression, such as 6 * 7 or 1.5 *. 2.0.",
        {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    )
    def calculate(args: Any) -> str:
        """ChatML as a calculator: the language reaches nothing outside of itself, and limits end what is endless."""
        program = chatml.compile(f"let result = {args['expression']}", name="expression")
        instance = program.run(print=lambda line: None, limits=LIMITS)
        return chatml.show(instance["result"])

    return tools
