"""Re-opening of parameters (language.md section 3.7): helpers accept wider records than they touch."""

from __future__ import annotations

from chatml.types.model import Empty, Record, Row, Type, Unknown
from chatml.types.rebuild import row_of
from chatml.types.unify import Unifier
from chatml.types.variables import unfolded

MOST_RECORDS = 2_000
"""How many records of one parameter are opened: a type of a few lines can unfold to more than any memory holds."""


def reopen(unifier: Unifier, parameter: Type) -> Type:
    """What a function takes that has a parameter of this type: its records with any further fields.

    The function itself goes on to see the closed records. So what it gives back has no field that it does not know of,
    and a caller never finds a field there that another record brought. A record in an array or a ref stays as it is:
    the function may put another one in its place.
    """
    return _Reopening(unifier).visit(parameter)


class _Reopening:
    def __init__(self, unifier: Unifier) -> None:
        self.unifier = unifier
        self.records = 0
        self.inside: set[int] = set()
        """The types that are being re-opened: one that is reached again stays as it is."""

    def visit(self, type: Type) -> Type:
        self.unifier.charge(1)
        known = unfolded(self.unifier.prune(type))
        if not isinstance(known, Record) or id(known) in self.inside or self.records >= MOST_RECORDS:
            return type
        self.records += 1
        self.inside.add(id(known))
        row = self.row(known.row)
        self.inside.discard(id(known))
        return type if row is known.row else Record(row, row.level)

    def row(self, row: Row) -> Row:
        fields, tail = self.unifier.flatten(row)
        opened = {label: self.visit(part) for label, part in fields.items()}
        if tail is Empty and fields:
            return row_of(opened, Unknown(self.unifier.level))
        same = all(opened[label] is part for label, part in fields.items())
        return row if same else row_of(opened, tail)
