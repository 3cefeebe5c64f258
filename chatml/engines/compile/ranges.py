"""How large the ints of a script can be, so that needless checks for wrapping are left out.

One walk in the order of evaluation keeps, for each slot, the range of the int in it, or in the ref that is a mere
variable. Conditions narrow ranges; the body of a loop is walked until what holds before it holds after it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from chatml.core import nodes
from chatml.engines.compile.analyse import Facts
from chatml.engines.compile.parts import PARTS
from chatml.records import frozen
from chatml.values.model import INT_MAX, INT_MIN

Range = tuple[int, int]
Known = dict[int, Range]
"""The ranges of slots; a slot without one can hold any int."""

FULL: Range = (INT_MIN, INT_MAX)
NATURAL: Range = (0, INT_MAX)
BEYOND = 2**256
ANYTHING: Range = (-BEYOND, BEYOND)
"""Results that were not wrapped on the way may be larger still, but that makes no difference."""
RING = {"+", "-", "*"}

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

NESTED = 2
ATTEMPTS = 5
"""A loop in so many others, or that is not settled after so many walks, is taken to change its refs in any way."""


@frozen
class Ranges:
    """The ranges of the operands that matter; of `+`, `-` and `*` before they wrap."""

    found: dict[nodes.Expr, Range]

    def unwrapped(self, node: nodes.Binary) -> Range:
        """The range of `+`, `-` or `*` before it wraps."""
        return self.found[node]

    def of(self, node: nodes.Expr) -> Range:
        """The range of the value of an operand of a division, of a negation, or of an index."""
        return wrapped(self.found.get(node, FULL))


def find_ranges(statements: Iterable[nodes.Statement], facts: Facts) -> Ranges:
    """The ranges of a script."""
    walk = _Walk(facts)
    walk.statements(statements)
    return Ranges(walk.found)


def wrapped(unwrapped: Range) -> Range:
    """The range of an int that is wrapped if it has to be."""
    return unwrapped if unwrapped[0] >= INT_MIN and unwrapped[1] <= INT_MAX else FULL


def hull(first: Range, second: Range) -> Range:
    return min(first[0], second[0]), max(first[1], second[1])


def put(known: Known, slot: int, range: Range) -> None:
    """Note the range of a slot."""
    if range == FULL:
        known.pop(slot, None)
    else:
        known[slot] = range


def joined(first: Known, second: Known) -> Known:
    """What is known where two ways meet."""
    return {slot: hull(range, second[slot]) for slot, range in first.items() if slot in second}


def widened(before: Known, after: Known) -> Known:
    """What is known before a loop, without the bounds that a turn has moved."""
    return {
        slot: (low if after[slot][0] >= low else INT_MIN, high if after[slot][1] <= high else INT_MAX)
        for slot, (low, high) in before.items()
        if slot in after
    }


def combined(op: str, left: Range, right: Range) -> Range:
    """The range of `+`, `-` or `*`, before it wraps."""
    (a, b), (c, d) = left, right
    if op == "+":
        low, high = a + c, b + d
    elif op == "-":
        low, high = a - d, b - c
    else:
        products = (a * c, a * d, b * c, b * d)
        low, high = min(products), max(products)
    return max(low, -BEYOND), min(high, BEYOND)


def divided(op: str, left: Range, right: Range) -> Range:
    """The range of `/` or `%` by a positive divisor: towards zero, with the sign of the dividend."""
    (low, high), (least, most) = left, right
    if least <= 0:
        return FULL
    if op == "/":
        return min(0, -(-low // least)), max(0, high // least)
    return (0 if low >= 0 else max(low, 1 - most)), (0 if high <= 0 else min(high, most - 1))


def narrowed(range: Range, op: str, bound: Range) -> Range:
    """The range of an int that compares so with one of another range."""
    low, high = range
    if op == "<":
        return low, min(high, bound[1] - 1)
    if op == "<=":
        return low, min(high, bound[1])
    if op == ">":
        return max(low, bound[0] + 1), high
    return max(low, bound[0]), high


class _Walk:
    """`known` is what holds at the place of the walk; `contents` are the slots whose ref is a mere variable."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.found: dict[nodes.Expr, Range] = {}
        self.known: Known = {}
        self.contents: set[int] = set()
        self.writes = 0
        self.loops = 0

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

    def visit(self, node: nodes.Expr) -> Range:
        """The range of an expression's value, if it is an int."""
        handler = HANDLERS.get(type(node))
        if handler is not None:
            return handler(self, node)
        for child in PARTS[type(node)](node):
            self.visit(child)
        return FULL

    def operand(self, node: nodes.Expr) -> Range:
        """Visit an operand whose range matters."""
        range = self.visit(node)
        if not is_ring(node):
            self.found[node] = range
        return range

    def note(self, slot: int, range: Range) -> None:
        """Note a range that has just been found: only now, as `known` is another one after many a visit."""
        put(self.known, slot, range)

    # Expressions

    def constant(self, node: nodes.Constant) -> Range:
        value = node.value
        return (value, value) if type(value) is int else FULL

    def local(self, node: nodes.Local) -> Range:
        return self.known.get(node.slot, FULL)

    def binary(self, node: nodes.Binary) -> Range:
        if node.op not in RING:
            left, right = self.operand(node.left), self.operand(node.right)
            return divided(node.op, left, right) if node.op in ("/", "%") else FULL
        unwrapped = [self.unwrapped(node.left), self.unwrapped(node.right)]
        self.found[node] = combined(node.op, *unwrapped)
        return wrapped(self.found[node])

    def unwrapped(self, node: nodes.Expr) -> Range:
        """The range of an operand of `+`, `-` or `*`, which is not wrapped if it is one of these itself."""
        range = self.visit(node)
        return self.found[node] if is_ring(node) else range

    def negate(self, node: nodes.Negate) -> Range:
        low, high = self.operand(node.operand)
        return wrapped((-high, -low))

    def index(self, node: nodes.Index) -> Range:
        self.visit(node.array)
        self.operand(node.index)
        return FULL

    def set_index(self, node: nodes.SetIndex) -> Range:
        self.visit(node.array)
        self.operand(node.index)
        self.visit(node.value)
        return FULL

    def content(self, node: nodes.Expr) -> int | None:
        """The slot of a ref that is a mere variable."""
        return node.slot if isinstance(node, nodes.Local) and node.slot in self.contents else None

    def deref(self, node: nodes.Deref) -> Range:
        slot = self.content(node.ref)
        if slot is None:
            self.visit(node.ref)
            return FULL
        return self.known.get(slot, FULL)

    def set_ref(self, node: nodes.SetRef) -> Range:
        slot = self.content(node.ref)
        if slot is None:
            self.visit(node.ref)
            self.visit(node.value)
        else:
            self.note(slot, self.visit(node.value))
            self.writes += 1
        return FULL

    def let(self, node: nodes.Let) -> Range:
        if node in self.facts.variables and isinstance(node.value, nodes.NewRef):
            self.note(node.slot, self.visit(node.value.value))
            self.contents.add(node.slot)
        else:
            self.note(node.slot, self.visit(node.value))
        return self.visit(node.body)

    def last(self, node: nodes.LetRec | nodes.Seq) -> Range:
        """An expression whose value is that of its last part."""
        *others, last = PARTS[type(node)](node)
        for part in others:
            self.visit(part)
        return self.visit(last)

    # Functions

    def function(self, node: nodes.Lambda) -> Range:
        known, contents = self.known, self.contents
        self.known = {inner: known[outer] for outer, inner in node.captures if outer in known}
        self.contents = set()
        self.visit(node.body)
        self.known, self.contents = known, contents
        return FULL

    def call(self, node: nodes.Call) -> Range:
        if node not in self.facts.in_place:
            for part in PARTS[nodes.Call](node):
                self.visit(part)
            return FULL
        for arg in node.args[:-1]:
            self.visit(arg)
        function, takes = self.facts.in_place[node]
        known, contents = self.known, self.contents
        shared = {outer: inner for outer, inner in function.captures if outer in contents}
        for outer in shared:
            known.pop(outer, None)
        self.known = {inner: known[outer] for outer, inner in function.captures if outer in known}
        self.known |= {slot: NATURAL for slot, taken in enumerate(takes) if taken == "index"}
        self.contents = set(shared.values())
        self.loops += 1
        self.visit(function.body)
        self.loops -= 1
        self.writes += 1
        self.known, self.contents = known, contents
        return FULL

    # Ways that part and meet

    def given(self, condition: nodes.Expr, truth: bool, *, steady: bool) -> Known:
        """What is known where a condition is true, or false; `steady`, if evaluating it wrote to no ref."""
        known = dict(self.known)
        if steady:
            self.learn(condition, truth, known)
        return known

    def learn(self, condition: nodes.Expr, truth: bool, known: Known) -> None:
        match condition:
            case nodes.And(left=left, right=right) if truth:
                self.learn(left, truth, known)
                self.learn(right, truth, known)
            case nodes.Or(left=left, right=right) if not truth:
                self.learn(left, truth, known)
                self.learn(right, truth, known)
            case nodes.Binary(op=op, left=left, right=right) if op in OPPOSITE:
                self.compare(left, op if truth else OPPOSITE[op], right, known)
            case nodes.Equal(left=left, right=right, negated=negated) if truth != negated:
                self.compare(left, "<=", right, known)
                self.compare(left, ">=", right, known)

    def compare(self, left: nodes.Expr, op: str, right: nodes.Expr, known: Known) -> None:
        """Note that two values compare so."""
        for side, other, way in ((left, right, op), (right, left, MIRRORED[op])):
            slot = self.named(side)
            if slot is not None:
                bound = self.named(other)
                if bound is not None:
                    limit = known.get(bound, FULL)
                else:
                    limit = self.constant(other) if isinstance(other, nodes.Constant) else FULL
                put(known, slot, narrowed(known.get(slot, FULL), way, limit))

    def named(self, node: nodes.Expr) -> int | None:
        """The slot that holds the value of an expression."""
        if isinstance(node, nodes.Deref):
            return self.content(node.ref)
        return node.slot if isinstance(node, nodes.Local) else None

    def condition(self, node: nodes.Expr) -> tuple[Known, Known]:
        """Visit a condition: what is known where it is true, and where it is false."""
        writes = self.writes
        self.visit(node)
        steady = writes == self.writes
        return self.given(node, True, steady=steady), self.given(node, False, steady=steady)

    def conditional(self, node: nodes.If) -> Range:
        self.known, otherwise = self.condition(node.condition)
        first = self.visit(node.then)
        then, self.known = self.known, otherwise
        second = self.visit(node.otherwise)
        self.known = joined(then, self.known)
        return hull(first, second)

    def shortcut(self, node: nodes.And | nodes.Or) -> Range:
        true, false = self.condition(node.left)
        self.known, other = (true, false) if isinstance(node, nodes.And) else (false, true)
        self.visit(node.right)
        self.known = joined(other, self.known)
        return FULL

    def match(self, node: nodes.Match) -> Range:
        self.visit(node.scrutinee)
        before, after, ranges = self.known, None, []
        for arm in node.arms:
            self.known = dict(before)
            ranges.append(self.visit(arm.body))
            after = self.known if after is None else joined(after, self.known)
        self.known = before if after is None else after
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def loop(self, node: nodes.While) -> Range:
        self.loops += 1
        attempts = 1 if self.loops > NESTED else ATTEMPTS
        stop = self.known
        for left in reversed(range(attempts)):
            before = self.known
            if left == 0:
                before = {slot: range for slot, range in before.items() if slot not in self.contents}
            self.known = dict(before)
            self.known, stop = self.condition(node.condition)
            self.visit(node.body)
            self.known = widened(before, self.known)
            if self.known == before:
                break
        self.known = stop
        self.loops -= 1
        return FULL


def is_ring(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.Binary) and node.op in RING


HANDLERS: dict[type, Callable[[_Walk, Any], Range]] = {
    nodes.Constant: _Walk.constant,
    nodes.Local: _Walk.local,
    nodes.Negate: _Walk.negate,
    nodes.Binary: _Walk.binary,
    nodes.And: _Walk.shortcut,
    nodes.Or: _Walk.shortcut,
    nodes.Lambda: _Walk.function,
    nodes.Call: _Walk.call,
    nodes.If: _Walk.conditional,
    nodes.While: _Walk.loop,
    nodes.Let: _Walk.let,
    nodes.LetRec: _Walk.last,
    nodes.Match: _Walk.match,
    nodes.Index: _Walk.index,
    nodes.SetIndex: _Walk.set_index,
    nodes.Deref: _Walk.deref,
    nodes.SetRef: _Walk.set_ref,
    nodes.Seq: _Walk.last,
}
