"""From core to a Python syntax tree: operators on numbers. Ints wrap at 63 bits, where Python's would grow."""

from __future__ import annotations

import ast
from functools import partial

from chatml.core import nodes
from chatml.engines.compile.body import DROP, RETURN, Body, Target
from chatml.engines.compile.code import Kind, Spot
from chatml.engines.compile.python import assign, both, call, compare, const, keep, name
from chatml.engines.compile.ranges import RING
from chatml.engines.compile.wrapping import outside
from chatml.values.model import INT_MAX, INT_MIN

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


def negate(body: Body, node: nodes.Negate) -> ast.expr:
    operand = ast.UnaryOp(ast.USub(), body.value(node.operand))
    spot = Spot(Kind.ARITHMETIC, node.span)
    if node.op == "-.":
        return body.at(operand, spot)
    low, _ = body.unit.ranges.of(node.operand)
    return body.at(operand, spot) if low > INT_MIN else body.at(call("wrap", operand), spot)


def binary(body: Body, node: nodes.Binary) -> ast.expr:
    spot = Spot(Kind.ARITHMETIC, node.span)
    if node.op in RING:
        value = ring(body, node)
        if not may_wrap(body, node):
            return value
        variable = body.unit.fresh()
        test = outside(variable, body.unit.ranges.unwrapped(node), value)
        return body.at(ast.IfExp(test, call("wrap", name(variable)), name(variable)), spot)
    if node.op in INTEGER_DIVISION:
        return body.at(division(body, node), spot)
    left, right = body.operands((node.left, node.right))
    if node.op in COMPARISONS:
        return body.at(compare(left, COMPARISONS[node.op](), right), spot)
    return body.at(ast.BinOp(left, OPERATORS[node.op](), right), spot)


def binary_into(body: Body, node: nodes.Binary, target: Target) -> None:
    """The same as a statement: a result that is at hand in a variable is wrapped there, which is cheaper."""
    if target is DROP or node.op not in RING or not may_wrap(body, node):
        body.put(binary(body, node), target)
        return
    variable = target if isinstance(target, str) else body.unit.fresh()
    body.emit(assign(variable, ring(body, node)))
    body.wrap(variable, body.unit.ranges.unwrapped(node), node.span)
    if target is RETURN:
        body.emit(ast.Return(name(variable)))


def may_wrap(body: Body, node: nodes.Binary) -> bool:
    """Whether the result of `+`, `-` or `*` has to be checked."""
    low, high = body.unit.ranges.unwrapped(node)
    return (low < INT_MIN or high > INT_MAX) and node not in body.unit.sums.gathered


def ring(body: Body, node: nodes.Expr) -> ast.expr:
    """The value of `+`, `-`, `*` and of the same among its operands, none of them wrapped: one wrap is enough."""
    if not isinstance(node, nodes.Binary) or node.op not in RING:
        return body.value(node)
    body.unit.descend()
    left, right = body.in_order((partial(ring, body, node.left), partial(ring, body, node.right)))
    body.unit.depth -= 1
    if node.op == "*":
        left, right = only_number(node.left, left), only_number(node.right, right)
    return body.at(ast.BinOp(left, OPERATORS[node.op](), right), Spot(Kind.ARITHMETIC, node.span))


def only_number(node: nodes.Expr, value: ast.expr) -> ast.expr:
    """A factor that is refused if it is no number: Python would repeat a string or an array, however often."""
    sure = isinstance(node, nodes.Constant) or (isinstance(node, nodes.Binary) and node.op in {"*", *INTEGER_DIVISION})
    return value if sure else ast.UnaryOp(ast.UAdd(), value)


def division(body: Body, node: nodes.Binary) -> ast.expr:
    """Python rounds down where the language truncates: alike when neither operand is negative."""
    (low, _), (least, _) = body.unit.ranges.of(node.left), body.unit.ranges.of(node.right)
    exact = ast.FloorDiv() if node.op == "/" else ast.Mod()
    careful = INTEGER_DIVISION[node.op]
    if low >= 0 or least <= 0 or not isinstance(node.right, nodes.Constant):
        left, right = body.operands((node.left, node.right))
        return ast.BinOp(left, exact, right) if low >= 0 and least >= 0 else call(careful, left, right)
    dividend, divisor = ring(body, node.left), body.value(node.right)
    variable = dividend.id if isinstance(dividend, ast.Name) else body.unit.fresh()
    first = dividend if isinstance(dividend, ast.Name) else keep(variable, dividend)
    tests: list[ast.expr] = [compare(first, ast.GtE(), const(0))]
    rest: ast.expr = name(variable)
    if isinstance(node.left, nodes.Binary) and node.left.op in RING and may_wrap(body, node.left):
        tests.append(compare(name(variable), ast.LtE(), const(INT_MAX)))
        rest = call("wrap", rest)
    return ast.IfExp(both(tests), ast.BinOp(name(variable), exact, divisor), call(careful, rest, divisor))
