"""Types with quantified variables: generalisation and instantiation (language.md section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping

from chatml.records import frozen
from chatml.types.model import CLOSED, RECURSIVE, Mu, Row, RowVar, Type, Unknown, Var
from chatml.types.rebuild import rebuild
from chatml.types.unify import Unifier


@frozen(eq=False)
class Scheme:
    """A type, and the variables in it that each use replaces by fresh ones.

    `shared`: a part occurs twice. `size` is how many parts a copy has. `rests` are the row variables of which more is
    known than that they may be anything: what is promised of each, and whether it is loose.
    """

    type: Type
    variables: tuple[Var | RowVar, ...]
    shared: bool = True
    size: int = 1
    rests: tuple[tuple[Type, Row | None, bool], ...] = ()


COPYING = 8
"""What the copy of one part of a type costs, in parts that are looked at."""

_any = Var("a")
ANYTHING = Scheme(_any, (_any,))
"""The type of a name whose definition is at fault: it fits everywhere, so that one fault is reported once."""


def generalise(unifier: Unifier, type: Type) -> Type | Scheme:
    """Quantify the variables of a deeper level than the current one, unless the type contains itself."""
    if type.level <= unifier.level:
        return type
    copy = _Copy(unifier)
    try:
        found = copy.visit(type)
        rests = copy.rests()
    except CycleError:
        return type
    if copy.variables:
        return Scheme(found, tuple(copy.variables.values()), copy.shared, len(copy.copies), rests)
    return found


def instantiate(unifier: Unifier, scheme: Scheme) -> Type:
    """The type of a scheme with fresh variables of the current level."""
    level = unifier.level
    unifier.charge(COPYING * scheme.size)
    chosen: dict[Type, Unknown] = {variable: Unknown(level) for variable in scheme.variables}
    instance = _Instance(chosen, scheme.shared)
    type = instance.visit(scheme.type)
    for variable, promised, loose in scheme.rests:
        rest = chosen[variable]
        rest.loose = loose
        rest.promised = None if promised is None else instance.visit(promised)
    return type


def substitute(scheme: Scheme, chosen: dict[Type, Type]) -> Type:
    """The type of a scheme with a type in place of each of its variables."""
    return _Instance(chosen, scheme.shared).visit(scheme.type)


class CycleError(Exception):
    """A type contains itself."""


class _Copy:
    """A copy in which the variables of a deeper level than the current one are quantified.

    Raises `CycleError` when the type contains itself anywhere.
    """

    def __init__(self, unifier: Unifier) -> None:
        self.prune = unifier.prune
        self.charge = unifier.charge
        self.level = unifier.level
        self.variables: dict[Unknown, Var | RowVar] = {}
        self.shared = False
        self.copies: dict[int, Type | None] = {}
        """The copy of each part by its identity; None while it is being made."""

    def visit(self, type: Type) -> Type:
        if type.level == CLOSED:
            return type
        if type.__class__ is Unknown:
            return self.variable(type)
        if id(type) in self.copies:
            copy = self.copies[id(type)]
            if copy is None:
                raise CycleError
            self.shared = True
            return copy
        if type.level == RECURSIVE or type.__class__ is Mu:
            raise CycleError
        self.charge(COPYING)
        self.copies[id(type)] = None
        copy = self.copies[id(type)] = rebuild(type, self.visit)
        return copy

    def variable(self, type: Unknown) -> Type:
        if type.link is not None:
            return self.visit(self.prune(type))
        if type.level <= self.level:
            return type
        if type not in self.variables:
            self.variables[type] = Var(f"t{len(self.variables)}")
        return self.variables[type]

    def rests(self) -> tuple[tuple[Type, Row | None, bool], ...]:
        """What is known of the rows among the variables; promises may mention further variables."""
        found: list[tuple[Type, Row | None, bool]] = []
        done = 0
        while done < len(self.variables):
            waiting = [*self.variables][done:]
            done += len(waiting)
            for variable in waiting:
                if variable.loose or variable.promised is not None:
                    promised = None if variable.promised is None else self.visit(variable.promised)
                    found.append((self.variables[variable], promised, variable.loose))
        return tuple(found)


class _Instance:
    """A copy in which quantified variables are replaced."""

    def __init__(self, chosen: Mapping[Type, Type], shared: bool) -> None:
        self.chosen = chosen
        self.shared = shared
        self.copies: dict[int, Type] = {}

    def visit(self, type: Type) -> Type:
        if type.level < 0 or type.__class__ is Unknown:
            return type
        if type in self.chosen:
            return self.chosen[type]
        if not self.shared:
            return rebuild(type, self.visit)
        if id(type) not in self.copies:
            if type.__class__ is Mu:
                copy = self.copies[id(type)] = Mu(type.binder, type)
                copy.body = self.visit(type.body)
            else:
                self.copies[id(type)] = rebuild(type, self.visit)
        return self.copies[id(type)]
