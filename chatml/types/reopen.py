"""Re-opening of parameters (language.md section 3.7): helpers accept wider records than they touch."""

from __future__ import annotations

from chatml.types.model import Array, Mu, Record, Ref, Tuple, Type, Unknown
from chatml.types.rebuild import row_of
from chatml.types.unify import Unifier

MOST_RECORDS = 2_000
"""How many records of one parameter are opened: a type of a few lines can unfold to more than any memory holds."""


def reopen(unifier: Unifier, parameter: Unknown) -> None:
    """Give a parameter whose type is known the same type with its records open."""
    type = unifier.prune(parameter)
    opened = _Reopening(unifier, parameter.level).visit(type)
    if opened is not type:
        unifier.link(parameter, opened)


class _Reopening:
    def __init__(self, unifier: Unifier, level: int) -> None:
        self.unifier = unifier
        self.level = level
        self.records = 0
        self.inside: set[int] = set()
        """The types that are being re-opened: one that is reached again stays as it is."""

    def visit(self, type: Type) -> Type:
        self.unifier.charge(1)
        known = self.unifier.prune(type)
        kind = known.__class__
        if kind not in OPENED or id(known) in self.inside:
            return type
        self.inside.add(id(known))
        opened = self.parts(known)
        self.inside.discard(id(known))
        return type if opened is known else opened

    def parts(self, type: Type) -> Type:
        match type:
            case Mu(_, body):
                opened = self.visit(body)
                return type if opened is body else opened
            case Record(row):
                return self.record(type, row)
            case Array(element):
                opened = self.visit(element)
                return type if opened is element else Array(opened)
            case Ref(content):
                opened = self.visit(content)
                return type if opened is content else Ref(opened)
            case Tuple(parts):
                opened_parts = [self.visit(part) for part in parts]
                same = all(part is opened for part, opened in zip(parts, opened_parts, strict=True))
                return type if same else Tuple(opened_parts)
        return type

    def record(self, type: Record, row: Type) -> Type:
        fields, _ = self.unifier.flatten(row)
        if not fields or self.records >= MOST_RECORDS:
            return type
        self.records += 1
        opened = {label: self.visit(part) for label, part in fields.items()}
        open_row = row_of(opened, Unknown(self.level))
        return Record(open_row, open_row.level)


OPENED = frozenset({Mu, Record, Array, Ref, Tuple})
