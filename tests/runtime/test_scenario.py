"""Scenarios: reading the file, the data host, and the records of what was played (docs/scenarios.md)."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.surfaces.ui import UI_MODERATOR
from chatml.values.text import show
from chatml_runtime.moderation.vocabulary import InternalEvent
from chatml_runtime.scenario import play, read_scenario
from chatml_runtime.scenario.data import read_data
from chatml_runtime.scenario.locate import locate
from chatml_runtime.scenario.model import Advance, Append, Deliver, Respond
from tests.runtime.conversations import artifact


def run(script: str, scenario: str) -> list[dict[str, Any]]:
    """The JSON lines of a played scenario, the last one included."""
    played = play(artifact(script, surface=UI_MODERATOR), read_scenario(scenario))
    return [record.to_json() for record in played]


def events(script: str, *lines: str, host: str = "{}", session: str = "{}") -> list[dict[str, Any]]:
    """The records of some events, without the last line."""
    return run(script, f"{{session: {session}, host: {host}, events: [{', '.join(lines)}]}}")[:-1]


def tick(value: str) -> str:
    return f"{{phase: 'internal_event', value: '{value}'}}"


# -- reading


def test_the_three_forms_are_the_same() -> None:
    listed = read_scenario("[{phase: 'turn_start'}, {advance_ms: 5}, {answer: 'yes'},]")
    in_object = read_scenario("{events: [{phase: 'turn_start'}, /* then */ {advance_ms: 5}, {answer: 'yes'}]}")
    lines = read_scenario("{phase: 'turn_start'}\n\n// then\n{\"advance_ms\": 5}\r\n{answer: 'yes'}\n")
    single = read_scenario('{"phase": "turn_start"}')
    for scenario in (listed, in_object, lines):
        assert [type(line) for line in scenario.events] == [Deliver, Advance, Respond]
    assert [type(line) for line in single.events] == [Deliver]


def test_everything_that_a_scenario_can_say() -> None:
    scenario = read_scenario(
        """
        {
          session: { id: 'Ünï', meta: { a: [1] }, now_ms: 17,
                     tools: [{ name: 't', description: 'd', input_schema: {} }, { name: 'bare', description: null }],
                     history: [{ type: 'message', role: 'user', content: 'Hello' }] },
          host: { tools: { t: { ok: { text: 'hi' } }, u: [{ error: 'x' }, { fail: 'y' }] },
                  models: { r: { refused: 'no' } }, processes: { git: { ok: 'out' } } },
          events: [
            { phase: 'message_appended', item: { type: 'message', role: 'user', content: 'x' } },
            { phase: 'pre_tool_call', call: { id: 'c1', name: 't', args: { path: 'a' } } },
            { phase: 'pre_tool_call', call: { id: 'c2', name: 't' } },
            { phase: 'post_tool_response', result: { call_id: 'c1', name: 't', result: 1 } },
            { phase: 'internal_event', value: '`Tick(1)' },
          ],
          expect: [{ status: 'committed' }],
        }
        """
    )
    assert (scenario.session.id, scenario.session.meta, scenario.session.now_ms) == ("Ünï", {"a": [1]}, 17)
    assert [tool.description for tool in scenario.session.tools] == ["d", ""]
    assert [answer.kind for answer in scenario.host.tools["u"]] == ["error", "fail"]
    assert isinstance(scenario.events[0], Append)
    assert scenario.expect == ({"status": "committed"},)


@pytest.mark.parametrize("text", ['[{"answer": "\\ud83d\\ude00"}]', "[{answer: '\\ud83d\\ude00'}]"])
def test_two_escapes_can_make_a_character(text: str) -> None:
    """JSON and JSON5 write a character beyond U+FFFF as two escapes."""
    (line,) = read_scenario(text).events
    assert isinstance(line, Respond)
    assert line.text == "\U0001f600"


def test_a_scenario_without_expectations_has_none() -> None:
    assert read_scenario("[]").expect is None
    assert read_scenario("{events: [], expect: []}").expect == ()


REFUSALS: list[tuple[str, str, int, str, str]] = [
    ("", "scenario.syntax", 1, "", "empty"),
    ("   \n // nothing\n", "scenario.syntax", 1, "", "empty"),
    ("{events: [}", "scenario.syntax", 1, "}", "not JSON5"),
    ("{\n  events: [\n    {phase: turn_start},\n  ],\n}", "scenario.syntax", 3, "", "not JSON5"),
    ("'text'", "scenario.shape", 1, "'text'", "expected an object"),
    ("{}", "scenario.shape", 1, "{}", "`events`"),
    ("{session: {}}", "scenario.shape", 1, "{session: {}}", "`events`"),
    ("{events: {}}", "scenario.shape", 1, "events: {}", "events: expected a list"),
    ("{events: [], evnts: []}", "scenario.unknown_key", 1, "evnts: []", "did you mean `events`"),
    ("[{}]", "scenario.unknown_event", 1, "{}", "events[0]: "),
    ("[7]", "scenario.shape", 1, "7", "[0]: expected an object"),
    ("[{\n phaze: 'turn_start'}]", "scenario.unknown_event", 1, "", "did you mean `phase`"),
    ("[{phase: 'turn_strat'}]", "scenario.unknown_event", 1, "phase: 'turn_strat'", "did you mean `turn_start`"),
    ("[{phase: 7}]", "scenario.shape", 1, "phase: 7", "[0].phase: expected a string"),
    ("[{phase: 'turn_start', item: {}}]", "scenario.unknown_key", 1, "item: {}", "unknown key"),
    ("[{phase: 'turn_start'},\n{phase: 'turn_end', x: 1}]", "scenario.unknown_key", 2, "x: 1", "[1].x"),
    ("{phase: 'turn_start'}\n{phase: 'turn_end', x: 1}", "scenario.unknown_key", 2, "x: 1", "[1].x"),
    ("{phase: 'turn_start'}\n{phase: 'turn_end'", "scenario.syntax", 2, "", "not JSON5"),
    ("[{phase: 'message_appended'}]", "scenario.shape", 1, "", "`item` is missing"),
    ("[{phase: 'message_appended', item: 'x'}]", "scenario.shape", 1, "item: 'x'", "expected an object"),
    ("[{phase: 'pre_tool_call', call: {name: 't'}}]", "scenario.shape", 1, "call: {name: 't'}", "`id` is missing"),
    ("[{phase: 'pre_tool_call', call: {id: 'c', name: 't', argz: 1}}]", "scenario.unknown_key", 1, "argz: 1", "`args`"),
    ("[{answer: 7}]", "scenario.shape", 1, "answer: 7", "expected a string"),
    ("[{phase: 'turn_start', 'phase': 'turn_end'}]", "scenario.repeated_key", 1, "'phase'", "twice"),
    ('[{"phase": "turn_start", "phase": "turn_end"}]', "scenario.repeated_key", 1, '"phase"', "twice"),
    ("{phase: 'turn_start'}\n{advance_ms: 1, advance_ms: 2}", "scenario.repeated_key", 2, "advance_ms", "twice"),
    ("[{advance_ms: -1}]", "scenario.shape", 1, "advance_ms: -1", "integer of at least 0"),
    ("[{advance_ms: 1.5}]", "scenario.shape", 1, "advance_ms: 1.5", "integer of at least 0"),
    ("[{advance_ms: true}]", "scenario.shape", 1, "advance_ms: true", "integer of at least 0"),
    ("[{answer: 'x', advance_ms: 1}]", "scenario.unknown_key", 1, "advance_ms: 1", "unknown key"),
    ("{session: {idd: 's'}, events: []}", "scenario.unknown_key", 1, "idd: 's'", "did you mean `id`"),
    ("{session: {id: ''}, events: []}", "scenario.shape", 1, "id: ''", "must not be empty"),
    ("{session: {meta: NaN}, events: []}", "scenario.data", 1, "meta: NaN", "session.meta"),
    ("{session: {meta: '\\ud800'}, events: []}", "scenario.data", 1, "", "surrogate"),
    ("{session: {history: [1]}, events: []}", "scenario.shape", 1, "1", "session.history[0]"),
    ("{session: {tools: [{}]}, events: []}", "scenario.shape", 1, "{}", "`name` is missing"),
    ("{host: {tool: {}}, events: []}", "scenario.unknown_key", 1, "tool: {}", "did you mean `tools`"),
    ("{host: {tools: {t: {}}}, events: []}", "scenario.shape", 1, "t: {}", "one of ok, error, fail"),
    ("{host: {tools: {t: []}}, events: []}", "scenario.shape", 1, "t: []", "at least one"),
    ("{host: {tools: {t: {refused: 'x'}}}, events: []}", "scenario.unknown_key", 1, "refused: 'x'", "unknown key"),
    ("{host: {tools: {t: {ok: 1, error: 'x'}}}, events: []}", "scenario.shape", 1, "", "one of ok"),
    ("{host: {models: {'my r': {error: 3}}}, events: []}", "scenario.shape", 1, "error: 3", "expected a string"),
    ("{host: {processes: {git: {ok: {}}}}, events: []}", "scenario.shape", 1, "ok: {}", "expected a string"),
    ("[{phase: nope}]", "scenario.syntax", 1, "n", 'unexpected "nope"'),
    ("[\n{phase: turn_end}]", "scenario.syntax", 2, "t", 'unexpected "turn_end"'),
    ("[{advance_ms: 1e30}]", "scenario.shape", 1, "advance_ms: 1e30", "at most 9,007,199,254,740,991"),
    ("[{phase: 'internal_event', value: 7}]", "scenario.shape", 1, "value: 7", "[0].value: expected a string"),
    ("[{phase: 'internal_event', value: '-1.5'}]", "scenario.not_data", 1, "value: '-1.5'", "float"),
    ("[{phase: 'internal_event', value: '-.1'}]", "scenario.not_data", 1, "value: '-.1'", "integer"),
    ("[{phase: 'internal_event', value: '{a=1;a=2}'}]", "scenario.not_data", 1, "value: '{a=1;a=2}'", "`a` twice"),
    ("{events: [], expect: [7]}", "scenario.shape", 1, "7", "expect[0]: expected an object"),
    ("{events: [], expect: [{decison: 1}]}", "scenario.unknown_key", 1, "decison: 1", "did you mean `decision`"),
    ("{events: [], expect: [{final: true, status: 1}]}", "scenario.unknown_key", 1, "status: 1", "effective_history"),
    ("{events: [], expect: [{final: true}, {}]}", "scenario.shape", 1, "{final: true}", "stands last"),
    ("{events: [], expect: {}}", "scenario.shape", 1, "expect: {}", "expected a list"),
    ("[{phase: 'internal_event', value: '`Tick(1'}]", "syntax.", 1, "value: '`Tick(1'", "[0].value"),
    ("[{phase: 'internal_event', value: 'f(1)'}]", "scenario.not_data", 1, "value: 'f(1)'", "not data"),
]


@pytest.mark.parametrize(("text", "code", "line", "place", "fact"), REFUSALS, ids=[row[0][:50] for row in REFUSALS])
def test_a_scenario_at_fault_is_refused_with_its_place(text: str, code: str, line: int, place: str, fact: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_scenario(text, name="case.json5")
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code.startswith(code)
    assert fact.removeprefix("events") in str(diagnostic)
    assert diagnostic.span is not None
    assert diagnostic.span.source.name == "case.json5"
    assert diagnostic.span.start.line == line
    if place:
        assert diagnostic.span.text == place


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 50_000, "[{phase: 'internal_event', value: '%s'}]" % ("[" * 5000)]
)
def test_a_scenario_of_any_depth_is_refused_in_order(text: str) -> None:
    with pytest.raises(CompileError):
        read_scenario(text)


@given(st.text(st.sampled_from(" {}[]:,'\"\\/*ab0-\n")))
def test_reading_never_raises_anything_else(text: str) -> None:
    """Whatever the text, reading gives a scenario or a compile error."""
    with contextlib.suppress(CompileError):
        read_scenario(text)


def test_values_are_located_past_strings_and_comments() -> None:
    text = """{ /* { */ a: "}]", 'b c': [ // [
      1, {"\\u0064": '\\'', e: [2,3]}, ], }"""
    source = Source("s", text)
    assert locate(source, 0, ("a",)).text == 'a: "}]"'
    assert locate(source, 0, ("b c", 0)).text == "1"
    assert locate(source, 0, ("b c", 1, "d")).text == "\"\\u0064\": '\\''"
    assert locate(source, 0, ("b c", 1, "e", 1)).text == "3"


# -- data expressions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("()", None),
        ("42", 42),
        ("-42", -42),
        ("2.5", 2.5),
        ("-.2.5", -2.5),
        ("true", True),
        ('"a\\n"', "a\n"),
        ("`Tick", ("Tick",)),
        ("`Tick()", ("Tick",)),
        ('`Pair(1, `Some("x"))', ("Pair", 1, ("Some", "x"))),
        ("[1, 2]", [1, 2]),
        ("{ a = 1; b = [{ c = () }] }", {"a": 1, "b": [{"c": None}]}),
        ("(`Tick(1))", ("Tick", 1)),
    ],
)
def test_data_expressions(text: str, value: Any) -> None:
    assert read_data(Source("event", text)) == value


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "1 + 1",
        "f(1)",
        "fun x -> x",
        "-x",
        "-(1)+0",
        "!x",
        "ref(1)",
        "xs[0]",
        "r.f",
        "if true then 1 else 2",
        "`Tick(1; 2)",
        "{ r with a = 1 }",
        "let x = 1 in x",
        "true && true",
        "Task.pure(1)",
        "-. 1",
        "- 1.5",
    ],
)
def test_what_computes_is_no_data(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_data(Source("event", text))
    assert caught.value.diagnostics[0].code == "scenario.not_data"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**61), 2**61) | st.text(st.sampled_from('ab \n"\\'), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
        | st.builds(lambda tag, args: (tag, *args), st.sampled_from(["Tick", "Some"]), st.lists(inner, max_size=2))
    ),
    max_leaves=8,
)


