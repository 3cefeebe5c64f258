"""Functions of a script as functions of Python: `Instance.function` (docs/decisions.md, values and engines)."""

from __future__ import annotations

import enum
from pprint import pformat
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chatml
from chatml.pipeline import EngineName
from tests.chatml.builtins.values_strategy import JSON_DATA

ENGINES: list[EngineName] = ["walk", "compiled"]
LIMITS = chatml.Limits(steps=1_000, text=1_000)
SCRIPT = """
let names = ["read_file", "list_files"]
let decide call =
  if not(Tool_call.is_one_of(call, names)) then `Deny("not " ++ call.name)
  else
    match Tool_call.arg_string(call, "path") with
    | `None -> `Deny("no path")
    | `Some(path) -> if String.contains(path, "..") then `Deny(path) else `Allow
let any_kind call =
  let id = call.id in
  let found = [Tool_call.arg(call, id)] in
  (match Tool_call.arg_bool(call, id) with | `Some(yes) -> if yes then "yes" else "no" | `None -> "none")
  ++ (match Tool_call.arg_array(call, id) with | `Some(items) -> to_string(items) | `None -> "none")
  ++ to_string(found)
let whole call = if Tool_call.is_named(call, "read_file") then `Some(call) else `None
let args_of : tool_call -> json = fun call -> call.args
let seen : tool_call -> int -> [ `Seen(string, json) ] = fun call n -> `Seen(call.name ++ to_string(n), call.args)
let closing call = let name = call.name in Array.map(names, fun other -> other == name)
let rec count call n = if n == 0 then Tool_call.is_named(call, "x") else count(call, n - 1)
let rec sink call n = if n == 0 then fail(call.name) else 1 + sink(call, n - 1)
let helped call = if Tool_call.is_named(call, "x") then fail("no " ++ call.name) else decide(call)
module Rules = struct
  let path call =
    match Tool_call.arg_string(call, "path") with | `Some(path) -> path | `None -> fail("no path for " ++ call.name)
end
let allowed word call other = Tool_call.is_named(call, word) && Rules.path(call) == other.id
let checked call =
  let other = { id = "x"; name = "y"; args = `Null } in
  if allowed(call.id, call, call) || allowed("read_file", call, other) || allowed("x", other, call) then `Allow
  else `Deny(call.id)
let looping call =
  let found = Array.exists(names, fun other -> Tool_call.is_named(call, other) && allowed(other, call, call)) in
  if found then Array.fold(names, 0, fun n other -> if Tool_call.is_named(call, other) then n + 1 else n) else
  length(Array.filter(names, fun other -> Rules.path(call) == other))
let failing call = match call.name with | "read_file" -> 1 / 0 | "x" -> [1][length(names)] | _ -> fail(call.id)
let either call =
  match (if Tool_call.is_named(call, "x") then `Some(call.id) else `None) with | `Some(id) -> id | `None -> "none"
let first : tool_call -> string =
  fun call -> match Tool_call.arg(call, "path") with | `Some(`String(s)) -> s | _ -> fail("no")
let scalars : int -> float -> bool -> string -> string =
  fun n x yes text -> to_string([n]) ++ to_string(x) ++ to_string(yes) ++ text
let nested : { meta : { who : string; data : json } } -> string =
  fun event ->
    match Json.as_string(event.meta.data) with
    | `Some(text) -> event.meta.who ++ text
    | `None -> event.meta.who
let json_in : json -> json -> json = fun left right -> match left with | `Null -> right | _ -> left
let options : [ `A(int, json) | `B ] array -> [ `A(int, json) | `B ] array = fun options -> options
let written : int array -> int array = fun numbers -> numbers[0] <- 7; numbers
let shared = [1]
let share_array () = shared
let share_record () = { items = shared }
let id x = x
let give_unit n = let m = n + 1 in ()
let spin n = while n > 0 do () done
let three () = 3
let number = 3
"""
PROGRAM = chatml.compile(SCRIPT, surface=chatml.MODERATOR)
INSTANCES = [
    PROGRAM.run(engine="walk", limits=LIMITS),
    PROGRAM.run(),
    PROGRAM.run(limits=LIMITS, journaled=True),
]
CALL = {"id": "path", "name": "read_file", "args": {"path": "docs/a.md", "limit": 20}}


class Name(enum.StrEnum):
    READ = "read_file"


class Table(dict[str, Any]):
    pass


