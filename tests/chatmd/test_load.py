"""Messages, traces, reasoning and configuration: the cases M-029 to M-041 as far as they load, and their kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatmd
from chatmd.elements.config import Config
from chatmd.elements.content import AgentItem, DocItem, ImageItem, TextItem
from chatmd.elements.history_id import HistoryId
from chatmd.elements.message import LegacyCall, Message
from chatmd.elements.reasoning import Reasoning, Summary
from chatmd.elements.trace import ToolCall, ToolResponse
from tests.chatmd.documents import finding, findings, load, place


def only(text: str) -> Message:
    (element,) = load(text).elements
    assert isinstance(element, Message)
    return element


def test_m_029_bodies_are_kept_exactly() -> None:
    assert only("<user>\nHello\n</user>").content == "\nHello\n"
    assert only("<user/>").content is None
    assert only("<user></user>").content is None
    assert only("<user>RAW||RAW</user>").content == ""


def test_m_030_helpers_make_structured_content() -> None:
    content = only('<user>a<doc src="n.txt" local/>b</user>').content
    assert content == (TextItem("a"), DocItem("n.txt", local=True), TextItem("b"))


def test_m_031_a_misplaced_element_is_dropped() -> None:
    document = load('<developer>x<config model="m"/>y</developer>')
    (message,) = document.elements
    assert isinstance(message, Message)
    assert message.content == "xy"
    (warning,) = document.warnings
    assert (warning.code, warning.severity) == ("chatmd.ignored_child", "warning")
    assert place(warning) == ("<prompt>", 12, '<config model="m"/>')
    assert document.config == Config()


def test_m_032_helpers_at_the_top_level_are_dropped_and_not_fetched() -> None:
    document = load('<summary>s</summary><doc src="x"/>')
    assert document.elements == ()
    assert [warning.code for warning in document.warnings] == ["chatmd.ignored_top_level"] * 2


def test_m_033_a_msg_needs_a_role() -> None:
    diagnostic = finding("<msg>hi</msg>")
    assert diagnostic.code == "chatmd.missing_attribute"
    assert diagnostic.data == {"tag": "msg", "attribute": "role"}
    assert only('<msg role="robot">x</msg>').role == "robot"
    assert only('<msg role="">x</msg>').role == ""


def test_m_034_the_first_config_wins() -> None:
    document = load('<config temperature="0.2" max_tokens="1_024" show_tool_call="false"/><config model="b"/>')
    assert document.config == Config(temperature=0.2, max_tokens=1024, show_tool_call=True)
    assert document.config.request_options() == {"max_output_tokens": 1024, "temperature": 0.2}


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("max_tokens", "many"),
        ("max_tokens", "1."),
        ("max_tokens", "_1"),
        ("max_tokens", "1_"),
        ("max_tokens", "\u0661"),
        ("max_tokens", ""),
        ("max_tokens", "9" * 5000),
        ("temperature", "nan"),
        ("temperature", "inf"),
        ("temperature", "1e999"),
        ("temperature", " 1"),
    ],
)
def test_m_035_every_config_is_checked(attribute: str, value: str) -> None:
    diagnostic = finding(f'<config model="a"/><config {attribute}="{value}"/>')
    assert diagnostic.code == "chatmd.invalid_config"
    assert diagnostic.data["value"] == value
    assert place(diagnostic)[2] == value


@pytest.mark.parametrize("value", ["1", "+1", "-1", "1__0"])
def test_whole_numbers_are_read_as_written(value: str) -> None:
    assert load(f"<config max_tokens='{value}'/>").config.max_tokens == int(value.replace("_", ""))


def test_an_effort_is_checked_when_a_request_is_built() -> None:
    config = load('<config reasoning_effort="hihg"/>').config
    (diagnostic,) = findings(config.request_options)
    assert diagnostic.code == "chatmd.invalid_reasoning_effort"
    assert diagnostic.help == "did you mean `high`?"


def test_m_037_the_body_of_a_call_is_kept() -> None:
    text = '<tool_call tool_call_id="c" function_name="f" id="i">\nRAW|\n{ "p": 1 }\n|RAW\n</tool_call>'
    (call,) = load(text).elements
    assert call == ToolCall("f", "c", '\n{ "p": 1 }\n\n', id="i")


def test_m_040_a_call_needs_arguments_and_a_name() -> None:
    diagnostic = finding('<tool_call function_name="f" tool_call_id="c"/>')
    assert diagnostic.code == "chatmd.tool_call_missing_content"
    assert finding('<tool_call tool_call_id="c">x</tool_call>').data["attribute"] == "function_name"
    assert finding('<tool_call function_name="f" tool_call_id="">x</tool_call>').data["attribute"] == ("tool_call_id")
    assert finding("<tool_response>x</tool_response>").data["attribute"] == "tool_call_id"


def test_m_041_reasoning_collects_its_summaries() -> None:
    (reasoning,) = load('<reasoning id="r"> a <summary> b </summary><summary type="t">c</summary></reasoning>').elements
    assert reasoning == Reasoning("r", None, (Summary("a"), Summary("b"), Summary("c", "t")))
    assert finding("<reasoning>x</reasoning>").code == "chatmd.missing_attribute"


def test_the_last_of_repeated_attributes_wins_but_for_two() -> None:
    message = only('<user name="a" name="b" id>x</user>')
    assert (message.name, message.id) == ("b", "")
    assert only('<user><agent src="a" src="b"/></user>').content == (AgentItem("a"),)
    (reasoning,) = load('<reasoning id="r"><summary type="t" type="u">c</summary></reasoning>').elements
    assert isinstance(reasoning, Reasoning)
    assert reasoning.summary == (Summary("c", "t"),)


def test_flags_are_true_in_any_form() -> None:
    content = only('<user><doc src="x" local="false" strip=no markdown/><img src="y" local=""/></user>').content
    assert content == (DocItem("x", True, True, True), ImageItem("y", True))


def test_agents_hold_items_and_may_be_deep() -> None:
    message = only('<user><agent src="s" local>q<doc src="d"/><config/></agent></user>')
    assert message.content == (AgentItem("s", True, (TextItem("q"), DocItem("d"))),)
    depth = 10_000
    deep = "<user>" + '<agent src="a">' * depth + "</agent>" * depth + "</user>"
    other = deep.replace('"a"', '"b"', 1)
    assert only(deep) == only(deep)
    assert only(deep) != only(other)
    assert hash(only(deep)) == hash(only(deep))
    assert "AgentItem('a'" in repr(only(deep))


@pytest.mark.parametrize("tag", ["doc", "img", "agent"])
def test_helpers_need_a_source(tag: str) -> None:
    diagnostic = finding(f'<user><{tag} src=""/></user>')
    assert diagnostic.code == "chatmd.missing_attribute"
    assert diagnostic.data == {"tag": tag, "attribute": "src"}
    assert place(diagnostic) == ("<prompt>", 6, f'<{tag} src=""/>')


def test_old_tool_messages_keep_their_call() -> None:
    message = only('<msg role="tool" tool_call function_name="f" tool_call_id="c" function_call="x">{}</msg>')
    assert message.legacy_call == LegacyCall("f", "c")
    assert finding('<msg role="tool" tool_call function_name="f" tool_call_id="c"/>').code == (
        "chatmd.tool_call_missing_content"
    )
    assert finding('<msg role="tool" tool_call tool_call_id="c">{}</msg>').data["attribute"] == "function_name"


def test_history_identities_are_canonical_and_unique() -> None:
    assert only('<user ochat-history-id="4:same:7">a</user>').history_id == HistoryId("same", 7)
    assert only('<user ochat-history-id="3:\u00e4b:0">a</user>').history_id == HistoryId("\u00e4b", 0)
    for value in ("04:same:7", "4:same:07", "5:same:7", "0::1", "4:same:-1", "", "4:same", "4:same:7 "):
        diagnostic = finding(f'<user ochat-history-id="{value}">a</user>')
        assert diagnostic.code == "chatmd.invalid_history_id", value
    twice = '<tool_response tool_call_id="c" ochat-history-id="1:a:1" ochat-history-id="1:a:1"/>'
    assert finding(twice).code == "chatmd.invalid_history_id"


def test_entries_know_their_source() -> None:
    assert only("<user/>").source_context == "<prompt>"
    assert only('<user ochat-source-context="there"/>').source_context == "there"
    (response,) = load('<tool_response tool_call_id="c"/>', source="t.chatmd").elements
    assert response == ToolResponse("c")
    assert isinstance(response, ToolResponse)
    assert response.source_context == "t.chatmd"


def test_equality_ignores_places_warnings_and_sources() -> None:
    left = load("<user>a</user>", source="a")
    right = load(" <user >a<config/></user>", source="b")
    assert left == right
    assert hash(left) == hash(right)
    assert left != load("<user>b</user>")


def test_the_first_fault_wins_and_carries_its_record(tmp_path: Path) -> None:
    diagnostic = finding("<config max_tokens='x'/><msg/>", tmp_path, source="root.chatmd")
    assert diagnostic.code == "chatmd.invalid_config"
    assert diagnostic.source is not None
    assert diagnostic.source.path == str(tmp_path / "root.chatmd")
    assert diagnostic.source.source_sha256 != ""


def test_invalid_bytes_and_the_byte_order_mark() -> None:
    document = chatmd.load(b"\xef\xbb\xbf<user>\xff\xfe</user>", base_dir=".")
    (message,) = document.elements
    assert isinstance(message, Message)
    assert message.content == "\ufffd\ufffd"
    assert only("<user>\udc80</user>").content == "\ufffd"
    assert chatmd.parse_tree("\ufeff<user/>") == chatmd.parse_tree("<user/>")