def written(value: Any) -> str:
    """A value as an expression of data."""
    match value:
        case None:
            return "()"
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{quoted}"'
        case list():
            return f"[{', '.join(written(part) for part in value)}]"
        case dict():
            return f"{{ {'; '.join(f'{label} = {written(part)}' for label, part in value.items())} }}"
    return f"`{value[0]}({', '.join(written(part) for part in value[1:])})"


@given(VALUES)
def test_data_reads_back(value: Any) -> None:
    """A value written as an expression of data is read as that value, and reaches the script unchanged."""
    source = Source("event", written(value))
    assert show(read_data(source)) == show(value)
    (line,) = read_scenario(json.dumps([{"phase": "internal_event", "value": source.text}])).events
    assert isinstance(line, Deliver)
    assert isinstance(line.event, InternalEvent)
    assert line.event.value == value


# -- records


def test_a_record_has_the_keys_of_the_contract_in_order() -> None:
    (record,) = events(
        """
        | `Turn_start ->
          let u = print("line") in
          let* () = Log.info("hello") in
          let* () = Turn.prepend_system("be brief") in
          let* () = Runtime.emit(`Note(1)) in
          let* () = Runtime.request_compaction() in
          Task.pure(st + 1)
        | `Note(n) -> Task.fail("not now")
        """,
        "{phase: 'turn_start'}",
    )[:1]
    assert json.dumps(record) == json.dumps(
        {
            "phase": "turn_start",
            "event": "`Turn_start",
            "status": "committed",
            "state": "1",
            "effects": [
                {"op": "Turn.prepend_system", "args": ["be brief"]},
                {"op": "Runtime.emit", "args": ["`Note(1)"]},
                {"op": "Runtime.request_compaction", "args": []},
            ],
            "emitted": ["`Note(1)"],
            "queue": ["`Note(1)"],
            "decision": None,
            "requests": ["request_compaction"],
            "pending": None,
            "halted": False,
            "logs": [["info", "hello"]],
            "printed": ["line"],
            "error": None,
        }
    )


