"""Data of models and hosts that hurt somebody: numbers, keys and texts that a policy must not change or miss (X-53)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.border.python import from_json, to_json
from chatml.builtins.json_data import read_data, write_data
from chatml.builtins.json_reader import JsonError, read
from chatml.diagnostics.errors import BoundaryError
from chatml_runtime.host.tools import Toolbox, output_of
from chatml_runtime.moderation.carrying import carry_integers
from chatml_runtime.moderation.identities import same_json
from chatml_runtime.moderation.tool_calls import apply_tool_decision, call_of, parse_payload
from chatml_runtime.moderation.vocabulary import PreToolCall, ToolCall, ToolKind
from chatml_runtime.script.errors import CommitRejectedError, ModelResponseError, OperationFailed
from chatml_runtime.testing import ScriptedHost, say
from tests.chatml.builtins.values_strategy import TEXTS
from tests.runtime.conversations import Conversation

ID = 1234567890123456789
UNDECIDED = "let initial_state = 0\nlet on_event ctx st ev = Task.pure(st)"


def call_item(arguments: str, name: str = "read") -> dict[str, str]:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": "c1"}


def played(policy: str, arguments: str, tool: Any = None) -> ScriptedHost:
    """A conversation in which the model makes one call."""
    return ScriptedHost(
        policy, model=[[call_item(arguments)], [say("ok")]], tools={"read": tool or (lambda args: "ok")}
    )


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(TEXTS, parts, max_size=4),
    max_leaves=20,
)
"""JSON data with integers of any size."""


@pytest.mark.parametrize("decision", ["Task.pure(())", "Tool.approve()"])
def test_a01_the_arguments_of_a_call_that_nobody_changed(decision: str) -> None:
    """Decided or not, the tool gets the integer that the model wrote, and the history the text."""
    arguments = f'{{"z": {ID}, "a": [0.1, 1e2, -0.0], "huge": 1{"0" * 300}1}}'
    policy = (
        "let initial_state = 0\nlet on_event ctx st ev = match ev with "
        f"| `Pre_tool_call(_) -> (let+ () = {decision} in st) | _ -> Task.pure(st)"
    )
    with played(policy, arguments) as host:
        host.send("go")
        assert host.calls == [("read", json.loads(arguments))]
        assert list(host.calls[0][1]) == ["z", "a", "huge"]
        assert [item["arguments"] for item in host.history if item["type"] == "function_call"] == [arguments]


def test_a01_the_answer_of_a_tool() -> None:
    with played(UNDECIDED, "{}", lambda args: {"id": ID, "ratio": 0.5}) as host:
        host.send("go")
        assert host.outputs == [f'{{"id":{ID},"ratio":0.5}}']


def test_a01_a_rewrite_carries_the_integers_over() -> None:
    policy = """
    let initial_state = 0
    let on_event ctx st ev = match ev with
      | `Pre_tool_call(call) -> let+ () = Tool.rewrite_args(Json.set_field(call.args, "safe", `Bool(true))) in st + 1
      | _ -> Task.pure(st)
    """
    with played(policy, f'{{"id": {ID}, "more": {{"ids": [{ID + 1}, {2**70}, 7]}}}}') as host:
        host.send("go")
        wanted = {"id": ID, "more": {"ids": [ID + 1, 2**70, 7]}, "safe": True}
        assert host.calls == [("read", wanted)]
        (recorded,) = [item["arguments"] for item in host.history if item["type"] == "function_call"]
        assert json.loads(recorded) == wanted


def test_a01_an_integer_that_a_rewrite_moves() -> None:
    """To another place it is carried as well, by its value; two that look the same fail the event."""
    policy = """
    let initial_state = 0
    let on_event ctx st ev = match ev with
      | `Pre_tool_call(call) ->
        let id = Option.get_or(Json.get_field(call.args, "id"), `Null) in
        let+ () = Tool.redirect("read", `Object([{ key = "user"; value = id }])) in st + 1
      | _ -> Task.pure(st)
    """
    with played(policy, f'{{"id": {ID}, "other": {ID * 3}}}') as host:
        host.send("go")
        assert host.calls == [("read", {"user": ID})]
    talk = Conversation(policy)
    call = call_of(call_item(f'{{"id": {ID}, "other": {ID + 1}}}'))
    with pytest.raises(
        CommitRejectedError, match=rf"Tool.redirect: the number at args.user can be any of {ID}, {ID + 1}"
    ):
        talk.send(PreToolCall(call))
    assert talk.state == 0


@given(DATA)
def test_what_a_script_saw_as_a_double_comes_back_as_the_integer(data: Any) -> None:
    """Arguments that go through a script unchanged are, with integers carried over, the arguments of the call."""
    try:
        seen = to_json(from_json(data))
    except BoundaryError:
        return
    carried = carry_integers(seen, data, "Tool.rewrite_args")
    assert same_json(carried, data)
    assert all(type(one) is type(two) for one, two in integers(carried, data))


def integers(left: Any, right: Any) -> list[tuple[Any, Any]]:
    """The integers beyond 2^53 of the second with their partners in the first."""
    if isinstance(right, dict):
        return [pair for key in right for pair in integers(left[key], right[key])]
    if isinstance(right, list):
        return [pair for one, two in zip(left, right, strict=True) for pair in integers(one, two)]
    return [(left, right)] if type(right) is int and abs(right) > 2**53 else []


def test_a_rewrite_of_deep_arguments_needs_no_stack() -> None:
    deep: Any = ID
    for _ in range(100_000):
        deep = [deep]
    built: Any = float(ID)
    for _ in range(100_000):
        built = [built]
    assert same_json(carry_integers(built, deep, "Tool.rewrite_args"), deep)


@given(DATA)
def test_data_and_their_text(data: Any) -> None:
    """The text of plain data is JSON for Python, too, and reads back as the same data in the same order of keys."""
    text = write_data(data)
    assert same_json(json.loads(text), data)
    if "9" * 300 not in text:
        try:
            again = read_data(text)
        except JsonError:
            assert any(abs(number) > 2**1023 for _, number in integers(data, data))
            return
        assert same_json(again.data, data)
        assert not again.repeats
        assert list(again.data) == list(data) if isinstance(data, dict) else True


JSON_LIKE = st.text(st.sampled_from('{}[]",:0123456789.eE+-\\u\ndtrfalsn \ud83d'), max_size=30)


@given(
    JSON_LIKE
    | DATA.map(write_data)
    | st.sampled_from(['"\\ud83d"', '["\\ud83d\\ude00"]', "[1e400]", "[NaN]", "1" * 310])
)
def test_the_same_texts_are_json_for_a_policy_and_for_a_host(text: str) -> None:
    """Plain data are read from exactly the texts that a script can read, and a script would see the same in them."""
    try:
        value = read(text)
    except JsonError:
        with pytest.raises(JsonError):
            read_data(text)
        return
    assert same_json(to_json(from_json(read_data(text).data)), to_json(value))


@pytest.mark.parametrize("depth", [199, 201, 5_000])
def test_deep_payloads_keep_their_integers(depth: int) -> None:
    data = parse_payload("[" * depth + str(ID) + "]" * depth)
    for _ in range(depth):
        (data,) = data
    assert data == ID


def test_a13_repeated_keys_have_one_reading() -> None:
    """The script sees both entries; what runs, what is recorded and every payload has the key once, with the first."""
    item = call_item('{"path": "docs/a", "n": {"k": 1, "k": 2}, "path": "/etc/passwd"}')
    talk = Conversation(
        'let initial_state = ""\n'
        "let on_event ctx st ev = match ev with "
        "| `Pre_tool_call(call) -> let+ () = Tool.approve() in Json.stringify(call.args) ++ "
        'Option.get_or(Tool_call.arg_string(call, "path"), "") '
        "| _ -> Task.pure(st)"
    )
    call = call_of(item)
    reviewed = apply_tool_decision(call, talk.send(PreToolCall(call)).outcome, item)
    assert talk.state == '{"path":"docs/a","n":{"k":1,"k":2},"path":"/etc/passwd"}docs/a'
    read_by_host = {"path": "docs/a", "n": {"k": 1}}
    assert call.args == reviewed.call.args == read_by_host
    assert json.loads(reviewed.call.payload) == json.loads(reviewed.call_item["arguments"]) == read_by_host


