"""From core to a Python syntax tree: `++`. Each sum is held against the bound on sizes, the name `X`.

CPython grows a string in place, without a copy, where the sum is assigned to its own left operand. So a loop that
builds a string takes linear time if the code says `s = s + piece`, which the script says in one of two ways:

    text := !text ++ piece          a ref that is a mere variable: `concat_into`
    build(n - 1, text ++ piece)     a parameter of a function that calls itself at its end: `grows`
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from chatml.core import nodes
from chatml.engines.compile.body import Body, Target
from chatml.engines.compile.code import Kind, Spot
from chatml.engines.compile.parts import PARTS
from chatml.engines.compile.python import assign, call, compare, keep, name

Links = list[nodes.Concat]


def links(node: nodes.Concat) -> Links:
    """The additions of a chain, in the order in which they happen."""
    found = [node]
    while isinstance(node.left, nodes.Concat):
        node = node.left
        found.append(node)
    return found[::-1]


def concat(body: Body, node: nodes.Concat) -> ast.expr:
    """The value of a chain."""
    chain = links(node)
    lower = partial(body.value, chain[0].left)
    for link in chain:
        lower = partial(added, body, lower, link)
    return lower()


def added(body: Body, lower: Callable[[], ast.expr], link: nodes.Concat) -> ast.expr:
    """The value of an addition to what `lower` gives."""
    body.unit.descend()
    left, right = body.in_order([lower, partial(body.value, link.right)])
    body.unit.depth -= 1
    spot, whole = Spot(Kind.CONCAT, link.span), body.unit.fresh()
    result = body.at(ast.BinOp(left, ast.Add(), right), spot)
    fits = compare(body.at(call("len", keep(whole, result)), spot), ast.LtE(), name("X"))
    return ast.IfExp(fits, name(whole), body.at(call("too_long"), spot))


def concat_into(body: Body, node: nodes.Concat, target: Target) -> None:
    chain = links(node)
    in_place = isinstance(target, str) and body.variable_of(chain[0].left) == target
    if not isinstance(target, str) or not in_place or any(uses(body, link.right, target) for link in chain):
        body.put(concat(body, node), target)
        return
    for link in chain:
        spot = Spot(Kind.CONCAT, link.span)
        result = body.at(ast.BinOp(name(target), ast.Add(), body.value(link.right)), spot)
        body.emit(body.at(assign(target, result), spot))
        exceeds = compare(body.at(call("len", name(target)), spot), ast.Gt(), name("X"))
        body.emit(ast.If(exceeds, [ast.Expr(body.at(call("too_long"), spot))], []))


def grows(body: Body, node: nodes.Concat, param: str, changed: set[str]) -> bool:
    """Whether a chain adds constants and variables that stay to a parameter."""
    chain = links(node)
    return body.variable_of(chain[0].left) == param and all(
        isinstance(link.right, nodes.Constant)
        or (isinstance(link.right, nodes.Local) and body.places[link.right.slot].name not in changed | body.varying)
        for link in chain
    )


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
