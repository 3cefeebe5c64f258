"""How large an int can be, so that needless checks for wrapping are left out."""

from __future__ import annotations

from chatml import core
from chatml.values import INT_MAX, INT_MIN

Range = tuple[int, int]

FULL: Range = (INT_MIN, INT_MAX)
RING = {"+", "-", "*"}
DEEPEST = 4
"""How far into an expression to look; what lies deeper is taken to be anything."""
ANYTHING: Range = (-(2**256), 2**256)

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Ranges:
    """What is known of the ints in some slots, at one place of a function."""

    def __init__(self, slots: dict[int, Range] | None = None) -> None:
        self.slots = {} if slots is None else slots

    def of(self, node: core.Expr, depth: int = DEEPEST) -> Range:
        """The range of an expression's value."""
        match node:
            case core.Constant(value=int() as value):
                return (value, value)
            case core.Local(slot=slot):
                return self.slots.get(slot, FULL)
            case core.Binary(op=op) if op in RING and depth:
                low, high = self.unwrapped(node, depth)
                return (low, high) if low >= INT_MIN and high <= INT_MAX else FULL
        return FULL

    def unwrapped(self, node: core.Binary, depth: int = DEEPEST) -> Range:
        """The range of `+`, `-` or `*` before it wraps."""
        (a, b), (c, d) = self.operand(node.left, depth - 1), self.operand(node.right, depth - 1)
        if node.op == "+":
            return (a + c, b + d)
        if node.op == "-":
            return (a - d, b - c)
        products = (a * c, a * d, b * c, b * d)
        return (min(products), max(products))

    def operand(self, node: core.Expr, depth: int) -> Range:
        """The range of an operand, which is itself left unwrapped when it is one of these operations."""
        if isinstance(node, core.Binary) and node.op in RING:
            return self.unwrapped(node, depth) if depth else ANYTHING
        return self.of(node, depth)

    def copy(self) -> Ranges:
        """The same knowledge, to be added to without changing this."""
        return Ranges(dict(self.slots))

    def given(self, condition: core.Expr, truth: bool) -> Ranges:
        """What is known where a condition has been found true, or false."""
        ranges = self.copy()
        learn(condition, truth, ranges.slots)
        return ranges


def learn(condition: core.Expr, truth: bool, slots: dict[int, Range]) -> None:
    """Note what a condition that has been found true, or false, says about slots."""
    match condition:
        case core.And(left=left, right=right) if truth:
            learn(left, truth, slots)
            learn(right, truth, slots)
        case core.Or(left=left, right=right) if not truth:
            learn(left, truth, slots)
            learn(right, truth, slots)
        case core.Binary(op=op, left=core.Local(slot=slot), right=core.Constant(value=int() as bound)):
            if op in OPPOSITE:
                narrow(slots, slot, op if truth else OPPOSITE[op], bound)
        case core.Binary(op=op, left=core.Constant(value=int() as bound), right=core.Local(slot=slot)):
            if op in OPPOSITE:
                narrow(slots, slot, MIRRORED[op if truth else OPPOSITE[op]], bound)


def narrow(slots: dict[int, Range], slot: int, op: str, bound: int) -> None:
    """Note that the int in a slot compares so with a bound."""
    low, high = slots.get(slot, FULL)
    if op == "<":
        high = min(high, bound - 1)
    elif op == "<=":
        high = min(high, bound)
    elif op == ">":
        low = max(low, bound + 1)
    else:
        low = max(low, bound)
    slots[slot] = (low, high)