def test_a13_in_a_host_and_without_a_moderator() -> None:
    with played(UNDECIDED, '{"path": "docs/a", "path": "/etc/passwd"}') as host:
        host.send("go")
        assert host.calls == [("read", {"path": "docs/a"})]
        assert [item["arguments"] for item in host.history if item["type"] == "function_call"] == ['{"path":"docs/a"}']


@pytest.mark.parametrize("arguments", ["", "  \n"])
def test_h11_empty_arguments_are_no_arguments(arguments: str) -> None:
    """For the script, the tool and the record alike (X-60)."""
    policy = (
        'let initial_state = ""\nlet on_event ctx st ev = match ev with '
        "| `Pre_tool_call(call) -> Task.pure(Json.stringify(call.args)) | _ -> Task.pure(st)"
    )
    with played(policy, arguments) as host:
        host.send("go")
        assert host.calls == [("read", {})]
        assert host.state == "{}"
        assert [item["arguments"] for item in host.history if item["type"] == "function_call"] == ["{}"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"path":"a', "are not JSON: line 1, column 11: the string that opens at line 1, column 9 is"),
        ("null", "are null. Write them as a JSON object"),
        ("[1]", "are [1]. Write them as a JSON object"),
        ('"a"', 'are "a". Write them as a JSON object'),
    ],
)
def test_h11_arguments_that_are_no_object_reach_no_function(arguments: str, told: str) -> None:
    toolbox = Toolbox()
    toolbox.tool("read")(lambda args: args["path"])
    output = asyncio.run(toolbox(call_of(call_item(arguments))))
    assert json.loads(output)["error"].startswith('The arguments of the tool "read" ' + told)


