"""The parts of each expression, in the order of their evaluation, for walks that have nothing to say about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chatml import core

PARTS: dict[type, Callable[[Any], tuple[core.Expr, ...]]] = {
    core.Constant: lambda node: (),
    core.Local: lambda node: (),
    core.Global: lambda node: (),
    core.Negate: lambda node: (node.operand,),
    core.Binary: lambda node: (node.left, node.right),
    core.Concat: lambda node: (node.left, node.right),
    core.Equal: lambda node: (node.left, node.right),
    core.And: lambda node: (node.left, node.right),
    core.Or: lambda node: (node.left, node.right),
    core.Lambda: lambda node: (node.body,),
    core.Call: lambda node: (node.function, *node.args),
    core.If: lambda node: (node.condition, node.then, node.otherwise),
    core.While: lambda node: (node.condition, node.body),
    core.Let: lambda node: (node.value, node.body),
    core.LetRec: lambda node: (*node.functions, node.body),
    core.Match: lambda node: (node.scrutinee, *[arm.body for arm in node.arms]),
    core.Record: lambda node: node.values,
    core.Get: lambda node: (node.record,),
    core.Update: lambda node: (node.record, *node.values),
    core.Variant: lambda node: node.args,
    core.Array: lambda node: node.items,
    core.Index: lambda node: (node.array, node.index),
    core.SetIndex: lambda node: (node.array, node.index, node.value),
    core.NewRef: lambda node: (node.value,),
    core.Deref: lambda node: (node.ref,),
    core.SetRef: lambda node: (node.ref, node.value),
    core.Seq: lambda node: (node.first, node.second),
}
