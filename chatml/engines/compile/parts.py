"""The parts of each expression, in the order of their evaluation, for walks that have nothing to say about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from chatml.core import nodes

PARTS: dict[type, Callable[[Any], tuple[nodes.Expr, ...]]] = {
    nodes.Constant: lambda node: (),
    nodes.Local: lambda node: (),
    nodes.Global: lambda node: (),
    nodes.Negate: lambda node: (node.operand,),
    nodes.Binary: lambda node: (node.left, node.right),
    nodes.Concat: lambda node: (node.left, node.right),
    nodes.Equal: lambda node: (node.left, node.right),
    nodes.And: lambda node: (node.left, node.right),
    nodes.Or: lambda node: (node.left, node.right),
    nodes.Lambda: lambda node: (node.body,),
    nodes.Call: lambda node: (node.function, *node.args),
    nodes.If: lambda node: (node.condition, node.then, node.otherwise),
    nodes.While: lambda node: (node.condition, node.body),
    nodes.Let: lambda node: (node.value, node.body),
    nodes.LetRec: lambda node: (*node.functions, node.body),
    nodes.Match: lambda node: (node.scrutinee, *[arm.body for arm in node.arms]),
    nodes.Record: lambda node: node.values,
    nodes.Get: lambda node: (node.record,),
    nodes.Update: lambda node: (node.record, *node.values),
    nodes.Variant: lambda node: node.args,
    nodes.Array: lambda node: node.items,
    nodes.Index: lambda node: (node.array, node.index),
    nodes.SetIndex: lambda node: (node.array, node.index, node.value),
    nodes.NewRef: lambda node: (node.value,),
    nodes.Deref: lambda node: (node.ref,),
    nodes.SetRef: lambda node: (node.ref, node.value),
    nodes.Seq: lambda node: (node.first, node.second),
}


def inside(node: nodes.Expr) -> Iterator[nodes.Expr]:
    """An expression and all that is in it."""
    todo = [node]
    while todo:
        part = todo.pop()
        yield part
        todo += PARTS[type(part)](part)
