"""From core to a Python syntax tree: builtins that call a function for each element of an array, as loops in place.

A function that is written out as the argument becomes the body of the loop: its parameters and what it captures are
variables, and a turn counts a step as its call would. Any other is called from the loop, so that a script that recurses
through an array takes one frame a call. What is not an array is left to the builtin, to be refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from chatml.core import nodes
from chatml.engines.compile.body import DROP, Body, Target
from chatml.engines.compile.code import TAKES, Kind, Spot, raw_name
from chatml.engines.compile.python import LOAD, STORE, assign, attribute, call, compare, const, either, item, name

NONE = ("None",)


class Loop:
    """A loop in the making, for one call of a builtin. `args` are at hand, but for a function written in place."""

    def __init__(self, body: Body, node: nodes.Call, builtin: int, takes: tuple[str, ...]) -> None:
        self.body = body
        self.node = node
        self.builtin = builtin
        self.spot = Spot(Kind.IN_PLACE, node.span, body.unit.builtins[builtin].name, builtin=True)
        in_place = body.unit.facts.in_place.get(node)
        self.function = None if in_place is None else in_place[0]
        args = body.operands(node.args if in_place is None else node.args[:-1])
        self.args = [arg if body.stable(arg) else body.temporary(arg) for arg in args]
        self.source = self.args[0]
        self.taken = {what: body.unit.fresh("v") for what in takes}

    def refuse(self, *tests: ast.expr) -> None:
        """Leave what makes one of the tests true to the builtin."""
        self.body.unit.raw.add(self.builtin)
        args = self.args if self.function is None else [*self.args, const(None)]
        refused = ast.Expr(call(raw_name(self.builtin), name("M"), *args))
        self.body.emit(self.body.at(ast.If(either(tests), [refused], []), self.spot))

    def check_array(self) -> None:
        self.refuse(compare(call("type", self.source), ast.IsNot(), name("list")))

    def check_size(self, size: ast.expr) -> None:
        self.body.emit(ast.Expr(self.body.at(call(attribute(name("M"), "check_size"), size), self.spot)))

    def charge(self) -> None:
        """Charge for the elements of the array, as the builtin does."""
        if self.body.unit.bounded:
            charged = call(attribute(name("M"), "charge"), length(self.source))
            self.body.emit(ast.Expr(self.body.at(charged, self.spot)))

    def variable(self, value: ast.expr) -> str:
        return self.body.temporary(value).id

    def run(self, turn: Callable[[Body], None], source: ast.expr | None = None) -> None:
        """Emit the loop, over the elements of the array or of `source`; `turn` emits the body."""
        body, unit = self.body, self.body.unit
        inner = body.in_place(self.function, list(self.taken.values()))
        outermost, unit.within = unit.within, unit.within or self.node.span
        unit.descend()
        if self.function is not None and unit.bounded:
            inner.emit(inner.tick(Spot(Kind.LOOP, self.node.span)))
        turn(inner)
        unit.depth -= 1
        unit.within = outermost
        source = self.source if source is None else source
        targets: list[ast.expr] = [ast.Name(self.taken[what], STORE) for what in ORDER if what in self.taken]
        if len(targets) > 1:
            source = call("enumerate", source)
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, STORE)
        body.emit(body.at(ast.For(target, source, inner.block or [ast.Pass()], []), self.spot))

    def into(self, inner: Body, target: Target) -> None:
        """Emit what puts the value of the function somewhere."""
        if self.function is None:
            inner.put(self.value(inner), target)
        else:
            inner.into(self.function.body, target)

    def value(self, inner: Body) -> ast.expr:
        """The value of the function."""
        if self.function is not None:
            return inner.operand(self.function.body)
        return inner.at(call(self.args[-1], *[name(param) for param in self.taken.values()]), self.spot)


ORDER = ("index", "element")


def length(value: ast.expr) -> ast.expr:
    return call("len", value)


def append(found: str, value: ast.expr) -> ast.stmt:
    return ast.Expr(call(attribute(name(found), "append"), value))


def lower_map(loop: Loop) -> ast.expr:
    loop.check_array()
    if loop.body.unit.bounded:
        loop.check_size(length(loop.source))
    return collected(loop)


def lower_init(loop: Loop) -> ast.expr:
    loop.refuse(compare(call("type", loop.source), ast.IsNot(), name("int")), compare(loop.source, ast.Lt(), const(0)))
    loop.check_size(loop.source)
    return collected(loop, call("range", loop.source))


def collected(loop: Loop, source: ast.expr | None = None) -> ast.expr:
    """An array of what the function returns."""
    found = loop.variable(ast.List([], LOAD))
    loop.run(lambda inner: inner.emit(append(found, loop.value(inner))), source)
    return name(found)


def lower_iter(loop: Loop) -> ast.expr:
    loop.check_array()
    loop.charge()
    loop.run(lambda inner: loop.into(inner, DROP))
    return const(None)


def lower_fold(loop: Loop) -> ast.expr:
    loop.check_array()
    loop.charge()
    result = loop.taken["result"]
    loop.body.emit(assign(result, loop.args[1]))
    loop.run(lambda inner: loop.into(inner, result))
    return name(result)


def lower_filter(loop: Loop) -> ast.expr:
    """The only one that looks at the elements that the array has at first."""
    loop.check_array()
    loop.charge()
    found = loop.variable(ast.List([], LOAD))

    def turn(inner: Body) -> None:
        inner.emit(ast.If(loop.value(inner), [append(found, name(loop.taken["element"]))], []))

    loop.run(turn, item(loop.source, ast.Slice()))
    if loop.body.unit.bounded:
        loop.check_size(length(name(found)))
    return name(found)


def lower_exists(loop: Loop) -> ast.expr:
    return first(loop, const(False), lambda inner: (loop.value(inner), const(True)))


def lower_for_all(loop: Loop) -> ast.expr:
    return first(loop, const(True), lambda inner: (ast.UnaryOp(ast.Not(), loop.value(inner)), const(False)))


def lower_find_map(loop: Loop) -> ast.expr:
    def some(inner: Body) -> tuple[ast.expr, ast.expr]:
        value = inner.temporary(loop.value(inner))
        return compare(value, ast.NotEq(), const(NONE)), value

    return first(loop, const(NONE), some)


def first(loop: Loop, default: ast.expr, look: Callable[[Body], tuple[ast.expr, ast.expr]]) -> ast.expr:
    """The result of the first turn whose test is true; `look` gives the two."""
    loop.check_array()
    loop.charge()
    result = loop.variable(default)

    def turn(inner: Body) -> None:
        test, value = look(inner)
        inner.emit(ast.If(test, [assign(result, value), ast.Break()], []))

    loop.run(turn)
    return name(result)


LOOPS: dict[str, Callable[[Loop], ast.expr]] = {
    "init": lower_init,
    "map": lower_map,
    "mapi": lower_map,
    "iter": lower_iter,
    "iteri": lower_iter,
    "fold": lower_fold,
    "filter": lower_filter,
    "exists": lower_exists,
    "for_all": lower_for_all,
    "find_map": lower_find_map,
}


def traverse(body: Body, node: nodes.Call, builtin: int, traversal: str) -> ast.expr:
    """A call of a builtin that goes through an array."""
    return LOOPS[traversal](Loop(body, node, builtin, TAKES[traversal]))
