"""The modules that build effects (builtins.md sections 4 and 5.6 to 6)."""

from __future__ import annotations

from typing import Any, Literal

import pytest

import chatml
from chatml.diagnostics.errors import RuntimeFailure
from chatml.values.model import BuiltinFailure, Fail, Pure, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import FakeMachine, caller


@pytest.mark.parametrize(
    ("module", "name", "args"),
    [
        ("Log", "info", (1,)),
        ("Turn", "replace_item", (None, {})),
        ("Turn", "append_notice", (None,)),
        ("Turn", "replace_or_append", (("Some", "a", "b"), {})),
        ("Tool", "call", (1, ("Null",))),
        ("Model", "call_text", ("m", 1)),
        ("Model", "spawn_text", (1, "t")),
        ("Process", "run", ("ls", "-l")),
        ("Schedule", "after_ms", (1.0, None)),
        ("Approval", "ask_choice", ("q", None)),
    ],
)
def test_arguments_are_checked(module: str, name: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(BuiltinFailure, match="expected"):
        caller(module)(name, *args)


def test_arguments_are_captured_by_reference() -> None:
    choices = ["a"]
    task = caller("Approval")("ask_choice", "q", choices)
    assert task.args[1] is choices


def outcome(value: Value, machine: FakeMachine | None = None) -> Value:
    """What the continuation of `Model.call_text` makes of an outcome."""
    function = caller("Model")("call_text", "m", "t").function
    return function.function(machine or FakeMachine(), value)


def test_text_of_a_model() -> None:
    text = outcome(("Ok", ("String", "hi")))
    assert isinstance(text, Pure)
    assert show(text) == "pure(hi)"
    assert show(outcome(("Ok", ("Array", [("Number", 1.0)])))) == "pure([1])"


@pytest.mark.parametrize("tag", ["Refused", "Error"])
def test_refusal_of_a_model(tag: str) -> None:
    failed = outcome((tag, "no"))
    assert isinstance(failed, Fail)
    assert failed.message == "no"


@pytest.mark.parametrize("value", [None, ("Ok", 1), ("Ok",), ("Refused", 1), ("Other", "x")])
def test_what_is_no_outcome(value: Value) -> None:
    with pytest.raises(BuiltinFailure, match="expected the outcome of a model"):
        outcome(value)


@pytest.mark.parametrize("engine", ["compiled", "walk"])
def test_engines_apply_the_continuation(engine: Literal["compiled", "walk"]) -> None:
    program = chatml.compile('let ask = Model.call_text("m", "t")', surface=chatml.MODERATOR)
    instance = program.run(engine=engine)
    assert show(instance["ask"]).endswith(", <builtin>)")
    assert show(instance.apply(instance["ask"].function, [("Ok", ("String", "hi"))])) == "pure(hi)"
    with pytest.raises(RuntimeFailure, match=r"Model\.call_text: expected the outcome"):
        instance.apply(instance["ask"].function, [1])


def test_text_of_a_model_within_the_limit() -> None:
    with pytest.raises(RuntimeFailure, match="limit"):
        outcome(("Ok", ("Array", [("Null",)] * 10)), FakeMachine(text=5))
