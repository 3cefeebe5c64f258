"""What can be wrong with the types of a script, as facts; `problems` words them.

`span` is the place that a report starts at; it is None when the environment is at fault. Types in these records are
frozen copies: later inference does not change them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from chatml.records import frozen
from chatml.source import Span
from chatml.syntax import ast
from chatml.types.model import Type

Owner = Literal["record", "update", "record pattern", "record type", "variant type"]
"""What labels belong to, or tags, the last one."""

Node: TypeAlias = ast.Expr | ast.Statement | ast.Binding | ast.Ident


class Fault(Exception):
    """Ends the inference of a statement; carries the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


# Names


@frozen
class UnknownVariable:
    """A name that stands for nothing here. `exporters` are the modules with such an export; `opened` if by `open`."""

    span: Span
    name: str
    near: tuple[str, ...]
    exporters: tuple[str, ...]
    opened: bool = False


@frozen
class OpenShadows:
    """`open` would hide names that are in scope; `names` are all of them in order."""

    span: Span
    module: str
    names: tuple[str, ...]


@frozen
class BadPattern:
    """A text that is written out where a pattern is wanted, and is none: why, and at which of its characters."""

    span: Span
    reason: str
    position: int


@frozen
class NotAModule:
    """`open` of a value, or of a module inside its own body."""

    span: Span
    name: str
    type: Type | None
    unfinished: bool


# Types that are written


@frozen
class UnknownType:
    span: Span
    name: str
    place: Span
    near: tuple[str, ...]


@frozen
class UnknownConstructor:
    span: Span
    name: str
    place: Span
    declaration: bool
    value: bool
    """Whether there is a value of that name, which the script may have wanted to use."""


@frozen
class PrimitiveRedefined:
    span: Span | None
    name: str


@frozen
class DuplicateType:
    span: Span | None
    name: str
    first: Span | None = None


@frozen
class UnguardedType:
    span: Span | None
    name: str


@frozen
class UnboundBinder:
    """A host's type that names a binder of no enclosing `Mu`."""

    span: Span | None
    name: str
    binder: str


@frozen
class LooseAlias:
    """A host's alias with a variable in it."""

    span: Span | None
    name: str
    variable: str


# Repetitions


@frozen
class DuplicateLabel:
    """A label, or in a variant type a tag, that is written twice in one `owner`."""

    span: Span
    owner: Owner
    label: str
    first: Span
    second: Span


@frozen
class DuplicateBinder:
    span: Span
    name: str
    first: Span
    second: Span


# Types that do not fit


@frozen
class Site:
    """Where two types had to be equal: a role, the node that plays it, and which of its parts."""

    role: str
    node: Node
    index: int = 0


@frozen
class Mismatch:
    """Two types that had to be equal and are not.

    `left` and `right` are the whole types, `part` and `other` those inside that clash, reached by `path` (outermost
    step first). `kind` says how they clash: `differ`, `arity`, `payload`, `absent_field_left` (the left one lacks the
    `labels`) and likewise, `endless`, `endless_row`. The two spans say what determined the parts.
    """

    span: Span
    site: Site
    kind: str
    left: Type
    right: Type
    part: Type
    other: Type
    path: tuple[tuple[str, str | int], ...] = ()
    labels: tuple[str, ...] = ()
    left_because: Span | None = None
    right_because: Span | None = None


@frozen
class NoEquality:
    """`==` or `!=` on a type without equality; `part` is the offending part of the operands' type."""

    span: Span
    node: ast.Binary
    type: Type
    part: Type


@frozen
class LambdaArity:
    """A function with another number of parameters than its annotation says."""

    span: Span
    wanted: int
    given: int
    type: Type
    annotation: Span


@frozen
class NotRecursive:
    """A member of `let rec` that is not a function."""

    span: Span
    name: str


# Matches


@frozen
class DuplicateArm:
    span: Span
    pattern: str
    first: Span


@frozen
class RedundantArm:
    """An arm that can never be reached: the `earlier` arms cover what is left."""

    span: Span
    pattern: str
    covered: str
    earlier: tuple[Span, ...]


@frozen
class MissingCases:
    """A match that does not cover its scrutinee. Without `cases` nothing but a catch-all would do."""

    span: Span
    scrutinee: Span
    type: Type
    cases: tuple[str, ...]
    partial: tuple[Span, ...] = ()
    """Arms that name a missing case and cover it only in part."""


@frozen
class TooDeep:
    """A statement too deep for the checker."""

    span: Span


@frozen
class TooLarge:
    """A statement at which the types of the script have become too large to follow."""

    span: Span


Problem: TypeAlias = (
    UnknownVariable
    | OpenShadows
    | NotAModule
    | BadPattern
    | UnknownType
    | UnknownConstructor
    | PrimitiveRedefined
    | DuplicateType
    | UnguardedType
    | UnboundBinder
    | LooseAlias
    | DuplicateLabel
    | DuplicateBinder
    | Mismatch
    | NoEquality
    | LambdaArity
    | NotRecursive
    | DuplicateArm
    | RedundantArm
    | MissingCases
    | TooDeep
    | TooLarge
)