def test_replayed_events_have_records_of_their_own_and_the_queue_as_it_was_then() -> None:
    records = events(
        "| `Go -> let* () = Runtime.emit(`A) in let* () = Runtime.emit(`B) in Task.pure(st)"
        "| `A -> let* () = Runtime.emit(`C) in Task.pure(st + 1)"
        "| `B -> Task.pure(st + 10) | `C -> Task.pure(st + 100)",
        tick("`Go"),
    )
    assert [(record["event"], record["queue"], record["state"]) for record in records] == [
        ("`Go", ["`A", "`B"], "0"),
        ("`A", ["`B", "`C"], "1"),
        ("`B", ["`C"], "11"),
        ("`C", [], "111"),
    ]
    assert {record["phase"] for record in records} == {"internal_event"}


def test_a_failing_replayed_event_stops_the_drain_until_the_next_success() -> None:
    script = (
        "| `Go -> let* () = Runtime.emit(`Bad) in let* () = Runtime.emit(`Good) in Task.pure(1)"
        '| `Bad -> let* () = Log.warn("trying") in Task.fail("no") '
        '| `Good -> Task.pure(2) | `Also_bad -> Task.fail("x")'
    )
    records = events(script, tick("`Go"), "{advance_ms: 5}", tick("`Also_bad"), tick("`Other"))
    assert [(record["event"], record["status"], record["queue"]) for record in records] == [
        ("`Go", "committed", ["`Bad", "`Good"]),
        ("`Bad", "failed", ["`Good"]),
        ("`Also_bad", "failed", ["`Good"]),
        ("`Other", "committed", ["`Good"]),
        ("`Good", "committed", []),
    ]
    assert records[1]["error"] == {"kind": "task", "message": "no"}
    assert (records[1]["logs"], records[1]["effects"], records[1]["state"]) == ([["warn", "trying"]], [], "1")


