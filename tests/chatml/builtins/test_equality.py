"""Equality of values (language.md section 5.4)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from chatml.values.equality import equal
from chatml.values.model import ModuleValue, Pure, Ref, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import HostFunction
from tests.chatml.builtins.values_strategy import DATA

ARRAY, REF, FUNCTION, MODULE, TASK = [1], Ref(1), HostFunction(abs), ModuleValue("M"), Pure(1)


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        (1, 1, True),
        (1, 2, False),
        (1, True, False),
        (0, False, False),
        (1, 1.0, False),
        (0.0, -0.0, True),
        (math.nan, math.nan, False),
        ({"x": math.nan}, {"x": math.nan}, False),
        (None, None, True),
        (None, (), False),
        ("a", "a", True),
        ("a", ("a",), False),
        (("A",), ("A",), True),
        (("A",), ("A", None), False),
        (("A", 1), ("B", 1), False),
        (("P", 1, {"s": "x"}), ("P", 1, {"s": "x"}), True),
        (("P", ("Q", 1)), ("P", ("Q", True)), False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1], False),
        (ARRAY, ARRAY, True),
        (("T", ARRAY), ("T", ARRAY), True),
        (Ref(1), Ref(1), False),
        (REF, REF, True),
        (FUNCTION, FUNCTION, True),
        (MODULE, MODULE, True),
        (TASK, TASK, True),
        (TASK, Pure(1), False),
    ],
)
def test_equal(left: Value, right: Value, wanted: bool) -> None:
    assert equal(left, right) is wanted
    assert equal(right, left) is wanted


def has_array_or_nan(value: Value) -> bool:
    if isinstance(value, dict):
        return any(has_array_or_nan(part) for part in value.values())
    if isinstance(value, tuple):
        return any(has_array_or_nan(part) for part in value)
    return isinstance(value, list) or value != value


@given(DATA)
def test_reflexive(value: Value) -> None:
    """A value without NaN equals itself; one with NaN outside arrays does not."""
    nan = "nan" in show(value)
    assert equal(value, value) or nan


@given(DATA, DATA)
def test_symmetric_and_shown_alike(left: Value, right: Value) -> None:
    """Equality is symmetric, and equal values without a float print alike."""
    result = equal(left, right)
    assert equal(right, left) is result
    if result and "-0." not in show(left) + show(right):
        assert show(left) == show(right)


@given(DATA)
def test_copies_are_equal(value: Value) -> None:
    """A copy of a value without arrays and NaN equals it; no copy of an array equals the array."""
    assert equal(value, copy(value)) is not has_array_or_nan(value)


def copy(value: Value) -> Value:
    if isinstance(value, dict):
        return {label: copy(part) for label, part in reversed(value.items())}
    if isinstance(value, list):
        return [copy(part) for part in value]
    return (value[0], *map(copy, value[1:])) if isinstance(value, tuple) else value


def test_deep_values() -> None:
    left: Value = None
    right: Value = None
    for _ in range(200_000):
        left, right = ("N", {"next": left}), ("N", {"next": right})
    assert equal(left, right)
    assert not equal(left, ("N", {"next": right}))


def test_shared_parts_take_no_time_twice() -> None:
    left: Value = ("N",)
    right: Value = ("N",)
    for _ in range(1000):
        left, right = ("N", left, left), ("N", right, right)
    assert equal(left, right)
    assert not equal(left, ("N", right, ("N",)))
