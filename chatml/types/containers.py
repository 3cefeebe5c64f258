"""The types of records, variants, arrays and refs, built and read (language.md sections 3.5 to 3.9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from chatml.syntax import ast
from chatml.types.elaborate import payload
from chatml.types.environment import Body, Entry, ModuleType
from chatml.types.facts import Node
from chatml.types.labels import refuse_repetition
from chatml.types.model import Array, Empty, Extend, Int, Record, Ref, Type, Unit, Unknown, Variant
from chatml.types.rebuild import row_of
from chatml.types.scope import Scope
from chatml.types.unify import Unifier
from chatml.types.variables import unfolded


class Inference(Protocol):
    """What containers need of the inference that they are part of, which is built on this module."""

    unifier: Unifier
    scope: Scope[Entry]
    bodies: dict[Entry | None, Body]
    absent: set[ast.FieldGet]
    projections: set[ast.FieldGet]
    fresh: Callable[[], Unknown]

    @property
    def prune(self) -> Callable[[Type], Type]: ...

    def infer(self, expr: ast.Expr) -> Type: ...

    def equate(self, left: Type, right: Type, role: str, node: Node, index: int = 0) -> None: ...

    def taken(self, type: Type) -> Type: ...

    def use(self, entry: Entry) -> Type: ...


class Containers:
    """Infers what holds other values.

    What it uses all the time it holds itself, since this is hot; `absent` and `projections` are new for each statement.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.unifier, self.scope, self.bodies = inference.unifier, inference.scope, inference.bodies
        self.fresh, self.prune, self.infer = inference.fresh, inference.prune, inference.infer
        self.equate, self.taken, self.use = inference.equate, inference.taken, inference.use
        self.handlers: Mapping[type, Callable[[Any], Type]] = {
            ast.RecordLit: self.record,
            ast.FieldGet: self.field,
            ast.RecordUpdate: self.update,
            ast.Variant: self.variant,
            ast.ArrayLit: self.array,
            ast.ArrayGet: self.array_get,
            ast.ArraySet: self.array_set,
            ast.Ref: self.ref,
            ast.Deref: self.deref,
            ast.SetRef: self.set_ref,
        }

    # Records and variants

    def record(self, expr: ast.RecordLit) -> Type:
        refuse_repetition("record", [field.label for field in expr.fields], expr.span)
        fields: dict[str, Type] = dict.fromkeys([field.label.name for field in expr.fields], Unit)
        for field in reversed(expr.fields):
            fields[field.label.name] = self.infer(field.value)
        row = row_of(fields, Empty)
        return Record(row, row.level)

    def field(self, expr: ast.FieldGet) -> Type:
        label = expr.label.name
        if expr.record.__class__ is ast.Name:
            entry = self.scope.entries.get(expr.record.name)
            if entry.__class__ is ModuleType:
                self.inference.projections.add(expr)
                if label in entry.exports:
                    return self.use(entry.exports[label])
            elif entry in self.bodies:
                export = self.bodies[entry].final(label)
                if export is not None:
                    return self.use(export)
        base = self.infer(expr.record)
        known = unfolded(self.prune(base))
        if known.__class__ is Record:
            found, tail = self.unifier.find(known.row, label)
            if found is not None:
                return self.taken(found)
            if tail.__class__ is Unknown:
                field = self.fresh()
                self.unifier.site = expr
                self.unifier.bind(tail, Extend({label: field}, self.fresh()))
                return field
            if self.unifier.is_loose(known.row):
                self.inference.absent.add(expr)
                return self.fresh()
        field = self.fresh()
        self.equate(base, Record(Extend({label: field}, self.fresh())), "field", expr)
        return field

    def update(self, expr: ast.RecordUpdate) -> Type:
        refuse_repetition("update", [field.label for field in expr.fields], expr.span)
        base = self.infer(expr.record)
        known = unfolded(self.prune(base))
        if known.__class__ is not Record:
            known = Record(self.fresh())
            self.equate(base, known, "update", expr)
        noted, tail = self.unifier.flatten(known.row)
        if noted and tail.__class__ is Unknown:
            tail.loose = True
        self.unifier.charge(len(noted))
        fields = dict(noted)
        for field in expr.fields:
            fields[field.label.name] = self.infer(field.value)
        row = row_of(fields, tail)
        return Record(row, row.level)

    def variant(self, expr: ast.Variant) -> Type:
        args = [self.infer(arg) for arg in expr.args]
        tail = self.fresh()
        return Variant(Extend({expr.tag: payload(args)}, tail, tail.level), tail.level)

    # Arrays and refs

    def array(self, expr: ast.ArrayLit) -> Type:
        element = self.fresh()
        for index, item in enumerate(expr.items):
            type = self.infer(item)
            self.equate(type, element, "element", expr, index)
        known = self.prune(element)
        return Array(known if known.level < 0 else element, known.level)

    def array_get(self, expr: ast.ArrayGet) -> Type:
        index = self.infer(expr.index)
        if index is not Int:
            self.equate(index, Int, "index", expr)
        array = self.infer(expr.array)
        known = self.prune(array)
        if known.__class__ is Array:
            return self.taken(known.element)
        element = self.fresh()
        self.equate(array, Array(element), "indexed", expr)
        return element

    def array_set(self, expr: ast.ArraySet) -> Type:
        index = self.infer(expr.index)
        self.equate(index, Int, "index", expr)
        value = self.infer(expr.value)
        array = self.infer(expr.array)
        known = self.prune(array)
        if known.__class__ is Array:
            self.equate(known.element, value, "stored", expr)
        else:
            self.equate(array, Array(value), "indexed", expr)
        return Unit

    def ref(self, expr: ast.Ref) -> Type:
        content = self.infer(expr.value)
        return Ref(content, content.level)

    def deref(self, expr: ast.Deref) -> Type:
        ref = self.infer(expr.ref)
        known = self.prune(ref)
        if known.__class__ is Ref:
            return self.prune(known.content)
        content = self.fresh()
        self.equate(Ref(content), ref, "dereferenced", expr)
        return content

    def set_ref(self, expr: ast.SetRef) -> Type:
        ref = self.infer(expr.ref)
        value = self.infer(expr.value)
        known = self.prune(ref)
        if known.__class__ is Ref:
            self.equate(known.content, value, "assigned", expr)
            return Unit
        content = self.fresh()
        self.equate(Ref(content), ref, "assignee", expr)
        self.equate(content, value, "assigned", expr)
        return Unit