def test_h11_a_custom_tool_takes_text() -> None:
    toolbox = Toolbox()
    toolbox.tool("shout")(lambda text: text.upper())
    assert asyncio.run(toolbox(ToolCall("c", "shout", "hi", ToolKind.CUSTOM, "hi"))) == "HI"


COUNTING = "let initial_state = 0\nlet on_event ctx st ev = Task.pure(st + 1)"


def test_a05_half_an_emoji_of_a_user_is_refused_and_the_conversation_goes_on() -> None:
    with ScriptedHost(COUNTING, model=[[say("a")], [say("b")]]) as host:
        with pytest.raises(BoundaryError, match=r"the text of a submission: .* lone surrogate U\+D83D"):
            host.send("hello \ud83d")
        host.send("hello again")
        host.send("are you there?")
        texts = [item["content"][0]["text"] for item in host.history if item.get("role") == "user"]
        assert texts == ["hello again", "are you there?"]


@pytest.mark.parametrize(
    "bad", ["a\ud83d", float("nan"), object(), {1: 2}, 10**400], ids=["text", "nan", "object", "key", "int"]
)
def test_h3_no_item_joins_a_history_that_a_script_could_not_be_shown(bad: Any) -> None:
    """Of the host: refused by name. Of the model client: its response is at fault, with the number of the item."""
    with ScriptedHost(COUNTING, model=[[say("a")]]) as host:
        conversation = host.controller.conversation
        before = conversation.history
        with pytest.raises(BoundaryError, match="the item cannot join the history"):
            conversation.add({"type": "message", "role": "user", "content": "x", "more": bad})
        assert conversation.history == before
        host.send("go")
        assert len(host.history) == 2


def test_h3_half_an_emoji_of_a_model() -> None:
    bad = say("good"), say("b\ud83d")
    with ScriptedHost(COUNTING, model=[list(bad), [say("fine")]]) as host:
        with pytest.raises(ModelResponseError, match=r"item 1 of the model client.s response .* lone surrogate"):
            host.send("go")
        host.send("again")
        assert host.outputs == []
        assert len(host.history) == 4


def test_h3_half_an_emoji_of_a_tool_is_an_error_that_the_model_reads() -> None:
    toolbox = Toolbox()
    toolbox.tool("read")(lambda args: {"text": "a\ud83d"})
    assert "lone surrogate U+D83D" in json.loads(asyncio.run(toolbox(call_of(call_item("{}")))))["error"]
    with pytest.raises(OperationFailed, match="lone surrogate"):
        output_of("read", "a\ud83d")
