"""From core to Python code: scripts and their statements.

Script text never becomes Python text: the tree is built node by node, and every name in it is made here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import CodeType

from chatml.core import nodes
from chatml.engines.compile.analyse import analyse
from chatml.engines.compile.body import DROP, Body, Tables, Unit, step_name
from chatml.engines.compile.code import Basis, Builtin, Code, cell_name
from chatml.engines.compile.expressions import EXPRESSIONS
from chatml.engines.compile.python import assign, attribute, call, const, define, located, name
from chatml.engines.compile.statements import STATEMENTS
from chatml.values.model import GENERATED

MAIN = "main"

PART = 200
"""So many statements of Python are compiled at once. CPython's compiler takes more than linear time: 8,000 definitions
take 341 µs each in one call of `compile`, and 31 µs in calls of 200."""


def generate(script: nodes.Script, builtins: Mapping[int, Builtin], *, bounded: bool) -> Code:
    """The code of a script. `bounded` code counts steps, checks sizes and announces writes."""
    parts: list[CodeType] = []
    unit = write(
        script,
        Basis(analyse(script, builtins), builtins, bounded),
        lambda part: parts.append(compile(part, GENERATED, "exec", dont_inherit=True)),
    )
    return Code(tuple(parts), tuple(unit.spots), frozenset(unit.raw), frozenset(unit.values), unit.basis)


def write(script: nodes.Script, basis: Basis, finish: Callable[[ast.Module], object]) -> Unit:
    """Hand the code of a script to `finish`, part by part, and return what was learned on the way."""
    unit = Unit(basis, Tables(EXPRESSIONS, STATEMENTS))
    top = Statements(Body(unit, None, {}), finish)
    top.lower(script.statements)
    top.finish_part()
    return unit


class Statements:
    """The top level of a script, or of a module."""

    def __init__(self, body: Body, finish: Callable[[ast.Module], object]) -> None:
        self.body = body
        self.finish = finish

    def finish_part(self) -> None:
        """Hand over the statements so far: a function `main`, whose definitions are global."""
        unit, block = self.body.unit, self.body.block
        cells = ast.Global(sorted(unit.defined)) if unit.defined else ast.Pass()
        self.finish(located(ast.Module([define(MAIN, (), [cells, *block], 1)], [])))
        unit.defined.clear()
        block.clear()

    def lower(self, statements: tuple[nodes.Statement, ...]) -> None:
        body = self.body
        for statement in statements:
            if len(body.block) >= PART:
                self.finish_part()
            match statement:
                case nodes.Define(cell=cell, value=nodes.Lambda() as function):
                    body.functions([(self.define(cell, function), function)], local=False)
                case nodes.Define(cell=cell, value=value):
                    body.into(value, self.define(cell))
                case nodes.DefineRec(cells=cells, functions=functions):
                    for cell, function in zip(cells, functions, strict=True):
                        if len(body.block) >= PART:
                            self.finish_part()
                        body.functions([(self.define(cell, function), function)], local=False)
                case nodes.DefineModule(cell=cell, name=label, items=items, exports=exports):
                    module = self.define(cell)
                    body.emit(assign(module, call("Module", const(label))))
                    self.lower(items)
                    filled = ast.Dict([const(key) for key, _ in exports], [name(cell_name(c)) for _, c in exports])
                    body.emit(ast.Expr(call(attribute(attribute(name(module), "exports"), "update"), filled)))
                case nodes.Evaluate(value=value):
                    body.into(value, DROP)

    def define(self, cell: int, function: nodes.Lambda | None = None) -> str:
        """The global variable of a cell that the script defines."""
        variable = cell_name(cell)
        self.body.unit.defined.add(variable)
        if function in self.body.unit.facts.bouncing:
            self.body.unit.defined.add(step_name(variable))
        return variable
