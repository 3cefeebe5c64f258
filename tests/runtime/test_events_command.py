"""`chatml run SCRIPT --events FILE`: JSON Lines, the timeline, and the exit status (docs/scenarios.md)."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.scenario import Ending, Record, Stage, read_scenario
from chatml_tools.commands import main
from chatml_tools.timeline.draw import Timeline
from tests.runtime.conversations import artifact, cases
from tests.runtime.test_scenario import ASK, tick

COUNTER = cases('| `Tick(n) -> Task.pure(st + n) | `Bad -> Task.fail("no")')


class Files:
    """A directory with a script and a scenario, and the command over them."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.script = directory / "guard.chatml"
        self.events = directory / "events.json5"
        self.capsys = capsys

    def run(self, script: str | bytes, events: str | bytes, *options: str) -> tuple[int, str, str]:
        """The exit status, what was written to standard output, and to standard error."""
        for path, content in ((self.script, script), (self.events, events)):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.call("run", str(self.script), "--events", str(self.events), *options)

    def call(self, *arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        told = self.capsys.readouterr()
        return status, told.out, told.err


@pytest.fixture
def files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Files:
    return Files(tmp_path, capsys)


def test_json_lines_end_with_how_things_stand(files: Files) -> None:
    status, out, err = files.run(COUNTER, f"[{tick('`Tick(1)')}, {tick('`Tick(2)')}]", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert [line["state"] for line in lines] == ["1", "3", "3"]
    assert lines[-1] == {"final": True, "state": "3", "queue": [], "halted": False, "effective_history": []}


def test_a_failed_event_makes_the_exit_status_1_and_a_refused_one_does_not(files: Files) -> None:
    assert files.run(COUNTER, f"[{tick('`Bad')}, {tick('`Tick(1)')}]")[0] == 1
    assert files.run(COUNTER, "[{answer: 'nobody asked'}]")[0] == 0


def test_numbers_are_written_as_json(files: Files) -> None:
    script = cases("| `Pre_tool_call(c) -> let* () = Tool.rewrite_args(c.args) in Task.pure(st)")
    call = "{phase: 'pre_tool_call', call: {id: 'c', name: 't', args: [1, 2.5, 1e22, -0.0, 1e-7]}}"
    _, out, _ = files.run(script, f"[{call}]", "--json")
    assert '"args":[1,2.5,1e+22,0,1e-07]' in out


def test_a_very_deep_decision_can_be_printed(files: Files) -> None:
    script = cases(
        "| `Pre_tool_call(c) -> let deep = ref(`Null) in let i = ref(0) in "
        "while !i < 20000 do deep := `Array([!deep]); i := !i + 1 done; "
        "let* () = Tool.rewrite_args(!deep) in Task.pure(st)"
    )
    status, out, _ = files.run(script, "[{phase: 'pre_tool_call', call: {id: 'c', name: 'f'}}]", "--json")
    assert status == 0
    assert "[" * 20000 in out


def test_a_script_or_a_scenario_at_fault_is_reported_before_any_event(files: Files) -> None:
    events = f"[{tick('`Tick(1)')}]"
    for script, code in [
        ("let initial_state = 0", "type.entry_point_missing"),
        ("let initial_state = 0 let on_event = 7", "type.entry_point"),
        ("let initial_state = ", "syntax."),
        ("let initial_state = 1 + true let on_event ctx st ev = Task.pure(st)", "type.mismatch"),
        (b'let x = "\xff"', ""),
    ]:
        status, out, err = files.run(script, events, "--json")
        assert (status, out) == (1, "")
        assert code in err
        assert "guard.chatml:1:" in err
    status, out, err = files.run(COUNTER, "[\n  {phaze: 'turn_start'}]", "--json")
    assert (status, out) == (1, "")
    assert "events.json5:2:3: error[scenario.unknown_event]" in err
    assert "{phaze: 'turn_start'}" in err
    status, out, err = files.run(COUNTER, b"[\xff]")
    assert (status, out) == (1, "")


def test_a_top_level_that_fails_is_reported_with_its_place_and_what_it_printed(files: Files) -> None:
    script = COUNTER + 'let a = print("starting")\nlet b = 1 / 0\n'
    status, out, err = files.run(script, "[]", "--json")
    assert (status, out) == (1, "")
    assert "starting" in err
    assert "guard.chatml:7:9: error[runtime.division_by_zero]" in err


def test_what_the_top_level_prints_stands_apart_from_json(files: Files) -> None:
    script = COUNTER + 'let a = print("starting")\n'
    status, out, err = files.run(script, "[]", "--json")
    assert (status, len(out.splitlines()), err) == (0, 1, "starting\n")
    assert files.run(script, "[]")[1].startswith("starting\n")


def test_warnings_do_not_stop_the_run(files: Files) -> None:
    script = "let initial_state = 0 let on_event ctx st ev = match ev with | `Tick(n) -> Task.pure(st + n)"
    status, out, err = files.run(script, f"[{tick('`Tick(1)')}]", "--json")
    assert (status, len(out.splitlines())) == (0, 2)
    assert "warning[type.unmatched_events]" in err
    status, out, _ = files.run(script, "[{phase: 'turn_start'}]", "--json")
    assert status == 1
    assert json.loads(out.splitlines()[0])["error"]["kind"] == "runtime"


def test_surfaces(files: Files) -> None:
    script = cases('| `Tick -> let* () = Ui.notify("x") in Task.pure(st)')
    assert files.run(script, "[]")[0] == 0
    status, _, err = files.run(script, "[]", "--surface", "moderator")
    assert (status, "`Ui`" in err) == (1, True)
    pure = "let initial_state = 0 let on_event ctx st ev = Task.pure(st + 1)"
    assert files.run(pure, "[{phase: 'turn_end'}]", "--surface", "core")[0] == 0


def test_either_file_can_be_standard_input(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    files.script.write_text(COUNTER, encoding="utf-8")
    files.events.write_text(f"[{tick('`Tick(4)')}]", encoding="utf-8")

    def stdin(path: Path) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))

    stdin(files.events)
    status, out, _ = files.call("run", str(files.script), "--events", "-", "--json")
    assert (status, json.loads(out.splitlines()[0])["state"]) == (0, "4")
    stdin(files.script)
    status, out, _ = files.call("run", "-", "--events", str(files.events), "--json")
    assert (status, json.loads(out.splitlines()[0])["state"]) == (0, "4")


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["run", "-", "--events", "-"], "both"),
        (["run", "SCRIPT", "--events", "missing.json5"], "missing.json5"),
        (["run", "missing.chatml", "--events", "EVENTS"], "missing.chatml"),
        (["run", "SCRIPT", "--json"], "--events"),
    ],
)
def test_a_call_at_fault_exits_2(files: Files, arguments: list[str], fact: str) -> None:
    files.script.write_text(COUNTER, encoding="utf-8")
    files.events.write_text("[]", encoding="utf-8")
    named = {"SCRIPT": str(files.script), "EVENTS": str(files.events)}
    status, out, err = files.call(*[named.get(argument, argument) for argument in arguments])
    assert (status, out) == (2, "")
    assert fact in err


