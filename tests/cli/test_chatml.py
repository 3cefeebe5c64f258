"""`chatml`: streams, exit statuses, and what bad calls and bad input come to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from chatml.pipeline import ENGINES
from chatml_tools.commands import CHATML, main
from tests.house import ROOT, environment, run

POLICY = """
let initial_state = 0
let on_event ctx st ev = match ev with | `Turn_start -> Task.pure(st + 1) | _ -> Task.pure(st)
"""


def script(directory: Path, text: str, name: str = "script.chatml") -> str:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_run_prints_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", script(tmp_path, 'print("é")\nprint([1])')]) == 0
    assert capsys.readouterr() == ("é\n[|1|]\n", "")


@pytest.mark.parametrize("engine", ENGINES)
def test_either_engine_runs_scripts_and_events(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--engine", engine, script(tmp_path, "print(6 * 7)")]) == 0
    assert capsys.readouterr().out == "42\n"
    policy, events = script(tmp_path, POLICY, "policy.chatml"), script(tmp_path, "[{ phase: 'turn_start' }]", "e.json5")
    assert main(["run", "--engine", engine, policy, "--events", events, "--json"]) == 0
    assert '"state":"1"' in capsys.readouterr().out


def test_run_reads_standard_input() -> None:
    done = run("chatml", "run", "-", stdin="print(6 * 7)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


def test_a_failure_keeps_what_was_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "print(1)\nprint(1 / 0)")
    assert main(["run", path]) == 1
    output, report = capsys.readouterr()
    assert output == "1\n"
    assert report.startswith(f"{path}:2:7: error[runtime.division_by_zero]: ")


def test_a_script_at_fault_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, 'print(1)\nlet far = 2\nprint(far + "m")')
    assert main(["run", path]) == 1
    output, report = capsys.readouterr()
    assert output == ""
    assert report.startswith(f"{path}:3:7: error[type.mismatch]: ")


def test_a_moderator_says_how_to_feed_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, POLICY)
    assert main(["run", path]) == 0
    assert f"chatml run {path} --events FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "missing.chatml"], "missing.chatml"),
        (["run", "."], "Is a directory"),
        (["run", "/proc/self/mem"], "/proc/self/mem"),
        (["check", "missing.chatml", "other.chatml"], "missing.chatml"),
        (["types", "missing.chatml"], "missing.chatml"),
        (["explain", "type.mismatsch"], "type.mismatch"),
        (["run", "x.chatml", "--json"], "--events"),
    ],
)
def test_a_call_at_fault_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    output, message = capsys.readouterr()
    assert output == ""
    assert message.startswith("chatml: ")
    assert said in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["bogus"], ["run"], ["run", "--bogus"]])
def test_a_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: chatml" in capsys.readouterr().err


def test_the_module_is_the_command() -> None:
    done = run("chatml", "--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in CHATML.commands)


def test_check_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = script(tmp_path, "let a = 1", "good.chatml"), script(tmp_path, "let a = b\nlet c = d", "bad.chatml")
    assert main(["check", good]) == 0
    assert capsys.readouterr() == ("1 file checked: 0 errors, 0 warnings\n", "")
    assert main(["check", good, bad]) == 1
    output, reports = capsys.readouterr()
    assert output == "2 files checked: 2 errors, 0 warnings\n"
    assert f"{bad}:1:9: error[type.unknown_variable]" in reports
    assert f"{bad}:2:9: error[type.unknown_variable]" in reports


def test_check_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "print(1); print(2)")
    assert main(["check", "--json", path]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["errors"], document["warnings"]) == (1, 0)
    [diagnostic] = document["diagnostics"]
    assert diagnostic["code"].startswith("syntax.")
    assert diagnostic["span"]["file"] == path
    assert diagnostic["span"]["start"] == {"line": 1, "column": 9, "offset": 8}


def test_check_portable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "print(not(true) && 7 % 2 == 1)")
    assert main(["check", path]) == 0
    assert capsys.readouterr().err == ""
    assert main(["check", "--portable", path]) == 0
    assert capsys.readouterr().err.count("warning[portable.") == 3


def test_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "let x = 1\nlet f a = a\nmodule M = struct let y = x end")
    assert main(["types", path]) == 0
    assert capsys.readouterr().out == "x : int\nf : (a -> a)\nM : {y: int}\n"
    assert main(["types", "--json", path]) == 0
    assert json.loads(capsys.readouterr().out) == {"x": "int", "f": "(a -> a)", "M": "{y: int}"}


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    codes = capsys.readouterr().out.split()
    assert {"syntax.too_deep", "type.mismatch", "runtime.limit", "chatmd.top_level_text"} <= set(codes)
    assert main(["explain", "runtime.out_of_bounds"]) == 0
    assert "print(days[2])" in capsys.readouterr().out


def test_explain_lists_a_family_with_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "type"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("type.") and len(line.split(None, 1)) == 2 for line in lines)
    assert main(["explain", "syntax", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"code": "syntax.lone_argument", "title": TITLE} in listed
    assert main(["explain", "syntx"]) == 2
    assert "did you mean `syntax`?" in capsys.readouterr().err


TITLE = (
    "A function and a value on one line without parentheses are two statements: the function is not called, and the "
    "value is not used."
)


def test_the_surface_follows_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = script(tmp_path, POLICY + "let ask = Approval.ask_text")
    assert main(["check", policy]) == 0
    assert main(["check", "--surface", "moderator", policy]) == 1
    assert main(["check", script(tmp_path, "let ask = Approval.ask_text", "plain.chatml")]) == 1
    assert capsys.readouterr().err.count("Approval") >= 2
    in_a_line = "let ask = Approval.ask_text let initial_state = 0 let on_event ctx st ev = Task.pure(st)"
    assert main(["check", script(tmp_path, in_a_line, "line.chatml")]) == 0


@pytest.mark.parametrize(
    "data", [b"\xff\xfeprint(1)", b"print(1)\x00", b"(" * 100_000, b"(* " + b"a" * 10**6, b"a" * 10**7, b"\x00" * 1000]
)
def test_any_bytes(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is in the file comes to a diagnostic with a place."""
    path = tmp_path / "any.chatml"
    path.write_bytes(data)
    assert main(["run", str(path)]) == 1
    output, report = capsys.readouterr()
    assert output == ""
    assert report.startswith(f"{path}:1:")
    assert len(report) < 4_000


def test_no_colour_where_nobody_sees_it(tmp_path: Path) -> None:
    done = run("chatml", "check", script(tmp_path, "let a = b"))
    assert "\x1b" not in done.stderr


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    """A pipe that closes early ends the program without a traceback."""
    path = script(tmp_path, "let i = ref(0)\nwhile !i < 100000 do print(!i); i := !i + 1 done")
    command = [sys.executable, "-m", "chatml", "run", path]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"0\n"
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 2
