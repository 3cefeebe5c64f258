"""From core to a Python syntax tree: `++`.

A chain of `++` is held against the bound on sizes once for several operands, as long as nobody can tell: where
evaluating the next operand does nothing and cannot fail.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from chatml.core import nodes
from chatml.engines.compile.body import Body, Target
from chatml.engines.compile.code import Kind, Spot
from chatml.engines.compile.parts import PARTS
from chatml.engines.compile.python import assign, call, compare, keep, name

LONGEST = 10
"""So many operands are added between two looks at the bound."""

Links = list[nodes.Concat]


def concat(body: Body, node: nodes.Concat) -> ast.expr:
    """The value of a chain."""
    chain = links(node)
    lower = partial(body.value, chain[0].left)
    for group in groups(body, chain):
        lower = partial(added, body, lower, group)
    return lower()


def links(node: nodes.Concat) -> Links:
    """The additions of a chain, in the order in which they happen."""
    found = [node]
    while isinstance(node.left, nodes.Concat):
        node = node.left
        found.append(node)
    return found[::-1]


def groups(body: Body, chain: Links) -> list[Links]:
    """The additions after which the bound is looked at, each with those before it that need no look of their own."""
    found = [chain[:1]]
    for link in chain[1:]:
        if is_quiet(body, link.right) and len(found[-1]) < LONGEST:
            found[-1].append(link)
        else:
            found.append([link])
    return found


def is_quiet(body: Body, node: nodes.Expr) -> bool:
    """Whether evaluating an expression does nothing and cannot fail."""
    return isinstance(node, nodes.Constant | nodes.Local | nodes.Global) or variable_of(body, node) is not None


def variable_of(body: Body, node: nodes.Expr) -> str | None:
    """The variable that holds the value of an expression."""
    ref = node.ref if isinstance(node, nodes.Deref) else None
    variable = node if ref is None else ref
    place = body.places.get(variable.slot) if isinstance(variable, nodes.Local) else None
    return place.name if place is not None and place.content == (ref is not None) else None


def added(body: Body, lower: Callable[[], ast.expr], group: Links) -> ast.expr:
    """The value of the additions of a group to what `lower` gives."""
    for _ in group:
        body.unit.descend()
    result, *pieces = body.in_order([lower, *[partial(body.value, link.right) for link in group]])
    body.unit.depth -= len(group)
    for link, piece in zip(group, pieces, strict=True):
        result = plus(body, result, piece, link)
    whole = body.unit.fresh()
    fits = compare(body.at(call("len", keep(whole, result)), spot_of(group[-1])), ast.LtE(), name("X"))
    return ast.IfExp(fits, name(whole), too_long(body, whole, group, pieces))


def concat_into(body: Body, node: nodes.Concat, target: Target) -> None:
    """`s = s ++ …` grows a string in place, which CPython does where the sum is assigned to its own left operand."""
    chain = links(node)
    grows = isinstance(target, str) and variable_of(body, chain[0].left) == target
    if not isinstance(target, str) or not grows or any(uses(body, link.right, target) for link in chain):
        body.put(concat(body, node), target)
        return
    for group in groups(body, chain):
        pieces = body.operands([link.right for link in group])
        for link, piece in zip(group, pieces, strict=True):
            body.emit(body.at(assign(target, plus(body, name(target), piece, link)), spot_of(link)))
        exceeds = compare(body.at(call("len", name(target)), spot_of(group[-1])), ast.Gt(), name("X"))
        body.emit(ast.If(exceeds, [ast.Expr(too_long(body, target, group, pieces))], []))


def uses(body: Body, node: nodes.Expr, variable: str) -> bool:
    """Whether an expression uses a variable."""
    todo = [node]
    for part in todo:
        slots = [outer for outer, _ in part.captures] if isinstance(part, nodes.Lambda) else []
        if isinstance(part, nodes.Local):
            slots.append(part.slot)
        if any(slot in body.places and body.places[slot].name == variable for slot in slots):
            return True
        if not isinstance(part, nodes.Lambda):
            todo += PARTS[type(part)](part)
    return False


def plus(body: Body, left: ast.expr, right: ast.expr, link: nodes.Concat) -> ast.expr:
    return body.at(ast.BinOp(left, ast.Add(), right), spot_of(link))


def spot_of(link: nodes.Concat) -> Spot:
    return Spot(Kind.CONCAT, link.span)


def too_long(body: Body, whole: str, group: Links, pieces: Sequence[ast.expr]) -> ast.expr:
    """An expression that fails, at the first addition of a group that gave too much."""
    failing: ast.expr = body.at(call("too_long"), spot_of(group[-1]))
    length: ast.expr = call("len", name(whole))
    for link, piece in zip(group[-2::-1], pieces[:0:-1], strict=True):
        length = ast.BinOp(length, ast.Sub(), call("len", piece))
        earlier = body.at(call("too_long"), spot_of(link))
        failing = ast.IfExp(compare(length, ast.Gt(), name("X")), earlier, failing)
    return failing