# -- the timeline


def timeline(script: str, *lines: str, session: str = "{}", **options: Any) -> str:
    scenario = read_scenario(f"{{session: {session}, events: [{', '.join(lines)}]}}")
    stage = Stage(artifact(script, surface=UI_MODERATOR), scenario, [])
    drawing = Timeline(width=0, **options)
    drawn = [line for event in scenario.events for record in stage.play(event) for line in drawing.draw(record)]
    return "\n".join([*drawn, *drawing.close(stage.ending())])


def test_a_timeline() -> None:
    drawn = timeline(
        ASK
        + '| `Turn_start -> let u = print("two\nlines") in let* () = Tool.reject("no") in Task.pure(st)'
        + "| `Item_appended(i) -> "
        'let* () = Turn.replace_item(Item.id(i), Item.user_text("x", "seen")) in Task.pure(st)',
        "{phase: 'turn_start'}",
        "{phase: 'message_appended', item: {type: 'message', role: 'user', content: ['hi']}}",
        tick("`Go"),
        tick("`Other"),
        "{answer: 'Ada'}",
        "{answer: 'yes'}",
        tick("`Go"),
        "{answer: 'Ada'}",
        "{answer: 'no'}",
        "{answer: 'late'}",
    )
    assert (
        drawn
        == """\
  1 ✗ turn_start          failed
      print    two
               lines
      decided  reject: no
      why      turn_start returned an unexpected tool moderation action: reject; only a call under review takes one
  2 ● message_appended   user: hi
      effect   Turn.replace_message("7:session:0", user: seen)
      state    0
  3 ◐ internal_event     `Go suspended
      log      info: before
      asks     name?
  4 ○ internal_event     `Other refused
      asks     name?
      why      The session is waiting for an answer; resume it or abandon the request
  5 ◐ internal_event     `Go suspended
      log      info: after
      asks     sure? [yes | no]
  6 ● internal_event     `Go
      effect   Turn.prepend_system("asked")
      effect   Runtime.emit(`Mine)
      state    1
      queue    `Mine
  7 ● ↳ internal_event   `Mine
      state    11
  8 ◐ internal_event     `Go suspended
      log      info: before
      asks     name?
  9 ◐ internal_event     `Go suspended
      log      info: after
      asks     sure? [yes | no]
 10 ✗ internal_event     `Go failed
      why      declined by Ada
 11 ○ answer              refused
      why      The session is not waiting for an answer

11 events: 3 committed, 4 suspended, 2 failed, 2 refused
      state    11
      history  developer: asked
               user: seen"""
    )


