"""The core tree: a checked script with every name resolved (language.md section 4). Engines run this and nothing else.

Variables are slots. A function's frame holds its parameters first, then everything else that it names: local
bindings, pattern variables, and the values that it captured. Closures capture values, not variables: a binding never
changes, so a copy is as good, and a loop body that makes closures needs nothing special. What statements define lives
in numbered cells, one for each definition.
"""

from __future__ import annotations

from typing import TypeAlias

from chatml.records import node
from chatml.source import Span
from chatml.values.model import Value

# Expressions


@node
class Constant:
    """A literal, or a variant without arguments."""

    value: Value
    span: Span


@node
class Local:
    slot: int
    span: Span


@node
class Global:
    """The content of a cell: a definition of the script, or a builtin."""

    cell: int
    span: Span


@node
class Negate:
    """`-` or `-.`"""

    op: str
    operand: Expr
    span: Span


@node
class Binary:
    """An arithmetic operator or a comparison by size."""

    op: str
    left: Expr
    right: Expr
    span: Span


@node
class Concat:
    """`++`"""

    left: Expr
    right: Expr
    span: Span


@node
class Equal:
    """`==`, or `!=` when `negated`. `scalar` says that the operands are numbers, strings, booleans or unit."""

    left: Expr
    right: Expr
    negated: bool
    scalar: bool
    span: Span


@node
class And:
    left: Expr
    right: Expr
    span: Span


@node
class Or:
    left: Expr
    right: Expr
    span: Span


@node
class Lambda:
    """A function. `captures` pairs a slot of the enclosing frame with the slot that receives its value here."""

    name: str
    arity: int
    captures: tuple[tuple[int, int], ...]
    size: int
    body: Expr
    span: Span


@node
class Call:
    function: Expr
    args: tuple[Expr, ...]
    span: Span


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
    slot: int
    value: Expr
    body: Expr
    span: Span


@node
class LetRec:
    """Functions that see each other: a slot for each."""

    slots: tuple[int, ...]
    functions: tuple[Lambda, ...]
    body: Expr
    span: Span


@node
class Arm:
    """An arm; `span` is the place of its pattern."""

    pattern: Pattern
    body: Expr
    span: Span


@node
class Match:
    scrutinee: Expr
    arms: tuple[Arm, ...]
    span: Span


@node
class Record:
    labels: tuple[str, ...]
    values: tuple[Expr, ...]
    span: Span


@node
class Get:
    """A field of a record, or an export of a module that is used as a value or whose body is still running."""

    record: Expr
    label: str
    span: Span


@node
class Update:
    record: Expr
    labels: tuple[str, ...]
    values: tuple[Expr, ...]
    span: Span


@node
class Variant:
    """A variant with at least one argument."""

    tag: str
    args: tuple[Expr, ...]
    span: Span


@node
class Array:
    items: tuple[Expr, ...]
    span: Span


@node
class Index:
    array: Expr
    index: Expr
    span: Span


@node
class SetIndex:
    array: Expr
    index: Expr
    value: Expr
    span: Span


@node
class NewRef:
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


Expr: TypeAlias = (
    Constant
    | Local
    | Global
    | Negate
    | Binary
    | Concat
    | Equal
    | And
    | Or
    | Lambda
    | Call
    | If
    | While
    | Let
    | LetRec
    | Match
    | Record
    | Get
    | Update
    | Variant
    | Array
    | Index
    | SetIndex
    | NewRef
    | Deref
    | SetRef
    | Seq
)


# Patterns


@node
class Anything:
    """Matches every value."""


@node
class Bind:
    """Matches every value and keeps it."""

    slot: int


@node
class Exactly:
    """Matches an equal number, string, boolean or unit."""

    value: Value


@node
class Tagged:
    tag: str
    args: tuple[Pattern, ...]


@node
class Fields:
    """Matches a record that has these fields and, unless `open`, no other."""

    labels: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    open: bool


Pattern: TypeAlias = Anything | Bind | Exactly | Tagged | Fields


# Statements


@node
class Define:
    cell: int
    value: Expr


@node
class DefineRec:
    cells: tuple[int, ...]
    functions: tuple[Lambda, ...]


@node
class DefineModule:
    """Runs its items, then fills the module in `cell` with the exports: a label and the cell that holds its value."""

    cell: int
    name: str
    items: tuple[Statement, ...]
    exports: tuple[tuple[str, int], ...]


@node
class Evaluate:
    """An expression whose value is dropped."""

    value: Expr


Statement: TypeAlias = Define | DefineRec | DefineModule | Evaluate


@node
class BuiltinCell:
    """A cell that the surface fills before the script runs: a global, a module, or an export of `module`."""

    cell: int
    name: str
    module: str | None


@node
class Script:
    """A whole script: its statements, how many cells and slots they use, and which cells are builtins.

    `definitions` maps the name of each top-level definition to its (last) cell.
    """

    statements: tuple[Statement, ...]
    cells: int
    size: int
    builtins: tuple[BuiltinCell, ...]
    definitions: dict[str, int]