def test_the_replay_of_an_event_stops_at_a_hundred() -> None:
    records = events("| `N(k) -> let* () = Runtime.emit(`N(k + 1)) in Task.pure(k)", tick("`N(0)"), tick("`Other"))
    assert len(records) == 1 + 100 + 1 + 100
    assert records[100]["queue"] == ["`N(101)"]


ERRORS = [
    ('Task.fail("its text")', "task", "its text"),
    ('let* r = Tool.call("t", `Null) in Task.pure(1)', "task", "not configured"),
    ("let* () = Runtime.request_turn() in Task.pure(1)", "task", "session_start"),
    ('let* r = Model.call("m", `Null) in Task.pure(1)', "task", '"m"'),
    ("Task.pure(1 / 0)", "runtime", "ivision by zero"),
    ("let rec f n = 1 + f(n) in Task.pure(f(0))", "runtime", "depth"),
    ("let f = while true do () done in Task.pure(1)", "runtime", "steps"),
    ("let* () = Tool.approve() in let* () = Tool.approve() in Task.pure(1)", "host", "at most one"),
    ('let* () = Turn.delete_item("7:session:9") in Task.pure(1)', "host", '"7:session:9"'),
    ('let* () = Turn.append_item(Item.create("x", `Null)) in Task.pure(1)', "host", '"x"'),
]


