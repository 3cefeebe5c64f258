"""Scenarios that say what a user and a model say: the events, outputs and histories are those of a host."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.diagnostics.errors import ChatmlError, CompileError
from chatml.surfaces.ui import UI_MODERATOR
from chatml.values.text import show
from chatml_runtime.scenario import Ending, Record, Stage, play, read_scenario
from chatml_runtime.scenario.model import Respond, Scenario, Speak
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import PendingRequest
from chatml_runtime.testing import call, custom_call, say, think, user
from tests.runtime.conversations import artifact
from tests.runtime.turns.runs import Talk

WATCH = """
let initial_state = 0
let on_event ctx st ev =
  match ev with
  | `Pre_tool_call(c) ->
      if c.name == "rm" then let* () = Tool.reject("no " ++ c.name) in Task.pure(st + 1) else Task.pure(st + 1)
  | _ -> Task.pure(st + 1)
"""
HOST = "tools: { read: { ok: 'text' }, bad: { error: 'broken' } }"


def lines(script: str, events: str, host: str = HOST) -> list[Record | Ending]:
    return list(
        play(artifact(script, surface=UI_MODERATOR), read_scenario(f"{{ host: {{ {host} }}, events: {events} }}"))
    )


def told(script: str, events: str, host: str = HOST) -> list[tuple[str | None, str]]:
    return [(line.phase, line.status) for line in lines(script, events, host) if isinstance(line, Record)]


def history(script: str, events: str, host: str = HOST) -> list[Any]:
    (ending,) = [line for line in lines(script, events, host) if isinstance(line, Ending)]
    return list(ending.effective_history)


def model(*items: Any) -> str:
    return json.dumps({"model": list(items)})


READ, RM = call("read", {"path": "a"}, call_id="c1"), call("rm", {"path": "a"}, call_id="c2")


def test_a_submission_has_no_event_of_its_own() -> None:
    assert told(WATCH, "[{ user: 'Hello' }]") == [("turn_start", "committed")]
    assert history(WATCH, "[{ user: ' Hello ' }]") == [user("Hello")]


def test_a_response_is_reviewed_run_and_answered_and_the_model_is_asked_again() -> None:
    events = f"[{{ user: 'Hello' }}, {model(think('hm'), READ, RM)}, {model(say('done'))}]"
    assert [phase for phase, _ in told(WATCH, events)] == [
        "turn_start",
        "message_appended",
        "pre_tool_call",
        "message_appended",
        "pre_tool_call",
        "message_appended",
        "post_tool_response",
        "message_appended",
        "post_tool_response",
        "message_appended",
        "turn_end",
        "turn_start",
        "message_appended",
        "turn_end",
    ]
    items = history(WATCH, events)
    assert [item.get("output") for item in items if "output" in item] == ["text", "no rm"]
    assert items[-1]["role"] == "assistant"


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("bad", '{"error":"broken"}'),
        ("unknown", '{"error":"The call is not configured for \\"unknown\\": `host.tools` does not name it"}'),
    ],
)
def test_a_tool_that_says_no_has_an_output(name: str, output: str) -> None:
    items = history(WATCH, f"[{{ user: 'Hello' }}, {model(call(name, {}))}]")
    assert json.loads(items[-1]["output"]) == json.loads(output)


def test_a_submission_during_a_turn_is_a_note() -> None:
    events = f"[{{ user: 'Hello' }}, {{ user: 'wait' }}, {model(say('done'))}]"
    assert told(WATCH, events) == [
        ("turn_start", "committed"),
        ("message_appended", "committed"),
        ("message_appended", "committed"),
        ("turn_end", "committed"),
        ("turn_start", "committed"),
    ]
    assert [item["role"] for item in history(WATCH, events)] == ["user", "assistant", "user"]


def test_what_nobody_can_say_is_refused() -> None:
    ask = '| `Turn_start -> let* a = Approval.ask_text("why?") in Task.pure(st + 1)'
    end = '| `Turn_start -> let* () = Runtime.end_session("enough") in Task.pure(st)'
    for script, events, problem in [
        (WATCH, f"[{model(say('hi'))}]", "No request waits for a response"),
        (WATCH, f"[{{ user: 'a' }}, {model(say('hi'))}, {model(say('hi'))}]", "No request waits for a response"),
        (ask, "[{ user: 'a' }, { user: 'b' }]", "waiting for an answer"),
        (ask, f"[{{ user: 'a' }}, {model(say('hi'))}]", "waiting for an answer"),
        (end, "[{ user: 'a' }, { user: 'b' }]", "has ended"),
    ]:
        last = [line for line in lines(script, events) if isinstance(line, Record)][-1]
        assert (last.phase, last.status) == (None, "refused")
        assert last.error is not None
        assert problem in last.error.message


