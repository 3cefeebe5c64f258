"""Which loops merely gather a sum in a variable: it is wrapped once, after the loop.

Wrapping commutes with `+` and `-`, and Python's ints have room: what grows by a bounded amount each turn is a few bits
longer in the end, however many turns there are. So nothing needs to be wrapped while nobody looks, that is, while a
turn reads the variable only to add to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from chatml.core import nodes
from chatml.engines.compile.analyse import Facts
from chatml.engines.compile.parts import PARTS
from chatml.records import frozen, mutable

Variable = object
"""A ref that is a mere variable, or a parameter, whatever its slots in functions that are written in place."""


@frozen
class Sums:
    """`gathered` are the additions that are not wrapped.

    `after` says which slots are wrapped instead after a loop, `before` which before an expression that ends a function.
    `results` are the calls of builtins that gather a sum in their own result.
    """

    gathered: set[nodes.Expr]
    after: dict[nodes.Expr, set[int]]
    before: dict[nodes.Expr, set[int]]
    results: set[nodes.Call]


def find_sums(statements: Iterable[nodes.Statement], facts: Facts) -> Sums:
    """The sums of a script."""
    walk = _Walk(facts)
    walk.statements(statements)
    return walk.sums


def addends(node: nodes.Expr, slot: int) -> list[nodes.Expr] | None:
    """What an expression adds to the variable in a slot, or takes from it; None if it does anything else."""
    found: list[nodes.Expr] = []
    while not reads(node, slot):
        if not (isinstance(node, nodes.Binary) and node.op in ("+", "-")):
            return None
        if node.op == "+" and reads(node.right, slot):
            return [*found, node.left]
        found.append(node.right)
        node = node.left
    return found


def reads(node: nodes.Expr, slot: int) -> bool:
    """Whether an expression is the variable in a slot: a parameter, or the content of a ref."""
    variable = node.ref if isinstance(node, nodes.Deref) else node
    return isinstance(variable, nodes.Local) and variable.slot == slot


@mutable
class Loop:
    """A loop at hand: the additions to variables, where loops inside settle them, and the variables it looks at."""

    additions: dict[Variable, list[nodes.Expr]]
    inside: dict[Variable, list[tuple[nodes.Expr, int]]]
    seen: set[Variable]

    def join(self, inner: Loop) -> None:
        """Take over what a loop inside has found."""
        self.seen |= inner.seen
        for variable, added in inner.additions.items():
            self.additions.setdefault(variable, []).extend(added)
        for variable, places in inner.inside.items():
            self.inside.setdefault(variable, []).extend(places)


def new_loop() -> Loop:
    return Loop({}, {}, set())


class _Walk:
    """`variables` are those of the function at hand, by slot; `loops` those around the place of the walk."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.sums = Sums(set(), {}, {}, set())
        self.variables: dict[int, Variable] = {}
        self.loops = [new_loop()]

    def statements(self, statements: Iterable[nodes.Statement]) -> None:
        for statement in statements:
            match statement:
                case nodes.Define(value=value) | nodes.Evaluate(value=value):
                    self.visit(value)
                case nodes.DefineRec(functions=functions):
                    for function in functions:
                        self.visit(function)
                case nodes.DefineModule(items=items):
                    self.statements(items)

    def visit(self, node: nodes.Expr) -> None:
        handler = HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node)
            return
        for child in PARTS[type(node)](node):
            self.visit(child)

    def look(self, slot: int) -> None:
        """The loop at hand does with a variable what no sum allows."""
        if slot in self.variables:
            self.loops[-1].seen.add(self.variables[slot])

    def change(self, slot: int, value: nodes.Expr) -> None:
        """Visit the new value of a variable."""
        added = addends(value, slot)
        if added:
            self.loops[-1].additions.setdefault(self.variables[slot], []).append(value)
        for part in [value] if added is None else added:
            self.visit(part)

    def gather(self, loop: Loop) -> set[Variable]:
        """The variables in which a loop gathers a sum; the loops inside it need not settle them."""
        gathering = loop.additions.keys() - loop.seen
        for variable in gathering:
            self.sums.gathered.update(loop.additions[variable])
            for node, slot in loop.inside.pop(variable, ()):
                self.sums.after[node].discard(slot)
        return gathering

    def settle(self, node: nodes.Expr, loop: Loop) -> None:
        """Note where a loop's sums are wrapped, and tell the loop around it."""
        gathering = self.gather(loop)
        for slot, variable in self.variables.items():
            if variable in gathering:
                self.sums.after.setdefault(node, set()).add(slot)
                loop.inside[variable] = [(node, slot)]
        self.loops[-1].join(loop)

    # Variables

    def local(self, node: nodes.Local) -> None:
        self.look(node.slot)

    def set_ref(self, node: nodes.SetRef) -> None:
        ref = node.ref
        if isinstance(ref, nodes.Local) and ref.slot in self.variables:
            self.change(ref.slot, node.value)
        else:
            self.visit(ref)
            self.visit(node.value)

    def bind(self, node: nodes.Let) -> None:
        """A variable begins anew in each turn of the loop at hand: only loops inside may gather a sum in it."""
        self.visit(node.value)
        if node in self.facts.variables:
            self.variables[node.slot] = object()
            self.look(node.slot)

    def let(self, node: nodes.Let) -> None:
        self.bind(node)
        self.visit(node.body)

    # Loops

    def loop(self, node: nodes.While) -> None:
        self.loops.append(new_loop())
        self.visit(node.condition)
        self.visit(node.body)
        self.settle(node, self.loops.pop())

    def call(self, node: nodes.Call) -> None:
        if node not in self.facts.in_place:
            for part in PARTS[nodes.Call](node):
                self.visit(part)
            return
        for arg in node.args[:-1]:
            self.visit(arg)
        function, takes = self.facts.in_place[node]
        outside, result = self.variables, object()
        self.variables = {inner: outside[outer] for outer, inner in function.captures if outer in outside}
        self.loops.append(new_loop())
        if "result" in takes:
            self.variables[0] = result
            self.last(function.body, lambda value: self.change(0, value))
        else:
            self.visit(function.body)
        self.variables = outside
        loop = self.loops.pop()
        self.settle(node, loop)
        if result in loop.additions.keys() - loop.seen:
            self.sums.results.add(node)

    def function(self, node: nodes.Lambda) -> None:
        for outer, _ in node.captures:
            self.look(outer)
        variables, loops = self.variables, self.loops
        self.variables, self.loops = {}, [new_loop()]
        if node in self.facts.looping:
            self.looping(node)
        else:
            self.visit(node.body)
        self.variables, self.loops = variables, loops

    def looping(self, node: nodes.Lambda) -> None:
        """A function that calls itself at its end: a loop with its parameters for variables."""
        self.variables = {slot: object() for slot in range(node.arity)}
        params = dict(self.variables)
        loop = self.loops[0]
        ends: list[tuple[nodes.Expr, Loop]] = []

        def end(last: nodes.Expr) -> None:
            if isinstance(last, nodes.Call) and last in self.facts.again:
                for slot, arg in enumerate(last.args):
                    self.change(slot, arg)
            else:
                self.loops = [new_loop()]
                self.visit(last)
                ends.append((last, self.loops[0]))
                self.loops = [loop]

        self.last(node.body, end)
        gathering = self.gather(loop)
        for last, around in ends:
            slots = {slot for slot, variable in params.items() if variable in gathering & around.seen}
            if slots:
                self.sums.before[last] = slots

    def last(self, node: nodes.Expr, end: Callable[[nodes.Expr], None]) -> None:
        """Visit an expression, and leave to `end` those in its tail positions."""
        match node:
            case nodes.Let(body=body):
                self.bind(node)
                self.last(body, end)
            case nodes.LetRec(functions=functions, body=body):
                for function in functions:
                    self.visit(function)
                self.last(body, end)
            case nodes.Seq(first=first, second=second):
                self.visit(first)
                self.last(second, end)
            case nodes.If(condition=condition, then=then, otherwise=otherwise):
                self.visit(condition)
                self.last(then, end)
                self.last(otherwise, end)
            case nodes.And(left=left, right=right) | nodes.Or(left=left, right=right):
                self.visit(left)
                self.last(right, end)
            case nodes.Match(scrutinee=scrutinee, arms=arms):
                self.visit(scrutinee)
                for arm in arms:
                    self.last(arm.body, end)
            case _:
                end(node)


HANDLERS: dict[type, Callable[[_Walk, Any], None]] = {
    nodes.Local: _Walk.local,
    nodes.Lambda: _Walk.function,
    nodes.Call: _Walk.call,
    nodes.While: _Walk.loop,
    nodes.Let: _Walk.let,
    nodes.SetRef: _Walk.set_ref,
}
