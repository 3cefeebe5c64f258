"""Rows that share what follows them: an update and its base, joined, folded and passed on (language.md 3.4, 3.8)."""

from __future__ import annotations

import pytest

import chatml
from chatml.pipeline import ENGINES
from chatml.types.model import Array, Bool, Empty, Extend, Fun, Int, Record, Unknown, Var
from chatml.types.rebuild import row_of
from chatml.types.unify import Failure, Unifier
from tests.chatml.observe import observe
from tests.chatml.types.checking import check_text

UPDATES_AND_BASES = {
    "elements": (
        """
        let f x = [x, if true then { x with d = 1 } else x]
        print(f({ a = 1; d = 2 })[0].d)
        """,
        {"f": "({...} -> {...} array)"},
        ("2",),
    ),
    "tasks": (
        """
        let note st c = if c then { st with seen = true } else st
        let go c st = match c with | 0 -> Task.pure(note(st, true)) | _ -> Task.pure(st)
        let r = go(0, { seen = false })
        """,
        {"note": "({...}, bool -> {...})", "go": "(int, {...} -> {...} task)", "r": "{seen: bool} task"},
        (),
    ),
    "recursion": (
        """
        let rec retry n o = if n == 0 then o else retry(n - 1, if n == 1 then { o with last = true } else o)
        let r = retry(2, { last = false })
        print(r.last)
        """,
        {"retry": "(int, {...} -> {...})", "r": "{last: bool}"},
        ("true",),
    ),
    "fold": (
        """
        let count xs z = Array.fold(xs, z, fun acc x -> if x == 2 then { acc with n = x } else acc)
        print(count([1, 2], { n = 0 }).n)
        print(Array.fold([2, 1], { n = 0 }, fun acc x -> if x == 2 then { acc with n = x } else acc).n)
        """,
        {"count": "(int array, {...} -> {...})"},
        ("2", "2"),
    ),
    "no end": ("let rec f x = f(if true then { x with d = x } else x)", {"f": "({...} -> a)"}, ()),
}


@pytest.mark.parametrize("name", UPDATES_AND_BASES)
def test_an_update_and_its_base_meet(name: str) -> None:
    text, types, printed = UPDATES_AND_BASES[name]
    assert chatml.check(text) == ()
    assert dict(chatml.compile(text).types) == types
    for engine in ENGINES:
        outcome = observe(text, engine=engine)
        assert (outcome.findings, outcome.printed) == ((), printed)


def test_a_row_without_labels_is_what_follows_it() -> None:
    tail = Unknown(0)
    assert row_of({}, tail) is tail
    assert row_of({}, Empty) is Empty


def test_a_row_does_not_follow_itself() -> None:
    unifier, tail = Unifier(), Unknown(0)
    with pytest.raises(Failure) as raised:
        unifier.bind(tail, Extend({"b": Int, "a": Int}, tail))
    assert (raised.value.kind, raised.value.labels) == ("endless_row", ["a", "b"])
    assert tail.link is None


def test_a_row_may_hold_itself_in_a_field() -> None:
    unifier, tail = Unifier(), Unknown(0)
    unifier.bind(tail, Extend({"next": Array(Record(tail))}, Empty))
    fields, end = unifier.flatten(tail)
    assert (list(fields), end) == (["next"], Empty)


def test_a_field_that_an_update_did_not_keep() -> None:
    """The record may hold such a field where its type does not speak of it; its type would be anybody's guess."""
    text = """
let set r v = print(r.name); { r with x = v }
let t = set(if true then { name = "a"; hidden = "s" } else { name = "b" }, 1)
print(t.hidden + 1)
"""
    for engine in ENGINES:
        outcome = observe(text, engine=engine)
        assert outcome.printed == ("a",)
        assert outcome.error is not None
        assert outcome.error.code == "runtime.no_field"


def test_a_contract_holds_promises() -> None:
    checked = check_text('let x = { tag = "s" } let f r on = if on then { r with tag = 1 } else r')
    state = Var("state")
    contract = checked.contract()
    assert contract.fit("f", Fun([state, Bool], state)) is None
    assert contract.fit("x", state) is not None
