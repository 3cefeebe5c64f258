"""Conversion to input items: the cases M-029 to M-041 as far as they convert."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from chatmd import Context, identified_items, to_input_items
from tests.chatmd.documents import findings, load, place, write


def items(text: str, directory: Path | None = None) -> list[dict[str, Any]]:
    ctx = None if directory is None else Context(dir=str(directory), cwd=str(directory))
    return to_input_items(load(text, directory or "."), ctx)


def part(text: str) -> dict[str, str]:
    return {"type": "input_text", "text": text}


def message(role: str, *parts: dict[str, str]) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(parts)}


def output(text: str, identity: str = "", **more: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "role": "assistant",
        "id": identity,
        "status": "completed",
        "content": content,
        **more,
    }


def test_m_029_text_is_one_part() -> None:
    assert items("<user>\nHello\n</user>") == [message("user", part("\nHello\n"))]
    assert items("<user/>") == [message("user")]


def test_m_030_a_message_is_one_item(tmp_path: Path) -> None:
    write(tmp_path, n_txt="N")
    text = '<user>a<doc src="n.txt" local/>b</user>'
    assert items(text, tmp_path) == [message("user", part("a"), part("N"), part("b"))]


def test_white_space_parts_are_kept(tmp_path: Path) -> None:
    write(tmp_path, n_txt="N")
    text = '<system>\n<doc src="n.txt" local/>\n</system>'
    assert items(text, tmp_path) == [message("system", part("\n"), part("N"), part("\n"))]


def test_m_033_roles_are_checked_here() -> None:
    document = load('<user/><msg role="robot">x</msg>')
    (diagnostic,) = findings(lambda: to_input_items(document))
    assert (diagnostic.code, place(diagnostic)) == (
        "chatmd.unknown_role",
        ("<prompt>", 7, '<msg role="robot">'),
    )
    assert items('<msg role="USER">x</msg>') == [message("user", part("x"))]
    assert items('<user role="system">x</user>') == [message("user", part("x"))]


def test_m_036_an_id_makes_assistant_text_output() -> None:
    assert items("<assistant>ok</assistant>") == [message("assistant", {"type": "output_text", "text": "ok"})]
    assert items("<assistant/>") == [message("assistant")]
    assert items('<assistant id="m1">ok</assistant>') == [output("ok", "m1")]
    assert items('<assistant id="m1" status="s" phase="p">ok</assistant>') == [
        output("ok", "m1", status="s", phase="p")
    ]
    document = load('<assistant status="x">ok</assistant>')
    (diagnostic,) = findings(lambda: to_input_items(document))
    assert (diagnostic.code, place(diagnostic)[1]) == ("chatmd.assistant_status_without_id", 0)


def test_assistant_items_are_joined_as_text(tmp_path: Path) -> None:
    write(tmp_path, n_txt="N")
    text = '<assistant id="m">a<img src="u?a&amp;b" local/><doc src="n.txt" local/></assistant>'
    assert items(text, tmp_path) == [output('a\n<img src="u?a&b" local="true"/>\nN', "m")]


def test_a_msg_of_the_assistant_is_always_output() -> None:
    assert items('<msg role="Assistant" phase="p">x</msg>') == [output("x")]
    assert items('<msg role="assistant" id="i" status="s"/>') == [output("", "i", status="s")]


def test_m_037_the_frame_is_taken_away() -> None:
    text = '<tool_call tool_call_id="c" function_name="f" id="i">\nRAW|\n{ "p": 1 }\n|RAW\n</tool_call>'
    call = {"type": "function_call", "name": "f", "arguments": '{ "p": 1 }', "call_id": "c", "id": "i"}
    assert items(text) == [call]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("\nx\n\n", "x"),
        ("\n\n\n", ""),
        ("\n\n", "\n\n"),
        ("\nx\n", "\nx\n"),
        ("x\n\n", "x\n\n"),
        ("\n\nx\n\n\n", "\nx\n"),
    ],
)
def test_only_an_exact_frame_is_taken_away(body: str, text: str) -> None:
    assert items(f"<tool_response tool_call_id='c'>{body}</tool_response>")[0]["output"] == text
    assert items(f"<user ochat-history-id='1:a:1'>{body}</user>") == [message("user", part(text))]
    assert items(f"<user>{body}</user>") == [message("user", part(body))]
    assert items(f"<assistant>{body}</assistant>")[0]["content"][0]["text"] == body


def test_m_038_external_payloads_are_brought_in(tmp_path: Path) -> None:
    write(tmp_path, call_json='{"a":1}', result_json="out")
    call = '<tool_call function_name="f" tool_call_id="c" id="i">\n  <doc src="./call.json" local/>\n</tool_call>'
    response = '<tool_response tool_call_id="c" id="0">\n  <doc src="./result.json" local/>\n</tool_response>'
    assert items(call + response, tmp_path) == [
        {"type": "function_call", "name": "f", "arguments": '{"a":1}', "call_id": "c", "id": "i"},
        {"type": "function_call_output", "call_id": "c", "output": "out"},
    ]


def test_outputs_may_have_parts() -> None:
    image = {"type": "input_image", "image_url": "u", "detail": "auto"}
    one = items('<tool_response tool_call_id="c">\n<img src="u"/>\n</tool_response>')
    assert one[0]["output"] == [image]
    two = items('<tool_response tool_call_id="c">\na<img src="u"/>\n</tool_response>')
    assert two[0]["output"] == [part("\na"), image]
    assert items('<tool_response tool_call_id="c"/>')[0]["output"] == ""


def test_m_039_custom_tools() -> None:
    call = '<tool_call type="custom_tool_call" function_name="p" tool_call_id="c">X</tool_call>'
    assert items(call) == [{"type": "custom_tool_call", "name": "p", "input": "X", "call_id": "c"}]
    response = '<tool_response type="custom_tool_call_output" tool_call_id="c">Y</tool_response>'
    assert items(response) == [{"type": "function_call_output", "call_id": "c", "output": "Y"}]
    old = '<msg role="tool" type="custom_tool_call_output" tool_call_id="c">Y</msg>'
    custom = {"type": "custom_tool_call_output", "call_id": "c", "output": "Y"}
    assert items(old) == [custom]
    assert items('<tool_response type="custom_tool_call" tool_call_id="c">Y</tool_response>') == [custom]


def test_old_tool_messages() -> None:
    call = '<msg role="tool" tool_call function_name="f" tool_call_id="c" id="i">{}</msg>'
    assert items(call) == [{"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c", "id": "i"}]
    assert items('<msg role="tool" tool_call_id="c">o</msg>') == [
        {"type": "function_call_output", "call_id": "c", "output": "o"}
    ]
    (diagnostic,) = findings(lambda: items('<msg role="tool">o</msg>'))
    assert (diagnostic.code, diagnostic.data["attribute"]) == ("chatmd.missing_attribute", "tool_call_id")


def test_m_041_reasoning() -> None:
    text = '<reasoning id="r" status="s"> a <summary> b </summary><summary type="t">c</summary></reasoning>'
    summaries = [("summary_text", "a"), ("summary_text", "b"), ("t", "c")]
    assert items(text) == [
        {
            "type": "reasoning",
            "id": "r",
            "summary": [{"type": kind, "text": text} for kind, text in summaries],
            "status": "s",
        }
    ]


def test_declarations_give_no_item() -> None:
    text = (
        '<config model="m"/><tool name="apply_patch"/><shell_access id="s"/>'
        '<script language="chatml" kind="moderator">1</script><user>x</user>'
    )
    (found,) = identified_items(load(text))
    assert (found.index, found.history_id, found.source_context) == (4, None, "<prompt>")


def test_images(tmp_path: Path) -> None:
    for name in ("a.PNG", "b.svg", "c.jpg", "d.xyz", "e"):
        (tmp_path / name).write_bytes(b"\x89data")
    data = base64.b64encode(b"\x89data").decode()
    text = "".join(f'<img src="{name}" local/>' for name in ("a.PNG", "b.svg", "c.jpg", "d.xyz", "e"))
    (found,) = items(f'<user>{text}<img src="https://x/y.png"/></user>', tmp_path)
    kinds = ["png", "svg+xml", "jpeg", "jpeg", "jpeg"]
    urls = [f"data:image/{kind};base64,{data}" for kind in kinds] + ["https://x/y.png"]
    assert [one["image_url"] for one in found["content"]] == urls
