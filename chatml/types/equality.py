"""Which types have equality (language.md section 3.5)."""

from __future__ import annotations

from chatml.types.model import Array, Con, Fun, Ref, Type
from chatml.types.unify import Unifier
from chatml.types.variables import CHILDREN


def without_equality(unifier: Unifier, type: Type) -> Type | None:
    """The first part of a type that `==` cannot compare, by what is known of it now; None if it can."""
    visited: set[int] = set()
    stack = [type]
    while stack:
        known = unifier.prune(stack.pop())
        if isinstance(known, Array | Ref | Fun) or (isinstance(known, Con) and known.name == "task"):
            return known
        unifier.charge(1)
        children = CHILDREN.get(known.__class__)
        if children is None or id(known) in visited:
            continue
        visited.add(id(known))
        stack.extend(reversed(children(known)))
    return None
