"""The variables of inference: what each is bound to, and how that is taken back (language.md section 3.4).

`Variables` holds the current level, the bindings, and a trail of what they were, so that the bindings of a statement
that fails can be undone. Every walk over types is charged against the bound on work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from chatml.types.model import (
    Array,
    Con,
    Extend,
    Fun,
    Mu,
    Record,
    RecVar,
    Ref,
    Row,
    RowVar,
    Tuple,
    Type,
    Unknown,
    Var,
    Variant,
)
from chatml.types.rebuild import level_of

LONG_ROW = 16
"""How many pieces of a row are looked through one by one."""


class TooMuch(Exception):
    """The types of a script have grown beyond what is worth following."""


class Variables:
    """The state of inference: the level, and what the variables are bound to.

    `work` is how many parts of types may be copied and searched. Types can grow exponentially with the text that
    makes them (`let p = { a = p; b = p }`, line after line): beyond this `TooMuch` is raised.
    """

    def __init__(self, work: float = math.inf) -> None:
        self.work = work
        self.level = 0
        self.site: object = None
        """The expression that is being looked at; a variable bound now remembers it."""
        self.trail: list[tuple[Type, Type | None, int, object, Row | None]] = []
        """What bindings, levels and promises were before each change of one."""
        self.indexed: dict[Type, tuple[dict[str, Type], Type]] = {}
        """Of long rows: the labels that were met so far, and what follows them."""

    def charge(self, parts: int) -> None:
        """Count parts of types that were looked at. Raises `TooMuch`."""
        self.work -= parts
        if self.work < 0:
            raise TooMuch

    def fresh(self) -> Unknown:
        """A new variable of the current level."""
        return Unknown(self.level)

    def prune(self, type: Type) -> Type:
        """What a type is known to be: follow bound variables, and shorten the way for the next one."""
        if type.__class__ is not Unknown:
            return type
        link = type.link
        if link is None:
            return type
        if link.__class__ is not Unknown or link.link is None:
            return link
        chain = [type]
        while link.__class__ is Unknown and link.link is not None:
            chain.append(link)
            link = link.link
        site = chain.pop().site
        for variable in chain:
            self.note(variable)
            variable.link = link
            variable.site = site
        return link

    def note(self, variable: Unknown) -> None:
        """Note what is known of a variable before that changes."""
        self.trail.append((variable, variable.link, variable.level, variable.site, variable.promised))

    def find(self, row: Type, label: str) -> tuple[Type | None, Type]:
        """The type of a label in a row, if it is there, and else what follows the labels that are."""
        row = self.prune(row)
        self.charge(1)
        for _ in range(LONG_ROW):
            if row.__class__ is not Extend:
                return None, row
            if label in row.fields:
                return row.fields[label], row
            row = self.prune(row.tail)
        fields, rest = self.indexed.get(row, ({}, row))
        rest = self.prune(rest)
        while rest.__class__ is Extend:
            self.charge(len(rest.fields))
            for met, part in rest.fields.items():
                fields.setdefault(met, part)
            rest = self.prune(rest.tail)
        self.indexed[row] = fields, rest
        return fields.get(label), rest

    def link(self, variable: Unknown, target: Type) -> None:
        """Bind a variable without asking whether that is sound."""
        self.note(variable)
        variable.link = target
        variable.site = self.site

    def settled(self, type: Con) -> Con:
        """The same type without variables, once all are found: tasks of tasks are then not searched over and over."""
        args = [self.prune(arg) for arg in type.args]
        level = level_of(args)
        return Con(type.name, args, level) if level < 0 else type

    def roll_back(self, mark: int) -> None:
        """Take back what was bound since the trail had this length."""
        trail = self.trail
        self.indexed.clear()
        while len(trail) > mark:
            type, link, level, site, promised = trail.pop()
            type.level = level
            if type.__class__ is Unknown:
                type.link, type.site, type.promised = link, site, promised

    def search(self, type: Type, level: int, wanted: Unknown | None) -> bool:
        """Lower every variable in a type to a level, and say whether `wanted`, one of that level, is among them."""
        found = False
        trail = self.trail
        visited: set[int] = set()
        stack = [type]
        while stack:
            type = stack.pop()
            if type.level < level or (type.level == level and wanted is None) or id(type) in visited:
                continue
            visited.add(id(type))
            if type is wanted:
                found = True
            elif type.__class__ is Unknown:
                if type.level > level:
                    self.note(type)
                    type.level = level
                if type.link is not None:
                    stack.append(self.prune(type))
                elif type.promised is not None:
                    stack.append(type.promised)
            else:
                if type.level > level:
                    trail.append((type, None, type.level, None, None))
                    type.level = level
                stack.extend(CHILDREN[type.__class__](type))
        self.charge(len(visited))
        return found

    def flatten(self, row: Row) -> tuple[dict[str, Type], Row]:
        """A row as one map from labels to types, and what ends it: `Empty` or a free variable."""
        row = self.prune(row)
        if row.__class__ is not Extend:
            return {}, row
        tail = self.prune(row.tail)
        if tail.__class__ is not Extend:
            return row.fields, tail
        fields = dict(row.fields)
        while tail.__class__ is Extend:
            self.charge(1 + len(tail.fields))
            for label, type in tail.fields.items():
                fields.setdefault(label, type)
            tail = self.prune(tail.tail)
        return fields, tail


def site_of(type: Type) -> object:
    """The expression that determined a bound variable."""
    site = None
    while type.__class__ is Unknown and type.link is not None:
        site = type.site
        type = type.link
    return site


def resolved(type: Type) -> Type:
    """What a type is known to be, without shortening the way to it."""
    while type.__class__ is Unknown and type.link is not None:
        type = type.link
    return type


def unfolded(type: Type) -> Type:
    """A type that is not a `Mu`: one is replaced by its body."""
    while type.__class__ is Mu:
        type = type.body
    return type


CHILDREN: dict[type, Callable[[Any], Sequence[Type]]] = {
    Array: lambda type: (type.element,),
    Ref: lambda type: (type.content,),
    Tuple: lambda type: type.parts,
    Con: lambda type: type.args,
    Record: lambda type: (type.row,),
    Variant: lambda type: (type.row,),
    Fun: lambda type: (*type.params, type.result),
    Mu: lambda type: (type.body,),
    Extend: lambda type: (*type.fields.values(), type.tail),
    Var: lambda type: (),
    RowVar: lambda type: (),
    RecVar: lambda type: (),
}
"""The parts of each composite type."""
