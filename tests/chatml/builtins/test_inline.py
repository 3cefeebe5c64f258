"""Builtins that generated code spells out (`chatml.builtins.expressions`)."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import pytest

import chatml
from chatml.surfaces.model import PARAMETERS
from tests.chatml.observe import observe

CALL = {"id": "c1", "name": "ab", "args": ("Null",)}
SAMPLES: dict[type, list[Any]] = {
    chatml.Bool.__class__: ["", "a", "ab", "aß", True, False],
    chatml.Array: [[], ["ab"], ["a", ""]],
    chatml.Record: [CALL, {**CALL, "name": ""}],
    chatml.Var: [1, "x", None],
}
KINDS = {"string": str, "bool": bool}
INLINED = {
    f"{module.name}.{builtin.name}": builtin
    for module in (chatml.Module("", chatml.CORE.globals), *chatml.UI_MODERATOR.modules)
    for builtin in module.exports
    if builtin.inline is not None
}


def samples(type: chatml.Value) -> list[Any]:
    """Some values of the type of a parameter."""
    values = SAMPLES[type.__class__]
    kind = KINDS.get(getattr(type, "name", ""))
    return values if kind is None else [value for value in values if isinstance(value, kind)]


@pytest.mark.parametrize("builtin", INLINED.values(), ids=list(INLINED))
def test_the_expression_does_what_the_builtin_does(builtin: chatml.Builtin) -> None:
    """For all arguments of the right kinds the expression has the builtin's value, by the same names it is given."""
    expression = builtin.inline
    assert expression is not None
    count = len(builtin.scheme.params)
    names = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    assert names - {"len"} == set(PARAMETERS[:count])
    for args in itertools.product(*map(samples, builtin.scheme.params)):
        assert eval(expression, dict(zip(PARAMETERS, args, strict=False))) == builtin.function(*args)


@pytest.mark.parametrize("engine", ["walk", "compiled"])
@pytest.mark.parametrize("builtin", ["contains", "starts_with", "equal"])
def test_arguments_are_evaluated_from_left_to_right(engine: Any, builtin: str) -> None:
    program = f"""let say text = let _said = print(text) in text
let x = String.{builtin}(say("first"), say("second"))
let x = String.{builtin}(String.trim(say("first")), let x = say("second") in x)"""
    assert observe(program, engine=engine).printed == ("first", "second") * 2
