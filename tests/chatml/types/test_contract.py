"""Definitions held against what a host expects of them (X-08)."""

from __future__ import annotations

import pytest

from chatml.types.model import Array, Con, Empty, Extend, Fun, Int, Record, RowVar, String, Type, Unit, Var, Variant
from tests.chatml.types.checking import check_text

STATE = Var("state")
EVENT = Variant(Extend({"Start": Unit, "Tick": Int}, RowVar("more")))
HANDLER = Fun([STATE, EVENT], Con("task", [STATE]))


def task(type: Type) -> Type:
    return Con("task", [type])


def test_expectations_share_their_variables():
    contract = check_text(
        """
        let initial_state = { n = 0 }
        let on_event st ev = match ev with | `Start -> Task.pure({ st with n = st.n + 1 }) | _ -> Task.pure(st)
        """
    ).contract()
    assert contract.fit("initial_state", STATE) is None
    assert contract.fit("on_event", HANDLER) is None
    assert contract.show(STATE) == "{n: int}"


def test_a_state_of_another_type_does_not_fit():
    contract = check_text('let initial_state = "s" let on_event st ev = Task.pure(st + 1)').contract()
    assert contract.fit("on_event", HANDLER) is None
    problem = contract.fit("initial_state", STATE)
    assert problem is not None
    assert problem.span.text == "initial_state"


@pytest.mark.parametrize(
    ("text", "expected", "fits"),
    [
        ("let x = 1", Int, True),
        ("let x = 1", String, False),
        ("let x = []", Array(String), True),
        ("let x y = y", Fun([Int], Int), True),
        ("let x y = y", Fun([Int], String), False),
        ("let x y = y", Fun([Int, Int], Int), False),
        ("let x r = r.n + 1", Fun([Record(Extend({"n": Int, "m": Int}, Empty))], Int), True),
        ("module X = struct let f x = x end let x = X", Record(Extend({"f": Fun([Int], Int)}, Empty)), True),
    ],
)
def test_fit(text: str, expected: Type, fits: bool):
    checked = check_text(text)
    before = checked.show("x")
    assert (checked.contract().fit("x", expected) is None) == fits
    assert checked.show("x") == before


def test_what_does_not_fit_changes_nothing():
    contract = check_text("let x = []").contract()
    assert contract.fit("x", Fun([], Int)) is not None
    assert contract.fit("x", Array(Int)) is None
    assert contract.fit("x", Array(String)) is not None


def test_definitions_that_share_a_type_share_it_in_the_contract():
    contract = check_text("let x = ref([]) let y = x").contract()
    assert contract.fit("x", Var("a")) is None
    assert contract.show(Var("a")).startswith("ref('")
    from_x = contract.fit("x", Var("cell"))
    assert from_x is None
    assert contract.fit("y", Var("cell")) is None


def test_the_place_is_the_last_definition():
    contract = check_text("let x = 1\nlet y = 2\nlet x = 3").contract()
    problem = contract.fit("x", String)
    assert problem is not None
    assert problem.span.start.line == 3


def test_an_unknown_definition_is_a_key_error():
    with pytest.raises(KeyError):
        check_text("let x = 1").contract().fit("y", Int)