def test_a_review_waits_for_its_answer_and_the_response_goes_on() -> None:
    script = """| `Pre_tool_call(c) ->
      let* a = Approval.ask_choice("run " ++ c.name ++ "?", ["yes", "no"]) in
      if a == "yes" then Task.pure(st + 1) else let* () = Tool.reject("declined") in Task.pure(st)"""
    for answer, output in (("yes", "text"), ("no", "declined")):
        events = f"[{{ user: 'Hello' }}, {model(READ)}, {{ answer: 'maybe' }}, {{ answer: '{answer}', by: 'ada' }}]"
        statuses = told(script, events)
        assert statuses[:4] == [
            ("turn_start", "committed"),
            ("pre_tool_call", "suspended"),
            ("pre_tool_call", "refused"),
            ("pre_tool_call", "committed"),
        ]
        assert [phase for phase, _ in statuses[4:]] == [
            "message_appended",
            "post_tool_response",
            "message_appended",
            "turn_end",
            "turn_start",
        ]
        assert history(script, events)[-1]["output"] == output


def test_a_failing_event_ends_the_run_and_closes_its_calls() -> None:
    script = '| `Item_appended(i) -> Task.fail("no items")'
    events = f"[{{ user: 'Hello' }}, {model(READ)}, {model(say('late'))}]"
    assert told(script, events)[-2:] == [("message_appended", "failed"), (None, "refused")]
    assert history(script, events) == [user("Hello")], "what the policy could not handle is not there"
    script = '| `Post_tool_response(r) -> Task.fail("no outputs")'
    items = history(script, events)
    assert items[-1]["type"] == "function_call_output"
    assert items[-1]["output"] == problems.UNANSWERED_CALL, "every call has an output"


def test_a_decision_where_no_call_is_under_review_fails_as_in_a_host() -> None:
    """X-58, in events by hand, in replayed ones and in a conversation."""
    script = '| `Turn_start -> let* () = Tool.reject("no") in Task.pure(st + 1)'
    for events in ("[{ phase: 'turn_start' }]", "[{ user: 'Hello' }]"):
        (record, *_) = lines(script, events)
        assert isinstance(record, Record)
        assert record.status == "failed"
        assert record.error is not None
        assert (
            record.error.message
            == "turn_start returned an unexpected tool moderation action: reject; only a call under review takes one"
        )
        assert record.error.kind == "host"
    replayed = """| `Turn_start -> let* () = Runtime.emit(`Mine) in Task.pure(st)
      | `Mine -> let* () = Tool.approve() in Task.pure(st)"""
    assert told(replayed, "[{ phase: 'turn_start' }]") == [("turn_start", "committed"), ("internal_event", "failed")]


def test_too_many_turns_by_request_end_the_run() -> None:
    script = "| `Turn_end -> let* () = Runtime.request_turn() in Task.pure(st + 1)"
    events = ", ".join(["{ user: 'Hello' }", *[model() for _ in range(12)]])
    statuses = told(script, f"[{events}]")
    assert statuses.count(("turn_end", "committed")) == 11
    assert (None, "failed") in statuses


@pytest.mark.parametrize(
    ("events", "place"),
    [
        ("[{ user: '  ' }]", "[0].user"),
        ("[{ user: { type: 'message', role: 'assistant', content: 'x' } }]", "[0].user"),
        ("[{ user: 7 }]", "[0].user"),
        ("[{ model: {} }]", "[0].model"),
        ("[{ model: [{ role: 'assistant' }] }]", "[0].model[0]"),
        ("[{ model: [{ type: 'function_call', name: 'x' }] }]", "[0].model[0]"),
        ("[{ model: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }]", "[0].model[0]"),
        ("[{ answer: 'x', by: 7 }]", "[0].by"),
        ("[{ user: 'x', by: 'y' }]", "[0].by"),
    ],
)
def test_what_no_one_can_say_is_refused_when_the_scenario_is_read(events: str, place: str) -> None:
    with pytest.raises(CompileError) as raised:
        read_scenario(events)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message.startswith(f"{place}: ")


ITEM = "{ phase: 'message_appended', item: { type: 'message', role: 'user', content: 'x' } }"


@pytest.mark.parametrize(
    ("events", "at"),
    [
        (f"[{ITEM}]", [1]),
        (f"[{{ phase: 'session_start' }},\n{ITEM}]", [2]),
        (f"[{{ phase: 'turn_start' }},\n{ITEM}]", []),
        (f"[{{ user: 'x' }},\n{ITEM}]", []),
        (f"[{{ phase: 'turn_start' }}, {{ phase: 'turn_end' }},\n{ITEM}]", [2]),
        (f"{ITEM}\n{ITEM}", [1, 2]),
        (ITEM, [1]),
    ],
)
def test_what_no_host_delivers_is_warned_of(events: str, at: list[int]) -> None:
    warnings = read_scenario(events).warnings
    assert [warning.code for warning in warnings] == ["scenario.impossible_event"] * len(at)
    assert [warning.severity for warning in warnings] == ["warning"] * len(at)
    assert [warning.span.start.line for warning in warnings if warning.span is not None] == at


