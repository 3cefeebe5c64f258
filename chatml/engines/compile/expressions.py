"""From core to a Python syntax tree: expressions as values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from chatml.core import nodes
from chatml.engines.compile.arithmetic import binary, negate
from chatml.engines.compile.body import DROP, Body, Place
from chatml.engines.compile.code import Kind, Spot, cell_name, raw_name
from chatml.engines.compile.concatenation import concat
from chatml.engines.compile.inline import Template
from chatml.engines.compile.python import assign, attribute, call, compare, const, item, keep, name
from chatml.engines.compile.traversals import traverse
from chatml.surfaces.model import Builtin


def constant(body: Body, node: nodes.Constant) -> ast.expr:
    return const(node.value)


def local(body: Body, node: nodes.Local) -> ast.expr:
    return name(body.places[node.slot].name)


def global_(body: Body, node: nodes.Global) -> ast.expr:
    if node.cell in body.unit.builtins:
        body.unit.values.add(node.cell)
    return name(cell_name(node.cell))


def equal(body: Body, node: nodes.Equal) -> ast.expr:
    left, right = body.operands((node.left, node.right))
    shallow = node.scalar or any(isinstance(side, nodes.Constant) for side in (node.left, node.right))
    if shallow:
        return compare(left, ast.NotEq() if node.negated else ast.Eq(), right)
    same = body.at(call("equal", left, right, attribute(name("M"), "charge")), Spot(Kind.EQUALITY, node.span))
    return ast.UnaryOp(ast.Not(), same) if node.negated else same


def shortcut(body: Body, node: nodes.And | nodes.Or) -> ast.expr:
    left = body.value(node.left)
    right: list[ast.expr] = []
    is_and = isinstance(node, nodes.And)
    block = body.apart(partial(collect, body, node.right, right))
    if not block:
        return ast.BoolOp(ast.And() if is_and else ast.Or(), [left, *right])
    result = body.temporary(left)
    test = result if is_and else ast.UnaryOp(ast.Not(), result)
    body.emit(ast.If(test, [*block, assign(result.id, right[0])], []))
    return result


def collect(body: Body, node: nodes.Expr, values: list[ast.expr]) -> None:
    values.append(body.value(node))


def conditional(body: Body, node: nodes.If) -> ast.expr:
    test = body.value(node.condition)
    values: list[ast.expr] = []
    branches = [
        body.branch(node.condition, truth, partial(collect, body, branch, values))
        for truth, branch in ((True, node.then), (False, node.otherwise))
    ]
    if not any(branches):
        return ast.IfExp(test, *values)
    result = body.unit.fresh()
    then, otherwise = [[*block, assign(result, value)] for block, value in zip(branches, values, strict=True)]
    body.emit(ast.If(test, then, otherwise))
    return name(result)


def function(body: Body, node: nodes.Lambda) -> ast.expr:
    variable = body.unit.fresh("f")
    body.functions([(variable, node)], local=True)
    return name(variable)


def apply(body: Body, node: nodes.Call) -> ast.expr:
    if isinstance(node.function, nodes.Global):
        builtin = body.unit.builtins.get(node.function.cell)
        if builtin is not None and builtin.row is not None:
            return apply_builtin(body, node, node.function.cell, builtin.name, builtin.row)
    callee, *args = body.operands((node.function, *node.args))
    made = body.at(call(callee, *args), Spot(Kind.CALL, node.span))
    if isinstance(callee, ast.Attribute):  # Python gives the call of an attribute the line where the attribute ends.
        callee.end_lineno = made.lineno
    return made


def apply_builtin(body: Body, node: nodes.Call, cell: int, called: str, row: Builtin) -> ast.expr:
    """A call of a builtin, or what its row has instead of one."""
    if row.loop is not None:
        return traverse(body, node, cell, row.loop)
    args = body.operands(node.args)
    if row.inline is not None:
        template = Template(row.inline)
        if not template.in_order(len(args)):
            args = [arg if body.stable(arg) else body.temporary(arg) for arg in args]
        return body.at(template.fill(args), Spot(Kind.IN_PLACE, node.span, called, builtin=True))
    body.unit.raw.add(cell)
    machine = [name("M")] if row.machine else []
    return body.at(call(raw_name(cell), *machine, *args), Spot(Kind.CALL, node.span, called, builtin=True))


def record(body: Body, node: nodes.Record) -> ast.expr:
    return ast.Dict([const(label) for label in node.labels], body.operands(node.values))


def get(body: Body, node: nodes.Get) -> ast.expr:
    return body.at(item(body.value(node.record), const(node.label)), Spot(Kind.GET, node.span, node.label))


def update(body: Body, node: nodes.Update) -> ast.expr:
    base, *values = body.operands((node.record, *node.values))
    if not all(body.stable(value) for value in values):
        base, *values = body.all_temporary((base, *values))
    base = base if isinstance(base, ast.Name) else body.temporary(base)
    copy = body.at(call(attribute(base, "copy")), Spot(Kind.UPDATE, node.span, operands=(base,)))
    result = body.temporary(copy)
    for label, value in zip(node.labels, values, strict=True):
        changed = ast.Assign([ast.Subscript(result, const(label), ast.Store())], value)
        body.emit(body.at(changed, Spot(Kind.UPDATE, node.span, operands=(base,))))
    return result


def variant(body: Body, node: nodes.Variant) -> ast.expr:
    return ast.Tuple([const(node.tag), *body.operands(node.args)], ast.Load())


def array(body: Body, node: nodes.Array) -> ast.expr:
    return ast.List(body.operands(node.items), ast.Load())


def index(body: Body, node: nodes.Index) -> ast.expr:
    items, position = body.operands((node.array, node.index))
    items, items_again = twice(body, items)
    position, again = twice(body, position)
    checked = checked_index(position, again)
    return body.at(item(items, checked), Spot(Kind.ACCESS, node.span, operands=(items_again, again)))


def checked_index(position: ast.expr, again: ast.expr) -> ast.expr:
    """An index with which Python does not count from the end; `again` is the index for the second time."""
    if isinstance(position, ast.Constant) and type(position.value) is int and position.value >= 0:
        return position
    return ast.IfExp(compare(position, ast.GtE(), const(0)), again, const(None))


def twice(body: Body, value: ast.expr) -> tuple[ast.expr, ast.expr]:
    """A value to be used, and a way to use it once more."""
    if isinstance(value, ast.Name | ast.Constant):
        return value, value
    variable = body.unit.fresh()
    return keep(variable, value), name(variable)


def set_index(body: Body, node: nodes.SetIndex) -> ast.expr:
    items, position, value = body.operands((node.array, node.index, node.value))
    if body.unit.bounded:
        items, items_again = twice(body, items)
        position, again = twice(body, position)
        spot = Spot(Kind.ACCESS, node.span, operands=(items_again, again))
        body.emit(ast.Expr(body.at(call("set_index", items, position, value), spot)))
        return const(None)
    if not all(isinstance(part, ast.Name | ast.Constant) for part in (items, position)):
        items, position, value = body.all_temporary((items, position, value))
    spot = Spot(Kind.ACCESS, node.span, operands=(items, position))
    target = ast.Subscript(items, checked_index(position, position), ast.Store())
    body.emit(body.at(ast.Assign([target], value), spot))
    return const(None)


def new_ref(body: Body, node: nodes.NewRef) -> ast.expr:
    return call("Ref", body.value(node.value))


def deref(body: Body, node: nodes.Deref) -> ast.expr:
    place = content(body, node.ref)
    if place is not None:
        return name(place.name)
    return body.at(attribute(body.value(node.ref), "content"), Spot(Kind.REF, node.span))


def set_ref(body: Body, node: nodes.SetRef) -> ast.expr:
    place = content(body, node.ref)
    if place is not None:
        body.into(node.value, place.name)
        body.forget(place.name)
        return const(None)
    ref, value = body.operands((node.ref, node.value))
    spot = Spot(Kind.REF, node.span)
    if body.unit.bounded:
        body.emit(ast.Expr(body.at(call("set_ref", ref, value), spot)))
        return const(None)
    if not body.stable(ref) and not body.stable(value):
        ref = body.temporary(ref)
    body.emit(body.at(ast.Assign([ast.Attribute(ref, "content", ast.Store())], value), spot))
    return const(None)


def content(body: Body, node: nodes.Expr) -> Place | None:
    """The place of a ref that is a mere variable."""
    if isinstance(node, nodes.Local):
        place = body.places[node.slot]
        if place.content:
            return place
    return None


def loop(body: Body, node: nodes.While) -> ast.expr:
    body.enter_loop()
    tests: list[ast.expr] = []
    before = body.apart(partial(collect, body, node.condition, tests))
    inside = body.branch(node.condition, True, partial(body.into, node.body, DROP))
    body.loops -= 1
    if body.unit.bounded:
        inside.insert(0, body.tick(Spot(Kind.LOOP, node.span)))
    test = tests[0]
    if before:
        stop = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        test, inside = const(True), [*before, stop, *inside]
    body.emit(ast.While(test, inside or [ast.Pass()], []))
    return const(None)


def let(body: Body, node: nodes.Let) -> ast.expr:
    bind(body, node)
    return body.value(node.body)


def bind(body: Body, node: nodes.Let) -> None:
    """Bind the variable of a `let`."""
    if isinstance(node.value, nodes.Lambda):
        place = Place(body.unit.fresh("f"), node.value)
        body.functions([(place.name, node.value)], local=True)
        body.places[node.slot] = place
    elif node in body.unit.facts.variables and isinstance(node.value, nodes.NewRef):
        place = Place(body.unit.fresh("r"), content=True)
        body.into(node.value.value, place.name)
        body.varying.add(place.name)
        body.places[node.slot] = place
    else:
        variable = body.unit.fresh("v")
        body.into(node.value, variable)
        body.places[node.slot] = Place(variable)


def let_rec(body: Body, node: nodes.LetRec) -> ast.expr:
    bind_group(body, node)
    return body.value(node.body)


def bind_group(body: Body, node: nodes.LetRec) -> None:
    """Bind the functions of a `let rec`."""
    group = []
    for slot, function in zip(node.slots, node.functions, strict=True):
        place = body.places[slot] = Place(body.unit.fresh("f"), function)
        group.append((place.name, function))
    body.functions(group, local=True)


def seq(body: Body, node: nodes.Seq) -> ast.expr:
    body.into(node.first, DROP)
    return body.value(node.second)


EXPRESSIONS: dict[type, Callable[[Body, Any], ast.expr]] = {
    nodes.Constant: constant,
    nodes.Local: local,
    nodes.Global: global_,
    nodes.Negate: negate,
    nodes.Binary: binary,
    nodes.Concat: concat,
    nodes.Equal: equal,
    nodes.And: shortcut,
    nodes.Or: shortcut,
    nodes.Lambda: function,
    nodes.Call: apply,
    nodes.If: conditional,
    nodes.While: loop,
    nodes.Let: let,
    nodes.LetRec: let_rec,
    nodes.Match: Body.through_variable,
    nodes.Record: record,
    nodes.Get: get,
    nodes.Update: update,
    nodes.Variant: variant,
    nodes.Array: array,
    nodes.Index: index,
    nodes.SetIndex: set_index,
    nodes.NewRef: new_ref,
    nodes.Deref: deref,
    nodes.SetRef: set_ref,
    nodes.Seq: seq,
}
