"""From core to a Python syntax tree: functions and their parts.

An expression of the language becomes a Python expression where Python has one, and statements before it where it has
none (`let`, `match`, `while`); operands that are already evaluated then wait in temporaries, so that the order of
evaluation stays. Every operation that can fail has a line number of its own, which leads from a Python traceback back
to the place in the script: the generated code needs no handlers.

Functions are Python functions, known ones are called directly, and a function's call of itself at its end is a turn of
a `while` loop. A function that ends in another call which may come back is *bouncing*: its step returns a `Bounce` that
says what to call next, and an entry around it carries that out without growing the stack.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self, TypeVar

from chatml.core import nodes
from chatml.engines.compile.code import Basis, Kind, Spot
from chatml.engines.compile.parts import inside
from chatml.engines.compile.python import Block, assign, call, compare, const, define, keep, name
from chatml.records import evolve, frozen
from chatml.source import Span
from chatml.values.model import INT_MAX, INT_MIN

Node = TypeVar("Node", ast.expr, ast.stmt)

RETURN: Final = object()
DROP: Final = object()
Target = object
"""Where a value goes: `RETURN`, `DROP`, or the name of a variable."""

RELATIONS = {"<": (1, True), "<=": (1, False), ">": (-1, True), ">=": (-1, False)}
"""The end of the ints that is beyond the right side of a comparison, seen from the left; whether it is strict."""

DEEPEST = 150
LOOPS = 15
"""So many loops inside each other Python's compiler takes without counting what else is a block to it."""


class TooDeep(Exception):
    """The script nests deeper than Python's own compiler should be asked to follow."""


@frozen
class Place:
    """Where a variable lives: its Python name, and the function that it is known to hold.

    `content` marks a ref that never came to be: the name holds what it would hold.
    """

    name: str
    known: nodes.Lambda | None = None
    content: bool = False


@frozen
class Tables:
    """How each expression is lowered: to a value, or, where that differs, to statements that put it somewhere.

    The latter return the expression that is left to be put there, so that long chains need no recursion.
    """

    expressions: Mapping[type, Callable[[Any, Any], ast.expr]]
    statements: Mapping[type, Callable[[Any, Any, Target], nodes.Expr | None]]


