"""Values of any depth and shape can be stored (X-56)."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.border.snapshot import decode, encode
from chatml.builtins.schemes import record
from chatml.functions.fitting import misfit
from chatml.types.environment import adopt_all
from chatml.types.model import Array, Empty, Extend, Float, Int, Mu, RecVar, String, Tuple, Type, Unit, Var, Variant
from chatml.values.equality import equal
from chatml.values.model import Value
from chatml.values.text import show
from chatml_runtime.moderation.snapshots import ModeratorSnapshot
from chatml_runtime.script.errors import CommitRejectedError, SnapshotFormatError
from tests.chatml.builtins.values_strategy import DATA, SCALARS
from tests.limits.operations import growth
from tests.runtime.conversations import Conversation


def cells(count: int) -> Value:
    """A list of numbers, as scripts build them."""
    value: Value = ("Nil",)
    for number in range(count):
        value = ("Cons", number, value)
    return value


def length(value: Value) -> int:
    count = 0
    while value[0] == "Cons":
        value, count = value[2], count + 1
    return count


LISTING = """
let initial_state = `Nil
let rec grow st n = if n == 0 then st else grow(`Cons(n, st), n - 1)
let on_event ctx st ev = match ev with | `Tick -> Task.pure(grow(st, 400)) | _ -> Task.pure(st)
"""


def test_a_list_of_a_million_cells_goes_through_json() -> None:
    text = json.dumps(encode(cells(1_000_000)))
    assert length(decode(json.loads(text))) == 1_000_000


def test_a_state_that_is_a_list_is_stored_the_documented_way() -> None:
    talk = Conversation(LISTING)
    for _ in range(25):
        talk.tick()
    snapshot = talk.moderator.snapshot()
    stored = ModeratorSnapshot.from_json(json.loads(json.dumps(snapshot.to_json())))
    assert stored == snapshot
    assert repr(stored) == repr(snapshot)
    assert pickle.loads(pickle.dumps(snapshot)) == snapshot
    assert copy.deepcopy(snapshot) == snapshot
    again = Conversation(talk.artifact, snapshot=stored)
    assert length(again.state) == 10_000


@given(DATA)
def test_a_value_comes_back_as_it_was(value: Value) -> None:
    """Encoding then decoding, through JSON text too, gives a value that prints the same, and refers to fewer parts."""
    snapshot = encode(value)
    assert show(decode(snapshot)) == show(value)
    assert show(decode(json.loads(json.dumps(snapshot)))) == show(value)
    assert encode(decode(snapshot)) == snapshot or "nan" in repr(snapshot)


@given(st.lists(st.lists(st.integers(0, 8), max_size=3), min_size=1, max_size=9), st.booleans())
def test_sharing_comes_back_as_it_was(wiring: list[list[int]], as_records: bool) -> None:
    """Two places of a value hold one array after decoding exactly when they did before."""
    values: list[Any] = []
    for number, members in enumerate(wiring):
        parts = [values[member % number] for member in members] if number else []
        values.append({"p": parts} if as_records and number % 2 else parts)
    root = ["root", *values]
    assert groups(decode(encode(root))) == groups(root)


def groups(root: Value) -> list[list[int]]:
    """For each place that holds an array, in the order of a walk, the places before it that hold the same one."""
    met: list[Any] = []
    todo = [root]
    while todo:
        value = todo.pop()
        if isinstance(value, list):
            met.append(value)
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
    return [[index for index, other in enumerate(met[:place]) if other is value] for place, value in enumerate(met)]


def test_what_shares_its_parts_is_written_once() -> None:
    """The value of 20 records that wrote 2,000,000 parts in 15 s, and one that no memory could hold."""
    for doublings in (20, 2_000):
        value: Value = {"a": 1, "b": "long " * 50}
        for _ in range(doublings):
            value = {"a": value, "b": value}
        snapshot = encode(value)
        assert len(snapshot["parts"]) == doublings + 2
        assert len(json.dumps(snapshot)) < 60 * doublings + 500
        assert equal(decode(snapshot), value)


SHAPES: dict[str, Callable[[int], Value]] = {
    "cells": cells,
    "ints": lambda size: list(range(size)),
    "floats": lambda size: [number / 2 for number in range(size)],
    "records": lambda size: [{"key": f"k{number}", "value": number} for number in range(size)],
    "nested records": lambda size: [{"key": {"at": number}, "list": [number]} for number in range(size)],
    "variants": lambda size: [("Some", {"n": number}) for number in range(size)],
    "shared": lambda size: [["a", 1.5]] * size,
}

SHAPE_TYPES: dict[str, Type] = {
    "cells": adopt_all(Mu("cell", Variant(Extend({"Nil": Unit, "Cons": Tuple([Int, RecVar("cell")])}, Empty)))),
    "ints": Array(Int),
    "floats": Array(Float),
    "records": Array(record(key=String, value=Int)),
    "nested records": Array(record(key=record(at=Int), list=Array(Int))),
    "variants": Array(Variant(Extend({"Some": record(n=Int)}, Empty))),
    "shared": Array(Var("a")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_encoding_and_decoding_are_linear(shape: str) -> None:
    make = SHAPES[shape]
    assert growth(make, encode, 200) < 12
    assert growth(lambda size: encode(make(size)), decode, 200) < 12
    assert growth(make, lambda value: misfit(value, SHAPE_TYPES[shape]), 200) < 12


def test_a_forged_state_is_refused_with_its_path() -> None:
    """What the attack stored: a record without a field, an int for a string; nothing loads that breaks later."""
    talk = Conversation(
        'let initial_state = { name = "a"; seen = [{ n = 1; kind = `Tool("x") }] }\n'
        "let on_event ctx st ev = Task.pure({ st with name = st.name ++ to_string(Array.length(st.seen)) })"
    )
    snapshot = talk.moderator.snapshot()
    good = {"name": "a", "seen": [{"n": 1, "kind": ("Tool", "x")}]}
    forged: list[tuple[Any, str]] = [
        ({"seen": []}, "root: expected a record with `name`, `seen`, not a record"),
        ({**good, "name": 1}, "root.name: expected a string, not an int: 1"),
        ({**good, "seen": ("Nil",)}, "root.seen: expected an array, not a variant"),
        ({**good, "seen": [{"n": 1.0, "kind": ("Tool", "x")}]}, r"root.seen\[0\].n: expected an int, not a float: 1.0"),
        ({**good, "seen": [{"n": 1, "kind": ("Tool",)}]}, r"root.seen\[0\].kind: expected `Tool` with 1 argument"),
        ({**good, "seen": [{"n": 1, "kind": ("Tool", 1)}]}, r"root.seen\[0\].kind<Tool>\[0\]: expected a string"),
        (None, "root: expected a record"),
    ]
    for state, fact in forged:
        document = {**snapshot.to_json(), "current_state": encode(state)}
        with pytest.raises(SnapshotFormatError, match=fact):
            Conversation(talk.artifact, snapshot=ModeratorSnapshot.from_json(document))
    document = {**snapshot.to_json(), "current_state": encode(good)}
    assert Conversation(talk.artifact, snapshot=ModeratorSnapshot.from_json(document)).state == good


