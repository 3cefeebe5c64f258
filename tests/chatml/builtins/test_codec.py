"""Snapshots of values (language.md section 5.10)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given

from chatml.border.snapshot import decode, encode
from chatml.diagnostics.errors import SnapshotError
from chatml.values.model import BuiltinFunction, ModuleValue, Pure, Ref, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import HostFunction
from tests.chatml.builtins.values_strategy import DATA

CLOSURE = HostFunction(abs)
BUILTIN = BuiltinFunction("print", 1, print, False)

FORMS: list[tuple[Value, list[Any], Any]] = [
    (3, [], 3),
    (1.5, [], {"float": 1.5}),
    (math.inf, [], {"float": "inf"}),
    (-math.inf, [], {"float": "-inf"}),
    (True, [], True),
    ("x", [], "x"),
    ("x" * 65, [["string", "x" * 65]], [0]),
    (None, [], None),
    ([1, "a"], [["array", 1, "a"]], [0]),
    ([], [["array"]], [0]),
    ([1.5, -math.inf], [["floats", 1.5, "-inf"]], [0]),
    ([1, 1.5], [["array", 1, {"float": 1.5}]], [0]),
    ({"b": 1, "a": None}, [["record", "a", None, "b", 1]], [0]),
    ({}, [["record"]], [0]),
    (("Tag", 1, [2]), [["array", 2], ["variant", "Tag", 1, [0]]], [1]),
    (("Nil",), [["variant", "Nil"]], [0]),
    ([("Nil",), ("Nil",)], [["variant", "Nil"], ["array", [0], [0]]], [1]),
    ([{"b": 1, "a": "x"}, {"b": 2, "a": "y"}], [["table", "a", ["x", "y"], "b", [1, 2]]], [0]),
    ([{"a": 1}, {"b": 2}], [["record", "a", 1], ["record", "b", 2], ["array", [0], [1]]], [2]),
]


@pytest.mark.parametrize(("value", "parts", "slot"), FORMS, ids=[str(form[0])[:30] for form in FORMS])
def test_forms(value: Value, parts: list[Any], slot: Any) -> None:
    assert encode(value) == {"parts": parts, "value": slot}
    assert decode(encode(value)) == value


def test_nan() -> None:
    assert encode(math.nan) == {"parts": [], "value": {"float": "nan"}}
    assert math.isnan(decode(encode(math.nan)))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1, 2, Ref(1)], "root[2]: refs are not serializable in ChatML snapshots"),
        ({"on": ("Evt", "x", CLOSURE)}, "root.on<Evt>[1]: closures are not serializable in ChatML snapshots"),
        (BUILTIN, "root: builtins are not serializable in ChatML snapshots"),
        ([ModuleValue("M")], "root[0]: modules are not serializable in ChatML snapshots"),
        (("T", Pure(1)), "root<T>[0]: tasks are not serializable in ChatML snapshots"),
        (
            {"b": Ref(1), "a": [("T", [CLOSURE])]},
            "root.a[0]<T>[0][0]: closures are not serializable in ChatML snapshots",
        ),
        ([[1, Ref(1)], CLOSURE], "root[0][1]: refs are not serializable in ChatML snapshots"),
    ],
)
def test_what_has_no_data_form(value: Value, message: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        encode(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("parts", "slot", "message"),
    [
        ({}, None, "expected an object with an array `parts` and a `value`"),
        ([], [0], "value: part 0 does not stand before this one"),
        ([], [True], "value: expected null, true, false, an integer"),
        ([], {"int": 3}, "value: expected null, true, false, an integer"),
        ([], 1.5, "value: expected null, true, false, an integer"),
        ([], {"float": "NaN"}, 'value: expected a number, "nan", "inf"'),
        ([], 2**62, f"value: an int must be between {-(2**62)}"),
        ([], "\ud800", "value: the string holds the lone surrogate U+D800 at index 0"),
        ([3], None, "parts[0]: expected an array that begins with the kind of the part"),
        ([[]], None, "parts[0]: expected an array that begins with the kind of the part"),
        ([["list", 1]], None, "parts[0]: expected an `array`, `floats`, a `record`"),
        ([["array", 1, [0]]], None, "parts[0][2]: part 0 does not stand before this one"),
        ([["array", *range(20), 2**62]], None, "parts[0][21]: an int must be between"),
        ([["array", *["x"] * 20, "\ud800"]], None, "parts[0][21]: the string holds the lone surrogate"),
        ([["array"], ["array", [-1]]], None, "parts[1][1]: part -1 does not stand before this one"),
        ([["floats", 1.5, None]], None, "parts[0][2]: expected a number"),
        ([["string", 1]], None, "parts[0][1]: expected a string"),
        ([["variant"]], None, "parts[0]: expected an `array`"),
        ([["variant", 1]], None, "parts[0][1]: expected a string"),
        ([["variant", "T", {}]], None, "parts[0][2]: expected null"),
        ([["record", "a"]], None, "parts[0]: a label of the record has no value"),
        ([["record", 1, 2]], None, "parts[0][1]: expected a string"),
        ([["record", "a", 1, "b", 1.5]], None, "parts[0][4]: expected null"),
        ([["record", "x", 1, "x", 2]], None, 'parts[0]: duplicate record field "x" in ChatML snapshot'),
        ([["table", "a", [1], "a", [1]]], None, 'parts[0]: duplicate record field "a"'),
        ([["table", "a", [1], "b", [1, 2]]], None, "parts[0][4]: expected a column of as many values"),
        ([["table", "a", 1]], None, "parts[0][2]: expected a column"),
        ([["table", "a", [1, 1.5]]], None, "parts[0][2][1]: expected null"),
    ],
)
def test_what_is_no_snapshot(parts: Any, slot: Any, message: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        decode({"parts": parts, "value": slot})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("form", [3, None, [], {}, {"parts": []}, {"parts": [], "value": 1, "more": 2}])
def test_other_objects(form: Any) -> None:
    with pytest.raises(SnapshotError, match="expected an object with an array `parts` and a `value`"):
        decode(form)


@given(DATA)
def test_round_trip(value: Value) -> None:
    """Encoding then decoding, through JSON text too, gives a value that prints the same."""
    assert show(decode(encode(value))) == show(value)
    assert show(decode(json.loads(json.dumps(encode(value))))) == show(value)


def test_whole_float_that_a_store_rewrote() -> None:
    assert decode({"parts": [["floats", 1]], "value": [0]}) == [1.0]
    assert type(decode({"parts": [], "value": {"float": 1}})) is float


def test_sharing_is_kept() -> None:
    """An array that occurs twice is one array again: what is written to one of them is seen in the other."""
    shared = [1]
    first, second = decode(encode([shared, {"again": shared}]))
    assert first is second["again"]
    apart = decode(encode([[1], [1]]))
    assert apart[0] is not apart[1]


def test_cyclic_value() -> None:
    value: list[Value] = []
    value.append(("T", value))
    with pytest.raises(SnapshotError, match=r"root\[0\]<T>\[0\]: the value contains itself"):
        encode(value)
