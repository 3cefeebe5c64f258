"""Generalisation and instantiation (language.md section 3.3)."""

from __future__ import annotations

import contextlib

from hypothesis import given

from chatml.types.model import Array, Extend, Fun, Int, Record, String, Unknown, Var
from chatml.types.scheme import Scheme, generalise, instantiate
from chatml.types.show import Shower, show
from chatml.types.unify import Failure, Unifier
from tests.chatml.types.recipes import Maker, Recipe, recipes


@given(recipes, recipes)
def test_instances_are_apart(recipe: Recipe, other: Recipe):
    """Binding the variables of one instance changes neither the scheme nor another instance."""
    unifier = Unifier()
    scheme = generalise(unifier, Maker().make(recipe))
    if not isinstance(scheme, Scheme):
        return
    one, untouched = instantiate(unifier, scheme), instantiate(unifier, scheme)
    before = show(scheme.type), show(untouched)
    with contextlib.suppress(Failure):
        unifier.unify(one, Maker().make(other))
    assert (show(scheme.type), show(untouched)) == before


@given(recipes)
def test_an_instance_prints_like_what_was_generalised(recipe: Recipe):
    """Instantiating what was generalised gives a type of the same shape."""
    unifier = Unifier()
    type = Maker().make(recipe)
    before = show(type)
    scheme = generalise(unifier, type)
    assert show(instantiate(unifier, scheme) if isinstance(scheme, Scheme) else scheme) == before


def test_only_deeper_variables_are_quantified():
    unifier = Unifier()
    outer, inner = Unknown(0), Unknown(1)
    scheme = generalise(unifier, Fun([outer, inner], inner))
    assert isinstance(scheme, Scheme)
    assert show(scheme.type) == "('a, a -> a)"
    assert scheme.type.params[0] is outer


def test_a_type_without_deeper_variables_is_itself():
    unifier = Unifier()
    type = Array(Unknown(0), 0)
    assert generalise(unifier, type) is type


def test_a_recursive_type_is_not_quantified():
    unifier = Unifier()
    hole, other = Unknown(1), Unknown(1)
    hole.link = Record(Extend({"next": Fun([], hole)}, Unknown(1)))
    type = Fun([hole, other], other)
    assert generalise(unifier, type) is type


def test_shared_parts_stay_shared():
    unifier = Unifier()
    type = Unknown(1)
    for _ in range(60):
        type = Record(Extend({"l": type, "r": type}, Unknown(1)))
    scheme = generalise(unifier, type)
    assert isinstance(scheme, Scheme)
    assert len(scheme.variables) == 61
    copy = instantiate(unifier, scheme)
    assert copy.row.fields["l"] is copy.row.fields["r"]


def test_a_variable_has_one_name_for_several_types():
    variable = Var("t")
    shower = Shower()
    assert (shower.show(Fun([variable, Var("u")], Int)), shower.show(Fun([String], variable))) == (
        "(a, b -> int)",
        "(string -> a)",
    )