def outcome(instance: chatml.Instance, name: str, *args: Any) -> object:
    """What a call came to, comparable between engines."""
    try:
        return "result", pformat(instance.function(name)(*args))
    except chatml.RuntimeFailure as failure:
        return failure.code, failure.message, str(failure.span)
    except chatml.BoundaryError as error:
        return "boundary", str(error)


ODD = st.sampled_from(
    [None, 1, True, 2.5, float("nan"), 2**70, "ü", "a\ud800", Name.READ, b"", ("A", 1), [b""], (1, 2)]
)
ANYTHING = st.one_of(st.sampled_from(["path", "x", "read_file"]), ODD, JSON_DATA)
CALLS = st.one_of(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["path", "x"]),
            "name": st.sampled_from(["read_file", "x", "ä"]),
            "args": st.one_of(JSON_DATA, st.dictionaries(st.sampled_from(["path", "x", "Ü"]), ANYTHING)),
        }
    ),
    st.fixed_dictionaries(
        {"id": ANYTHING, "name": ANYTHING, "args": ANYTHING}, optional={"more": ANYTHING, "More": ODD}
    ),
    st.just(CALL).map(Table),
    ODD,
    st.dictionaries(st.sampled_from(["id", "name", "args"]), ANYTHING),
)
ON_CALLS = [
    "decide",
    "any_kind",
    "whole",
    "args_of",
    "closing",
    "helped",
    "failing",
    "either",
    "first",
    "id",
    "checked",
]


@given(CALLS)
@settings(max_examples=300)
@example(CALL)
@example({**CALL, "args": {"path": [1, {"a": None}]}})
@example({**CALL, "args": {"path": "a\ud800"}})
def test_every_way_comes_to_the_same(call: Any) -> None:
    """Whatever a host passes, each engine gives the same result or refuses it in the same words."""
    for name in ON_CALLS:
        walked, compiled, bounded = (outcome(instance, name, call) for instance in INSTANCES)
        assert compiled == walked
        assert bounded == walked


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
@settings(max_examples=200)
def test_every_way_comes_to_the_same_for_other_types(a: Any, b: Any, c: Any, d: Any) -> None:
    """The same for scalars, nested records, plain JSON and several parameters."""
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("scalars", (a, b, c, d)),
        ("nested", ({"meta": {"who": a, "data": b}},)),
        ("json_in", (a, b)),
        ("options", ([("A", a, b), c],)),
        ("seen", ({**CALL, "name": a, "args": b}, c)),
        ("count", ({**CALL, "name": a}, 3)),
        ("sink", ({**CALL, "name": a}, 3)),
    ]
    for name, args in calls:
        walked, *others = (outcome(instance, name, *args) for instance in INSTANCES)
        assert others == [walked, walked]


@given(JSON_DATA)
def test_json_stays_plain(data: Any) -> None:
    """JSON data of type `json` come back as they went in, by themselves and inside other data."""
    for instance in INSTANCES:
        assert instance.function("json_in")(None, data) == data
        assert instance.function("args_of")({**CALL, "args": data}) == data
        assert instance.function("options")([("A", 1, data), ("B",)]) == [("A", 1, data), ("B",)]


def test_failures_inside_helpers_name_their_callers() -> None:
    """An entry reports a failure as a call with values does, with the calls that led to it."""
    call = {**CALL, "args": {}}
    instance = INSTANCES[1]
    reports = []
    for run in (
        lambda: instance.call("checked", {**call, "args": chatml.from_json({})}),
        lambda: instance.function("checked")(call),
    ):
        with pytest.raises(chatml.RuntimeFailure) as caught:
            run()
        reports.append(str(caught.value.diagnostic))
    assert reports[0] == reports[1]
    assert "path called at" in reports[1]
    assert "allowed called at" in reports[1]


FITS = [
    ("scalars", (1, 2, True, "x"), "[|1|]2.truex"),
    ("decide", ({**CALL, "More": b""},), ("Allow",)),
    ("seen", ({**CALL, "More": b""}, 1), ("Seen", "read_file1", CALL["args"])),
    ("either", ({**CALL, "more": [1]},), "none"),
    ("decide", ({**CALL, "name": Name.READ},), ("Allow",)),
    ("decide", (Table(CALL),), ("Allow",)),
    ("decide", ({**CALL, "args": {"path": "dö/.."}},), ("Deny", "dö/..")),
    ("whole", (CALL,), ("Some", CALL)),
    ("give_unit", (1,), None),
    ("three", (), 3),
    ("id", ({"a": ("B", [1.5])},), {"a": ("B", [1.5])}),
    ("nested", ({"meta": {"who": "a", "data": "b"}},), "ab"),
]


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize(("name", "args", "result"), FITS)
def test_data_that_fit(instance: chatml.Instance, name: str, args: tuple[Any, ...], result: Any) -> None:
    found = instance.function(name)(*args)
    assert found == result
    assert type(found) is type(result)


