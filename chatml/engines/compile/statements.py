"""From core to a Python syntax tree: expressions as statements, where their value is returned, dropped or assigned.

Each function returns the expression that is left to go to the same place, or None.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from chatml.core import nodes
from chatml.engines.compile.body import DROP, RETURN, Body, Target, step_name
from chatml.engines.compile.code import Kind, Spot
from chatml.engines.compile.concatenation import concat_into, grows, uses
from chatml.engines.compile.expressions import apply, bind, bind_group, shortcut
from chatml.engines.compile.matches import lower_match
from chatml.engines.compile.python import assign, call, const, name


def let_into(body: Body, node: nodes.Let, target: Target) -> nodes.Expr:
    bind(body, node)
    return node.body


def let_rec_into(body: Body, node: nodes.LetRec, target: Target) -> nodes.Expr:
    bind_group(body, node)
    return node.body


def seq_into(body: Body, node: nodes.Seq, target: Target) -> nodes.Expr:
    body.into(node.first, DROP)
    return node.second


def conditional_into(body: Body, node: nodes.If, target: Target) -> nodes.Expr | None:
    test = body.value(node.condition)
    then = body.branch(node.condition, True, partial(body.into, node.then, target))
    if target is RETURN:
        body.emit(ast.If(test, then, []))
        body.learn(node.condition, False)
        return node.otherwise
    otherwise = body.branch(node.condition, False, partial(body.into, node.otherwise, target))
    if then or otherwise:
        body.emit(ast.If(test, then or [ast.Pass()], otherwise))
    else:
        body.put(test, DROP)
    return None


def shortcut_into(body: Body, node: nodes.And | nodes.Or, target: Target) -> nodes.Expr | None:
    if target is not RETURN:
        body.put(shortcut(body, node), target)
        return None
    is_and = isinstance(node, nodes.And)
    test = body.value(node.left)
    stop: ast.expr = ast.UnaryOp(ast.Not(), test) if is_and else test
    body.emit(ast.If(stop, [ast.Return(const(not is_and))], []))
    return node.right


def apply_into(body: Body, node: nodes.Call, target: Target) -> None:
    """A call; at the end of a function one that may come back is left to whoever called."""
    callee = known(body, node.function)
    bouncing = body.unit.facts.bouncing
    is_builtin = isinstance(node.function, nodes.Global) and node.function.cell in body.unit.builtins
    if target is not RETURN or body.function is None or is_builtin:
        body.put(apply(body, node), target)
    elif callee is body.function:
        start_again(body, node)
    elif callee is None or callee in bouncing:
        function, *args = body.operands((node.function, *node.args))
        if callee is not None and isinstance(function, ast.Name):
            function = name(step_name(function.id))
        line = body.unit.line(Spot(Kind.CALL, node.span))
        body.emit(ast.Return(call("Bounce", function, ast.Tuple(args, ast.Load()), const(line))))
    else:
        body.put(apply(body, node), target)


def known(body: Body, function: nodes.Expr) -> nodes.Lambda | None:
    """The function that an expression is known to name."""
    if isinstance(function, nodes.Global):
        return body.unit.facts.cells.get(function.cell)
    if isinstance(function, nodes.Local):
        return body.places[function.slot].known
    return None


def start_again(body: Body, node: nodes.Call) -> None:
    """A function's call of itself at its end: new values for its parameters, and another turn.

    A parameter that only grows by what no other new value depends on is left for last, to be grown in place.
    """
    changed = [
        (param, arg)
        for param, arg in zip(body.params, node.args, strict=True)
        if not (isinstance(arg, nodes.Local) and body.places[arg.slot].name == param)
    ]
    new = {param for param, _ in changed}
    growing = [(param, arg) for param, arg in changed if isinstance(arg, nodes.Concat) and grows(body, arg, param, new)]
    others = [pair for pair in changed if pair not in growing]
    waiting = []
    for position, (param, arg) in enumerate(others):
        later = [*others[position + 1 :], *growing]
        value = body.unit.fresh() if any(uses(body, other, param) for _, other in later) else param
        body.into(arg, value)
        if value != param:
            waiting.append(assign(param, name(value)))
    body.block += waiting
    for param, arg in growing:
        concat_into(body, arg, param)
    if body.unit.bounded:
        body.emit(body.tick(Spot(Kind.LOOP, node.span)))
    body.emit(ast.Continue())


STATEMENTS: dict[type, Callable[[Body, Any, Target], nodes.Expr | None]] = {
    nodes.Let: let_into,
    nodes.LetRec: let_rec_into,
    nodes.Seq: seq_into,
    nodes.If: conditional_into,
    nodes.And: shortcut_into,
    nodes.Or: shortcut_into,
    nodes.Call: apply_into,
    nodes.Concat: concat_into,
    nodes.Match: lower_match,
}
