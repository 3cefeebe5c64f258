"""What scripts are shown of the history, and what they may do to it (runtime.md sections 9.2 and 20)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.border.python import from_json
from chatml.diagnostics.errors import BoundaryError
from chatml_runtime.moderation.capabilities import Capabilities, ToolOk
from chatml_runtime.moderation.history import SeenHistory, arrays_in
from chatml_runtime.moderation.identities import EntryId, HistoryEntry
from chatml_runtime.moderation.items import Item
from chatml_runtime.moderation.results import EventInput
from chatml_runtime.moderation.vocabulary import (
    ItemAppended,
    ModerationContext,
    Phase,
    PostToolResponse,
    PreToolCall,
    SessionResume,
    SessionStart,
    ToolCall,
    ToolDesc,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from tests.runtime.conversations import H2, Conversation

MESSAGE = {"type": "message", "role": "user", "content": ["a", "b"]}


@pytest.mark.parametrize(
    ("event", "phase", "tag"),
    [
        (SessionStart(), "session_start", "Session_start"),
        (SessionResume(), "session_resume", "Session_resume"),
        (TurnStart(), "turn_start", "Turn_start"),
        (ItemAppended(Item("x", MESSAGE)), "message_appended", "Item_appended"),
        (PreToolCall(ToolCall("c", "t", {})), "pre_tool_call", "Pre_tool_call"),
        (PostToolResponse(ToolResult("c", "t", 1)), "post_tool_response", "Post_tool_response"),
        (TurnEnd(), "turn_end", "Turn_end"),
    ],
)
def test_each_event_has_its_phase_and_its_tag(event: Any, phase: str, tag: str) -> None:
    assert (event.phase, event.to_value()[0]) == (phase, tag)
    talk = Conversation('let initial_state = "" let on_event ctx st ev = Task.pure(ctx.phase)')
    talk.send(event)
    assert talk.state == phase


def test_an_unknown_phase_is_named() -> None:
    with pytest.raises(ValueError, match='unknown moderation phase "x"'):
        Phase("x")


def test_the_context_as_a_record() -> None:
    context = ModerationContext("s", 5, Phase.TURN_END, (Item("i", MESSAGE),), (ToolDesc("t"),), {"a": None})
    assert context.to_value() == {
        "session_id": "s",
        "now_ms": 5,
        "phase": "turn_end",
        "items": [{"id": "i", "value": from_json(MESSAGE)}],
        "available_tools": [{"name": "t", "description": "", "input_schema": ("Null",)}],
        "session_meta": from_json({"a": None}),
    }


WRITES = """
let at json index = match json with | `Array(parts) -> parts[index] | _ -> `Null
let content item = match Json.get_field(Item.value(item), "content") with | `Some(c) -> c | `None -> `Null
let initial_state = { kept = [`Null] }
let on_event ctx st ev =
  match ev with
  | `Overwrite ->
    (match content(ctx.items[0]) with
     | `Array(parts) -> Array.set(parts, 0, `String("scribbled")); Task.pure({ kept = parts })
     | _ -> Task.pure(st))
  | `Overwrite_and_fail ->
    (match content(ctx.items[0]) with
     | `Array(parts) -> Array.set(parts, 0, `String("scribbled")); Task.fail("no")
     | _ -> Task.pure(st))
  | `Clear -> Array.set(ctx.items, 0, ctx.items[1]); Task.pure(st)
  | `Touch_kept -> Array.set(st.kept, 0, `String("later")); Task.pure(st)
  | `Keep -> (match content(ctx.items[0]) with | `Array(parts) -> Task.pure({ kept = parts }) | _ -> Task.pure(st))
  | `Look -> let* () = Log.info(to_string(at(content(ctx.items[0]), 0)) ++ " " ++ to_string(length(ctx.items))) in
             Task.pure(st)
  | _ -> Task.pure(st)
"""


def looking(*events: str) -> tuple[list[str], Any]:
    """What a script sees of the first text of the history after some events, and its state."""
    seen = list[str]()
    talk = Conversation(
        WRITES, items=(MESSAGE, *H2), capabilities=Capabilities(log=lambda level, text: seen.append(text))
    )
    for event in events:
        if event.endswith("fail"):
            with pytest.raises(Exception, match="no"):
                talk.tick((event,))
        else:
            talk.tick((event,))
        talk.tick(("Look",))
    return seen, talk.state["kept"][0]


@pytest.mark.parametrize(
    ("events", "kept"),
    [
        (["Other"], ("Null",)),
        (["Overwrite"], ("String", "scribbled")),
        (["Overwrite", "Overwrite"], ("String", "scribbled")),
        (["Overwrite_and_fail"], ("Null",)),
        (["Clear"], ("Null",)),
        (["Keep", "Touch_kept"], ("String", "later")),
    ],
)
def test_what_a_script_writes_into_its_context_is_gone_at_the_next_event(events: list[str], kept: Any) -> None:
    seen, state = looking(*events)
    assert seen == ["`String(a) 3"] * len(events)
    assert state == kept


def entry(number: int, content: Any = None) -> HistoryEntry:
    return HistoryEntry(EntryId("s", number), {"type": "message", "content": content})


HISTORIES = st.lists(
    st.lists(st.builds(entry, st.integers(0, 5), st.sampled_from([None, "x", ["y"]])), max_size=6), max_size=6
)


@given(HISTORIES)
def test_what_is_kept_is_what_would_be_made_anew(histories: list[list[HistoryEntry]]) -> None:
    """After any sequence of histories the items are those of the last one, and exactly its identities are known."""
    seen = SeenHistory()
    for history in histories:
        seen.see(history)
        assert seen.items() == [{"id": one.id.encode(), "value": from_json(one.item)} for one in history]
        assert {n for n in range(7) if seen.knows(EntryId("s", n))} == {one.id.sequence for one in history}


def test_items_are_made_once_per_entry() -> None:
    seen = SeenHistory()
    history = [entry(n) for n in range(3)]
    seen.see(history)
    before = seen.items()
    seen.see([*history, entry(3)])
    after = seen.items()
    assert all(one is two for one, two in zip(before, after, strict=False))
    assert after is not seen.items()
    seen.see([entry(9), *history])
    assert seen.items()[0]["id"] == "1:s:9"


def test_writes_to_other_arrays_keep_the_items() -> None:
    seen = SeenHistory()
    seen.see([entry(0, ["x"])])
    tools = [ToolDesc("t", input_schema={"type": "object", "required": ["a"]})]
    before, described = seen.items()[0], seen.tools(tools)[0]
    seen.forget_written([[1], []])
    assert seen.items()[0] is before
    assert seen.tools(tools)[0] is described
    inside = next(iter_arrays(described))
    seen.forget_written([inside])
    assert seen.items()[0] is not before
    assert seen.tools(tools)[0] is not described


def iter_arrays(value: Any) -> Any:
    """The arrays inside a value, which `arrays_in` must name."""
    pending, known = [value], arrays_in([value])
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            assert id(part) in known
            yield part
        pending += part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ()


def test_later_changes_of_a_hosts_list_do_not_reach_a_handler() -> None:
    def call(name: str, args: Any) -> ToolOk:
        talk.history.clear()
        return ToolOk(None)

    talk = Conversation(
        'let initial_state = 0 let on_event ctx st ev = let* r = Tool.call("t", `Null) in Task.pure(length(ctx.items))',
        items=H2,
        capabilities=Capabilities(tool_call=call),
    )
    talk.tick()
    assert talk.state == 2


@pytest.mark.parametrize(
    ("record", "fact"),
    [
        (PreToolCall(ToolCall("c\ud800", "t", None)), r"tool_call\.id: the string holds the lone surrogate"),
        (PreToolCall(ToolCall("c", "\udfff", None)), r"tool_call\.name: the string holds"),
        (PostToolResponse(ToolResult("\ud800", "t", None)), r"tool_result\.call_id: the string holds"),
        (ItemAppended(Item("\ud800", MESSAGE)), r"item\.id: the string holds"),
        (ToolDesc("t", "\ud800"), r"tool_desc\.description: the string holds"),
        (ModerationContext("\ud800", 0, Phase.TURN_END, (), ()), r"context\.session_id: the string holds"),
        (ModerationContext("s", 2**62, Phase.TURN_END, (), ()), r"context\.now_ms: integers lie between"),
        (ModerationContext("s", 1.5, Phase.TURN_END, (), ()), r"context\.now_ms: expected an integer.*float"),
    ],
)
def test_what_a_script_cannot_hold_is_refused_by_its_field(record: Any, fact: str) -> None:
    with pytest.raises(BoundaryError, match=fact):
        record.to_value()


@pytest.mark.parametrize("fields", [{"session_id": "\ud800"}, {"session_id": 7}, {"now_ms": 2**62}, {"now_ms": 0.5}])
def test_an_event_with_a_context_that_no_script_can_hold_changes_nothing(fields: dict[str, Any]) -> None:
    talk = Conversation("| `Turn_start -> Task.pure(st + 1)")
    with pytest.raises(BoundaryError, match=next(iter(fields))):
        talk.moderator.handle_event(TurnStart(), EventInput(**{"session_id": "s1", **fields}))
    assert talk.state == 0
    talk.send(TurnStart())
    assert talk.state == 1
