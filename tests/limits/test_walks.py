"""Walks over values take time in proportion to what is there, and stop at their bounds."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chatml
from chatml.border.python import from_json, from_python, to_json, to_python
from chatml.builtins.json_reader import read
from chatml.builtins.json_writer import write
from chatml.diagnostics.errors import BoundaryError, RuntimeFailure
from chatml.values.equality import MANY, equal
from chatml.values.limits import Limits
from chatml.values.model import BuiltinFailure, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import FakeMachine
from tests.limits.operations import growth


def rotated(size: int, turn: int) -> Value:
    """Layers of nodes, each with all nodes of the layer below as its children, `turn` places on."""
    layer: list[Value] = [("Leaf", 1) for _ in range(size)]
    for _ in range(3):
        layer = [("Node", *layer[turn:], *layer[:turn]) for _ in range(size)]
    return ("Root", *layer)


def test_equality_of_shared_values_is_linear_in_their_parts() -> None:
    """What took 21 s for one `==` of two values of 400 nodes with 400 children each: now each part a few times."""
    machine = FakeMachine()
    left, right = rotated(400, 0), rotated(400, 1)
    assert equal(left, right, machine.charge)
    assert machine.charged < 4 * 3 * 400 * 400


@given(st.integers(0, 3), st.booleans(), st.data())
def test_equality_of_large_shared_values(turn: int, differs: bool, data: st.DataObject) -> None:
    """Beyond the bound from which classes are kept, equality says what it says below it, also of NaN."""
    leaf = data.draw(st.sampled_from([1, "a", None, 1.5, math.nan]))
    padding = ("Pad", *[("P", number) for number in range(MANY)])
    shared = ("N", leaf)
    left = ("R", shared, padding, shared, ("M", shared, ("M", shared)))
    other = ("N", leaf) if not differs else ("N", ("other",))
    right = ("R", shared, padding, shared, ("M", other, ("M", shared)))
    first, second = (left, right) if turn % 2 else (right, left)
    assert equal(first, second) is not (differs or leaf != leaf)
    assert equal(left, left) is (leaf == leaf)


@pytest.mark.parametrize("engine", ["compiled", "walk"])
def test_an_equality_uses_steps(engine: Any) -> None:
    source = """
    let rec build n acc = if n == 0 then acc else build(n - 1, `Cons(n, acc))
    let same n = build(n, `Nil) == build(n, `Nil)
    """
    steps = {n: steps_of(source, f"let r = same({n})", engine) for n in (1_000, 3_000)}
    assert steps[3_000] - steps[1_000] >= 2 * 2_000 + 3 * 2_000 // 64


def steps_of(source: str, last: str, engine: Any) -> int:
    """The fewest steps that a program runs with."""
    program = chatml.compile(source + last)
    low, high = 0, 2**16
    while high - low > 1:
        middle = (low + high) // 2
        try:
            program.run(limits=Limits(steps=middle), engine=engine)
            high = middle
        except RuntimeFailure:
            low = middle
    return high


DOUBLED: dict[str, Any] = {"array": lambda part: [part, part], "record": lambda part: {"a": part, "b": part}}


@pytest.mark.parametrize("shape", DOUBLED)
def test_show_stops_at_its_bound(shape: str) -> None:
    value: Value = 1
    for _ in range(60):
        value = DOUBLED[shape](value)
    machine = FakeMachine(text=1_000_000)
    with pytest.raises(RuntimeFailure, match="text"):
        show(value, machine)
    assert machine.charged <= 1_000_000
    with pytest.raises(BuiltinFailure, match="longer than"):
        show(value)


def test_a_text_is_charged_once() -> None:
    machine = FakeMachine()
    text = show(list(range(400_000)), machine)
    assert machine.charged == len(text)


def entries(size: int) -> list[Any]:
    return [{"id": number, "name": f"n{number}", "tags": ["a", None]} for number in range(size)]


@pytest.mark.parametrize(
    ("make", "act"),
    [
        (entries, from_json),
        (lambda size: from_json(entries(size)), to_json),
        (lambda size: from_json(entries(size)), write),
        (lambda size: write(from_json(entries(size))), read),
        (entries, from_python),
        (entries, to_python),
        (entries, show),
        (lambda size: (entries(size), entries(size)), lambda pair: equal(tuple(pair[0]), tuple(pair[1]))),
    ],
    ids=["from_json", "to_json", "write", "read", "from_python", "to_python", "show", "equal"],
)
def test_walks_have_no_cliff(make: Any, act: Any) -> None:
    """From below 65,536 parts to far beyond them, where walks are watched, work grows as the data do."""
    assert growth(make, act, 2_000) < 14


CYCLE: list[Any] = [1]
CYCLE.append({"a": CYCLE})


@pytest.mark.parametrize("act", [from_json, from_python, to_python, show], ids=lambda act: act.__name__)
def test_a_cycle_is_found_where_the_walk_stands(act: Any) -> None:
    with pytest.raises((BoundaryError, BuiltinFailure), match="contains itself"):
        act(CYCLE)


def test_a_cycle_of_json() -> None:
    value: list[Value] = []
    value.append(("Array", value))
    for act in (write, to_json):
        with pytest.raises((BoundaryError, BuiltinFailure), match="contains itself"):
            act(("Array", value))


@pytest.mark.parametrize("act", [from_json, from_python, to_python], ids=lambda act: act.__name__)
def test_what_shares_its_parts_is_refused_before_the_memory_is_full(act: Any) -> None:
    value: Any = [1]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(BoundaryError, match="more than 10,000,000 parts"):
        act(value)
