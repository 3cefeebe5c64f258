"""Types that are written: from type expressions to types (language.md section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chatml.lazy import lazy
from chatml.source import Span
from chatml.syntax import ast
from chatml.types.environment import CONSTRUCTORS, PRIMITIVES
from chatml.types.facts import DuplicateType, Fault, PrimitiveRedefined, UnguardedType, UnknownConstructor, UnknownType
from chatml.types.labels import refuse_repetition
from chatml.types.model import (
    RECURSIVE,
    Array,
    Con,
    Empty,
    Fun,
    Mu,
    Record,
    Row,
    Tuple,
    Type,
    Unit,
    Unknown,
    Variant,
)
from chatml.types.rebuild import level_of, row_of
from chatml.types.variables import unfolded

if TYPE_CHECKING:
    from chatml.diagnostics import suggest
else:
    suggest = lazy("chatml.diagnostics.suggest")


class Elaborator:
    """Translates type expressions. `aliases` are the types that have a name, None for one whose declaration failed.

    A script may declare those that are `added` itself.
    """

    def __init__(
        self,
        aliases: Mapping[str, Type],
        is_value: Callable[[str], bool],
        fresh: Callable[[], Unknown],
        added: Container[str] = (),
    ) -> None:
        self.aliases: dict[str, Type | None] = dict(aliases)
        self.added = added
        self.is_value = is_value
        self.fresh = fresh
        self.declared: dict[str, Span] = {}
        self.blamed: Span | None = None
        """Where errors are reported; None: at the type expression itself."""
        self.own: Mu | None = None
        """The type that is being declared, and whether a use of it would be guarded here."""
        self.guarded = True
        self.used = False
        self.handlers: dict[type, Callable[[Any], Type]] = {
            ast.NamedType: self.named,
            ast.ArrowType: self.arrow,
            ast.AppliedType: self.applied,
            ast.RecordType: self.record,
            ast.VariantType: self.variant,
        }

    def annotation(self, type: ast.TypeExpr, blamed: Span) -> Type:
        """The type of an annotation. Faults are reported at the annotated expression, as the cases ask."""
        self.blamed = blamed
        return self.visit(type)

    def declare(self, statement: ast.TypeStatement) -> None:
        """Add a declared type under its name. Raises `Fault`; the name is known afterwards in either case."""
        name, span = statement.name.name, statement.name.span
        if name in PRIMITIVES:
            raise Fault(PrimitiveRedefined(span, name))
        if name in self.aliases and not (name in self.added and name not in self.declared):
            self.aliases[name] = None
            raise Fault(DuplicateType(span, name, self.declared.get(name)))
        self.declared[name] = span
        self.aliases.pop(name, None)
        self.aliases[name] = None
        self.blamed = None
        self.own, self.guarded, self.used = Mu(name, Unit, RECURSIVE), False, False
        try:
            body = self.visit(statement.type)
            if self.used:
                self.own.body = body
                body = self.own
        finally:
            self.own, self.guarded = None, True
        self.aliases[name] = body

    def visit(self, type: ast.TypeExpr) -> Type:
        return self.handlers[type.__class__](type)

    def place(self, span: Span) -> Span:
        return span if self.blamed is None else self.blamed

    def named(self, type: ast.NamedType) -> Type:
        name = type.name
        if name in PRIMITIVES:
            return PRIMITIVES[name]
        if self.own is not None and name == self.own.binder:
            if not self.guarded:
                raise Fault(UnguardedType(type.span, name))
            self.used = True
            return self.own
        if name not in self.aliases:
            known = [*PRIMITIVES, *self.aliases]
            raise Fault(UnknownType(self.place(type.span), name, type.span, tuple(suggest.near(name, known))))
        return self.aliases[name] or self.fresh()

    def under(self, parts: list[ast.TypeExpr]) -> list[Type]:
        """Parts under a constructor that guards a recursive use."""
        outside = self.guarded
        self.guarded = True
        types = [self.visit(part) for part in parts]
        self.guarded = outside
        return types

    def arrow(self, type: ast.ArrowType) -> Type:
        """All arrows of a chain at once: they make one function, however many there are."""
        parts, last = [type.parameter], type.result
        while isinstance(last, ast.ArrowType):
            parts.append(last.parameter)
            last = last.result
        *parameters, result = self.under([*parts, last])
        params = [parameter for parameter in parameters if parameter is not Unit]
        if result is not self.own:
            function = unfolded(result)
            if isinstance(function, Fun):
                params.extend(function.params)
                result = function.result
        return Fun(params, result, level_of([*params, result]))

    def applied(self, type: ast.AppliedType) -> Type:
        name = type.constructor.name
        if name == "array":
            (element,) = self.under([type.argument])
            return Array(element, element.level)
        argument = self.visit(type.argument)
        if name in CONSTRUCTORS:
            return Con(name, [argument], argument.level)
        place = type.constructor.span
        raise Fault(UnknownConstructor(self.place(place), name, place, self.blamed is None, self.is_value(name)))

    def record(self, type: ast.RecordType) -> Type:
        refuse_repetition("record type", [field.label for field in type.fields], self.blamed)
        row = close(type.fields, self.under([field.type for field in type.fields]))
        return Record(row, row.level)

    def variant(self, type: ast.VariantType) -> Type:
        refuse_repetition("variant type", [case.label for case in type.cases], self.blamed)
        row = close(type.cases, [payload(self.under(list(case.args))) for case in type.cases])
        return Variant(row, row.level)


def payload(types: Sequence[Type]) -> Type:
    """What a variant's row holds for a tag with arguments of these types (section 3.1)."""
    if not types:
        return Unit
    return types[0] if len(types) == 1 else Tuple(types, level_of(types))


def close(parts: Sequence[ast.FieldType | ast.CaseType], types: list[Type]) -> Row:
    """The closed row of these labels and types."""
    labels = [part.label.name for part in parts]
    return row_of(dict(zip(labels, types, strict=True)), Empty)