@pytest.mark.parametrize(("body", "kind", "fact"), ERRORS, ids=[f"{kind}: {body}"[:60] for body, kind, _ in ERRORS])
def test_errors_are_of_the_task_the_script_or_the_host(body: str, kind: str, fact: str) -> None:
    (record,) = events(f"| `Session_start -> {body}", "{phase: 'session_start'}")
    assert (record["status"], record["state"], record["effects"]) == ("failed", "0", [])
    assert record["error"]["kind"] == kind
    assert fact in record["error"]["message"]


def test_decisions_in_json() -> None:
    script = """
    | `Pre_tool_call(call) ->
      let* () =
        if call.name == "a" then Tool.approve()
        else if call.name == "b" then Tool.reject("no")
        else if call.name == "c" then Tool.rewrite_args(call.args)
        else Tool.redirect("z", call.args) in
      Task.pure(st)
    """
    calls = [
        f"{{phase: 'pre_tool_call', call: {{id: 'c', name: '{name}', args: {{n: 1, x: 1e22, h: 0.5}}}}}}"
        for name in "abcd"
    ]
    args = {"n": 1, "x": 1e22, "h": 0.5}
    assert [record["decision"] for record in events(script, *calls)] == [
        {"kind": "approve"},
        {"kind": "reject", "reason": "no"},
        {"kind": "rewrite_args", "args": args},
        {"kind": "redirect", "name": "z", "args": args},
    ]


def test_requests_in_json_and_the_end() -> None:
    records = run(
        '| `Turn_end -> let* () = Runtime.request_turn() in let* () = Runtime.end_session("a") in '
        'let* () = Runtime.end_session("b") in let* () = Runtime.emit(`X) in Task.pure(st)',
        "[{phase: 'turn_end'}, {phase: 'turn_start'}, {advance_ms: 5}]",
    )
    assert records[0]["requests"] == ["request_turn", {"end_session": "a"}, {"end_session": "b"}]
    assert (records[0]["halted"], records[0]["queue"]) == (True, ["`X"])
    assert (records[1]["status"], records[1]["error"]["kind"], records[1]["halted"]) == ("refused", "host", True)
    assert records[2:] == [{"final": True, "state": "0", "queue": ["`X"], "halted": True, "effective_history": []}]


ASK = """
| `Go ->
  let* () = Turn.prepend_system("asked") in
  let* () = Runtime.emit(`Mine) in
  let* () = Log.info("before") in
  let* name = Approval.ask_text("name?") in
  let* () = Log.info("after") in
  let* sure = Approval.ask_choice("sure?", ["yes", "no"]) in
  if sure == "yes" then Task.pure(1) else Task.fail("declined by " ++ name)
| `Mine -> Task.pure(st + 10)
| `Timer -> Task.pure(st + 100)
"""


def test_answers() -> None:
    records = events(
        ASK,
        "{answer: 'too early'}",
        tick("`Go"),
        tick("`Other"),
        "{answer: '  '}",
        "{answer: ' Ada '}",
        "{answer: 'maybe'}",
        "{answer: 'yes'}",
        "{answer: 'too late'}",
    )
    name, sure = (
        {"kind": "ask_text", "prompt": "name?"},
        {"kind": "ask_choice", "prompt": "sure?", "choices": ["yes", "no"]},
    )
    assert [(record["status"], record["event"], record["pending"]) for record in records] == [
        ("refused", None, None),
        ("suspended", "`Go", name),
        ("refused", "`Other", name),
        ("refused", "`Go", name),
        ("suspended", "`Go", sure),
        ("refused", "`Go", sure),
        ("committed", "`Go", None),
        ("committed", "`Mine", None),
        ("refused", None, None),
    ]
    assert [record["logs"] for record in records[1:5]] == [[["info", "before"]], [], [], [["info", "after"]]]
    assert [effect["op"] for effect in records[6]["effects"]] == ["Turn.prepend_system", "Runtime.emit"]
    assert (records[4]["effects"], records[6]["queue"], records[7]["state"]) == ([], ["`Mine"], "11")