NEARLY = st.fixed_dictionaries(
    {"a": st.integers(0, 9) | SCALARS},
    optional={
        "b": st.lists(st.just(("None",)) | st.tuples(st.just("Some"), st.integers(0, 9) | SCALARS) | DATA),
        "c": DATA,
    },
)


@given(NEARLY | DATA)
def test_no_state_loads_that_an_event_breaks_on(state: Value) -> None:
    """Whatever state is stored under a script, it is refused, or the handler runs on it without confusion."""
    document = {**TYPED.moderator.snapshot().to_json(), "current_state": encode(state)}
    try:
        again = Conversation(TYPED.artifact, snapshot=ModeratorSnapshot.from_json(document))
    except SnapshotFormatError:
        return
    again.tick()


TYPED = Conversation(
    "let initial_state = { a = 0; b = [`None] }\n"
    "let on_event ctx st ev = if Array.length(st.b) == 0 then Task.pure({ st with a = st.a * 2 })\n  else match "
    "st.b[0] with "
    "| `None -> Task.pure({ st with a = st.a + 1 }) | `Some(n) -> Task.pure({ st with a = st.a + n })"
)


def test_an_item_too_deep_to_be_stored_is_no_item() -> None:
    talk = Conversation(
        "let rec nest n j = if n == 0 then j else nest(n - 1, `Array([j]))\n"
        'let item n = { id = "x"; value = Json.set_field(Json.parse('
        '"{\\"type\\":\\"message\\",\\"role\\":\\"user\\",\\"content\\":\\"x\\"}"), "more", nest(n, `Null)) }\n'
        "let initial_state = 0\n"
        "let on_event ctx st ev = match ev with "
        "| `Nest(n) -> let+ () = Turn.append_item(item(n)) in st + 1 | _ -> Task.pure(st)"
    )
    talk.tick(("Nest", 190))
    snapshot = talk.moderator.snapshot()
    assert ModeratorSnapshot.from_json(json.loads(json.dumps(snapshot.to_json()))) == snapshot
    with pytest.raises(CommitRejectedError, match="deeper than 200 levels"):
        talk.tick(("Nest", 50_000))
    assert talk.state == 1
