"""From core to a Python syntax tree: expressions as statements, where their value is returned, dropped or assigned.

Each function returns the expression that is left to go to the same place, or None.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from chatml import core
from chatml.codegen.arithmetic import binary_into
from chatml.codegen.body import DROP, RETURN, Body, Target, step_name
from chatml.codegen.code import Kind, Spot
from chatml.codegen.expressions import apply, bind, bind_group, concat, joined, shortcut
from chatml.codegen.matches import lower_match
from chatml.codegen.parts import PARTS
from chatml.codegen.python import assign, call, compare, const, name


def let_into(body: Body, node: core.Let, target: Target) -> core.Expr:
    bind(body, node)
    return node.body


def let_rec_into(body: Body, node: core.LetRec, target: Target) -> core.Expr:
    bind_group(body, node)
    return node.body


def seq_into(body: Body, node: core.Seq, target: Target) -> core.Expr:
    body.into(node.first, DROP)
    return node.second


def conditional_into(body: Body, node: core.If, target: Target) -> core.Expr | None:
    test = body.value(node.condition)
    then = body.apart(partial(body.into, node.then, target))
    if target is RETURN:
        body.emit(ast.If(test, then, []))
        return node.otherwise
    otherwise = body.apart(partial(body.into, node.otherwise, target))
    if then or otherwise:
        body.emit(ast.If(test, then or [ast.Pass()], otherwise))
    else:
        body.put(test, DROP)
    return None


def shortcut_into(body: Body, node: core.And | core.Or, target: Target) -> core.Expr | None:
    if target is not RETURN:
        body.put(shortcut(body, node), target)
        return None
    is_and = isinstance(node, core.And)
    test = body.value(node.left)
    stop: ast.expr = ast.UnaryOp(ast.Not(), test) if is_and else test
    body.emit(ast.If(stop, [ast.Return(const(not is_and))], []))
    return node.right


def apply_into(body: Body, node: core.Call, target: Target) -> None:
    """A call; at the end of a function one that may come back is left to whoever called."""
    callee = known(body, node.function)
    bouncing = body.unit.facts.bouncing
    is_builtin = isinstance(node.function, core.Global) and node.function.cell in body.unit.builtins
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


def grows(body: Body, node: core.Concat, param: str, changed: set[str]) -> bool:
    """Whether a concatenation adds constants and unchanged variables to a parameter."""
    first, *rest = joined(node)
    if not (isinstance(first, core.Local) and body.places[first.slot].name == param):
        return False
    return all(
        isinstance(part, core.Constant)
        or (isinstance(part, core.Local) and body.places[part.slot].name not in changed | body.varying)
        for part in rest
    )


def known(body: Body, function: core.Expr) -> core.Lambda | None:
    """The function that an expression is known to name."""
    if isinstance(function, core.Global):
        return body.unit.facts.cells.get(function.cell)
    if isinstance(function, core.Local):
        return body.places[function.slot].known
    return None


def concat_into(body: Body, node: core.Concat, target: Target) -> None:
    """`s = s ++ …` grows a string in place, which CPython does where the sum is assigned to its own left operand."""
    parts = joined(node)
    operands = body.operands(parts)
    grown, *pieces = operands
    if not (isinstance(target, str) and isinstance(grown, ast.Name) and grown.id == target):
        body.put(concat(body, node, operands), target)
        return
    if any(mentions(piece, target) for piece in pieces):
        pieces = [body.temporary(concat(body, node, operands[1:]))] if len(pieces) > 1 else body.all_temporary(pieces)
    spot = Spot(Kind.CONCAT, node.span)
    for piece in pieces:
        body.emit(body.at(assign(target, body.at(ast.BinOp(name(target), ast.Add(), piece), spot)), spot))
    too_long = compare(body.at(call("len", name(target)), spot), ast.Gt(), name("X"))
    body.emit(ast.If(too_long, [ast.Expr(body.at(call("too_long"), spot))], []))


def names(body: Body, node: core.Expr, variable: str) -> bool:
    """Whether an expression uses a variable."""
    if isinstance(node, core.Local):
        return node.slot in body.places and body.places[node.slot].name == variable
    if isinstance(node, core.Lambda):
        return any(body.places[outer].name == variable for outer, _ in node.captures if outer in body.places)
    return any(names(body, part, variable) for part in PARTS[type(node)](node))


def mentions(value: ast.expr, variable: str) -> bool:
    """Whether an expression reads a variable."""
    return any(isinstance(part, ast.Name) and part.id == variable for part in ast.walk(value))


def start_again(body: Body, node: core.Call) -> None:
    """A function's call of itself at its end: new values for its parameters, and another turn.

    A parameter that only grows by what no other new value depends on is left for last, to be grown in place.
    """
    changed = [
        (param, arg)
        for param, arg in zip(body.params, node.args, strict=True)
        if not (isinstance(arg, core.Local) and body.places[arg.slot].name == param)
    ]
    new = {param for param, _ in changed}
    growing = [(param, arg) for param, arg in changed if isinstance(arg, core.Concat) and grows(body, arg, param, new)]
    others = [pair for pair in changed if pair not in growing]
    waiting = []
    for position, (param, arg) in enumerate(others):
        later = [*others[position + 1 :], *growing]
        value = body.unit.fresh() if any(names(body, other, param) for _, other in later) else param
        body.into(arg, value)
        if value != param:
            waiting.append(assign(param, name(value)))
    body.block += waiting
    for param, arg in growing:
        concat_into(body, arg, param)
    if body.unit.bounded:
        body.emit(body.tick(Spot(Kind.LOOP, node.span)))
    body.emit(ast.Continue())


STATEMENTS: dict[type, Callable[[Body, Any, Target], core.Expr | None]] = {
    core.Let: let_into,
    core.LetRec: let_rec_into,
    core.Seq: seq_into,
    core.If: conditional_into,
    core.And: shortcut_into,
    core.Or: shortcut_into,
    core.Binary: binary_into,
    core.Call: apply_into,
    core.Concat: concat_into,
    core.Match: lower_match,
}
