"""The pure additions on every surface (builtins.md section 10, X-49)."""

from __future__ import annotations

import json
import math
import posixpath
from functools import cmp_to_key
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chatml
from chatml.values import paths
from tests.chatml.builtins.machines import FakeMachine, HostFunction, caller
from tests.chatml.builtins.test_in_engines import ENGINES, Engine, run
from tests.chatml.builtins.values_strategy import JSON

PATHS = st.lists(st.sampled_from(["", ".", "..", "a", "b", "..a", "~", "%2e%2e", "\\", " "]), max_size=8).map("/".join)


@given(PATHS)
def test_normalise_agrees_with_python(path: str) -> None:
    """Paths are normalised as `posixpath` does it, but for its two leading slashes; and once is enough."""
    normal = paths.normalise(path)
    assert normal == posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path)
    assert paths.normalise(normal) == normal


@given(PATHS, PATHS)
def test_below_is_what_a_join_stays_inside_of(root: str, path: str) -> None:
    """A relative path below `.` never leaves the root that it is joined to, unless that climbs itself."""
    if paths.is_below(path, ".") and paths.normalise(root).split("/")[0] != "..":
        assert paths.is_below(paths.join(root, path), root)
    assert paths.is_below(path, path)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers())))
def test_sort_by_sorts_as_python_does(pairs: list[tuple[int, int]]) -> None:
    """For any order the result is that of Python's stable sort, and the array is not changed."""

    def order(left: tuple[int, int], right: tuple[int, int]) -> int:
        return left[0] - right[0]

    given_pairs = pairs[:]
    assert caller("Array")("sort_by", pairs, HostFunction(order, 2)) == sorted(pairs, key=cmp_to_key(order))
    assert pairs == given_pairs


@given(st.lists(st.integers()), st.data())
def test_no_order_loses_elements(numbers: list[int], data: st.DataObject) -> None:
    """Whatever the function answers, the result has the elements of the array."""
    unordered = HostFunction(lambda left, right: data.draw(st.integers(-1, 1)), 2)
    assert sorted(caller("Array")("sort_by", numbers, unordered)) == sorted(numbers)


@pytest.mark.parametrize("engine", ENGINES)
def test_sorting_counts_the_calls_as_steps(engine: Engine) -> None:
    source = "let xs = Array.sort_by(Array.init(1000, fun i -> 0 - i), fun a b -> a - b) print(xs[0])"
    assert run(source, engine) == ["-999"]
    with pytest.raises(chatml.RuntimeFailure, match="limit `steps`"):
        chatml.compile(source).run(limits=chatml.Limits(steps=5_000), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_recursion_through_an_order(engine: Engine) -> None:
    source = """
    let rec count n = if n == 0 then 0 else 1 + Array.sort_by([n, n], fun a b -> count(n - 1))[0] * 0 + count(0)
    print(count(5000))
    """
    assert run(source, engine) == ["1"]


@given(JSON)
def test_canonical_is_sorted_and_the_same_for_any_order(value: chatml.Value) -> None:
    """Canonical text reads back as the first of repeated keys, in order; it is its own canonical text."""
    read, canonical = caller("Json"), caller("Json")
    try:
        text = canonical("canonical", value)
    except chatml.ChatmlError:
        with pytest.raises(chatml.ChatmlError):
            read("stringify", value)
        return
    assert canonical("canonical", read("parse", text)) == text
    assert json.loads(text) == json.loads(json.dumps(chatml.to_json(value)))

    def ordered(pairs: list[tuple[str, object]]) -> None:
        assert all(left[0] < right[0] for left, right in pairwise(pairs))

    json.loads(text, object_pairs_hook=ordered)


@given(st.floats())
def test_rounding(number: float) -> None:
    """Each rounding gives a whole number next to the number; what is not finite stays."""
    call = caller("Float")
    low, high, near = call("floor", number), call("ceil", number), call("round", number)
    if not math.isfinite(number):
        assert repr([low, high, near]) == repr([number] * 3)
        return
    assert low <= number <= high
    assert high - low in (0.0, 1.0)
    assert near in (low, high)
    assert abs(near - number) <= 0.5


def test_reading_is_charged() -> None:
    """What a builtin looks at costs steps in proportion, also where its result is short."""
    for length in (1_000, 100_000):
        for name, args in [("normalise", ["/" * length]), ("is_below", ["a/" * (length // 2), ""])]:
            machine = FakeMachine()
            caller("Path", machine)(name, *args)
            assert machine.charged == length


def test_charges_end_a_run() -> None:
    source = 'let rec go path n = if Path.is_below(path, "x") then 0 else go(path, n + 1) go("y", 0)'
    long = source.replace('"y"', '"' + "y" * 64_000 + '"')
    for text in (source, long):
        with pytest.raises(chatml.RuntimeFailure, match="limit `steps`"):
            chatml.compile(text).run(limits=chatml.Limits(steps=20_000))