def test_a_run_that_fails_after_an_answer_is_rolled_back_as_a_whole() -> None:
    records = run(ASK, f"[{tick('`Go')}, {{answer: 'Ada'}}, {{answer: 'no'}}, {tick('`Mine')}]")
    assert (records[2]["status"], records[2]["error"]) == ("failed", {"kind": "task", "message": "declined by Ada"})
    assert (records[2]["effects"], records[2]["queue"], records[2]["pending"]) == ([], [], None)
    assert (records[3]["state"], records[4]["effective_history"]) == ("10", [])


def test_timers_that_come_due_while_a_prompt_is_pending_wait_in_front_of_the_runs_own_events() -> None:
    records = events(
        "| `Start -> let* t = Schedule.after_ms(5, `Timer) in Task.pure(st)" + ASK,
        tick("`Start"),
        tick("`Go"),
        "{advance_ms: 10}",
        "{answer: 'Ada'}",
        "{answer: 'yes'}",
    )
    assert [(record["event"], record["status"], record["queue"]) for record in records] == [
        ("`Start", "committed", []),
        ("`Go", "suspended", []),
        ("`Go", "suspended", ["`Timer"]),
        ("`Go", "committed", ["`Timer", "`Mine"]),
        ("`Timer", "committed", ["`Mine"]),
        ("`Mine", "committed", []),
    ]


WRITER = """
let shared = [0]
let initial_state = shared
let on_event ctx st ev =
  match ev with
  | `Go -> let* () = Runtime.emit(`Add(st)) in let* () = Runtime.emit(`Add(st)) in Task.pure(st)
  | `Add(xs) -> xs[0] <- xs[0] + 1; Task.pure(st)
  | `Ask(xs) -> xs[0] <- 7; let* a = Approval.ask_text("well?") in xs[0] <- 8; Task.pure(st)
  | `Later -> let* t = Schedule.after_ms(1, `Ask(st)) in Task.pure(st)
  | _ -> Task.pure(st)
"""


def test_an_event_is_shown_as_it_was_delivered() -> None:
    """A record shows the event that the handler was given, whatever the handler writes to what the event holds."""
    records = events(WRITER, tick("`Go"), tick("`Later"), "{advance_ms: 1}", "{answer: ''}", "{answer: 'x'}")
    assert [(record["event"], record["status"], record["state"]) for record in records] == [
        ("`Go", "committed", "[|0|]"),
        ("`Add([|0|])", "committed", "[|1|]"),
        ("`Add([|1|])", "committed", "[|2|]"),
        ("`Later", "committed", "[|2|]"),
        ("`Ask([|2|])", "suspended", "[|2|]"),
        ("`Ask([|2|])", "refused", "[|2|]"),
        ("`Ask([|2|])", "committed", "[|8|]"),
    ]


# -- the data host


def test_tools_models_and_processes_answer_from_data() -> None:
    script = (
        'let initial_state = "" let on_event ctx st ev = '
        'let* a = Tool.call("t", `Null) in let* b = Model.call("r", `Null) in let* c = Process.run("git", ["log"]) in '
        "Task.pure(to_string([to_string(a), to_string(b), c]))"
    )
    host = (
        "{tools: {t: [{ok: {n: 1}}, {error: 'down'}]}, models: {r: [{refused: 'no'}, {error: 'busy'}, {ok: 'hi'}]},"
        " processes: {git: [{ok: 'one'}, {ok: 'two'}]}}"
    )
    records = events(script, *[tick("`Go")] * 4, host=host)
    assert [record["state"] for record in records] == [
        "[|`Ok(`Object([|{ key = n; value = `Number(1.) }|])), `Refused(no), one|]",
        "[|`Error(down), `Error(busy), two|]",
        "[|`Error(down), `Ok(`String(hi)), two|]",
        "[|`Error(down), `Ok(`String(hi)), two|]",
    ]


