"""Crossing between Python and the language (runtime.md section 2.1, X-01, X-02)."""

from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given

from chatml.border.python import from_json, from_python, to_json, to_python
from chatml.builtins.json_reader import read
from chatml.builtins.json_writer import write
from chatml.diagnostics.errors import BoundaryError
from chatml.values.model import INT_MAX, INT_MIN, ModuleValue, Pure, Ref, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import HostFunction
from tests.chatml.builtins.values_strategy import DATA, JSON, JSON_DATA


class Colour(enum.IntEnum):
    RED = 1


class Name(enum.StrEnum):
    ADA = "Ada"


@given(DATA)
def test_python_round_trip(value: Value) -> None:
    """Data goes to Python and back unchanged, and shares no container with what it came from."""
    data = to_python(value)
    assert show(from_python(data)) == show(value)
    if isinstance(value, list | dict):
        assert data is not value
        assert from_python(data) is not data


def test_from_python_copies() -> None:
    data = {"xs": [1]}
    value = from_python(data)
    data["xs"].append(2)
    assert value == {"xs": [1]}


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (Colour.RED, 1),
        (Name.ADA, "Ada"),
        (OrderedDict(a=1), {"a": 1}),
        ((Name.ADA, Colour.RED), ("Ada", 1)),
        (INT_MAX, INT_MAX),
        (INT_MIN, INT_MIN),
        (math.inf, math.inf),
    ],
)
def test_from_python_takes_subclasses(data: Any, value: Value) -> None:
    result = from_python(data)
    assert result == value
    assert type(result) in (int, float, str, dict, tuple)


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("opaque", [Ref([1]), HostFunction(abs), ModuleValue("M"), Pure(1)])
def test_opaque_values(opaque: Value) -> None:
    assert from_python([opaque])[0] is opaque
    with pytest.raises(BoundaryError, match=r"root\.a\[0\]: (a \w+|the module M) is not data"):
        to_python({"a": [opaque]})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": [INT_MAX + 1]}, r"root\.a\[0\]: integers lie between -4611686018427387904 and 4611686018427387903"),
        (INT_MIN - 1, "root: integers lie between"),
        (10**1000, "an integer of 3322 bits"),
        ("a\udc00", r"root: the string holds the lone surrogate U\+DC00 at index 1"),
        (("T", "\ud800"), r"root<T>\[0\]: the string holds"),
        ({"Content-Type": 1}, "root: 'Content-Type' cannot be the label of a record"),
        ({1: 1}, "root: 1 cannot be the label"),
        ({Unprintable(): 1}, "root: a Python `Unprintable` cannot be the label"),
        ((), "root: a tuple is a variant"),
        ((1, 2), "root: a tuple is a variant"),
        (("a tag", 2), "root: a tuple is a variant"),
        ([b"x"], r"root\[0\]: a Python `bytes` has no counterpart"),
        ({1, 2}, "a Python `set` has no counterpart"),
    ],
)
def test_what_python_cannot_hand_over(data: Any, message: str) -> None:
    with pytest.raises(BoundaryError, match=message):
        from_python(data)


def test_boundary_errors_are_value_errors() -> None:
    with pytest.raises(ValueError, match="bytes"):
        from_python(b"")


@given(JSON_DATA)
def test_json_round_trip(data: Any) -> None:
    """JSON data goes to the language and back as the same JSON text, numbers in the language's spelling."""
    assert to_json(from_json(data)) == data
    assert json.dumps(to_json(from_json(data)), ensure_ascii=False, separators=(",", ":")) == write(from_json(data))


@given(JSON)
def test_to_json_agrees_with_the_text(value: Value) -> None:
    """What leaves as data says what leaves as text says, with the first of entries of the same key."""

    def first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(reversed(pairs))

    assert to_json(value) == json.loads(write(value), object_pairs_hook=first)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (1e21, "1e+21"),
        (2.0**53, "9007199254740992"),
        (1e15, "1000000000000000"),
        (1e16, "1e+16"),
        (1e-5, "1e-05"),
    ],
)
def test_numbers_leave_as_json_writes_them(number: float, text: str) -> None:
    assert json.dumps(to_json(("Number", number))) == text
    assert write(("Number", number)) == text


