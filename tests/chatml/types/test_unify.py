"""Properties of unification (language.md section 3.4)."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from chatml.types.model import Array, Fun, Int, Type, Unknown
from chatml.types.show import show
from chatml.types.unify import Failure, Unifier
from tests.chatml.types.recipes import Maker, Recipe, recipes

PATIENT = settings(deadline=timedelta(seconds=2), max_examples=300)


def unify(left: Type, right: Type) -> bool:
    """Whether two types can be made equal; makes them so."""
    try:
        Unifier().unify(left, right)
    except Failure:
        return False
    return True


def both(left: Recipe, right: Recipe) -> tuple[Type, Type]:
    maker = Maker()
    return maker.make(left), maker.make(right)


MU_RECORD = ("mu", ("record", (("a", ("recur",)),), None))


@PATIENT
@given(recipes, recipes)
@example(MU_RECORD, ("mu", ("record", (("a", ("record", (("a", ("recur",)),), None)),), None)))
@example(("record", (("a", ("variable", 0)),), 0), ("variable", 0))
def test_it_ends_and_does_not_depend_on_the_sides(left: Recipe, right: Recipe):
    """Unification terminates on any two types, cyclic ones included, and whether it succeeds is symmetric."""
    one = unify(*both(left, right))
    other = unify(*reversed(both(left, right)))
    assert one == other


@PATIENT
@given(recipes, recipes)
def test_what_was_made_equal_is_equal(left: Recipe, right: Recipe):
    """Types that were unified unify again without binding anything more."""
    one, other = both(left, right)
    if not unify(one, other):
        return
    again = Unifier()
    again.unify(one, other)
    again.unify(other, one)
    assert [entry for entry in again.trail if isinstance(entry[0], Unknown) and entry[1] is None] == []


@PATIENT
@given(recipes)
def test_a_type_equals_its_copy(recipe: Recipe):
    """A type without variables unifies with the same type made anew, and any type with itself."""
    one, other = Maker().make(recipe), Maker().make(recipe)
    assert unify(one, other)
    assert unify(one, one)


@PATIENT
@given(st.lists(st.tuples(recipes, recipes), min_size=1, max_size=3))
def test_taking_back_restores_every_type(pairs: list[tuple[Recipe, Recipe]]):
    """After a roll-back the types are what they were before the unifications since the mark."""
    maker, unifier = Maker(), Unifier()
    types = [(maker.make(left), maker.make(right)) for left, right in pairs]
    before = [(show(left), show(right)) for left, right in types]
    levels = [variable.level for variable in maker.variables + maker.rows]
    for left, right in types:
        try:
            unifier.unify(left, right)
        except Failure:
            continue
    unifier.roll_back(0)
    assert [(show(left), show(right)) for left, right in types] == before
    assert [variable.level for variable in maker.variables + maker.rows] == levels


def test_a_long_chain_of_variables_is_walked_once():
    unifier = Unifier()
    variables = [Unknown(0) for _ in range(20_000)]
    for one, other in pairwise(variables):
        unifier.unify(one, other)
    unifier.unify(variables[-1], Int)
    assert {unifier.prune(variable).__class__ for variable in variables} == {Int.__class__}
    assert all(variable.link is Int for variable in variables)


def test_binding_lowers_the_levels_of_a_type():
    unifier = Unifier()
    inner, outer = Unknown(5), Unknown(2)
    unifier.unify(outer, Fun([Array(inner)], inner))
    assert inner.level == 2
