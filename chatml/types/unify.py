"""Unification (language.md section 3.4): make two types equal, or say where they cannot be.

What a variable stands for is held by `variables`; here is what binds them: two types come in, and are equal
afterwards, or a `Failure` says which parts of them clash and on what way these were met.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from chatml.types.model import (
    Array,
    Con,
    Empty,
    Extend,
    Fun,
    Mu,
    Record,
    Ref,
    Row,
    Scalar,
    Tuple,
    Type,
    Unknown,
    Variant,
)
from chatml.types.variables import Variables, site_of, unfolded

Step = tuple[str, str | int]
"""One step into a type: what kind of part, and which: `("field", "name")`, `("parameter", 1)`."""


class Failure(Exception):
    """Two types that cannot be made equal.

    `left` and `right` are the parts that clash, `kind` says how, `labels` those that a closed row would have to take
    up, and `path` leads from the whole types to the parts, innermost step first.
    """

    def __init__(
        self, kind: str, left: Type, right: Type, labels: Sequence[str] = (), sites: tuple[Any, Any] = (None, None)
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.left = left
        self.right = right
        self.labels = labels
        self.left_site, self.right_site = sites
        self.path: list[Step] = []


class Unifier(Variables):
    """Makes types equal; `work` bounds how many parts of types it may look at (see `Variables`)."""

    def __init__(self, work: float = math.inf) -> None:
        super().__init__(work)
        self.seen: dict[tuple[int, int], tuple[Type, Type]] = {}
        """Pairs taken to be equal while they are compared: what makes cyclic types terminate."""
        self.parts: dict[type, Callable[[Any, Any], None]] = {
            Fun: self.unify_functions,
            Con: self.unify_constructors,
            Ref: self.unify_refs,
            Array: self.unify_arrays,
            Record: self.unify_records,
            Variant: self.unify_variants,
            Tuple: self.unify_tuples,
        }

    def bind(self, variable: Unknown, target: Type) -> None:
        """Bind a free variable, unless it occurs in the target where a type must not contain itself."""
        if target.__class__ is Unknown:
            if target.level > variable.level:
                self.search(target, variable.level, None)
        elif target.level >= variable.level and self.search(target, variable.level, variable):
            self.refuse_unguarded(variable, target)
        self.link(variable, target)
        if variable.promised is not None:
            self.keep(variable.promised, target)

    def promise(self, fields: dict[str, Type], row: Row) -> None:
        """Hold a row to types of labels that it may turn out to have. Raises `Failure`."""
        self.seen = {}
        self.keep(Extend(fields, self.fresh()), row)

    def keep(self, promised: Row, row: Row) -> None:
        """Hold a row to what is promised of labels that it may have. Raises `Failure`."""
        fields, _ = self.flatten(row)
        if fields:
            known = Extend(fields, self.fresh())
            self.unify_rows("field", Record(promised), Record(known), promised, known)
        _, rest = self.flatten(row)
        if not isinstance(rest, Unknown):
            return
        if rest.promised is None:
            self.note(rest)
            rest.promised = promised
            self.search(promised, rest.level, None)
        else:
            self.unify_rows("field", Record(rest.promised), Record(promised), rest.promised, promised)

    def is_loose(self, row: Row) -> bool:
        """Whether an update kept the rest of a record that has this row now."""
        following: Row | None = row
        while following is not None and following is not Empty:
            if isinstance(following, Unknown):
                if following.loose:
                    return True
                following = following.link
            else:
                following = following.tail if isinstance(following, Extend) else None
        return False

    def refuse_unguarded(self, variable: Unknown, target: Type) -> None:
        """Raise `Failure` for a variable that occurs in a type which must not contain itself there.

        A row may hold itself in a field, `r = { next : { ...r } }`, but not follow itself, `r = { a : int; ...r }`.
        """
        kind = unfolded(target).__class__
        if kind not in MAY_RECUR:
            raise Failure("endless", variable, target)
        if kind is Extend:
            fields, tail = self.flatten(target)
            if tail is variable:
                raise Failure("endless_row", variable, target, sorted(fields))

    # Unification

    def unify(self, left: Type, right: Type) -> None:
        """Make two types equal; which is left and which is right matters (section 3.4). Raises `Failure`."""
        if left is right:
            return
        known = self.prune(left)
        other = self.prune(right)
        if known is other:
            return
        if known.__class__ is Unknown:
            self.bind(known, other)
        elif other.__class__ is Unknown:
            self.bind(other, known)
        elif known.__class__ is Scalar or other.__class__ is Scalar:
            raise Failure("differ", known, other, sites=(site_of(left), site_of(right)))
        else:
            self.seen = {}
            self.unify_parts(left, right)

    def unify_parts(self, left: Type, right: Type) -> None:
        """Unification inside one that has begun."""
        known = self.prune(left)
        other = self.prune(right)
        if known is other:
            return
        if known.__class__ is Unknown:
            self.bind(known, other)
            return
        if other.__class__ is Unknown:
            self.bind(other, known)
            return
        self.charge(1)
        pair = (id(known), id(other))
        if pair in self.seen:
            return
        self.seen[pair] = (known, other)
        kind = known.__class__
        if kind is Mu or other.__class__ is Mu:
            self.unify_parts(unfolded(known), unfolded(other))
            return
        handler = self.parts.get(kind)
        if handler is None or kind is not other.__class__:
            raise Failure("differ", known, other, sites=(site_of(left), site_of(right)))
        handler(known, other)

    def at(self, step: Step, left: Type, right: Type) -> None:
        """Unify two parts; a failure notes the step that led to them."""
        try:
            self.unify_parts(left, right)
        except Failure as failure:
            failure.path.append(step)
            raise

    def unify_functions(self, left: Fun, right: Fun) -> None:
        if len(left.params) != len(right.params):
            raise Failure("arity", left, right)
        for place, (param, other) in enumerate(zip(left.params, right.params, strict=True)):
            self.at(("parameter", place), param, other)
        self.at(("result", 0), left.result, right.result)

    def unify_constructors(self, left: Con, right: Con) -> None:
        if left.name != right.name or len(left.args) != len(right.args):
            raise Failure("differ", left, right)
        for place, (arg, other) in enumerate(zip(left.args, right.args, strict=True)):
            self.at(("argument", place), arg, other)

    def unify_tuples(self, left: Tuple, right: Tuple) -> None:
        if len(left.parts) != len(right.parts):
            raise Failure("payload", left, right)
        for place, (part, other) in enumerate(zip(left.parts, right.parts, strict=True)):
            self.at(("payload", place), part, other)

    def unify_refs(self, left: Ref, right: Ref) -> None:
        self.at(("content", 0), left.content, right.content)

    def unify_arrays(self, left: Array, right: Array) -> None:
        self.at(("element", 0), left.element, right.element)

    def unify_records(self, left: Record, right: Record) -> None:
        self.unify_rows("field", left, right, left.row, right.row)

    def unify_variants(self, left: Variant, right: Variant) -> None:
        self.unify_rows("tag", left, right, left.row, right.row)

    def unify_rows(self, kind: str, left: Type, right: Type, left_row: Type, right_row: Type) -> None:
        """Make two rows equal; `left` and `right` are the types that they belong to, for the report."""
        left_row, right_row = self.prune(left_row), self.prune(right_row)
        if left_row is right_row:
            return
        fields, tail = self.flatten(left_row)
        others, other_tail = self.flatten(right_row)
        self.charge(len(fields) + len(others))
        if tail.__class__ is Unknown and tail is other_tail and fields.keys() != others.keys():
            self.unify_with_own_rest(kind, left, right, tail, fields, others)
            return
        if left_row.__class__ is Unknown:
            self.bind(left_row, right_row)
            return
        if right_row.__class__ is Unknown:
            self.bind(right_row, left_row)
            return
        for label in sorted(fields.keys() & others.keys()):
            self.at((kind, label), fields[label], others[label])
        more = {label: type for label, type in fields.items() if label not in others}
        missing = {label: type for label, type in others.items() if label not in fields}
        if missing and tail is Empty:
            raise Failure(f"absent_{kind}_left", left, right, sorted(missing))
        if more and other_tail is Empty:
            raise Failure(f"absent_{kind}_right", left, right, sorted(more))
        if more and missing:
            rest = Unknown(self.level)
            self.unify_rows(kind, left, right, other_tail, Extend(more, rest))
            self.unify_rows(kind, left, right, tail, Extend(missing, rest))
        elif more:
            self.unify_rows(kind, left, right, other_tail, Extend(more, tail))
        elif missing:
            self.unify_rows(kind, left, right, tail, Extend(missing, other_tail))
        else:
            self.unify_rows(kind, left, right, tail, other_tail)

    def unify_with_own_rest(
        self,
        kind: str,
        left: Type,
        right: Type,
        rest: Unknown,
        fields: dict[str, Type],
        others: dict[str, Type],
    ) -> None:
        """`{ e with x = v }` meets `e`: they are equal once `e` has an `x`, for of equal labels the leftmost counts.

        Two rows that share their rest and each have labels of their own do not meet.
        """
        more, missing = fields.keys() - others.keys(), others.keys() - fields.keys()
        for label in sorted(fields.keys() & others.keys()):
            self.at((kind, label), fields[label], others[label])
        if more and missing:
            raise Failure("endless_row", left, right, sorted(more | missing))
        wider = fields if more else others
        self.unify_rows(
            kind,
            left,
            right,
            rest,
            Extend({label: wider[label] for label in sorted(more | missing)}, Unknown(rest.level)),
        )


MAY_RECUR = frozenset({Record, Variant, Tuple, Con, Extend})
"""Where inference may find a type that contains itself (section 3.4, occurrence)."""
