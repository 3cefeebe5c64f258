"""`Model`: calls of recipes that a host defines (builtins.md section 5.9, X-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatml.builtins.checks import expected, is_json
from chatml.builtins.effects import Effect, effect_module, perform
from chatml.builtins.schemes import JSON, task, variant
from chatml.lazy import lazy
from chatml.surfaces.model import Builtin
from chatml.types.model import Fun, String
from chatml.values.model import Bind, BuiltinFailure, BuiltinFunction, Fail, Machine, Pure, Spawn, Task, Value

if TYPE_CHECKING:
    from chatml.builtins import json_writer
else:
    json_writer = lazy("chatml.builtins.json_writer")


def text_of_outcome(machine: Machine, outcome: Value) -> Task:
    """The text that a model gave; a refusal or an error as a failure of the task."""
    match outcome:
        case ("Ok", ("String", str(text))):
            return Pure(text)
        case ("Ok", value) if is_json(value):
            return Pure(json_writer.write(value, machine))
        case ("Refused" | "Error", str(message)):
            return Fail(message)
    raise BuiltinFailure("expected the outcome of a model: `Ok(json), `Refused(string) or `Error(string)")


TEXT_OF_OUTCOME = BuiltinFunction("Model.call_text", 1, text_of_outcome, True)


def call_text(recipe: Value, text: Value) -> Task:
    if not (type(recipe) is str and type(text) is str):
        raise expected("string", "string")
    return Bind(perform("Model.call", recipe, ("String", text)), TEXT_OF_OUTCOME)


def spawn_text(recipe: Value, text: Value) -> Task:
    if not (type(recipe) is str and type(text) is str):
        raise expected("string", "string")
    return Spawn("Model.spawn", (recipe, ("String", text)))


OUTCOME = variant(Ok=JSON, Refused=String, Error=String)

MODEL = effect_module(
    "Model",
    [
        Effect("call", [String, JSON], OUTCOME),
        Effect("call_json", [String, JSON], OUTCOME, operation="call"),
        Effect("spawn", [String, JSON], String, spawned=True),
    ],
    [
        Builtin("call_text", Fun([String, String], task(String)), call_text),
        Builtin("spawn_text", Fun([String, String], task(String)), spawn_text),
    ],
)
