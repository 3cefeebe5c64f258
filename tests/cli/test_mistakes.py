"""Calls that a newcomer gets wrong, and output that nobody takes: one line that says what to do, and status 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chatml_tools.commands import main
from chatml_tools.documents import main as documents
from tests.house import COMMANDS, environment

POLICY = "let initial_state = 0\nlet on_event ctx st ev = Task.pure(st)\n"
SCENARIO = "[{ phase: 'turn_start' }]"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a policy and a scenario."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "guard.chatml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "guard.scenario.json5").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "t.json").write_text("[]", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run guard.scenario.json5", "guard.scenario.json5 is data, not a script: `chatml run SCRIPT --events"),
        ("check guard.scenario.json5", "is data, not a script"),
        ("types guard.scenario.json5", "is data, not a script"),
        ("fmt guard.scenario.json5", "cannot format guard.scenario.json5: it is data"),
        ("replay guard.scenario.json5 guard.chatml", "is data, not a script"),
        ("run guard.chatml --events guard.chatml", "guard.chatml is a script, not a scenario"),
        ("replay guard.chatml t.json --host guard.chatml", "guard.chatml is a script, not a scenario"),
        ("test guard.chatml", "guard.chatml is a script: name its scenario, guard.scenario.json5"),
        ("check - -", "name `-` once"),
        ("fmt - -", "name `-` once"),
    ],
)
def test_files_that_stand_in_for_each_other(
    words: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    output, report = capsys.readouterr()
    assert (output, report.count("\n")) == ("", 1)
    assert report.startswith("chatml: ")
    assert said in report


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("check guard.chatml", "guard.chatml is a script, not a document: `chatml check guard.chatml`"),
        ("show -", "not from standard input"),
        ("tail missing.chat", "cannot read missing.chat: No such file or directory"),
    ],
)
def test_what_is_no_document(words: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert documents(words.split()) == 2
    output, report = capsys.readouterr()
    assert (output, report.count("\n")) == ("", 1)
    assert said in report


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "which command? `chatml --help` lists them"),
        (["chek", "a.chatml"], "unknown command chek: did you mean `check`?"),
        (["frobnicate"], "unknown command frobnicate: see `chatml --help`"),
        (["--json", "check", "a.chatml"], "the command comes first: chatml COMMAND --json"),
    ],
)
def test_calls_without_a_command(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"chatml: error: {said}\n")


def start(words: str, cwd: Path, *, redirect: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
    """`chatml` in a shell, with what its standard streams are bound to."""
    call = f"exec {sys.executable} -c '{COMMANDS['chatml']}' {words} {redirect}"
    return subprocess.run(
        ["/bin/sh", "-c", call],
        cwd=cwd,
        env=environment(**changes),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


CALLS = (
    "run hello.chatml",
    "types guard.chatml",
    "check wrong.chatml --json",
    "explain",
    "run guard.chatml --events e.json5",
)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("words", CALLS)
def test_a_full_disk_is_said(words: str, folder: Path) -> None:
    files(folder)
    done = start(words, folder, redirect="> /dev/full")
    assert (done.returncode, done.stderr) == (2, "chatml: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("words", CALLS)
def test_closed_streams_are_no_traceback(words: str, folder: Path) -> None:
    files(folder)
    done = start(words, folder, redirect=">&-")
    assert (done.returncode, done.stderr) == (1 if "wrong" in words else 0, "")
    assert start(words, folder, redirect="2>&-").returncode == done.returncode


def test_closed_standard_input_is_said(folder: Path) -> None:
    done = start("check -", folder, redirect="<&-")
    assert (done.returncode, done.stderr) == (2, "chatml: cannot read standard input: it is closed\n")


@pytest.mark.parametrize("words", [*CALLS, "--help", "run --help", "repl guard.chatml < /dev/null"])
def test_any_encoding_will_do(words: str, folder: Path) -> None:
    """What the encoding of a terminal lacks is escaped."""
    files(folder)
    done = start(words, folder, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert done.returncode == (1 if "wrong" in words else 0)
    assert "Traceback" not in done.stderr
    assert (done.stdout + done.stderr).isascii()


def files(folder: Path) -> None:
    (folder / "hello.chatml").write_text('print("é → ü")', encoding="utf-8")
    (folder / "wrong.chatml").write_text("let x = é", encoding="utf-8")
    (folder / "e.json5").write_text(SCENARIO, encoding="utf-8")
