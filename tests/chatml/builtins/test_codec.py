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

FORMS: list[tuple[Value, Any]] = [
    (3, {"int": 3}),
    (1.5, {"float": 1.5}),
    (math.inf, {"float": "inf"}),
    (-math.inf, {"float": "-inf"}),
    (True, {"bool": True}),
    ("x", {"string": "x"}),
    (None, {"unit": True}),
    ([1, "a"], {"array": [{"int": 1}, {"string": "a"}]}),
    ([], {"array": []}),
    ({"b": 1, "a": None}, {"record": [["a", {"unit": True}], ["b", {"int": 1}]]}),
    ({}, {"record": []}),
    (("Tag", 1, [2]), {"variant": ["Tag", [{"int": 1}, {"array": [{"int": 2}]}]]}),
    (("Nil",), {"variant": ["Nil", []]}),
    (("A", ("B", ("C",))), {"variant": ["A", [{"variant": ["B", [{"variant": ["C", []]}]]}]]}),
]


@pytest.mark.parametrize(("value", "form"), FORMS)
def test_forms(value: Value, form: Any) -> None:
    assert encode(value) == form
    assert decode(form) == value


def test_nan() -> None:
    assert encode(math.nan) == {"float": "nan"}
    assert math.isnan(decode({"float": "nan"}))


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
    ("form", "message"),
    [
        (3, "root: expected an object with exactly one key"),
        ({}, "root: expected an object with exactly one key"),
        ({"int": 1, "float": 1.0}, "root: expected an object with exactly one key"),
        ({"integer": 1}, "root: unknown kind `integer`"),
        ({"int": 1.0}, "root: the content of `int` must be an integer"),
        ({"int": True}, "root: the content of `int` must be an integer"),
        ({"int": 2**62}, "root: the content of `int` must be between"),
        ({"float": "NaN"}, "root: the content of `float` must be a number"),
        ({"float": math.inf}, "root: the content of `float` must be a number"),
        ({"float": 2**60 + 1}, "root: the content of `float` must be a number"),
        ({"bool": 1}, "root: the content of `bool` must be true or false"),
        ({"string": None}, "root: the content of `string` must be a string"),
        ({"string": "a\ud800"}, "root: the string holds the lone surrogate U+D800 at index 1"),
        ({"unit": None}, "root: the content of `unit` must be true"),
        ({"array": {"0": 1}}, "root: the content of `array` must be an array"),
        ({"array": [{"int": 1}, 2]}, "root[1]: expected an object with exactly one key"),
        ({"record": {"a": {"int": 1}}}, "root: the content of `record` must be an array of pairs"),
        ({"record": [["a"]]}, "root: the content of `record` must be an array of pairs"),
        ({"record": [[1, {"int": 1}]]}, "root: the content of `record` must be a string"),
        (
            {"array": [{"record": [["x", {"int": 1}], ["x", {"int": 2}]]}]},
            'root[0]: duplicate record field "x" in ChatML snapshot',
        ),
        ({"record": [["a", {"variant": ["T", [{"int": None}]]}]]}, "root.a<T>[0]: the content of `int`"),
        ({"variant": ["T"]}, "root: the content of `variant` must be a tag and an array"),
        ({"variant": [1, []]}, "root: the content of `variant` must be a string"),
        ({"variant": "T"}, "root: the content of `variant` must be a tag and an array"),
    ],
)
def test_what_is_no_snapshot(form: Any, message: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        decode(form)
    assert str(caught.value).startswith(message)


@given(DATA)
def test_round_trip(value: Value) -> None:
    """Encoding then decoding, through JSON text too, gives a value that prints the same."""
    assert show(decode(encode(value))) == show(value)
    assert show(decode(json.loads(json.dumps(encode(value))))) == show(value)


def test_whole_float_that_a_store_rewrote() -> None:
    assert decode({"float": 1}) == 1.0
    assert type(decode({"float": 1})) is float


def test_sharing_is_lost() -> None:
    shared = [1]
    first, second = decode(encode([shared, shared]))
    assert first is not second


def test_cyclic_value() -> None:
    value: list[Value] = []
    value.append(("T", value))
    with pytest.raises(SnapshotError, match="contains itself"):
        encode(value)


def test_cyclic_snapshot() -> None:
    form: dict[str, Any] = {"array": []}
    form["array"].append(form)
    with pytest.raises(SnapshotError, match="contains itself"):
        decode(form)


def test_shared_parts_that_would_fill_the_memory() -> None:
    value: Value = ("Leaf",)
    for _ in range(100):
        value = [value, value]
    with pytest.raises(SnapshotError, match="more than 10,000,000 parts"):
        encode(value)


def test_deep_value() -> None:
    value: Value = None
    for _ in range(40_000):
        value = ("T", [{"a": value}])
    assert show(decode(encode(value))) == show(value)
