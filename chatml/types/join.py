"""Joins (language.md section 3.8): the type of an `if` or of the arms of a `match`."""

from __future__ import annotations

from chatml.types.model import Empty, Record, Type, Unknown
from chatml.types.rebuild import row_of
from chatml.types.unify import Failure, Unifier
from chatml.types.variables import unfolded


def join(unifier: Unifier, left: Type, right: Type) -> Type:
    """The records' common fields, or else the one type that both must have. Raises `Failure`."""
    return _Join(unifier).join(left, right)


class _Join:
    def __init__(self, unifier: Unifier) -> None:
        self.unifier = unifier
        self.begun: dict[tuple[int, int], tuple[Unknown, Type, Type]] = {}
        """The variable that stands for the join of two records, known once that is built."""

    def join(self, left: Type, right: Type) -> Type:
        mine, other = self.record(left), self.record(right)
        if mine is not None and mine is other:
            return left
        if mine is None or other is None:
            self.unifier.unify(left, right)
            return left
        pair = (id(mine), id(other))
        if pair in self.begun:
            return self.begun[pair][0]
        hole = self.unifier.fresh()
        self.begun[pair] = (hole, mine, other)
        joined = self.join_records(mine, other)
        self.unifier.link(hole, joined)
        return joined

    def record(self, type: Type) -> Record | None:
        """The record that a type is, bound variables followed and recursion unfolded."""
        known = unfolded(self.unifier.prune(type))
        return known if isinstance(known, Record) else None

    def join_records(self, left: Record, right: Record) -> Record:
        fields, tail = self.unifier.flatten(left.row)
        others, other_tail = self.unifier.flatten(right.row)
        self.unifier.charge(len(fields) + len(others))
        common: dict[str, Type] = {}
        for label in sorted(fields.keys() & others.keys()):
            try:
                common[label] = self.join(fields[label], others[label])
            except Failure as failure:
                failure.path.append(("field", label))
                raise
        # Joining the fields may have bound the tails.
        tail, other_tail = self.unifier.prune(tail), self.unifier.prune(other_tail)
        if tail is not other_tail:
            return Record(row_of(common, Empty))
        dropped = {label: type for label, type in [*fields.items(), *others.items()] if label not in common}
        if dropped:
            self.unifier.promise(dropped, tail)
        return Record(row_of(common, tail))
