"""History, export and capture: the cases M-064 to M-067 and M-069."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

import pytest

from chatmd import (
    Allocator,
    Context,
    Deleted,
    Entry,
    Halted,
    HistoryId,
    Inserted,
    Replaced,
    Session,
    capture_artifact,
    checkpoint,
    export,
    identified_items,
    load_file,
    materialise_history,
    to_input_items,
)
from chatmd.elements.message import Message
from chatmd.transcript.export import OverlayEntry, history_text, overlay_text
from tests.chatmd.documents import findings, load, write


def text_message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def answer(text: str, identity: str = "m") -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "role": "assistant",
        "id": identity,
        "status": "completed",
        "content": content,
    }


def numbered(*items: dict[str, Any]) -> list[Entry]:
    return [Entry(HistoryId("s", index), item) for index, item in enumerate(items)]


def test_m_064_identities_are_kept_or_given(tmp_path: Path) -> None:
    text = '<user ochat-history-id="4:same:7">a</user><assistant>b</assistant>'
    allocator = Allocator("same")
    history = materialise_history(load(text), allocator)
    assert [str(entry.id) for entry in history] == ["4:same:7", "4:same:8"]
    assert allocator.next == 9
    other = materialise_history(load(text), Allocator("x", 3))
    assert [str(entry.id) for entry in other] == ["4:same:7", "1:x:3"]
    write(tmp_path, a_chatmd='<user ochat-history-id="1:a:1"/>', b_chatmd='<user ochat-history-id="1:a:1"/>')
    document = load('<config/><import src="a.chatmd"/><import src="b.chatmd"/>', tmp_path)
    (diagnostic,) = findings(lambda: materialise_history(document, Allocator("s")))
    assert diagnostic.code == "chatmd.duplicate_history_id"
    assert (diagnostic.data["first"], diagnostic.data["second"]) == (
        "a.chatmd (element 1)",
        "b.chatmd (element 2)",
    )


IMAGE = {"type": "input_image", "image_url": "https://x/y?a&b", "detail": "auto"}
ITEMS = [
    text_message("user", "Hi"),
    text_message("developer", ""),
    text_message("system", "\n|RAW </msg> RAW|\n\n"),
    {"type": "message", "role": "user", "content": []},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "see"}, IMAGE]},
    {"type": "message", "role": "user", "content": [IMAGE]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "in"}]},
    answer("out\n"),
    {**answer(""), "phase": "final"},
    {"type": "function_call", "name": "f", "arguments": '{"x": "|RAW </tool_call>"}', "call_id": "c"},
    {"type": "function_call", "name": "f", "arguments": "", "call_id": "c", "id": "i"},
    {"type": "custom_tool_call", "name": "p", "input": "|RAW", "call_id": "d"},
    {"type": "function_call_output", "call_id": "c", "output": "</tool_response>|RAW"},
    {"type": "custom_tool_call_output", "call_id": "d", "output": "\n\n"},
    {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "\na\n\n"}, IMAGE],
    },
    {
        "type": "reasoning",
        "id": "r",
        "summary": [{"type": "summary_text", "text": "a |RAW b"}, {"type": "t", "text": "c"}],
        "status": "s",
    },
]


@pytest.mark.parametrize("item", ITEMS)
def test_m_065_every_item_reads_back_equal(item: dict[str, Any]) -> None:
    text = history_text(numbered(item), {})
    (found,) = identified_items(load(text))
    assert (found.item, found.history_id) == (item, HistoryId("s", 0))


def test_m_065_a_whole_session_reads_back_equal(tmp_path: Path) -> None:
    write(tmp_path, prompt_chatmd="<config model='m'/>\n")
    history = numbered(*ITEMS)
    export(Session(prompt_file=tmp_path / "prompt.chatmd", history=history), tmp_path / "out" / "x.chatmd")
    document = load_file(tmp_path / "out" / "x.chatmd")
    assert materialise_history(document, Allocator("other")) == history
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_parts_of_text_merge_and_keep_their_text() -> None:
    parts = [{"type": "input_text", "text": text} for text in ("\na", "b\n\n")]
    text = history_text(numbered({"type": "message", "role": "user", "content": parts}), {})
    assert to_input_items(load(text)) == [text_message("user", "\nab\n\n")]


def test_searches_and_unknown_items_leave_a_note() -> None:
    search = {"type": "web_search_call", "id": "w"}
    text = history_text(numbered(search, {"type": "hologram"}, {"type": "message"}, {"type": "reasoning"}), {})
    items = to_input_items(load(text))
    assert items[0]["content"][0]["text"] == "web_search"
    assert [item["role"] for item in items[1:]] == ["developer"] * 3


def test_m_066_the_overlay_is_shown_after_the_prompt(tmp_path: Path) -> None:
    prompt = "<user>Hi</user>\n"
    write(tmp_path, prompt_chatmd=prompt)
    overlay: list[OverlayEntry] = [Inserted(answer("synthetic", "m1")), Deleted("2:s1:0"), Halted("done")]
    export(Session(prompt_file=tmp_path / "prompt.chatmd", overlay=overlay), tmp_path / "x.chatmd")
    assert (tmp_path / "x.chatmd").read_text() == prompt + (
        '<msg role="assistant" id="m1">\nsynthetic\n</msg>\n'
        '<msg role="developer" id="moderation-deletion-2:s1:0">\n'
        'Moderator deleted message "2:s1:0" from the effective transcript.\n</msg>\n'
        '<msg role="developer" id="moderation-halt">\nSession ended by moderator: done\n</msg>\n'
    )
    _, *messages = load_file(tmp_path / "x.chatmd").elements
    assert [getattr(one, "id", None) for one in messages] == [
        "m1",
        "moderation-deletion-2:s1:0",
        "moderation-halt",
    ]


def test_every_kind_of_overlay_item_is_shown() -> None:
    overlay: list[OverlayEntry] = [
        Inserted(text_message("user", "a")),
        Inserted(text_message("assistant", "b < c")),
        Inserted(text_message("developer", "d")),
        Inserted({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}),
        Inserted({"type": "function_call_output", "call_id": "c", "output": "o"}),
        Inserted({"type": "reasoning", "id": "r", "summary": [{"text": "e"}, {"text": "f"}]}),
        Inserted({"type": "odd", "id": "o"}),
        Replaced('1:s:"1"', text_message("user", "g")),
        Halted("a <b> reason"),
    ]
    document = load(overlay_text(overlay))
    found = [
        (one.kind, one.id, one.content) if isinstance(one, Message) else type(one).__name__ for one in document.elements
    ]
    assert found == [
        ("user", None, "\na\n"),
        ("assistant", None, "\nb < c\n\n"),
        ("msg", None, "\nd\n"),
        "ToolCall",
        "ToolResponse",
        ("msg", "r", "\ne f\n"),
        ("msg", "o", "\nInvalid moderation item\n"),
        (
            "msg",
            'moderation-replacement-1:s:"1"',
            '\nModerator replaced item "1:s:"1"" with:\n<user>\ng\n</user>\n\n',
        ),
        ("msg", "moderation-halt", "\nSession ended by moderator: a <b> reason\n\n"),
    ]
    assert not any(getattr(one, "history_id", None) for one in document.elements)


def test_m_067_unchanged_entries_are_not_written_again() -> None:
    document = load("<user>one</user>")
    start = materialise_history(document, Allocator("s"))
    known = checkpoint(start)
    new = Entry(HistoryId("s", 1), text_message("user", "two"))
    replaced = Entry(start[0].id, text_message("user", "another"))
    assert len(load(history_text([*start, new], known)).elements) == 1
    assert len(load(history_text([replaced, new], known)).elements) == 2


def test_payload_files_are_copied_and_later_ones_win(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("prompt", "cwd", "session")]
    for index, place in enumerate(places):
        (place / ".chatmd").mkdir(parents=True)
        (place / ".chatmd" / f"{index}.json").write_text(str(index))
        (place / ".chatmd" / "shared.json").write_text(str(index))
    (places[0] / ".chatmd" / "link").symlink_to("/etc/passwd")
    (places[0] / "p.chatmd").write_text("<user/>")
    session = Session(prompt_file=places[0] / "p.chatmd", cwd=places[1], session_dir=places[2])
    export(session, tmp_path / "out" / "x.chatmd")
    copied = tmp_path / "out" / ".chatmd"
    assert sorted(path.name for path in copied.iterdir()) == ["0.json", "1.json", "2.json", "shared.json"]
    assert (copied / "shared.json").read_text() == "2"
    export(Session(prompt_file=places[0] / "p.chatmd", cwd=tmp_path), places[0] / "x.chatmd")


def test_an_existing_target_is_kept_unless_asked(tmp_path: Path) -> None:
    write(tmp_path, p_chatmd="<user/>", x_chatmd="old")
    session = Session(prompt_file=tmp_path / "p.chatmd")
    asked: list[str] = []

    def refuse(path: str) -> bool:
        asked.append(path)
        return False

    for answer in (False, refuse):
        with pytest.raises(FileExistsError):
            export(session, tmp_path / "x.chatmd", overwrite=answer)
    assert (asked, (tmp_path / "x.chatmd").read_text()) == ([str(tmp_path / "x.chatmd")], "old")
    export(session, tmp_path / "x.chatmd", overwrite=True)
    assert (tmp_path / "x.chatmd").read_text() == "<user/>"


def test_the_prompt_is_kept_byte_by_byte(tmp_path: Path) -> None:
    for number, prompt in enumerate((b"<user>\xff</user>", b"\r\n<user/>\r\n", b"")):
        (tmp_path / f"p{number}").write_bytes(prompt)
        session = Session(prompt_file=tmp_path / f"p{number}", overlay=[Halted("x")])
        export(session, tmp_path / f"x{number}")
        assert (tmp_path / f"x{number}").read_bytes().startswith(prompt)
        assert len(load_file(tmp_path / f"x{number}").elements) == (2 if prompt else 1)


def test_m_069_a_hosted_document_stays_in_its_directory(tmp_path: Path) -> None:
    script = '<script language="chatml" kind="moderator" src="{}"/>'
    write(
        tmp_path,
        shared__p_md="shared",
        in__up_chatmd='<system><import src="../shared/p.md"/></system>',
        in__link_chatmd='<system><import src="link.md"/></system>',
        in__absolute_chatmd=script.format(tmp_path / "in" / "m.chatml"),
        in__missing_chatmd=script.format("gone.chatml"),
        in__m_chatml="1",
    )
    (tmp_path / "in" / "link.md").symlink_to(tmp_path / "shared" / "p.md")
    for name, code in (
        ("up", "artifact_path_escape"),
        ("link", "artifact_path_escape"),
        ("absolute", "artifact_absolute_path"),
        ("missing", "artifact_missing"),
    ):
        root = tmp_path / "in" / f"{name}.chatmd"
        if name != "missing":
            assert load_file(root).elements
        (diagnostic,) = findings(functools.partial(capture_artifact, root, tmp_path / "captured"))
        assert diagnostic.code == f"chatmd.{code}"
        assert not (tmp_path / "captured").exists()


def test_a_captured_tree_stands_alone(tmp_path: Path) -> None:
    source = write(
        tmp_path / "in",
        root_chatmd='<import src="lib/x.chatmd"/><user><import src="lib/../good.md"/></user>',
        lib__x_chatmd='<script language="chatml" kind="moderator" src="m.chatml"/>',
        lib__m_chatml="let x = 1",
        real_md="text",
    )
    (source / "good.md").symlink_to("real.md")
    artifact = capture_artifact(source / "root.chatmd", tmp_path / "captured")
    assert [file.path for file in artifact.files] == [
        "root.chatmd",
        "lib/x.chatmd",
        "good.md",
        "lib/m.chatml",
    ]
    assert artifact.files[3].sha256 == hashlib.sha256(b"let x = 1").hexdigest()
    before = load_file(source / "root.chatmd")
    (source / "lib" / "m.chatml").write_text("changed")
    (source / "good.md").unlink()
    assert load_file(artifact.root, confined=True) == before
    assert not (tmp_path / "captured" / "good.md").is_symlink()
    with pytest.raises(FileExistsError):
        capture_artifact(artifact.root, tmp_path / "captured")
    assert to_input_items(before, Context(dir="/"))