def test_a_timeline_of_nothing() -> None:
    assert timeline(COUNTER) == "\n0 events: nothing happened\n      state    0"


def test_items_of_every_kind_are_told_in_one_line() -> None:
    history = (
        "[{type: 'message', role: 'user', content: ['a', {type: 'input_image', image_url: 'u', detail: 'low'}]},"
        " {type: 'function_call', name: 'f', arguments: '{}', call_id: 'c'},"
        " {type: 'function_call_output', call_id: 'c', output: 'done'},"
        " {type: 'custom_tool_call', name: 'g', input: 'raw', call_id: 'd'},"
        " {type: 'reasoning', id: 'r', summary: [{type: 'summary_text', text: 'why'}]}, {odd: 1}]"
    )
    assert timeline(COUNTER, session=f"{{history: {history}}}").splitlines()[3:] == [
        "      history  user: a [input_image]",
        "               call f {}",
        "               output: done",
        "               call g raw",
        "               reasoning: why",
        "               None:",
    ]


def test_a_narrow_terminal_cuts_lines_and_colour_marks_them() -> None:
    drawing = Timeline(width=60, colour=True)
    record = Record("turn_start", "`Turn_start", "failed", "0", logs=(("info", "x" * 200),), brief="y" * 200)
    drawn = list(drawing.draw(record))
    assert all(len(line) < 110 for line in drawn)
    assert "\x1b[31m✗\x1b[0m" in drawn[0]
    assert "…" in drawn[0]
    plain = Timeline(width=60)
    assert all(len(line) <= 60 for line in plain.draw(record))
    assert "\x1b" not in "".join(plain.close(Ending("0", (), False, ())))


UNUSUAL = (
    "[{phase: 'message_appended', item: {type: 'message', role: 'user', content: 'a\\u2028b\\u0085\\ud83d\\ude00é'}},]"
)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_a_record_is_one_line_of_json_whatever_its_text_and_the_encoding(
    files: Files, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    files.script.write_text(COUNTER)
    files.events.write_text(UNUSUAL)
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding=encoding, write_through=True))
    assert main(["run", str(files.script), "--events", str(files.events), "--json"]) == 0
    record, ending = written.getvalue().decode(encoding).splitlines()
    assert json.loads(ending)["effective_history"][0]["content"] == "a\u2028b\u0085\U0001f600é"
    assert "a\u2028b\u0085\U0001f600é" in json.loads(record)["event"]
