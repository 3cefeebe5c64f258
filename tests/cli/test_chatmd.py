"""`chatmd`: documents and conversations on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatml_tools.arguments import Arguments
from chatml_tools.commands import main as chatml
from chatml_tools.documents import main, tail

PROMPT = """<config model="m"/>
<script language="chatml" kind="moderator">RAW|
let initial_state = {{ n = 0 }}
let on_event ctx st ev =
  match ev with
  | `Turn_start -> let+ () = Turn.prepend_system("be brief") in {{ st with n = st.n + {step} }}
  | _ -> Task.pure(st)
|RAW</script>
<user>Hello</user>
"""

ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is in a?"}]},
    {"type": "function_call", "name": "read_file", "arguments": '{"path":"a"}', "call_id": "c1", "id": "f1"},
    {"type": "function_call_output", "call_id": "c1", "output": "1 < 2 |RAW"},
    {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "%user `code`", "annotations": []}],
    },
]


def prompt(directory: Path, step: str = "1") -> str:
    path = directory / "prompt.chatmd"
    path.write_text(PROMPT.format(step=step), encoding="utf-8")
    return str(path)


def test_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", prompt(tmp_path)]) == 0
    assert capsys.readouterr() == ("1 file checked: 0 errors, 0 warnings\n", "")


def test_check_points_into_the_script_of_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = prompt(tmp_path, step='"x"')
    for check in (main, chatml):
        assert check(["check", path]) == 1
        report = capsys.readouterr().err
        assert report.startswith(f"{path}:6:")
        assert "error[type.mismatch]" in report


def test_check_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.md"
    path.write_text("<user>hi</user>\nloose", encoding="utf-8")
    assert main(["check", "--json", str(path)]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [finding["code"] for finding in document["diagnostics"]] == ["chatmd.top_level_text"]
    assert document["diagnostics"][0]["span"]["start"]["line"] == 2


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = prompt(tmp_path)
    assert main(["show", path]) == 0
    assert "user: Hello" in capsys.readouterr().out
    assert main(["show", "--json", path]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["config"] == {"model": "m"}
    assert [script["id"] for script in shown["scripts"]] == ["main"]


def test_run_feeds_the_moderator_of_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = tmp_path / "events.json5"
    events.write_text("[{ phase: 'turn_start' }]", encoding="utf-8")
    assert chatml(["run", prompt(tmp_path), "--events", str(events), "--json"]) == 0
    first, final = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["status"], first["state"]) == ("committed", "{ n = 1 }")
    assert final["final"] is True


def test_run_of_a_document_without_a_moderator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plain.md"
    path.write_text("<user>hi</user>", encoding="utf-8")
    assert chatml(["run", str(path)]) == 2
    assert "no moderator script" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".chatmd", ".nrchat", ".json"])
def test_conversions_bring_every_item_back(suffix: str, tmp_path: Path) -> None:
    items, other, back = tmp_path / "items.jsonl", tmp_path / f"other{suffix}", tmp_path / "back.json"
    items.write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    assert main(["convert", str(items), str(other)]) == 0
    assert main(["convert", str(other), str(back)]) == 0
    assert json.loads(back.read_text(encoding="utf-8")) == ITEMS


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("bad.json", "[1]", 1),
        ("bad.json", "[", 1),
        ("bad.nrchat", "%user {a: \nhi", 1),
        ("bad.md", "loose", 1),
        ("bad.xyz", "", 2),
        ("missing.md", None, 2),
    ],
)
def test_conversations_at_fault(
    name: str, text: str | None, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert main(["convert", str(path), "--to", "items"]) == status
    output, message = capsys.readouterr()
    assert output == ""
    assert name in message


def test_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, history, target = prompt(tmp_path), tmp_path / "history.json", tmp_path / "out" / "session.chatmd"
    hello = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}
    history.write_text(json.dumps([hello, *ITEMS]), encoding="utf-8")
    assert main(["export", path, str(target), "--history", str(history)]) == 0
    assert main(["convert", str(target), "--to", "items"]) == 0
    assert json.loads(capsys.readouterr().out) == [hello, *ITEMS]
    assert main(["export", path, str(target)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["export", path, str(target), "--force"]) == 0


def test_tail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.nrchat"
    path.write_text("%user Ada\nhi\n%assistant\nhello\n", encoding="utf-8")
    assert main(["tail", "--json", str(path)]) == 0
    assert [json.loads(line)["body"] for line in capsys.readouterr().out.splitlines()] == ["hi", "hello"]
    assert main(["tail", str(path)]) == 0
    assert capsys.readouterr().out == "%user Ada\nhi\n%assistant\nhello\n"


def test_tail_ends_when_nobody_reads_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed pipe is not a fault of the file."""
    log = tmp_path / "log.nrchat"
    log.write_text("%user\nHello.\n", encoding="utf-8")

    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("chatml_tools.documents.tail.write", closed)
    arguments = Arguments()
    tail.configure(arguments)
    with pytest.raises(BrokenPipeError):
        tail.execute(arguments.read([str(log)], "chatmd tail", None))


def test_a_format_that_no_name_tells_is_asked_for_by_its_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known, unknown = tmp_path / "items.json", tmp_path / "items.text"
    for path in (known, unknown):
        path.write_text("[]", encoding="utf-8")
    assert main(["convert", str(unknown), str(known)]) == 2
    assert main(["convert", str(known), str(unknown)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.partition("say ")[2] for line in told] == [
        "--from, one of chatmd, items, nrchat",
        "--to, one of chatmd, items, nrchat",
    ]
