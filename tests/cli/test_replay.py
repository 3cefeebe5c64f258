"""`chatml replay`: transcripts in every format, reports, comparisons, several processes, and what is at fault."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chatml_runtime.replay import Finding
from chatml_tools.commands import main
from chatml_tools.documents import main as chatmd
from chatml_tools.replay.show import Total, only
from chatml_tools.replay.work import Result
from tests.house import COMMANDS, environment, run

GUARD = """
let initial_state = 0
let on_event ctx st ev = match ev with
  | `Pre_tool_call(call) ->
    if call.name == "read" then let* () = Tool.approve() in Task.pure(st)
    else let* () = Tool.reject("{reason}") in Task.pure(st)
  | _ -> Task.pure(st)
"""

ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Tidy up."}]},
    {"type": "function_call", "name": "read", "arguments": "{}", "call_id": "c1", "id": "f1"},
    {"type": "function_call_output", "call_id": "c1", "output": "a b"},
    {"type": "function_call", "name": "delete", "arguments": '{"path":"a"}', "call_id": "c2", "id": "f2"},
    {"type": "function_call_output", "call_id": "c2", "output": "gone"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "guard.chatml").write_text(GUARD.format(reason="never delete"), encoding="utf-8")
    (tmp_path / "milder.chatml").write_text(GUARD.format(reason="ask first"), encoding="utf-8")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.json").write_text(json.dumps(ITEMS), encoding="utf-8")
    (tmp_path / "logs" / "b.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS), encoding="utf-8")
    for name in ("c.nrchat", "d.chatmd"):
        assert chatmd(["convert", str(tmp_path / "logs" / "a.json"), str(tmp_path / "logs" / name)]) == 0
    return tmp_path


def replay(folder: Path, *arguments: str) -> int:
    return main(["replay", str(folder / "guard.chatml"), str(folder / "logs"), *arguments])


def test_every_format_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder) == 0
    told = capsys.readouterr().out.splitlines()
    for number, name in enumerate(("a.json", "b.jsonl", "c.nrchat", "d.chatmd")):
        assert told[2 * number : 2 * number + 2] == [
            f"{folder / 'logs' / name}: 5 items, 13 events, 1 approved, 1 rejected",
            '    item 3   rejected delete {"path":"a"}: never delete',
        ]
    assert told[8:] == [
        "4 conversations, 52 events",
        "  approved   4",
        "  rejected   4",
        "why calls were rejected",
        "       4  never delete",
    ]


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder, "--json") == 0
    *conversations, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert [conversation["counts"] for conversation in conversations] == [{"approved": 1, "rejected": 1}] * 4
    assert conversations[0]["findings"][1] == {
        "item": 3,
        "kind": "rejected",
        "about": 'delete {"path":"a"}',
        "detail": "never delete",
    }
    total = last["total"]
    assert (total["conversations"], total["problems"], total["different"]) == (4, 0, None)
    assert total["scripts"][0]["reasons"] == {"never delete": 4}


def test_two_versions_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder, "--diff", str(folder / "milder.chatml")) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[:3] == [
        f"{folder / 'logs' / 'a.json'}:",
        '  - item 3   rejected delete {"path":"a"}: never delete',
        '  + item 3   rejected delete {"path":"a"}: ask first',
    ]
    assert told[-3:] == ["  approved   4 → 4", "  rejected   4 → 4", "  different  4"]
    assert replay(folder, "--diff", str(folder / "guard.chatml"), "--json") == 0
    *conversations, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert last["total"]["different"] == 0
    assert {(*map(len, (found["only_first"], found["only_second"])),) for found in conversations} == {(0, 0)}


def test_what_only_one_did_counts_repetitions() -> None:
    one, two = Finding(1, "approved", "a"), Finding(2, "approved", "b")
    assert only([one, one, two], [one]) == [one, two]
    assert only([one], [one, one, two]) == []


def test_one_bad_transcript_does_not_stop_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = folder / "logs"
    bad = {
        "bad1.json": b"[7]",
        "bad2.json": b"[",
        "bad3.jsonl": b'{"type":"function_call"}',
        "bad4.nrchat": b"%user {a\nHi",
        "bad5.chatmd": b"<user>open",
        "bad6.json": b"\xff",
        "bad7.json": b"[" * 100_000,
        "bad8.chatmd": b"\xff",
    }
    for name, data in bad.items():
        (logs / name).write_bytes(data)
    assert replay(folder, str(logs / "missing.json"), str(folder / "guard.chatml")) == 1
    output, reports = capsys.readouterr()
    assert reports == ""
    assert output.count(": cannot be replayed\n") == len(bad) + 2
    assert "14 conversations, 52 events" in output
    assert "  not read   10\n" in output
    assert "Traceback" not in output


def test_several_processes_say_the_same_in_the_same_order(folder: Path) -> None:
    arguments = ["replay", "guard.chatml", "logs", "--json"]
    one = run("chatml", *arguments, cwd=folder)
    two = run("chatml", *arguments, "--jobs", "2", cwd=folder)
    assert (one.returncode, one.stderr) == (0, "")
    assert (two.returncode, two.stdout, two.stderr) == (0, one.stdout, "")


def test_what_could_not_be_read_is_named_at_the_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a report is long: what went wrong in the middle of it has scrolled away."""
    for number in range(24):
        text = "[" if number % 2 else json.dumps(ITEMS)
        (folder / "logs" / f"e{number:02}.json").write_text(text, encoding="utf-8")
    assert replay(folder) == 1
    *_, last = capsys.readouterr().out.split("what could not be replayed\n")
    assert last.splitlines() == [
        *[f"  {folder}/logs/e{number:02}.json" for number in range(1, 20, 2)],
        "  and 2 others",
    ]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_tells_what_was_found_so_far(folder: Path, jobs: str) -> None:
    """Ctrl-C reaches all processes; none of them has anything else to say."""
    paths = ["logs/a.json"] + [f"logs/more{number}.json" for number in range(2_000)]
    for path in paths:
        (folder / path).write_text(json.dumps(ITEMS), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", COMMANDS["chatml"], "replay", "guard.chatml", *paths, "--jobs", jobs],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "chatml: interrupted\n")
    assert re.search(r"(\n|^)\ninterrupted: \d+ of 2001\n\d+ conversations?, \d+ events\n", output)


def test_a_failed_event_is_at_fault(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "guard.chatml").write_text(
        'let initial_state = 0 let on_event ctx st ev = match ev with | `Turn_end -> Task.fail("oh") '
        "| _ -> Task.pure(st)",
        encoding="utf-8",
    )
    assert replay(folder) == 1
    assert "failed turn_end: oh" in capsys.readouterr().out


