"""Persistence of tool traffic and generated items: both modes, streaming, the pending user message, M-068."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from chatmd import AssistantStream, Context, TraceWriter, set_pending_user_text, to_input_items
from chatmd.transcript.document import STUB, assistant_block, reasoning_block
from tests.chatmd.documents import load

CALL = {"type": "function_call", "name": "f", "call_id": "c", "arguments": '{"a":1}', "id": "i"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "out </tool_call> |RAW <b>"}


def converted(text: str, directory: Path) -> list[dict[str, Any]]:
    return to_input_items(load(text, directory), Context(dir=str(directory), cwd="/"))


def test_mode_a_keeps_payloads_inline(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, inline=True)
    call, response = writer.call(CALL), writer.response({**OUTPUT, "output": "out"})
    assert call == ('<tool_call tool_call_id="c" function_name="f" id="i">\nRAW|\n{"a":1}\n|RAW\n</tool_call>\n')
    assert response == '<tool_response tool_call_id="c" id="0">\nRAW|\nout\n|RAW\n</tool_response>\n'
    assert not (tmp_path / ".chatmd").exists()


def test_mode_b_puts_payloads_into_files(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, inline=False)
    call, response = writer.call(CALL), writer.response(OUTPUT)
    assert call == (
        '<tool_call function_name="f" tool_call_id="c" id="i">\n'
        '  <doc src="./.chatmd/0.tool-call.c.json" local/>\n</tool_call>\n'
    )
    assert response == (
        '<tool_response tool_call_id="c" id="0">\n'
        '  <doc src="./.chatmd/0.tool-call-result.c.json" local/>\n</tool_response>\n'
    )
    folder = tmp_path / ".chatmd"
    assert (folder / "0.tool-call.c.json").read_bytes() == b'{"a":1}'
    assert (folder / "0.tool-call-result.c.json").read_bytes() == b"out </tool_call> |RAW <b>"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {entry.stat().st_mode & 0o777 for entry in folder.iterdir()} == {0o600}
    assert converted(call + response, tmp_path) == [CALL, OUTPUT]


@pytest.mark.parametrize("inline", [True, False])
def test_a_trace_converts_to_the_items_it_was_made_of(inline: bool, tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, inline=inline)
    custom = {"type": "custom_tool_call", "name": "p", "call_id": "d", "input": "\n|RAW\n\n"}
    answer = {"type": "custom_tool_call_output", "call_id": "d", "output": ""}
    blocks = [writer.call(CALL), writer.call(custom), writer.response(OUTPUT), writer.response(answer)]
    assert converted("\n".join(blocks), tmp_path) == [CALL, {**custom, "id": "d"}, OUTPUT, answer]
    assert 'id="0"' in blocks[2]
    assert 'id="1"' in blocks[3]
    assert blocks[1].startswith('<tool_call type="custom_tool_call" ')


def test_structured_outputs_are_flattened(tmp_path: Path) -> None:
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "u"}]
    block = TraceWriter(tmp_path, inline=True).response({**OUTPUT, "output": parts})
    assert converted(block, tmp_path)[0]["output"] == 'a\n<img src="u" />'


def test_m_068_call_ids_name_files_safely(tmp_path: Path) -> None:
    block = TraceWriter(tmp_path, inline=False).call({**CALL, "call_id": "../x"})
    (file,) = (tmp_path / ".chatmd").iterdir()
    assert file.name == "0.tool-call..._x.json"
    assert f'src="./.chatmd/{file.name}"' in block
    assert sorted(path.name for path in tmp_path.iterdir()) == [".chatmd"]


@pytest.mark.parametrize("text", ["", "a|RAWb", "|RAW", "|RAW|RAW", "||RAW|", "x\n|RA", "|", "RAW|<user>"])
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_streamed_answer_is_the_answer(text: str, size: int, tmp_path: Path) -> None:
    stream = AssistantStream("m", "p")
    pieces = [text[index : index + size] for index in range(0, len(text), size)]
    block = "".join([stream.open(), *(stream.delta(piece) for piece in pieces), stream.close()])
    (item,) = converted(block, tmp_path)
    assert item["content"][0]["text"] == text
    assert (item["id"], item["phase"]) == ("m", "p")


def test_finished_items(tmp_path: Path) -> None:
    content = [{"type": "output_text", "text": text} for text in ("a", "<b>")]
    block = assistant_block({"id": "m", "status": "completed", "content": content})
    assert block == '<assistant id="m" status="completed">\nRAW|\na <b>\n|RAW\n</assistant>\n'
    summary = [{"type": "summary_text", "text": text} for text in ("a", "b < c", "")]
    (item,) = converted(reasoning_block({"id": "r", "summary": summary}), tmp_path)
    assert item == {"type": "reasoning", "id": "r", "summary": summary}


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (f"<user>a</user>\n{STUB}\n\n", "hi", "<user>a</user>\n<user>\nhi\n</user>\n"),
        ("<user>a</user>  \n", "hi", "<user>a</user>\n<user>\nhi\n</user>\n"),
        ("", "a < b", "<user>\nRAW|a < b|RAW\n</user>\n"),
        ("<user/>", "", f"<user/>\n{STUB}\n"),
    ],
)
def test_the_pending_user_message(before: str, text: str, after: str, tmp_path: Path) -> None:
    file = tmp_path / "t.chatmd"
    file.write_text(before)
    os.chmod(file, 0o640)
    set_pending_user_text(file, text)
    assert file.read_text() == after
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]