@pytest.mark.parametrize(
    ("task", "fact"),
    [
        ('Tool.call("t", `Null)', "told so"),
        ('Model.call("r", `Null)', "told so"),
        ('Process.run("git", ["x"])', "told so"),
        ('Process.run("ls", ["x"])', "not configured"),
        ('Tool.call("u", `Null)', "not configured"),
        ('Tool.spawn("u", `Null)', "not configured"),
        ('Model.spawn("s", `Null)', "not configured"),
    ],
)
def test_calls_that_fail_and_calls_without_an_answer(task: str, fact: str) -> None:
    host = "{tools: {t: {fail: 'told so'}}, models: {r: {fail: 'told so'}}, processes: {git: {fail: 'told so'}}}"
    (record,) = events(f"| `Go -> let* r = {task} in Task.pure(1)", tick("`Go"), host=host)
    assert record["error"]["kind"] == "task"
    assert fact in record["error"]["message"]


JOBS = """
| `Go ->
  let* a = Model.spawn("r", `Null) in let* b = Tool.spawn("t", `Null) in let* c = Model.spawn("r", `Null) in
  let* u = Log.info(to_string([a, b, c])) in Task.pure(st)
"""


def test_jobs_arrive_at_the_next_advance_in_spawn_order() -> None:
    records = events(
        JOBS,
        tick("`Go"),
        "{advance_ms: 0}",
        "{advance_ms: 5}",
        host="{models: {r: [{ok: [1]}, {refused: 'no'}]}, tools: {t: {fail: 'broken'}}}",
    )
    assert records[0]["logs"] == [["info", "[|model-job-1, tool-job-1, model-job-2|]"]]
    assert [record["event"] for record in records[1:]] == [
        "`Model_job_succeeded(model-job-1, r, `Array([|`Number(1.)|]))",
        "`Tool_job_failed(tool-job-1, t, broken)",
        "`Model_job_failed(model-job-2, r, no)",
    ]


TIMERS = """
| `Set(ms, name) -> let* id = Schedule.after_ms(ms, `Due(name)) in let* () = Log.info(id) in Task.pure(st)
| `Cancel(id) -> let* () = Schedule.cancel(id) in Task.pure(st)
| `Due(name) -> let* () = Log.info(name ++ " at " ++ to_string(ctx.now_ms)) in Task.pure(st)
"""


def test_timers_arrive_in_order_of_due_time() -> None:
    records = events(
        TIMERS,
        tick('`Set(20, "late")'),
        tick('`Set(10, "early")'),
        tick('`Set(10, "early too")'),
        tick('`Set(15, "never")'),
        tick('`Cancel("timer-4")'),
        tick('`Cancel("timer-4")'),
        tick('`Cancel("timer-99")'),
        "{advance_ms: 9}",
        "{advance_ms: 1}",
        "{advance_ms: 100}",
        session="{now_ms: 1000}",
    )
    assert [record["logs"][0][1] for record in records if record["logs"]] == [
        "timer-1",
        "timer-2",
        "timer-3",
        "timer-4",
        "early at 1010",
        "early too at 1010",
        "late at 1020",
    ]


def test_each_timer_is_delivered_at_its_own_time() -> None:
    """What rings at a moment sees that moment, and can still cancel what is due later."""
    records = events(
        'let initial_state = "" let on_event ctx st ev = match ev with '
        "| `Go -> let* a = Schedule.after_ms(10, `A) in let* b = Schedule.after_ms(20, `B) in Task.pure(b)"
        "| `A -> let* () = Log.info(to_string(ctx.now_ms)) in let* () = Schedule.cancel(st) in Task.pure(st)"
        '| `B -> Task.fail("it was cancelled")',
        tick("`Go"),
        "{advance_ms: 100}",
    )
    assert [(record["event"], record["queue"], record["logs"]) for record in records] == [
        ("`Go", [], []),
        ("`A", [], [["info", "10"]]),
    ]


def test_a_timer_rings_until_the_advance_ends() -> None:
    script = "| `Go -> let* t = Schedule.after_ms(100, `Go) in Task.pure(ctx.now_ms)"
    records = events(script, tick("`Go"), "{advance_ms: 350}", "{advance_ms: 50}")
    assert [record["state"] for record in records] == ["0", "100", "200", "300", "400"]
    records = events(script.replace("100", "1"), tick("`Go"), "{advance_ms: 1000000}", "{advance_ms: 0}")
    assert [record["state"] for record in records[-2:]] == ["9999", "1000000"]


def test_a_job_that_a_timer_spawns_arrives_at_the_next_advance() -> None:
    records = events(
        '| `Go -> let* t = Schedule.after_ms(5, `Work) in Task.pure(st) | `Work -> let* j = Tool.spawn("t", `Null) in '
        "Task.pure(st) | `Tool_job_succeeded(id, name, result) -> Task.pure(ctx.now_ms)",
        tick("`Go"),
        "{advance_ms: 10}",
        "{advance_ms: 7}",
        host="{tools: {t: {ok: 1}}}",
    )
    assert [record["state"] for record in records] == ["0", "0", "10"]


