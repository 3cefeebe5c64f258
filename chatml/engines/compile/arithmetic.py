"""From core to a Python syntax tree: operators on numbers. Ints wrap at 63 bits, where Python's would grow.

Each result of `+`, `-` and `*` that may lie beyond an int is compared with the ends of the range, which is most of what
arithmetic costs above Python's. Three things keep that cheap:

- One look serves a whole sum: wrapping commutes with the three operators, so in `a * b + c` only the end result is
  looked at.
- CPython compares ints below 2^30 in half the time, so a result is first compared with that (`SMALL`).
- A constant moves a number towards one end only, and a condition may say that there is room (`Body.room`). In
  `while !i < n do … i := !i + 1 done` the sum cannot be too large, since `!i` is less than another int, and in
  `if n < 2 then n else fib(n - 1) + fib(n - 2)` no argument can be too small. Neither is looked at.
"""

from __future__ import annotations

import ast
from functools import partial

from chatml.core import nodes
from chatml.engines.compile.body import Body
from chatml.engines.compile.code import Kind, Spot
from chatml.engines.compile.python import both, call, compare, const, either, keep, name
from chatml.values.model import INT_MAX, INT_MIN

RING = {"+", "-", "*"}
OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "+.": ast.Add,
    "-.": ast.Sub,
    "*.": ast.Mult,
    "/.": ast.Div,
}
COMPARISONS: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "<.": ast.Lt,
    "<=.": ast.LtE,
    ">.": ast.Gt,
    ">=.": ast.GtE,
}
INTEGER_DIVISION = {"/": "divide", "%": "remainder"}

SMALL = 2**30 - 1
"""CPython compares ints up to this, which have one digit, in half the time of others."""

ENDS: dict[int, tuple[type[ast.cmpop], int]] = {1: (ast.Gt, INT_MAX), -1: (ast.Lt, INT_MIN)}
"""The upper and the lower end of the range of an int: what lies beyond it is larger, or less."""


def negate(body: Body, node: nodes.Negate) -> ast.expr:
    operand = ast.UnaryOp(ast.USub(), body.value(node.operand))
    return body.at(operand if node.op == "-." else call("wrap", operand), Spot(Kind.ARITHMETIC, node.span))


def binary(body: Body, node: nodes.Binary) -> ast.expr:
    spot = Spot(Kind.ARITHMETIC, node.span)
    if node.op in RING:
        ends = ends_at_risk(body, node)
        value = ring(body, node)
        if not ends:
            return value
        variable = body.unit.fresh()
        return body.at(ast.IfExp(outside(variable, value, ends), call("wrap", name(variable)), name(variable)), spot)
    if node.op in INTEGER_DIVISION:
        return body.at(division(body, node), spot)
    left, right = body.operands((node.left, node.right))
    if node.op in COMPARISONS:
        return body.at(compare(left, COMPARISONS[node.op](), right), spot)
    return body.at(ast.BinOp(left, OPERATORS[node.op](), right), spot)


def ring(body: Body, node: nodes.Expr) -> ast.expr:
    """The value of `+`, `-`, `*` and of the same among its operands, none of them wrapped."""
    if not isinstance(node, nodes.Binary) or node.op not in RING:
        return body.value(node)
    body.unit.descend()
    left, right = body.in_order((partial(ring, body, node.left), partial(ring, body, node.right)))
    body.unit.depth -= 1
    if node.op == "*":
        left, right = only_number(node.left, left), only_number(node.right, right)
    return body.at(ast.BinOp(left, OPERATORS[node.op](), right), Spot(Kind.ARITHMETIC, node.span))


def only_number(node: nodes.Expr, value: ast.expr) -> ast.expr:
    """A factor that is refused if it is not a number: Python would repeat a string or an array, however often."""
    sure = isinstance(node, nodes.Constant) or (isinstance(node, nodes.Binary) and node.op in {"*", *INTEGER_DIVISION})
    return value if sure else ast.UnaryOp(ast.UAdd(), value)


def outside(variable: str, value: ast.expr, ends: tuple[int, ...]) -> ast.expr:
    """Whether a value, which is kept in a variable, lies beyond one of these ends."""
    unusual = [compare(name(variable), ENDS[end][0](), const(end * SMALL)) for end in ends]
    unusual[0].left = keep(variable, value)
    beyond = [compare(name(variable), ENDS[end][0](), const(ENDS[end][1])) for end in ends]
    return both([either(unusual), either(beyond)])


def ends_at_risk(body: Body, node: nodes.Binary) -> tuple[int, ...]:
    """The ends of the range beyond which the value of `+`, `-` or `*` may lie."""
    step = node.right.value if isinstance(node.right, nodes.Constant) else None
    if node.op == "*" or type(step) is not int or (isinstance(node.left, nodes.Binary) and node.left.op in RING):
        return tuple(ENDS)
    way = step if node.op == "+" else -step
    variable = body.variable_of(node.left) or ""
    return tuple([end for end in ENDS if way * end > body.room.get((variable, end), 0)])


def division(body: Body, node: nodes.Binary) -> ast.expr:
    """Python rounds down where the language truncates: alike when neither operand is negative."""
    careful = INTEGER_DIVISION[node.op]
    if not (isinstance(node.right, nodes.Constant) and type(node.right.value) is int and node.right.value > 0):
        return call(careful, *body.operands((node.left, node.right)))
    dividend = body.value(node.left)
    variable = dividend.id if isinstance(dividend, ast.Name) else body.unit.fresh()
    first = dividend if isinstance(dividend, ast.Name) else keep(variable, dividend)
    exact = ast.FloorDiv() if node.op == "/" else ast.Mod()
    divisor = const(node.right.value)
    quick = ast.BinOp(name(variable), exact, divisor)
    return ast.IfExp(compare(first, ast.GtE(), const(0)), quick, call(careful, name(variable), divisor))
