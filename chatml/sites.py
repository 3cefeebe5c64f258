"""Where each operation was asked for: a program whose tasks know the place of the expression that built them.

It is a copy of the program's core in which each use of a builtin that builds a task has a cell of its own. In that cell
is the same builtin, which notes the place of this use in the `Perform` or `Spawn` that it builds. So an operation on
which a helper function decides points at the helper's line, and an engine runs as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chatml.core import nodes
from chatml.core.branches import INNER
from chatml.pipeline import Program
from chatml.records import evolve, frozen
from chatml.source import Span
from chatml.stack import deep
from chatml.surfaces.model import Builtin, Module, Surface
from chatml.types.model import Con
from chatml.values.model import Bind, Catch, Map, Perform, Spawn, Value


@frozen(eq=False)
class Use(Builtin):
    """One use of a builtin; reports call it as they call the builtin."""

    shown: str = ""

    def qualified(self, module: str | None) -> str:
        return self.shown


def with_sites(program: Program) -> Program:
    """The same program, in which each operation that a script asks for has its `site`.

    >>> from chatml import UI_MODERATOR, compile
    >>> program = with_sites(compile('let stop why = Turn.halt(why)', surface=UI_MODERATOR))
    >>> program.run().call("stop", "late").site.text
    'Turn.halt(why)'
    """
    placer = Placer(program)
    with deep():
        statements = tuple([placer.copy(statement) for statement in program.core.statements])
    script = program.core
    builtins = (*script.builtins, *placer.cells)
    core = nodes.Script(statements, script.cells + len(placer.cells), script.size, builtins, script.definitions)
    surface = program.surface.combine(Surface(modules=(Module(USES, tuple(placer.uses)),)))
    return evolve(program, core=core, surface=surface)


USES = "uses of builtins"
"""The module that holds the uses: a name that no script can write."""


class Placer:
    """Copies the core of a program, and gives each use of an effect a cell of its own."""

    def __init__(self, program: Program) -> None:
        rows = {
            (module.name, export.name): export
            for module in program.surface.modules
            for export in module.exports
            if builds_a_task(module.name, export)
        }
        self.effects = {
            cell.cell: (f"{cell.module}.{cell.name}", rows[cell.module, cell.name])
            for cell in program.core.builtins
            if cell.module is not None and (cell.module, cell.name) in rows
        }
        self.next = program.core.cells
        self.cells: list[nodes.BuiltinCell] = []
        self.uses: list[Builtin] = []

    def copy(self, node: Any) -> Any:
        kind = type(node)
        return kind(*[self.part(getattr(node, name)) for name in kind.__match_args__])

    def part(self, part: Any) -> Any:
        kind = type(part)
        if kind is tuple:
            return tuple([self.part(element) for element in part])
        if kind is nodes.Global and part.cell in self.effects:
            return self.use(part)
        return self.copy(part) if kind in INNER else part

    def use(self, place: nodes.Global) -> nodes.Global:
        shown, row = self.effects[place.cell]
        name, cell = f"use {len(self.uses)}", self.next + len(self.uses)
        self.cells.append(nodes.BuiltinCell(cell, name, USES))
        self.uses.append(Use(name, row.scheme, noting(row.function, place.span), row.machine, shown=shown))
        return nodes.Global(cell, place.span)


def builds_a_task(module: str, export: Builtin) -> bool:
    """Whether a builtin asks a host for something; those of `Task` only put tasks together."""
    result = export.scheme.result
    return module != "Task" and isinstance(result, Con) and result.name == "task"


def noting(function: Callable[..., Value], site: Span) -> Callable[..., Value]:
    """The function of a builtin that notes a place in the operation with which its task begins."""

    def build(*args: Value) -> Value:
        task = first = function(*args)
        while isinstance(first, (Bind, Map, Catch)):
            first = first.task
        if isinstance(first, (Perform, Spawn)):
            first.site = site
        return task

    return build
