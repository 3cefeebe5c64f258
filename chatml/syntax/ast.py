"""The syntax tree: what was written, a span on each node (language.md section 2.5).

Nodes are frozen and compare by identity, so that later passes may attach facts to them. Derived forms are already
rewritten (section 2.4) but say how they were written: `Lambda.short` is `let f x = e`, `Call.form` is `let*` or `let+`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from chatml.records import node
from chatml.source import Span


def parts(of: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a node with their names, in order, without its spans."""
    for name in of.__match_args__:
        if name not in SPANS:
            yield name, getattr(of, name)


SPANS = frozenset(("span", "op_span"))


def children(of: Any) -> Iterator[Any]:
    """The nodes directly inside a node, in order."""
    for _, part in parts(of):
        for each in part if isinstance(part, tuple) else (part,):
            if hasattr(each, "span"):
                yield each


@node
class Ident:
    """A name where it is bound, or a label where it is written."""

    name: str
    span: Span


UNNAMED = "()"
"""The name of the parameter that `let* () = t in e` makes: no source text can refer to it."""


# Expressions


@node
class Unit:
    span: Span


@node
class Int:
    value: int
    span: Span


@node
class Float:
    value: float
    span: Span


@node
class Bool:
    value: bool
    span: Span


@node
class String:
    value: str
    span: Span


@node
class Name:
    name: str
    span: Span


@node
class Neg:
    """Prefix `-` (int) or `-.` (float)."""

    op: str
    operand: Expr
    span: Span


@node
class Binary:
    """An operator of two operands that evaluates both: everything but `&&` and `||`."""

    op: str
    left: Expr
    right: Expr
    span: Span
    op_span: Span


@node
class And:
    left: Expr
    right: Expr
    span: Span
    op_span: Span


@node
class Or:
    left: Expr
    right: Expr
    span: Span
    op_span: Span


@node
class Lambda:
    params: tuple[Ident, ...]
    body: Expr
    span: Span
    short: bool


@node
class Call:
    function: Expr
    args: tuple[Expr, ...]
    span: Span
    form: str | None


@node
class If:
    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span


@node
class While:
    condition: Expr
    body: Expr
    span: Span


@node
class Let:
    name: Ident
    value: Expr
    body: Expr
    span: Span


@node
class Binding:
    """One member of a `let rec` group."""

    name: Ident
    value: Expr
    span: Span


@node
class LetRec:
    bindings: tuple[Binding, ...]
    body: Expr
    span: Span


@node
class Arm:
    pattern: Pattern
    body: Expr
    span: Span


@node
class Match:
    scrutinee: Expr
    arms: tuple[Arm, ...]
    span: Span


@node
class Field:
    label: Ident
    value: Expr
    span: Span


@node
class RecordLit:
    fields: tuple[Field, ...]
    span: Span


@node
class FieldGet:
    record: Expr
    label: Ident
    span: Span


@node
class RecordUpdate:
    record: Expr
    fields: tuple[Field, ...]
    span: Span


@node
class Variant:
    tag: str
    args: tuple[Expr, ...]
    span: Span


@node
class ArrayLit:
    items: tuple[Expr, ...]
    span: Span


@node
class ArrayGet:
    array: Expr
    index: Expr
    span: Span


@node
class ArraySet:
    array: Expr
    index: Expr
    value: Expr
    span: Span


@node
class Ref:
    value: Expr
    span: Span


@node
class Deref:
    ref: Expr
    span: Span


@node
class SetRef:
    ref: Expr
    value: Expr
    span: Span


@node
class Seq:
    first: Expr
    second: Expr
    span: Span


@node
class Annot:
    """An expression with the type that its binding declares; it has the expression's span."""

    value: Expr
    type: TypeExpr
    span: Span


Expr: TypeAlias = (
    Unit
    | Int
    | Float
    | Bool
    | String
    | Name
    | Neg
    | Binary
    | And
    | Or
    | Lambda
    | Call
    | If
    | While
    | Let
    | LetRec
    | Match
    | RecordLit
    | FieldGet
    | RecordUpdate
    | Variant
    | ArrayLit
    | ArrayGet
    | ArraySet
    | Ref
    | Deref
    | SetRef
    | Seq
    | Annot
)


# Statements


@node
class LetStatement:
    name: Ident
    value: Expr
    span: Span


@node
class LetRecStatement:
    bindings: tuple[Binding, ...]
    span: Span


@node
class TypeStatement:
    name: Ident
    type: TypeExpr
    span: Span


@node
class ModuleStatement:
    name: Ident
    items: tuple[Statement, ...]
    span: Span


@node
class OpenStatement:
    name: Ident
    span: Span


@node
class ExprStatement:
    value: Expr
    span: Span


Statement: TypeAlias = LetStatement | LetRecStatement | TypeStatement | ModuleStatement | OpenStatement | ExprStatement


@node
class Script:
    """A whole text: its statements in order."""

    statements: tuple[Statement, ...]
    span: Span


# Patterns


@node
class UnitPattern:
    span: Span


@node
class WildcardPattern:
    span: Span


@node
class NamePattern:
    name: str
    span: Span


@node
class IntPattern:
    value: int
    span: Span


@node
class FloatPattern:
    value: float
    span: Span


@node
class BoolPattern:
    value: bool
    span: Span


@node
class StringPattern:
    value: str
    span: Span


@node
class VariantPattern:
    tag: str
    args: tuple[Pattern, ...]
    span: Span


@node
class FieldPattern:
    label: Ident
    pattern: Pattern
    span: Span


@node
class RecordPattern:
    """A record pattern; `open` when it ends in `_`, so that further fields are allowed."""

    fields: tuple[FieldPattern, ...]
    open: bool
    span: Span


Pattern: TypeAlias = (
    UnitPattern
    | WildcardPattern
    | NamePattern
    | IntPattern
    | FloatPattern
    | BoolPattern
    | StringPattern
    | VariantPattern
    | RecordPattern
)


# Type expressions


@node
class NamedType:
    name: str
    span: Span


@node
class ArrowType:
    parameter: TypeExpr
    result: TypeExpr
    span: Span


@node
class AppliedType:
    """A postfix constructor: `int array`."""

    constructor: Ident
    argument: TypeExpr
    span: Span


@node
class FieldType:
    label: Ident
    type: TypeExpr
    span: Span


@node
class RecordType:
    fields: tuple[FieldType, ...]
    span: Span


@node
class CaseType:
    """One case of a variant type; its label is the tag without the backtick."""

    label: Ident
    args: tuple[TypeExpr, ...]
    span: Span


@node
class VariantType:
    cases: tuple[CaseType, ...]
    span: Span


TypeExpr: TypeAlias = NamedType | ArrowType | AppliedType | RecordType | VariantType