def test_from_json() -> None:
    assert from_json({"a": [1, True, None, "x"], "b": {}}) == (
        "Object",
        [
            {"key": "a", "value": ("Array", [("Number", 1.0), ("Bool", True), ("Null",), ("String", "x")])},
            {"key": "b", "value": ("Object", [])},
        ],
    )
    assert type(from_json(3)[1]) is float


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (math.nan, "finite"),
        ([math.inf], "finite"),
        (10**400, "finite"),
        ("\ud800", "lone surrogate"),
        ({"\ud800": 1}, "lone surrogate"),
        ({1: 1}, "keys are strings"),
        ([b""], "`bytes` is not JSON data"),
    ],
)
def test_what_is_not_json_data(data: Any, message: str) -> None:
    with pytest.raises(BoundaryError, match=message):
        from_json(data)


EXPECTED = "expected Json.t (`Null/`Bool/`Number/`String/`Array/`Object)"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, EXPECTED),
        (1.0, EXPECTED),
        (["String", "x"], EXPECTED),
        (("Other",), EXPECTED),
        (("Null", None), EXPECTED),
        (("Number", 1), EXPECTED),
        (("Bool", True, True), EXPECTED),
        (("Array", [("Array", [1])]), EXPECTED),
        (("Object", [1]), "JSON object entry: expected record"),
        (("Object", [{"value": ("Null",)}]), "JSON object entry: missing field 'key'"),
        (("Object", [{"key": 1, "value": ("Null",)}]), "JSON object entry field 'key': expected string"),
        (("Object", [{"key": "a"}]), "JSON object entry: missing field 'value'"),
        (("Object", [{"key": "a", "value": 1}]), EXPECTED),
    ],
)
def test_what_is_no_json_value(value: Value, message: str) -> None:
    with pytest.raises(BoundaryError) as caught:
        to_json(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks(number: float) -> None:
    with pytest.raises(BoundaryError, match="JSON has no number"):
        to_json(("Array", [("Number", number)]))


def test_first_of_repeated_keys_counts() -> None:
    assert to_json(read('{"path":"safe","path":"evil"}')) == {"path": "safe"}


def test_cyclic_data() -> None:
    data: list[Any] = []
    data.append({"a": data})
    for convert in (from_python, to_python, from_json):
        with pytest.raises(BoundaryError, match="contains itself"):
            convert(data)
    elements: list[Value] = []
    elements.append(("Object", [{"key": "a", "value": ("Array", elements)}]))
    with pytest.raises(BoundaryError, match="contains itself"):
        to_json(("Array", elements))


def test_shared_parts_that_would_fill_the_memory() -> None:
    value: Value = ("Null",)
    for _ in range(100):
        value = ("Array", [value, value])
    for convert in (to_json, to_python):
        with pytest.raises(BoundaryError, match="more than 10,000,000 parts"):
            convert(value)


def test_long_shared_parts_that_would_fill_the_memory() -> None:
    """A few thousand times the same long list is refused as soon as its parts have been counted, not copied."""
    plain: Any = [[0] * 100_000] * 5_000
    json_value = ("Array", [("Array", [("Null",)] * 100_000)] * 5_000)
    for convert, data in ((from_python, plain), (to_python, plain), (from_json, plain), (to_json, json_value)):
        with pytest.raises(BoundaryError, match="more than 10,000,000 parts"):
            convert(data)


def test_deep_data() -> None:
    data: Any = []
    for _ in range(40_000):
        data = [{"a": data}]
    assert show(to_python(from_python(data))) == show(data)
    value = from_json(data)
    assert show(from_json(to_json(value))) == show(value)
