"""Stored conversations: how they are cut into turns, the events they give, and what is found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.replay import Replayed, replay
from chatml_runtime.replay.stored import turns_of
from chatml_runtime.scenario import read_scenario
from chatml_runtime.script.errors import ItemDecodeError
from chatml_runtime.script.scripts import ScriptArtifact, compile_script


def user(text: str = "Hi") -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def said(text: str = "Hello") -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": text}]}


def call(name: str, call_id: str = "c1", arguments: str = '{"path":"a"}') -> dict[str, Any]:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}


def output(text: str = "ok", call_id: str = "c1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def replayed(handler: str, items: list[Any], state: str = "0", **options: Any) -> Replayed:
    source = f"let initial_state = {state} let on_event ctx st ev = match ev with {handler} | _ -> Task.pure(st)"
    return replay(ScriptArtifact("main", compile_script(source, surface=UI_MODERATOR)), items, **options)


def found(handler: str, items: list[Any], **options: Any) -> list[tuple[int | None, str, str, str]]:
    findings = replayed(handler, items, **options).findings
    return [(finding.item, finding.kind, finding.about, finding.detail) for finding in findings]


TELL = "".join(
    f'| `{tag} -> let* () = Turn.prepend_system("{told}") in Task.pure(st)'
    for tag, told in {
        "Session_start": "start",
        "Turn_start": "turn",
        "Turn_end": "end",
        "Item_appended(item)": "item",
        "Pre_tool_call(c)": "call",
        "Post_tool_response(r)": "result",
    }.items()
)


def phases(items: list[Any]) -> list[str]:
    """The events that a policy is handed, which it notes down."""
    return [detail.removeprefix("system: ") for _, kind, _, detail in found(TELL, items) if kind == "changed"]


def test_the_events_are_those_of_the_run_loop() -> None:
    """R-054: the same conversation, had and stored, gives the same events."""
    items = [user(), said("checking"), call("q"), output(), said("done")]
    first = ["turn", "item", "call", "item", "result", "item", "end"]
    assert phases(items) == ["start", *first, "turn", "item", "end"]


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([], ["start"]),
        ([user("")], ["start"]),
        ([user()], ["start", "turn"]),
        ([{"role": "user", "content": "no type"}, said()], ["start", "turn", "item", "end"]),
        ([user(), said(), user(), said()], ["start", *["turn", "item", "end"] * 2]),
        (
            [user(), call("q"), output(), user("wait"), said()],
            ["start", "turn", "call", "item", "result", "item", "item", "end", "turn", "item", "end"],
        ),
        ([output()], ["start", "turn", "item", "end"]),
        ([user(), call("q")], ["start", "turn", "call", "item", "end"]),
    ],
)
def test_events(items: list[Any], told: list[str]) -> None:
    assert phases(items) == told


def test_decisions() -> None:
    handler = """
    | `Pre_tool_call(c) ->
      if c.name == "rm" then let* () = Tool.reject("never") in Task.pure(st)
      else if c.name == "ls" then let* () = Tool.approve() in Task.pure(st)
      else if c.name == "cp" then let* () = Tool.rewrite_args(`Object([])) in Task.pure(st)
      else if c.name == "mv" then let* () = Tool.redirect("cp", `Array([])) in Task.pure(st)
      else Task.pure(st)
    """
    items = [call(name, name) for name in ("rm", "ls", "cp", "mv", "q")]
    arguments = '{"path":"a"}'
    assert found(handler, items) == [
        (0, "rejected", f"rm {arguments}", "never"),
        (1, "approved", f"ls {arguments}", ""),
        (2, "rewritten", f"cp {arguments}", "{}"),
        (3, "redirected", f"mv {arguments}", "cp []"),
        (4, "undecided", f"q {arguments}", ""),
    ]


def test_a_rejected_call_gives_the_reason_and_a_redirected_one_the_stored_output_of_the_other_tool() -> None:
    handler = """
    | `Pre_tool_call(c) ->
      if c.name == "rm" then let* () = Tool.reject("never") in Task.pure(st)
      else let* () = Tool.redirect("safe", `Null) in Task.pure(st)
    | `Post_tool_response(r) -> Task.fail(r.name ++ ": " ++ Json.stringify(r.result))
    """
    items = [call("rm", "c1"), call("mv", "c2"), output("gone", "c1"), output("moved", "c2")]
    assert [detail for _, kind, _, detail in found(handler, items) if kind == "failed"] == [
        'rm: "never"',
        'safe: "moved"',
    ]


def test_changes_requests_and_the_end() -> None:
    handler = """
    | `Turn_start -> let* () = Turn.prepend_system("be brief") in Task.pure(st)
    | `Item_appended(i) -> let* () = Turn.delete_item(i.id) in Task.pure(st)
    | `Turn_end ->
      let* () = Runtime.request_turn() in
      if st == 1 then let* () = Runtime.end_session("enough") in Task.pure(st) else Task.pure(st + 1)
    """
    assert found(handler, [user(), said(), user(), said(), user(), said()]) == [
        (0, "changed", "prepended", "system: be brief"),
        (1, "changed", "deleted 7:session:2", ""),
        (1, "requested", "another turn", ""),
        (2, "changed", "prepended", "system: be brief"),
        (3, "changed", "deleted 7:session:5", ""),
        (3, "requested", "another turn", ""),
        (3, "ended", "enough", ""),
    ]


def test_a_decision_where_no_call_is_under_review_is_a_failure() -> None:
    handler = "| `Item_appended(i) -> let* () = Tool.approve() in Task.pure(st)"
    (failure,) = found(handler, [said()])
    assert failure[:2] == (0, "failed")
    assert "approve" in failure[3]


def test_a_failing_event_does_not_stop_the_conversation() -> None:
    handler = "| `Turn_start -> Task.pure(1 / 0) | `Turn_end -> let* () = Runtime.request_turn() in Task.pure(st)"
    assert [kind for _, kind, _, _ in found(handler, [said()])] == ["failed", "requested"]


ASK = """
| `Pre_tool_call(c) ->
  let* answer = Approval.ask_choice("Run it?", ["yes", "no"]) in
  if answer == "yes" then let* () = Tool.approve() in Task.pure(st) else let* () = Tool.reject("no") in Task.pure(st)
"""


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [(None, ["asked"]), ("perhaps", ["asked"]), ("yes", ["asked", "approved"]), ("no", ["asked", "rejected"])],
)
def test_questions(answer: str | None, kinds: list[str]) -> None:
    items = [call("q", "c1"), call("q", "c2")]
    assert [kind for _, kind, _, _ in found(ASK, items, answer=answer)] == kinds * 2


def test_the_setting_gives_session_and_host() -> None:
    handler = """
    | `Turn_start ->
      let* r = Tool.call("t", `Null) in
      (match r with
      | `Ok(v) -> Task.fail(Json.stringify(v) ++ to_string(Array.length(ctx.items)) ++ ctx.session_id)
      | `Error(m) -> Task.fail(m))
    """
    setting = read_scenario(
        "{ session: { id: 'mine', history: [{ type: 'message', role: 'user', content: 'before' }] },"
        " host: { tools: { t: { ok: 7 } } }, events: [] }"
    )
    assert found(handler, [user()], setting=setting)[0][3] == "72mine"
    assert "not configured" in found(handler, [user()])[0][3]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "name": "q", "call_id": "c"},
        {"type": "function_call_output", "output": "x"},
        {"type": "custom_tool_call", "name": 7, "input": "", "call_id": "c"},
        {"type": "message", "role": "user", "content": float("nan")},
        7,
    ],
)
def test_an_item_at_fault_is_named(item: Any) -> None:
    with pytest.raises(ItemDecodeError, match=r"^item 1: "):
        turns_of([user(), item])


ITEMS = st.lists(st.sampled_from([user(), user(""), said(), call("q"), output(), {"type": "other"}, {}]), max_size=12)


@given(ITEMS)
def test_every_item_is_in_one_turn(items: list[Any]) -> None:
    """The turns of a conversation, one after another, are the conversation."""
    turns = turns_of(items)
    parts = [part for turn in turns for part in (turn.submitted, turn.response, turn.outputs, turn.deferred)]
    assert [stored.index for part in parts for stored in part] == list(range(len(items)))


@given(ITEMS)
def test_replaying_is_total_and_repeatable(items: list[Any]) -> None:
    """Any conversation of objects can be replayed, and says the same each time."""
    first = replayed(ASK, items, answer="yes")
    assert replayed(ASK, items, answer="yes") == first
    assert first.counts()["approved"] == first.counts()["asked"] == sum(item == call("q") for item in items)