def test_a_timer_that_sets_a_timer_without_delay_comes_due_at_a_later_advance() -> None:
    records = events(
        "| `Go -> let* t = Schedule.after_ms(0, `Go) in Task.pure(st + 1)",
        tick("`Go"),
        "{advance_ms: 0}",
        "{advance_ms: 0}",
    )
    assert [record["state"] for record in records] == ["1", "2", "3"]


def test_a_negative_delay_is_a_failed_task() -> None:
    (record,) = events("| `Go -> let* t = Schedule.after_ms(0 - 1, `T) in Task.pure(1)", tick("`Go"))
    assert (record["error"]["kind"], "non-negative" in record["error"]["message"]) == ("task", True)


def test_an_ended_session_drops_timers_and_jobs() -> None:
    records = events(
        '| `Go -> let* t = Schedule.after_ms(5, `T) in let* () = Turn.halt("enough") in Task.pure(1)',
        tick("`Go"),
        "{advance_ms: 10}",
    )
    assert len(records) == 1


# -- history


def test_the_session_is_the_context() -> None:
    (record,) = events(
        'let initial_state = "" let on_event ctx st ev = Task.pure(to_string([ctx.session_id, to_string(ctx.now_ms), '
        "to_string(Array.map(ctx.items, Item.id)), to_string(ctx.available_tools), to_string(ctx.session_meta)]))",
        "{phase: 'turn_start'}",
        session="{id: 's1', now_ms: 5, meta: {a: 1}, tools: [{name: 't'}],"
        " history: [{type: 'message', role: 'user', content: 'x'}, {type: 'reasoning', id: 'r', summary: []}]}",
    )
    assert record["state"] == (
        "[|s1, 5, [|2:s1:0, 2:s1:1|], [|{ description = ; input_schema = `Null; name = t }|], "
        "`Object([|{ key = a; value = `Number(1.) }|])|]"
    )


def test_identities_of_history_appended_items_and_insertions_come_from_one_allocator() -> None:
    item = "{type: 'message', role: 'user', content: '%s'}"
    *records, ending = run(
        '| `Item_appended(i) -> let* () = Turn.append_notice("seen " ++ Item.id(i)) in Task.pure(st)'
        '| `Bad -> Task.fail("x")',
        f"{{session: {{id: 's1', history: [{item % 'a'}]}}, events: ["
        f"{{phase: 'message_appended', item: {item % 'b'}}}, {{phase: 'message_appended', item: {item % 'c'}}}]}}",
    )
    assert [record["event"][:28] for record in records] == [
        "`Item_appended({ id = 2:s1:1",
        "`Item_appended({ id = 2:s1:3",
    ]
    assert [entry["content"] for entry in ending["effective_history"]] == [
        "a",
        "b",
        "c",
        [{"type": "input_text", "text": "seen 2:s1:1"}],
        [{"type": "input_text", "text": "seen 2:s1:3"}],
    ]


def test_an_appended_item_stays_when_its_handler_fails_or_is_not_asked() -> None:
    item = "{type: 'message', role: 'user', content: '%s'}"
    *records, ending = run(
        '| `Item_appended(i) -> if st == 0 then Task.fail("x") else Task.pure(st)'
        '| `Go -> let* a = Approval.ask_text("?") in Task.pure(1)',
        f"[{{phase: 'message_appended', item: {item % 'a'}}}, {tick('`Go')}, "
        f"{{phase: 'message_appended', item: {item % 'b'}}}]",
    )
    assert [record["status"] for record in records] == ["failed", "suspended", "refused"]
    assert [entry["content"] for entry in ending["effective_history"]] == ["a", "b"]


def test_the_effective_history_closes_the_output() -> None:
    ending = run(
        '| `Turn_start -> let* () = Turn.prepend_system("P") in '
        'let* () = Turn.delete_item("7:session:0") in Task.pure(1)',
        "{session: {history: [{type: 'message', role: 'user', content: 'x'}]}, events: [{phase: 'turn_start'}]}",
    )[-1]
    assert ending == {
        "final": True,
        "state": "1",
        "queue": [],
        "halted": False,
        "effective_history": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "P"}]}
        ],
    }


def test_a_state_without_a_text_is_told_as_such() -> None:
    (record,) = events(
        "type loop = [ `Nil | `Cons(loop array) ]\nlet hold : loop array = [`Nil]\nlet initial_state = hold\n"
        "let on_event ctx st ev = Array.set(st, 0, `Cons(st)); Task.pure(st)",
        "{phase: 'turn_start'}",
    )
    assert record["state"].startswith("<")
