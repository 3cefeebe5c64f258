"""The core tree as nested lists: `#2` is a slot, `@name` a cell."""

from __future__ import annotations

from typing import Any

import chatml
from chatml.core import nodes
from chatml.syntax.ast_dump import Item, group, show_string, write


def dump(script: nodes.Script) -> str:
    """A core script as text without its spans, a statement after the other."""
    return "\n".join(_Dump(script).statement(statement) for statement in script.statements)


class _Dump:
    """Dumps one script; knows the names of its cells."""

    def __init__(self, script: nodes.Script) -> None:
        self.cells = {
            builtin.cell: builtin.name if builtin.module is None else f"{builtin.module}.{builtin.name}"
            for builtin in script.builtins
        }
        self.cells |= {cell: name for name, cell in script.definitions.items()}

    def statement(self, statement: nodes.Statement) -> str:
        out: list[str] = []
        write(self.item(statement), 0, out)
        return "".join(out)

    def item(self, value: Any) -> Item:
        """A part of a tree."""
        match value:
            case nodes.Local(slot=slot):
                return f"#{slot}"
            case nodes.Global(cell=cell):
                return self.cell(cell)
            case nodes.Constant(value=constant) | nodes.Exactly(value=constant):
                return show_string(constant) if isinstance(constant, str) else chatml.show(constant)
            case tuple():
                return group("[]", [self.item(part) for part in value])
            case None | str() | int():
                return str(value)
        parts: list[Item] = [type(value).__name__]
        for name in value.__match_args__:
            part = getattr(value, name)
            if part is True:
                parts.append(name)
            elif part is not False and name != "span":
                parts.append(self.field(name, part))
        return group("()", parts)

    def field(self, name: str, part: Any) -> Item:
        match name:
            case "slot":
                return f"#{part}"
            case "slots":
                return group("[]", [f"#{slot}" for slot in part])
            case "captures":
                return group("[]", [f"#{outer}->#{inner}" for outer, inner in part])
            case "cell":
                return self.cell(part)
            case "cells":
                return group("[]", [self.cell(cell) for cell in part])
            case "exports":
                return group("[]", [f"{label}={self.cell(cell)}" for label, cell in part])
        return self.item(part)

    def cell(self, cell: int) -> str:
        """The name of a cell; one that a later definition took has its number only."""
        return f"@{self.cells.get(cell, cell)}"
