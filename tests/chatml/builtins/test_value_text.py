"""The text of values (language.md section 5.6, builtins.md section 2.2)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.diagnostics.errors import RuntimeFailure
from chatml.values.model import (
    Bind,
    BuiltinFailure,
    BuiltinFunction,
    Catch,
    Fail,
    Map,
    ModuleValue,
    Perform,
    Pure,
    Ref,
    Spawn,
    Value,
)
from chatml.values.text import show, show_float
from tests.chatml.builtins.machines import FakeMachine, HostFunction
from tests.chatml.builtins.values_strategy import DATA

CLOSURE = HostFunction(lambda value: value)
BUILTIN = BuiltinFunction("print", 1, print, False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (-(2**62), "-4611686018427387904"),
        (True, "true"),
        (None, "()"),
        ('q"x\n', 'q"x\n'),
        ([1, 2], "[|1, 2|]"),
        ([], "[||]"),
        ([""], "[||]"),
        (["", ""], "[|, |]"),
        ({"b": "s", "a": [None]}, "{ a = [|()|]; b = s }"),
        ({"b": 1, "B": 2, "_": 3}, "{ B = 2; _ = 3; b = 1 }"),
        ({}, "{  }"),
        (("Nil",), "`Nil"),
        (("Pair", 1, "x"), "`Pair(1, x)"),
        (("Unit", None), "`Unit(())"),
        (Ref([2]), "ref([|2|])"),
        (CLOSURE, "<closure>"),
        (BUILTIN, "<builtin>"),
        (ModuleValue("M", {"a": 1}), "<module>"),
        (Pure([1]), "pure([|1|])"),
        (Fail("no"), "fail(no)"),
        (Map(Pure(1), BUILTIN), "map(pure(1), <builtin>)"),
        (Catch(Bind(Pure(1), CLOSURE), CLOSURE), "catch(bind(pure(1), <closure>), <closure>)"),
        (Perform("Tool.call", ("n", ("Null",))), "perform({operation = Tool.call, args = [n, `Null]})"),
        (Spawn("Tool.spawn", ()), "spawn({operation = Tool.spawn, args = []})"),
        ([Pure({"a": 1.0})], "[|pure({ a = 1. })|]"),
    ],
)
def test_show(value: Value, text: str) -> None:
    assert show(value) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2.0, "2."),
        (-0.0, "-0."),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1 / 3, "0.33333333333333331"),
        (1e14, "100000000000000."),
        (1e15, "1e+15"),
        (1e-5, "1e-05"),
        (5e-324, "4.94065645841247e-324"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (-math.nan, "nan"),
    ],
)
def test_show_float(number: float, text: str) -> None:
    assert show_float(number) == text


@given(st.floats())
def test_float_text_reads_back(number: float) -> None:
    """The text of a float reads back as the same float, and never as an int of the language."""
    text = show_float(number)
    assert math.isnan(number) or float(text) == number
    assert not text.lstrip("-").isdigit()


@given(DATA)
def test_every_value_has_a_text(value: Value) -> None:
    """Every value has a text, and it fits a limit of just its length."""
    text = show(value)
    assert show(value, FakeMachine(text=len(text))) == text
    if text and type(value) is not str:
        with pytest.raises(RuntimeFailure):
            show(value, FakeMachine(text=len(text) - 1))


def test_deep_value() -> None:
    value: Value = ("Leaf",)
    for _ in range(100_000):
        value = [("Node", {"next": value})]
    text = show(value)
    assert text.startswith("[|`Node({ next = [|`Node(")
    assert text.endswith("`Leaf })|]" + " })|]" * 99_999)


def test_deep_task() -> None:
    task: Value = Pure(1)
    for _ in range(100_000):
        task = Bind(task, CLOSURE)
    assert show(task).count("bind(") == 100_000


def cyclic_values() -> list[Value]:
    array: list[Value] = [1]
    array.append({"a": ("T", array)})
    ref = Ref(None)
    ref.content = [ref]
    task_array: list[Value] = []
    task_array.append(Pure(task_array))
    return [array, ref, task_array]


@pytest.mark.parametrize("value", cyclic_values(), ids=["array", "ref", "task"])
def test_cyclic_value(value: Value) -> None:
    with pytest.raises(BuiltinFailure, match="contains itself"):
        show(value)


def test_shared_parts_that_would_fill_the_memory() -> None:
    value: Value = "x"
    for _ in range(200):
        value = [value, value]
    with pytest.raises(BuiltinFailure, match="longer than"):
        show(value)
    with pytest.raises(RuntimeFailure, match="limit `text`"):
        show(value, FakeMachine(text=1000))


def test_shared_long_string_that_would_fill_the_memory() -> None:
    with pytest.raises(BuiltinFailure, match="longer than"):
        show(["x" * 1_000_000] * 60_000)


@pytest.mark.parametrize("value", [(), (1, 2), (("A",),)])
def test_no_variant(value: Value) -> None:
    with pytest.raises(BuiltinFailure, match="without a tag"):
        show([value])


def test_no_value() -> None:
    with pytest.raises(BuiltinFailure, match="`bytes` is not a value"):
        show([b"x"])
