"""Descriptions of random types, from which the same types can be made any number of times."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chatml.types.model import (
    Array,
    Bool,
    Con,
    Empty,
    Fun,
    Int,
    Mu,
    Record,
    Ref,
    Tuple,
    Type,
    Unit,
    Unknown,
    Variant,
)
from chatml.types.rebuild import row_of

Recipe = tuple[Any, ...]
VARIABLES = 4

leaves = st.one_of(
    st.sampled_from([("int",), ("bool",)]),
    st.integers(0, VARIABLES - 1).map(lambda index: ("variable", index)),
    st.just(("recur",)),
)


def rows(parts: st.SearchStrategy[Recipe]) -> st.SearchStrategy[tuple[Any, ...]]:
    labels = st.dictionaries(st.sampled_from("abc"), parts, max_size=3).map(
        lambda fields: tuple(sorted(fields.items()))
    )
    tails = st.one_of(st.just(None), st.integers(0, VARIABLES - 1))
    return st.tuples(labels, tails)


def composites(parts: st.SearchStrategy[Recipe]) -> st.SearchStrategy[Recipe]:
    return st.one_of(
        st.tuples(st.just("array"), parts),
        st.tuples(st.just("ref"), parts),
        st.tuples(st.just("task"), parts),
        st.tuples(st.just("tuple"), parts, parts),
        st.tuples(st.just("function"), st.lists(parts, max_size=2).map(tuple), parts),
        rows(parts).map(lambda row: ("record", *row)),
        rows(parts).map(lambda row: ("variant", *row)),
        st.tuples(st.just("mu"), parts).map(lambda mu: mu if mu[1][0] not in ("recur", "variable", "mu") else ("int",)),
    )


recipes = st.recursive(leaves, composites, max_leaves=8)


class Maker:
    """Makes types; a variable of a recipe is the same one in all types of a maker."""

    def __init__(self) -> None:
        self.variables = [Unknown(1) for _ in range(VARIABLES)]
        self.rows = [Unknown(1) for _ in range(VARIABLES)]
        self.binders: list[Mu] = []

    def make(self, recipe: Recipe) -> Type:
        match recipe:
            case ("int",):
                return Int
            case ("bool",):
                return Bool
            case ("variable", index):
                return self.variables[index]
            case ("recur",):
                return self.binders[-1] if self.binders else Unit
            case ("array", part):
                return Array(self.make(part))
            case ("ref", part):
                return Ref(self.make(part))
            case ("task", part):
                return Con("task", [self.make(part)])
            case ("tuple", one, other):
                return Tuple([self.make(one), self.make(other)])
            case ("function", params, result):
                return Fun([self.make(param) for param in params], self.make(result))
            case ("record", fields, tail):
                return Record(self.row(fields, tail))
            case ("variant", fields, tail):
                return Variant(self.row(fields, tail))
            case ("mu", body):
                mu = Mu("x", Unit)
                self.binders.append(mu)
                mu.body = self.make(body)
                self.binders.pop()
                return mu
        raise AssertionError(recipe)

    def row(self, fields: tuple[tuple[str, Recipe], ...], tail: int | None) -> Type:
        made = {label: self.make(part) for label, part in fields}
        return row_of(made, Empty if tail is None else self.rows[tail])
