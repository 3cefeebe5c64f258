"""`chatml run --trace`, as a process: where it stands, what it says, and that nothing else changes (docs/cli.md)."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.house import COMMANDS, ROOT, environment, run

POLICIES = sorted((ROOT / "examples" / "policies").glob("*.chatml"))

GUARD = """
let limit = 2
let judge call = if string_length(call.name) > limit then `No("too long") else `Yes
let initial_state = { seen = 0 }
let on_event ctx st ev =
  match ev with
  | `Pre_tool_call(call) ->
    (match judge(call) with
     | `Yes -> let* () = Tool.approve() in Task.pure({ seen = st.seen + 1 })
     | `No(why) -> let* () = Tool.reject(why) in Task.pure(st))
  | `Turn_start -> Task.pure({ seen = 1 / st.seen })
  | _ -> Task.pure(st)
"""

KEYS = ["kind", "name", "args", "at", "outcome", "result", "failure", "inner"]


def write(directory: Path, **files: str) -> list[str]:
    """Write files; their paths."""
    paths = []
    for name, text in files.items():
        path = directory / name.replace("_", ".")
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return paths


def call(name: str) -> str:
    return f"{{ phase: 'pre_tool_call', call: {{ id: 'c1', name: '{name}', args: {{}} }} }}"


def test_a_program_prints_on_one_stream_and_is_traced_on_the_other(tmp_path: Path) -> None:
    (path,) = write(tmp_path, script_chatml="let double n = n * 2\nprint(double(21))")
    done = run("chatml", "run", path, "--trace")
    assert (done.returncode, done.stdout) == (0, "42\n")
    assert done.stderr == "2:7    double(21) -> 42\n2:1    print(42) -> ()\n"


def test_standard_input_is_traced() -> None:
    done = run("chatml", "run", "-", "--trace", stdin='print(String.length("abc"))')
    assert done.stderr == '1:7    String.length("abc") -> 3\n1:1    print(3) -> ()\n'


def test_a_failing_program_is_traced_and_fails_as_ever(tmp_path: Path) -> None:
    (path,) = write(tmp_path, script_chatml="let f n = 1 / n\nprint(1)\nprint(f(0))")
    plain, traced = run("chatml", "run", "--engine", "walk", path), run("chatml", "run", path, "--trace")
    assert (plain.returncode, plain.stdout) == (traced.returncode, traced.stdout) == (1, "1\n")
    assert traced.stderr == "2:1    print(1) -> ()\n3:7    f(0) ✗ division by zero (1:11)\n" + plain.stderr


def test_a_program_as_json(tmp_path: Path) -> None:
    """The trace is on standard output, and what the program prints on the other one."""
    (path,) = write(tmp_path, script_chatml="let f n = 1 / n\nprint(f(1))\nf(0)")
    done = run("chatml", "run", path, "--trace", "--json")
    (line,) = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1
    assert done.stderr.startswith("1\n")
    assert [entry["outcome"] for entry in line["trace"]["entries"]] == ["returned", "returned", "failed"]
    assert line["trace"]["entries"][2]["failure"] == {"message": "division by zero", "at": {"line": 1, "column": 11}}


def test_an_event_says_why_a_call_was_rejected(tmp_path: Path) -> None:
    paths = write(tmp_path, guard_chatml=GUARD, events_json5=f"[{call('rm')}, {call('read')}]")
    done = run("chatml", "run", paths[0], "--events", paths[1], "--trace")
    assert (done.returncode, done.stderr) == (0, "")
    second = done.stdout.split("\n  2 ")[1].split("\n\n")[0]
    assert second.splitlines()[2:] == [
        "      7:5      | `Pre_tool_call(call)",
        '      8:12     judge({ args = {}; id = "c1"; name = "read" }) -> `No("too long")',
        "      3:21       if string_length(call.name) > limit: true",
        "      10:8     | `No(why)",
        '      10:30  ! Tool.reject("too long")',
        "             commit: 1 effect",
        "      decided  reject: too long",
    ]


def test_an_event_that_fails(tmp_path: Path) -> None:
    paths = write(tmp_path, guard_chatml=GUARD, events_json5="[{ phase: 'turn_start' }]")
    done = run("chatml", "run", paths[0], "--events", paths[1], "--trace")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:4] == [
        "      5:1    on_event({ available_tools = [||]; items = [||]…, { seen = 0 }, `Turn_start)"
        " ✗ division by zero (11:39)",
        "      11:5     | `Turn_start",
        "             rolled back: no effects dropped, no arrays and refs restored",
    ]


def test_the_top_level_of_a_moderator_is_traced_first(tmp_path: Path) -> None:
    script = f"let ten = (fun () -> 10)()\n{GUARD}"
    paths = write(tmp_path, guard_chatml=script, events_json5="[{ phase: 'turn_end' }]")
    done = run("chatml", "run", paths[0], "--events", paths[1], "--trace")
    assert done.stdout.startswith("      top level\n      1:11   fun() -> 10\n  1 ● turn_end\n")


def test_a_top_level_that_fails_is_traced(tmp_path: Path) -> None:
    script = f"let half n = 1 / n\nlet none = half(0)\n{GUARD}"
    paths = write(tmp_path, guard_chatml=script, events_json5="[{ phase: 'turn_end' }]")
    done = run("chatml", "run", paths[0], "--events", paths[1], "--trace")
    assert done.returncode == 1
    assert done.stdout == "      top level\n      2:12   half(0) ✗ division by zero (1:14)\n"
    assert "error[runtime.division_by_zero]" in done.stderr


def test_a_prompt_document_is_traced_with_places_of_the_document(tmp_path: Path) -> None:
    document = f'<user>Hello</user>\n<script id="main" language="chatml" kind="moderator">{GUARD}</script>\n'
    paths = write(tmp_path, agent_chatmd=document, events_json5=f"[{call('read')}]")
    done = run("chatml", "run", paths[0], "--events", paths[1], "--trace")
    assert (done.returncode, done.stderr) == (0, "")
    line = next(number for number, text in enumerate(document.splitlines(), 1) if "(match judge" in text)
    assert f"      {line}:12" in done.stdout


def test_steps_that_run_out_are_told(tmp_path: Path) -> None:
    script = "let initial_state = 0\nlet rec spin n = spin(n + 1)\nlet on_event ctx st ev = Task.pure(spin(0) + 0)\n"
    paths = write(tmp_path, guard_chatml=script, events_json5="[{ phase: 'turn_end' }]")
    program = (
        "import sys; from chatml.values.limits import Limits\n"
        "from chatml_runtime.moderation.moderator import Moderator\n"
        "Moderator.create.__func__.__kwdefaults__['limits'] = Limits(steps=2_000)\n"
        f"{COMMANDS['chatml']}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "run", paths[0], "--events", paths[1], "--trace"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "… 1,9" in done.stdout
    assert "✗ limit `steps` exceeded" in done.stdout


@pytest.mark.parametrize("script", POLICIES, ids=lambda path: path.stem)
def test_the_records_of_a_policy_stay_as_they_are(script: Path) -> None:
    """With `--json`, a trace follows each record; without these lines the output is what is recorded."""
    events = script.with_suffix(".scenario.json5")
    done = run("chatml", "run", str(script), "--events", str(events), "--trace", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines(keepends=True)
    recorded = script.with_suffix(".jsonl").read_text(encoding="utf-8")
    assert "".join(line for line in lines if not line.startswith('{"trace":')) == recorded
    decoded = [json.loads(line) for line in lines]
    assert ["trace" in line for line in decoded] == [True, *[False, True] * (len(decoded) // 2 - 1), False]
    traces = [line["trace"] for line in decoded if "trace" in line]
    assert [trace["event"] for trace in traces] == [None, *range(1, len(traces))]
    for trace in traces:
        assert list(trace) == ["event", "entries"]
        check_entries(trace["entries"])


def check_entries(entries: list[dict[str, Any]]) -> None:
    """What docs/cli.md says of the entries of a trace."""
    for entry in entries:
        if "left_out" in entry:
            assert list(entry) == ["left_out"]
            assert entry["left_out"] > 0
            continue
        assert list(entry) == KEYS
        assert entry["outcome"] in ("returned", "failed", "continued", "running")
        assert all(isinstance(arg, str) for arg in entry["args"])
        assert entry["at"] is None or list(entry["at"]) == ["line", "column"]
        assert entry["failure"] is None or list(entry["failure"]) == ["message", "at"]
        assert (entry["outcome"] == "failed") is (entry["failure"] is not None)
        check_entries(entry["inner"])


@pytest.mark.parametrize("script", POLICIES, ids=lambda path: path.stem)
def test_the_timeline_of_a_policy_stays_as_it_is(script: Path) -> None:
    """A trace only adds lines to a timeline."""
    events = str(script.with_suffix(".scenario.json5"))
    plain = run("chatml", "run", str(script), "--events", events).stdout.splitlines()
    traced = iter(run("chatml", "run", str(script), "--events", events, "--trace").stdout.splitlines())
    assert all(line in traced for line in plain)


def test_the_compiling_engine_does_not_trace(tmp_path: Path) -> None:
    (path,) = write(tmp_path, script_chatml="print(1)")
    done = run("chatml", "run", path, "--trace", "--engine", "compiled")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "chatml: --trace is by the engine `walk`: leave out --engine compiled\n"
    assert run("chatml", "run", path, "--trace", "--engine", "walk").returncode == 0


@pytest.mark.parametrize("option", ["--trace", "--events"])
def test_the_generated_code_is_shown_instead_of_a_run(option: str, tmp_path: Path) -> None:
    (path,) = write(tmp_path, script_chatml="print(1)")
    done = run("chatml", "run", path, "--show-code", *([option] if option == "--trace" else [option, path]))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "chatml: --show-code runs nothing: leave out --trace and --events\n"
    assert run("chatml", "run", path, "--show-code").stdout == "# b0: print\n\n# line 1\nb0(M, 1)\n"


def test_what_reads_the_trace_may_stop() -> None:
    budget = ROOT / "examples" / "policies" / "budget.chatml"
    command = [sys.executable, "-c", COMMANDS["chatml"], "run", str(budget), "--trace", "--events"]
    with subprocess.Popen(
        [*command, str(budget.with_suffix(".scenario.json5"))],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 2


def test_an_interrupt_shows_what_was_running(tmp_path: Path) -> None:
    (path,) = write(tmp_path, script_chatml="print(1)\nlet rec spin n = spin(n + 1)\nspin(0)")
    with subprocess.Popen(
        [sys.executable, "-c", COMMANDS["chatml"], "run", path, "--trace"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "3:1    spin(0) …" in errors
    assert "more left out" in errors
    assert errors.endswith("chatml: interrupted\n")


def test_colour_and_width_of_a_terminal(tmp_path: Path) -> None:
    paths = write(tmp_path, guard_chatml=GUARD, events_json5=f"[{call('read')}]")
    leader, follower = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", COMMANDS["chatml"], "run", paths[0], "--events", paths[1], "--trace"],
        env=environment(NO_COLOR="", TERM="xterm", COLUMNS="60"),
        stdout=follower,
        timeout=60,
        check=True,
    )
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    assert "\x1b[32m| `No(why)\x1b[0m" in shown
    plain = [line for line in shown.replace("\r", "").replace("\x1b[0m", "").split("\n") if "judge" in line]
    assert all(len(line.replace("\x1b[2m", "")) <= 60 for line in plain)


def test_nothing_is_loaded_for_it_without_the_option(tmp_path: Path) -> None:
    paths = write(tmp_path, guard_chatml=GUARD, events_json5="[{ phase: 'turn_end' }]")
    for arguments in (["run", paths[0]], ["run", paths[0], "--events", paths[1]]):
        program = (
            f"import sys; from chatml_tools.commands import main; main({arguments!r})\n"
            "print([name for name in sys.modules if {'trace', 'tracing'} & {*name.split('.')} and 'chatml' in name])"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment(), capture_output=True, encoding="utf-8", check=True
        )
        assert done.stdout.splitlines()[-1] == "[]"