def test_a_question_is_answered_or_dropped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "guard.chatml").write_text(
        "let initial_state = 0 let on_event ctx st ev = match ev with | `Pre_tool_call(c) -> "
        'let* text = Approval.ask_text("why?") in let* () = Tool.reject(text) in Task.pure(st) | _ -> Task.pure(st)',
        encoding="utf-8",
    )
    assert replay(folder) == 0
    assert "  asked      8\n" in capsys.readouterr().out
    assert replay(folder, "--answer", "because") == 0
    assert "       8  because\n" in capsys.readouterr().out


def test_the_host_of_a_scenario(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "guard.chatml").write_text(
        "let initial_state = 0 let on_event ctx st ev = match ev with | `Turn_start -> "
        'let* found = Process.run("git", []) in let* () = Turn.prepend_system(found) in Task.pure(st) '
        "| _ -> Task.pure(st)",
        encoding="utf-8",
    )
    setting = folder / "host.json5"
    setting.write_text("{ host: { processes: { git: { ok: 'clean' } } }, events: [] }", encoding="utf-8")
    assert replay(folder) == 1
    assert "not configured" in capsys.readouterr().out
    assert replay(folder, "--host", str(setting)) == 0
    assert "changed prepended: system: clean" in capsys.readouterr().out


def test_a_script_at_fault_ends_it_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "guard.chatml").write_text("let initial_state = x", encoding="utf-8")
    assert replay(folder) == 1
    output, reports = capsys.readouterr()
    assert output == ""
    assert "error[type.unknown_variable]" in reports


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--jobs", "0"], "--jobs"), (["-"], "standard input"), (["--diff", "missing.chatml"], "missing.chatml")],
)
def test_calls_at_fault(folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(folder, *arguments) == 2
    assert said in capsys.readouterr().err


def test_an_empty_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert main(["replay", str(folder / "guard.chatml"), str(folder / "empty")]) == 2
    assert "no transcript found" in capsys.readouterr().err


def test_what_could_not_be_read_is_at_fault() -> None:
    total = Total.of(1)
    assert not total.is_at_fault
    total.add(Result("x", problem="bad"))
    assert (total.is_at_fault, total.conversations, total.problems) == (True, 1, 1)
