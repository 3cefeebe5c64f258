"""Snapshots of format 1, which are read for ever (language.md section 5.10)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from chatml.border.nested_snapshot import decode_nested
from chatml.diagnostics.errors import SnapshotError
from chatml.values.model import Value

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
    assert decode_nested(form) == value


def test_nan() -> None:
    assert math.isnan(decode_nested({"float": "nan"}))


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
        decode_nested(form)
    assert str(caught.value).startswith(message)


def test_whole_float_that_a_store_rewrote() -> None:
    assert decode_nested({"float": 1}) == 1.0
    assert type(decode_nested({"float": 1})) is float


def test_cyclic_snapshot() -> None:
    form: dict[str, Any] = {"array": []}
    form["array"].append(form)
    with pytest.raises(SnapshotError, match="contains itself"):
        decode_nested(form)


def test_deep_snapshot() -> None:
    form: Any = {"unit": True}
    for _ in range(40_000):
        form = {"variant": ["T", [form]]}
    value, depth = decode_nested(form), 0
    while value is not None:
        (_, value), depth = value, depth + 1
    assert depth == 40_000
