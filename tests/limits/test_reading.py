"""What a builtin reads costs steps, the same in both engines: no loop of searches outruns `steps` (X-05, X-52)."""

from __future__ import annotations

import pytest

import chatml
from chatml.pipeline import EngineName

READERS = {
    "contains": 'String.contains(text, "b")',
    "find": 'String.find(text, "b")',
    "split": 'String.split(text, "b")',
    "trim": "String.trim(text)",
    "replace_all": 'String.replace_all(text, "b", "c")',
    "equal": "String.equal(text, other)",
    "starts_with": "String.starts_with(text, other)",
    "ends_with": "String.ends_with(text, other)",
    "hash_md5": "hash_md5(text)",
    "validate": "Json.validate(quoted)",
    "fill": "Array.fill(array, false)",
    "reverse_in_place": "Array.reverse_in_place(array)",
    "exists": "Array.exists(array, not)",
    "exists in place": "Array.exists(array, fun x -> x)",
    "for_all": "Array.for_all(array, not)",
    "iter": "Array.iter(units, print)",
    "fold": "Array.fold(array, 0, fun n x -> n)",
    "filter": "Array.filter(array, not)",
    "find element": "Array.find(array, not)",
    "get_field": 'Json.get_field(object, "k")',
    "get_path": 'Json.get_path(object, ["k"])',
    "Hashtbl.get": 'Hashtbl.get(table, "k")',
    "Hashtbl.mem": 'Hashtbl.mem(table, "k")',
}

SIZE = 6_400
PROGRAM = """
let rec double s n = if n == 0 then s else double(s ++ s, n - 1)
let text = double("aaaaaaaaaaaaaaaaaaaaaaaaa", 8)
let other = double("aaaaaaaaaaaaaaaaaaaaaaaaa", 8)
let quoted = "\\"" ++ text ++ "\\""
let array = Array.make(6400, false)
let units = Array.make(6400, ())
let object = `Object(Array.make(6400, {key = "other"; value = `Null}))
let table = ref(Array.make(6400, {key = "other"; value = 0}))
"""
ENGINES: list[EngineName] = ["walk", "compiled"]


def least_steps(operation: str, engine: EngineName) -> int:
    """The smallest limit of steps under which a script with that operation at its end runs."""
    script = chatml.compile(f"{PROGRAM}let result = {operation}\n")
    low, high = 0, 4 * SIZE
    while high - low > 1:
        middle = (low + high) // 2
        try:
            script.run(limits=chatml.Limits(steps=middle), print=lambda text: None, engine=engine)
        except chatml.RuntimeFailure as failure:
            if failure.limit != "steps":
                raise
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize("operation", READERS.values(), ids=READERS)
def test_what_is_read_costs_a_step_for_64_elements(operation: str) -> None:
    walked, compiled = (least_steps(operation, engine) for engine in ENGINES)
    assert walked == compiled
    assert walked - least_steps("0", "walk") >= SIZE // 64
