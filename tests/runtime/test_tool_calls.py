"""Tool calls: what scripts review, and what becomes of the decision (runtime.md sections 9.4 and 12; R-049, R-053)."""

from __future__ import annotations

from typing import Any

import pytest

from chatml_runtime.moderation.outcome import Outcome
from chatml_runtime.moderation.tool_calls import apply_tool_decision, call_of, output_item, parse_payload, result_of
from chatml_runtime.moderation.vocabulary import PostToolResponse, PreToolCall, ToolCall, ToolKind
from chatml_runtime.script.errors import ItemDecodeError
from tests.runtime.conversations import Conversation

FUNCTION = {"type": "function_call", "name": "q", "arguments": '{"m":"fast"}', "call_id": "c1", "id": "fc1"}
CUSTOM = {"type": "custom_tool_call", "name": "q", "input": '{"m":"fast"}', "call_id": "c1"}

DECISIONS = {
    "none": "| `Nothing -> Task.pure(st)",
    "approve": "| `Pre_tool_call(c) -> let* () = Tool.approve() in Task.pure(st)",
    "reject": '| `Pre_tool_call(c) -> let* () = Tool.reject("denied") in Task.pure(st)',
    "rewrite": "| `Pre_tool_call(c) -> "
    'let* () = Tool.rewrite_args(Json.parse("{\\"m\\":\\"safe\\"}")) in Task.pure(st)',
    "redirect": '| `Pre_tool_call(c) -> let* () = Tool.redirect("other", `String("x")) in Task.pure(st)',
}


@pytest.mark.parametrize(
    ("decision", "item", "name", "payload", "output"),
    [
        ("none", FUNCTION, "q", '{"m":"fast"}', None),
        ("approve", FUNCTION, "q", '{"m":"fast"}', None),
        ("reject", FUNCTION, "q", '{"m":"fast"}', "denied"),
        ("rewrite", FUNCTION, "q", '{"m":"safe"}', None),
        ("rewrite", CUSTOM, "q", '{"m":"safe"}', None),
        ("redirect", FUNCTION, "other", '"x"', None),
        ("redirect", CUSTOM, "other", "x", None),
    ],
)
def test_r_049_decisions(decision: str, item: Any, name: str, payload: str, output: str | None) -> None:
    call = call_of(item)
    result = Conversation(DECISIONS[decision]).send(PreToolCall(call))
    reviewed = apply_tool_decision(call, result.outcome, item)
    field = "arguments" if item is FUNCTION else "input"
    assert reviewed.call_item == {**item, "name": name, field: payload}
    assert reviewed.synthetic_output == output
    assert (reviewed.call.id, reviewed.call.name, reviewed.call.payload) == ("c1", name, payload)
    assert call_of(reviewed.call_item).args == reviewed.call.args


def test_r_052_the_output_of_a_rejected_call() -> None:
    call = call_of(FUNCTION)
    assert output_item(call, "denied") == {"type": "function_call_output", "call_id": "c1", "output": "denied"}
    assert output_item(call_of(CUSTOM), "denied")["type"] == "custom_tool_call_output"


def test_a_call_without_an_item_gets_one() -> None:
    call = ToolCall("c1", "q", {}, payload="{}", item_id="i1")
    reviewed = apply_tool_decision(call, Outcome())
    assert reviewed.call_item == {
        "type": "function_call",
        "name": "q",
        "arguments": "{}",
        "call_id": "c1",
        "id": "i1",
    }


def test_an_item_that_is_no_call_is_refused() -> None:
    with pytest.raises(ItemDecodeError, match="'message' is not a tool call"):
        call_of({"type": "message", "role": "user", "content": "x"})


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"ok":true}', {"ok": True}),
        ("[1, 2.5]", [1, 2.5]),
        ("plain", "plain"),
        ("", ""),
        ("01", "01"),
        ("1e999", "1e999"),
        ('"\\ud800"', '"\\ud800"'),
        ("{'a': 1}", "{'a': 1}"),
    ],
)
def test_r_053_payloads_are_json_or_text(text: str, data: Any) -> None:
    assert parse_payload(text) == data


def test_r_053_what_a_script_sees_of_a_result() -> None:
    talk = Conversation(
        'let initial_state = ""\nlet on_event ctx st ev = match ev with'
        ' | `Post_tool_response(r) -> Task.pure(r.name ++ " " ++ to_string(r.result)) | _ -> Task.pure(st)'
    )

    def see(name: str, output: Any) -> str:
        item = {"type": "function_call_output", "call_id": "c1", "output": output}
        talk.send(PostToolResponse(result_of(name, item)))
        state: str = talk.state
        return state

    assert see("q", '{"ok":true}') == "q `Object([|{ key = ok; value = `Bool(true) }|])"
    assert see("other", "plain") == "other `String(plain)"
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "u", "detail": "low"}]
    assert result_of("q", {"type": "custom_tool_call_output", "call_id": "c", "output": parts}).result == {
        "kind": "content",
        "parts": [{"type": "text", "text": "a"}, {"type": "image", "image_url": "u", "detail": "low"}],
    }


def test_kinds_and_raw_texts_are_kept() -> None:
    assert call_of(CUSTOM).kind is ToolKind.CUSTOM
    result = result_of("q", {"type": "custom_tool_call_output", "call_id": "c", "output": "7"})
    assert (result.kind, result.raw_output, result.result) == (ToolKind.CUSTOM, "7", 7)