REFUSED = [
    ("decide", (5,), "decide, argument 1: root: expected a dict with `args`, `id`, `name`, not 5"),
    ("decide", ({"id": "c1"},), "decide, argument 1: root: `args`, `name` are missing"),
    ("decide", ({**CALL, "name": 5},), "decide, argument 1: root.name: expected a string, not 5"),
    ("decide", ({**CALL, "args": {"x": b""}},), "root.args: a Python `bytes` is not JSON data"),
    ("either", ({**CALL, "No": 1},), "root: 'No' cannot be the label of a record"),
    ("seen", (CALL, 2**62), "seen, argument 2: root: integers lie between"),
    ("seen", (CALL, True), "seen, argument 2: root: expected an int, not True"),
    ("scalars", (1, True, True, "x"), "argument 2: root: expected a float, not True"),
    ("scalars", (1, 10**400, True, "x"), "argument 2: root: expected a float, not an integer of 1329 bits"),
    ("scalars", (1, 1.0, 1, "x"), "argument 3: root: expected a bool, not 1"),
    ("options", ((),), "root: expected a list, not ()"),
    ("options", ([("A", 1)],), "root[0]: `A` takes 2 arguments, not 1"),
    ("options", ([("C",)],), "root[0]: expected a tuple that begins with `A`, `B`, not ('C',)"),
    ("id", (b"",), "id, argument 1: root: a Python `bytes` has no counterpart"),
]


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize(("name", "args", "message"), REFUSED)
def test_data_that_do_not_fit(instance: chatml.Instance, name: str, args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(chatml.BoundaryError) as caught:
        instance.function(name)(*args)
    assert message in str(caught.value)


@pytest.mark.parametrize("instance", INSTANCES)
def test_a_host_shares_nothing_with_the_script(instance: chatml.Instance) -> None:
    given = [1, 2]
    result = instance.function("written")(given)
    assert (given, result) == ([1, 2], [7, 2])
    instance.function("share_array")().append(2)
    instance.function("share_record")()["items"].append(2)
    assert instance.function("share_array")() == [1]


@pytest.mark.parametrize("instance", INSTANCES)
def test_what_is_no_function_of_the_script(instance: chatml.Instance) -> None:
    with pytest.raises(chatml.BoundaryError, match="`number` is not a function: its type is int"):
        instance.function("number")
    with pytest.raises(KeyError):
        instance.function("nobody")
    with pytest.raises(TypeError):
        instance.function("decide")()


@pytest.mark.parametrize("instance", INSTANCES)
def test_opaque_values_pass_as_they_are_and_do_not_come_back(instance: chatml.Instance) -> None:
    for value in (instance["decide"], chatml.compile("let r = ref(1)").run()["r"]):
        with pytest.raises(chatml.BoundaryError, match=r"id, result: root|is not data"):
            instance.function("id")(value)
    with pytest.raises(chatml.BoundaryError, match="a Python `function` has no counterpart"):
        instance.function("id")(instance.function("decide"))


@pytest.mark.parametrize("instance", [INSTANCES[0], INSTANCES[2]])
def test_each_call_has_a_fresh_budget(instance: chatml.Instance) -> None:
    spin = instance.function("spin")
    for _ in range(3):
        with pytest.raises(chatml.RuntimeFailure, match="more than 1,000 steps"):
            spin(1)
        spin(0)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_sink_raises_comes_out_as_it_is(engine: EngineName) -> None:
    def sink(text: str) -> None:
        raise LookupError(text)

    say = chatml.compile("let say text = print(text)").run(print=sink, engine=engine).function("say")
    with pytest.raises(LookupError, match="hello"):
        say("hello")


def test_a_cyclic_argument_is_refused() -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for instance in INSTANCES:
        for call in ({**CALL, "args": cyclic}, {**CALL, "more": cyclic}):
            with pytest.raises(chatml.BoundaryError, match="the value contains itself"):
                instance.function("either")(call)
