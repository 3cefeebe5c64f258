"""The generated code as text, for people who want to see it. What runs is the tree, which is never printed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from chatml.core import nodes
from chatml.engines.compile.analyse import analyse
from chatml.engines.compile.body import Unit
from chatml.engines.compile.code import Basis, Builtin, cell_name, raw_name
from chatml.engines.compile.lower import write


def listing(script: nodes.Script, builtins: Mapping[int, Builtin], *, bounded: bool) -> str:
    """The Python code of a script, with comments that say which names it uses and which lines it comes from.

    Raises `TooDeep` for a script that is not compiled.
    """
    parts: list[ast.Module] = []
    unit = write(script, Basis(analyse(script, builtins), builtins, bounded), parts.append)
    lines = list(legend(script, unit))
    shown = None
    for statement in statements(parts):
        origin = comment(statement, unit)
        if origin not in (None, shown):
            shown = origin
            lines += ["", f"# {origin}"]
        lines.append(ast.unparse(statement))
    return "\n".join(lines).strip("\n")


def statements(parts: list[ast.Module]) -> Iterator[ast.stmt]:
    """The statements of the top level."""
    for part in parts:
        for main in part.body:
            if isinstance(main, ast.FunctionDef):
                yield from main.body[1:]  # The first says which names are global.


def legend(script: nodes.Script, unit: Unit) -> Iterator[str]:
    """What the names of cells stand for: `g` a definition or a builtin as a value, `b` a builtin that is called."""
    names = {cell: name for name, cell in script.definitions.items()}
    names |= {cell: builtin.name for cell, builtin in unit.builtins.items() if cell in unit.values}
    yield from [f"# {cell_name(cell)}: {name}" for cell, name in names.items()]
    yield from [f"# {raw_name(cell)}: {unit.builtins[cell].name}" for cell in sorted(unit.raw)]


def comment(statement: ast.stmt, unit: Unit) -> str | None:
    """The place in the script that a statement of the top level comes from."""
    for node in ast.walk(statement):
        spot = unit.spots[getattr(node, "lineno", 0)]
        if spot is not None and spot.span is not None:
            line = f"line {spot.span.start.line}"
            return f"{line}: {spot.name}" if isinstance(statement, ast.FunctionDef) else line
    return None