class Unit:
    """A script in the making: what its functions share."""

    def __init__(self, basis: Basis, tables: Tables) -> None:
        self.basis = basis
        self.facts = basis.facts
        self.builtins = basis.builtins
        self.bounded = basis.bounded
        self.tables = tables
        self.spots: list[Spot | None] = [None, None]
        self.raw: set[int] = set()
        self.values: set[int] = set()
        self.defined: set[str] = set()
        self.made = 0
        self.depth = 0
        self.within: Span | None = None
        """The call of a builtin whose loop is being written, the outermost."""

    def descend(self) -> None:
        """Enter a part of an expression, or refuse to."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep

    def fresh(self, prefix: str = "t") -> str:
        """A Python name that nothing else has."""
        self.made += 1
        return f"{prefix}{self.made}"

    def line(self, spot: Spot) -> int:
        """A line number of its own for a spot."""
        self.spots.append(spot if self.within is None else evolve(spot, within=self.within))
        return len(self.spots) - 1


def room_beyond(node: nodes.Expr, end: int) -> int:
    """How far the value of an expression is from an end of the ints, as far as that is known."""
    if isinstance(node, nodes.Constant) and type(node.value) is int:
        return INT_MAX - node.value if end > 0 else node.value - INT_MIN
    return 0


def step_name(place: str) -> str:
    """The step of a bouncing function, beside its entry."""
    return f"{place}_step"


class Body:
    """One Python function in the making. Statements go to the end of `block`."""

    def __init__(self, unit: Unit, function: nodes.Lambda | None, places: dict[int, Place]) -> None:
        self.unit = unit
        self.function = function
        self.places = places
        self.params: list[str] = []
        self.block: Block = []
        self.loops = 0
        self.varying: set[str] = set()
        """The names that may change although a binding never does: contents of refs, and what a loop binds anew."""
        self.room: dict[tuple[str, int], int] = {}
        """How far variables are from the upper (1) or the lower (-1) end of the ints, as the conditions around say."""

    @property
    def bouncing(self) -> bool:
        return self.function in self.unit.facts.bouncing

    @property
    def looping(self) -> bool:
        return self.function in self.unit.facts.looping

    def enter_loop(self) -> None:
        """Begin to write the body of a loop, or refuse to."""
        self.loops += 1
        if self.loops > LOOPS:
            raise TooDeep
        self.room = {end: room for end, room in self.room.items() if end[0] not in self.varying}

    def emit(self, statement: ast.stmt) -> None:
        self.block.append(statement)

    def at(self, node: Node, spot: Spot) -> Node:
        """Give a node the line of a spot."""
        node.lineno = node.end_lineno = self.unit.line(spot)
        node.col_offset = node.end_col_offset = 0
        return node

    def tick(self, spot: Spot) -> ast.stmt:
        """Count a step."""
        return ast.Expr(self.at(call("next", name("T")), spot))

    def temporary(self, value: ast.expr) -> ast.Name:
        """Keep a value in a new variable."""
        variable = self.unit.fresh()
        self.emit(assign(variable, value))
        return name(variable)

    def all_temporary(self, values: Sequence[ast.expr]) -> list[ast.expr]:
        """Keep several values, in this order."""
        return [self.temporary(value) for value in values]

    def stable(self, value: ast.expr) -> bool:
        """Whether evaluating this later gives the same value."""
        if isinstance(value, ast.Name):
            return value.id not in self.varying
        return isinstance(value, ast.Constant)

    def variable(self, slot: int) -> str:
        """A new Python variable for a slot."""
        variable = self.unit.fresh("v")
        self.places[slot] = Place(variable)
        return variable

    def apart(self, lower: Callable[[], None]) -> Block:
        """What `lower` emits, as a block of its own."""
        self.unit.descend()
        block, self.block = self.block, []
        room = self.room.copy()
        lower()
        self.room = {end: room[end] for end in self.room if end in room}
        block, self.block = self.block, block
        self.unit.depth -= 1
        return block

    def variable_of(self, node: nodes.Expr) -> str | None:
        """The variable that holds the value of an expression: a local, or the content of a ref that is a variable."""
        variable = node.ref if isinstance(node, nodes.Deref) else node
        place = self.places.get(variable.slot) if isinstance(variable, nodes.Local) else None
        return place.name if place is not None and place.content == isinstance(node, nodes.Deref) else None

    def learn(self, condition: nodes.Expr, truth: bool) -> None:
        """Note what a condition says of variables where it has just been evaluated; nothing if it may write to them."""
        found: dict[tuple[str, int], int] = {}
        todo = [condition]
        for part in todo:
            if isinstance(part, nodes.And if truth else nodes.Or):
                todo += (part.left, part.right)
            elif isinstance(part, nodes.Binary) and part.op in RELATIONS:
                way, strict = RELATIONS[part.op] if truth else (-RELATIONS[part.op][0], not RELATIONS[part.op][1])
                for side, other, end in ((part.left, part.right, way), (part.right, part.left, -way)):
                    variable = self.variable_of(side)
                    if variable is not None:
                        found[variable, end] = strict + room_beyond(other, end)
        if found and not any(isinstance(part, nodes.SetRef) for part in inside(condition)):
            self.room |= found

    def forget(self, variable: str) -> None:
        """A variable has another value now."""
        self.room = {end: room for end, room in self.room.items() if end[0] != variable}

    def branch(self, condition: nodes.Expr, truth: bool, lower: Callable[[], None]) -> Block:
        """What `lower` emits where a condition is true, or false."""

        def lower_informed() -> None:
            self.learn(condition, truth)
            lower()

        return self.apart(lower_informed)

    # Functions

    def functions(self, group: Sequence[tuple[str, nodes.Lambda]], *, local: bool) -> None:
        """Define functions under Python names that are already in place.

        In a loop their variables would change under them: they are made by a function of their own, which gets the
        values that they capture.
        """
        made = [variable for variable, _ in group]
        made += [step_name(variable) for variable, function in group if function in self.unit.facts.bouncing]
        captured = sorted({place.name for _, function in group for place in self.captured(function)} - set(made))
        if not (local and captured and (self.loops or self.looping)):
            for variable, function in group:
                self.block += self.definition(variable, function)
            return
        inside = [statement for variable, function in group for statement in self.definition(variable, function)]
        inside.append(ast.Return(ast.Tuple([name(variable) for variable in made], ast.Load())))
        factory = self.unit.fresh("make")
        self.emit(define(factory, captured, inside, 1))
        targets = ast.Tuple([ast.Name(variable, ast.Store()) for variable in made], ast.Store())
        self.emit(ast.Assign([targets], call(factory, *[name(variable) for variable in captured])))

    def captured(self, function: nodes.Lambda) -> list[Place]:
        """The variables that a function captures, the steps of bouncing functions included."""
        places = [self.places[outer] for outer, _ in function.captures]
        bouncing = self.unit.facts.bouncing
        return places + [Place(step_name(place.name)) for place in places if place.known in bouncing]

    def in_place(self, function: nodes.Lambda | None, params: Sequence[str]) -> Self:
        """The body of a loop of this one, which may be that of a function with these variables for its parameters."""
        captures = () if function is None else function.captures
        places = {slot: self.places[outer] for outer, slot in captures if outer in self.places}
        inner: Self = object.__new__(type(self))
        inner.__dict__.update(self.__dict__)
        inner.function, inner.params, inner.block = None, [], []
        inner.places = places | {slot: Place(param) for slot, param in enumerate(params)}
        inner.enter_loop()
        return inner

    def definition(self, variable: str, function: nodes.Lambda) -> Block:
        """The Python function for a function of the script; for a bouncing one its step and its entry."""
        unit = self.unit
        within, unit.within = unit.within, None
        inner = Body(unit, function, {slot: self.places[outer] for outer, slot in function.captures})
        inner.params = [inner.variable(slot) for slot in range(function.arity)]
        inner.into(function.body, RETURN)
        block = inner.block
        if inner.looping:
            block = [ast.While(const(True), block, [])]
        spot = Spot(Kind.FUNCTION, function.span, function.name)
        if unit.bounded:
            block = [inner.tick(spot), *block]
        line = unit.line(spot)
        unit.within = within
        if not inner.bouncing:
            return [define(variable, inner.params, block, line)]
        step = step_name(variable)
        result = keep(unit.fresh(), call(step, *[name(param) for param in inner.params]))
        bounced = compare(call("type", result), ast.Is(), name("Bounce"))
        entry = ast.Return(ast.IfExp(bounced, call("finish", name(result.target.id)), name(result.target.id)))
        own = ast.Assign([ast.Attribute(name(variable), "step", ast.Store())], name(step))
        return [define(step, inner.params, block, line), define(variable, inner.params, [entry], line), own]

    # Values

    def value(self, node: nodes.Expr) -> ast.expr:
        """A Python expression for the value; what it needs beforehand is emitted."""
        self.unit.descend()
        value = self.unit.tables.expressions[type(node)](self, node)
        self.unit.depth -= 1
        return value

    def operand(self, node: nodes.Expr) -> ast.expr:
        """The same, through a variable where that is cheaper."""
        return self.through_variable(node) if type(node) in self.unit.tables.statements else self.value(node)

    def operands(self, nodes: Sequence[nodes.Expr]) -> list[ast.expr]:
        """Several values, evaluated in this order: when one needs statements, those before it wait in temporaries."""
        return self.in_order([partial(self.value, node) for node in nodes])

    def in_order(self, lower: Sequence[Callable[[], ast.expr]]) -> list[ast.expr]:
        values: list[ast.expr] = []
        for lower_one in lower:
            mark = len(self.block)
            value = lower_one()
            if len(self.block) > mark:
                for position, earlier in enumerate(values):
                    if not self.stable(earlier):
                        variable = self.unit.fresh()
                        self.block.insert(mark, assign(variable, earlier))
                        mark += 1
                        values[position] = name(variable)
            values.append(value)
        return values

    def into(self, node: nodes.Expr, target: Target) -> None:
        """Evaluate an expression and put its value where it belongs: return it, drop it, or assign it."""
        rest: nodes.Expr | None = node
        while rest is not None:
            lower = self.unit.tables.statements.get(type(rest))
            if lower is None:
                self.put(self.value(rest), target)
                return
            rest = lower(self, rest, target)

    def put(self, value: ast.expr, target: Target) -> None:
        if target is RETURN:
            self.emit(ast.Return(value))
        elif isinstance(target, str):
            if not (isinstance(value, ast.Name) and value.id == target):
                self.emit(assign(target, value))
        elif not isinstance(value, ast.Name | ast.Constant):
            self.emit(ast.Expr(value))

    def through_variable(self, node: nodes.Expr) -> ast.expr:
        """The value of an expression that Python only has as a statement."""
        variable = self.unit.fresh()
        self.into(node, variable)
        return name(variable)