def test_no_event_loop_is_imported() -> None:
    """A browser has no threads: a whole conversation is played in plain calls."""
    code = (
        "import sys\n"
        "from chatml_runtime.script.scripts import ArtifactCache\n"
        "from chatml_runtime.scenario import play, read_scenario\n"
        "policy = ArtifactCache().get('main', 'let initial_state = 0 let on_event ctx st ev = Task.pure(st + 1)')\n"
        "print(len(list(play(policy, read_scenario(sys.argv[1])))), 'asyncio' in sys.modules)\n"
    )
    events = f"[{{ user: 'Hello' }}, {model(READ)}, {model(say('done'))}]"
    done = subprocess.run([sys.executable, "-c", code, events], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["10", "False"]


# -- the same as in a host

POLICY = """
let plan = [{plan}]
let initial_state = 0
let on_event ctx st ev =
  let next = st + 1 in
  let decision = if st < length(plan) then plan[st] else "none" in
  let under_review = match ev with | `Pre_tool_call(c) -> true | _ -> false in
  match decision with
  | "reject" -> if under_review then let* () = Tool.reject("no") in Task.pure(next) else Task.pure(next)
  | "rewrite" -> if under_review then let* () = Tool.rewrite_args(`Object([])) in Task.pure(next) else Task.pure(next)
  | "redirect" -> if under_review then let* () = Tool.redirect("quick", `Null) in Task.pure(next) else Task.pure(next)
  | "wrong" -> let* () = Tool.reject("no") in Task.pure(next)
  | "ask" -> let* a = Approval.ask_text("why?") in let* () = Log.info(a) in Task.pure(next)
  | "end" -> let* () = Runtime.end_session("ended") in Task.pure(next)
  | "halt" -> let* () = Turn.halt("halted") in Task.pure(next)
  | "fail" -> Task.fail("failed")
  | "emit" -> let* () = Runtime.emit(`Own) in Task.pure(next)
  | "turn" -> let* r = Task.catch(Runtime.request_turn(), fun m -> Task.pure(())) in Task.pure(next)
  | "notice" -> let* () = Turn.append_notice("note") in Task.pure(next)
  | _ -> Task.pure(next)
"""
DECISIONS = ["none", "reject", "rewrite", "redirect", "ask", "wrong", "end", "halt", "fail", "emit", "turn", "notice"]
plans = st.lists(st.sampled_from(DECISIONS) | st.just("none"), max_size=25)
said = st.sampled_from(["say", "think", "quick", "bad", "custom"])
responses = st.lists(st.lists(said, max_size=4), max_size=4)


def item(kind: str, number: int) -> Any:
    match kind:
        case "say" | "think":
            return {"say": say, "think": think}[kind]("text")
        case "custom":
            return custom_call("quick", "raw", call_id=f"c{number}")
    return call(kind, {"n": number}, call_id=f"c{number}")


class Model:
    """Gives the responses, then nothing."""

    def __init__(self, planned: Sequence[Sequence[Any]]) -> None:
        self.planned = list(planned)

    def respond(self, inputs: Any, tools: Any) -> Sequence[Any]:
        return self.planned.pop(0) if self.planned else []


class Person:
    async def answer(self, request: PendingRequest, problem: str | None) -> str:
        return "because"


def in_a_host(script: str, planned: Sequence[Sequence[Any]]) -> tuple[list[str], list[Any]]:
    """The events that a host delivers, and the history that it ends with."""

    def run_tool(tool_call: Any) -> Any:
        return {"error": "broken"} if tool_call.name == "bad" else "done"

    talk = Talk(script, Model(planned), run_tool=run_tool, approval=Person(), parallel_tools=False)
    with suppress(ChatmlError):
        talk.run()
    return [f"{record.phase.value} {show(record.event)}" for record in talk.records], talk.items


def in_a_scenario(script: str, planned: Sequence[Sequence[Any]]) -> tuple[list[str], list[Any]]:
    """The same, of a scenario that says what the user, the model and the person say."""
    scenario = read_scenario(
        "{ session: { id: 's1' }, host: { tools: { quick: { ok: 'done' }, bad: { error: 'broken' } } },"
        " events: [{ user: 'hello' }] }"
    )
    stage = Stage(artifact(script, surface=UI_MODERATOR), scenario, [])
    records = [record for line in script_of(scenario, planned, stage) for record in stage.play(line)]
    events = [f"{record.phase} {record.event}" for record in records if record.phase is not None]
    return events, [entry.item for entry in stage.history]


def script_of(scenario: Scenario, planned: Sequence[Sequence[Any]], stage: Stage) -> Iterator[Any]:
    yield from scenario.events
    waiting = list(planned)
    while stage.moderator.pending is not None or stage.dialogue.is_requesting:
        if stage.moderator.pending is not None:
            yield Respond("because")
        else:
            yield Speak(tuple(waiting.pop(0) if waiting else ()))


@settings(deadline=None)
@given(plan=plans, kinds=responses)
def test_a_scenario_is_what_a_host_does(plan: list[str], kinds: list[list[str]]) -> None:
    """What is green in a scenario is green in a host: the same events in the same order, and the same history."""
    script = POLICY.replace("{plan}", ", ".join(f'"{decision}"' for decision in plan))
    numbers = iter(range(100))
    planned = [[item(kind, next(numbers)) for kind in response] for response in kinds]
    assert in_a_scenario(script, planned) == in_a_host(script, planned)
