"""`chatml test`: scenarios with expectations, what differs, rewriting them, reports, and the plugin of pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chatml.source import Source
from chatml_runtime.scenario import read_scenario
from chatml_runtime.scenario.expectations import ABSENT, compare
from chatml_tools.commands import main
from tests.house import ROOT, environment

GUARD = """
let initial_state = 0
let on_event ctx st ev = match ev with
  | `Pre_tool_call(call) ->
    if call.name == "read" then let* () = Tool.approve() in Task.pure(st + 1)
    else let* () = Tool.reject("no " ++ call.name) in Task.pure(st)
  | `Turn_end -> Task.fail("too late")
  | _ -> Task.pure(st)
"""

SCENARIO = """// What the guard lets pass.
{
  events: [
    { phase: 'pre_tool_call', call: { id: 'c1', name: 'read' } },
    { phase: 'pre_tool_call', call: { id: 'c2', name: 'write' } },
  ],
  // one for each call
  expect: [
    { decision: { kind: 'approve' }, state: '1' },      // reading is harmless
    { decision: { kind: %s } },
  ],
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "guard.chatml").write_text(GUARD, encoding="utf-8")
    return tmp_path


def scenario(folder: Path, text: str, name: str = "guard.scenario.json5") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_scenario_that_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(folder, SCENARIO % "'reject'")
    assert main(["test", str(path)]) == 0
    assert capsys.readouterr() == (f"ok      {path} (2 events)\n1 scenario: 1 passed\n", "")


def test_a_mismatch_is_shown_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(folder, SCENARIO % "'approve'")
    assert main(["test", str(folder)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"FAILED  {path} (2 events)",
        f"    {path}:10:5: event 2, pre_tool_call write {{}}",
        "      decision.kind",
        "        - 'approve'",
        "        + 'reject'",
        "1 scenario: 0 passed, 1 failed",
    ]


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(folder, SCENARIO % "'approve', reason: 'x', args: 1")
    assert main(["test", str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert {key: told[key] for key in ("passed", "failed", "error", "updated")} == {
        "passed": 0,
        "failed": 1,
        "error": 0,
        "updated": 0,
    }
    (outcome,) = told["scenarios"]
    assert (outcome["file"], outcome["script"]) == (str(path), str(folder / "guard.chatml"))
    assert [(found["path"], found.get("expected"), found.get("received")) for found in outcome["mismatches"]] == [
        ([1, "decision", "kind"], "approve", "reject"),
        ([1, "decision", "reason"], "x", "no write"),
        ([1, "decision", "args"], 1, None),
    ]
    assert "received" not in outcome["mismatches"][2]
    assert (outcome["mismatches"][0]["event"], outcome["mismatches"][0]["line"]) == (1, 10)


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("[{}]", "event 2, pre_tool_call write {} was not expected"),
        ("[{}, {}, { status: 'committed' }]", "event 3 was expected and did not happen"),
        ("[{}, {}, { final: true, state: '7' }]", "the ending"),
    ],
)
def test_as_many_expectations_as_events(
    folder: Path, expect: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    events = SCENARIO[: SCENARIO.index("  // one")]
    path = scenario(folder, f"{events} expect: {expect} }}")
    assert main(["test", str(path)]) == 1
    assert said in capsys.readouterr().out


def test_the_ending_can_be_expected(folder: Path) -> None:
    events = SCENARIO[: SCENARIO.index("  // one")]
    path = scenario(folder, f"{events} expect: [{{}}, {{}}, {{ final: true, state: '1', effective_history: [] }}] }}")
    assert main(["test", str(path)]) == 0


def test_a_failed_event_can_be_expected(folder: Path) -> None:
    expect = "[{ status: 'failed', error: { kind: 'task', message: 'too late' } }]"
    path = scenario(folder, f"{{ events: [{{ phase: 'turn_end' }}], expect: {expect} }}")
    assert main(["test", str(path)]) == 0


@pytest.mark.parametrize(
    ("expected", "received", "where"),
    [
        ({}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.0, "b": 2}, []),
        ({"a": True}, {"a": 1}, [("a",)]),
        ({"a": 0}, {"a": False}, [("a",)]),
        ({"a": None}, {}, [("a",)]),
        ([1], [1, 2], [(1,)]),
        ([1, 2], [1], [(1,)]),
        ([{"a": [1, {"b": 2}]}], [{"a": [1, {"b": 3, "c": 4}]}], [(0, "a", 1, "b")]),
        ({"a": {}}, {"a": []}, [("a",)]),
        ({"a": {"b": 1}}, {"a": None}, [("a",)]),
    ],
)
def test_partial_matches(expected: object, received: object, where: list[tuple[str | int, ...]]) -> None:
    assert [mismatch.path for mismatch in compare(expected, received)] == where


def test_what_is_missing_is_told_from_null() -> None:
    (mismatch,) = compare({"a": None}, {})
    assert (mismatch.expected, mismatch.received) == (None, ABSENT)


def test_update_keeps_what_holds_and_the_rest_of_the_file(folder: Path) -> None:
    path = scenario(folder, SCENARIO % "'approve'")
    assert main(["test", str(path), "--update"]) == 0
    changed = "{ decision: { kind: 'reject', reason: 'no write' } }"
    assert path.read_text(encoding="utf-8") == (SCENARIO % "'approve'").replace(
        "{ decision: { kind: 'approve' } },\n  ]", changed + ",\n  ]"
    )
    before = path.stat().st_mtime_ns
    assert main(["test", str(path), "--update"]) == 0
    assert path.stat().st_mtime_ns == before


EVENTS = "events: [{ phase: 'turn_start' }, { phase: 'turn_end' }]"


@pytest.mark.parametrize(
    "text",
    [
        f"{{ {EVENTS} }}",
        f"{{ {EVENTS}, }}",
        f"{{\n  {EVENTS},\n  // the end\n}}\n",
        f"{{ expect: [], {EVENTS} }}",
        f"{{ 'expect': [ /* none */ ], {EVENTS} }}",
        f"{{ {EVENTS}, expect: [{{}}] }}",
        f"{{ {EVENTS}, expect: [{{}} /* one */ , ] }}",
        f"{{ {EVENTS}, expect: [{{}}, {{ status: 'committed' }}, {{ status: 'committed' }}, ] }}",
        f"{{ {EVENTS}, expect: [{{ state: '9' }}, {{}}, {{}}, {{ final: true, state: '8' }}] }}",
        f'{{ "{EVENTS[:6]}": {EVENTS[8:]}, "expect": [{{ "state": "x" }}] }}',
        f"\ufeff{{\r\n {EVENTS},\r\n}}\r\n",
        "{ events: [], expect: [{}, {}] }",
    ],
)
def test_what_update_writes_passes(folder: Path, text: str) -> None:
    """Whatever the expectations are, the file passes once they are rewritten, and its other bytes are the same."""
    path = scenario(folder, "")
    path.write_bytes(text.encode())
    assert main(["test", str(path), "--update"]) == 0
    assert main(["test", str(path)]) == 0
    written = path.read_bytes().decode()
    assert written[:1] == text[:1]
    assert written.count("\r\n") == written.count("\n") or "\r\n" not in text
    assert len(read_scenario(Source("s", written.removeprefix("\ufeff"))).expect or ()) >= text.count("phase")


def test_expectations_written_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(folder, f"{{ expect: [], {EVENTS}, expect: [{{ state: 'x' }}] }}")
    assert main(["test", str(path)]) == 1
    assert "scenario.repeated_key" in capsys.readouterr().err
    assert main(["test", str(path), "--update"]) == 1
    assert "scenario.repeated_key" in capsys.readouterr().err


def test_a_list_of_events_cannot_be_updated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(folder, "[{ phase: 'turn_start' }]")
    assert main(["test", str(path), "--update"]) == 1
    assert "{ events: […], expect: […] }" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == "[{ phase: 'turn_start' }]"


def test_a_scenario_without_expectations_does_not_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(folder, "{ events: [] }")
    assert main(["test", str(path)]) == 1
    assert "expects nothing" in capsys.readouterr().out


def test_which_script(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "{ events: [], expect: [] }"
    (folder / "late.md").write_text(
        f'<script language="chatml" kind="moderator">RAW|{GUARD}|RAW</script>\n<user>Hello</user>\n', encoding="utf-8"
    )
    for name in ("guard.first.scenario.json5", "late.scenario.json5", "alone.scenario.json5"):
        scenario(folder, text, name)
    assert main(["test", str(folder), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["scenarios"]
    assert [(Path(outcome["file"]).name, outcome["status"]) for outcome in told] == [
        ("alone.scenario.json5", "error"),
        ("guard.first.scenario.json5", "passed"),
        ("late.scenario.json5", "passed"),
    ]
    assert "--script" in told[0]["message"]
    assert main(["test", str(folder), "--script", str(folder / "guard.chatml")]) == 0


def test_one_bad_scenario_does_not_stop_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = scenario(folder, "{ events: [], expect: [{ staus: 1 }] }", "guard.a.scenario.json5")
    scenario(folder, SCENARIO % "'reject'", "guard.b.scenario.json5")
    assert main(["test", str(folder)]) == 1
    output, reports = capsys.readouterr()
    assert output.endswith("2 scenarios: 1 passed, 1 could not be run\n")
    assert reports.startswith(f"{bad}:1:26: error[scenario.unknown_key]: expect[0].staus: ")
    assert "did you mean `status`" in reports


def test_a_script_at_fault_is_reported_for_each_scenario(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "guard.chatml").write_text("let initial_state = 0 let on_event ctx st = st", encoding="utf-8")
    for name in ("guard.a.scenario.json5", "guard.b.scenario.json5"):
        scenario(folder, "{ events: [], expect: [] }", name)
    assert main(["test", str(folder)]) == 1
    assert capsys.readouterr().err.count("error[") == 2


def test_junit(folder: Path, tmp_path: Path) -> None:
    scenario(folder, SCENARIO % "'approve'", "guard.a.scenario.json5")
    scenario(folder, SCENARIO % "'reject'", "guard.b.scenario.json5")
    scenario(folder, SCENARIO % "'\\u0001'", "guard.c.scenario.json5")
    scenario(folder, "{", "guard.d.scenario.json5")
    report = tmp_path / "report.xml"
    assert main(["test", str(folder), "--junit", str(report)]) == 1
    suite = ElementTree.parse(report).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "1")
    assert [[child.tag for child in case] for case in suite] == [["failure"], [], ["failure"], ["error"]]
    assert "+ 'reject'" in str(suite[0][0].text)
    assert "scenario.syntax" in str(suite[3][0].text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.scenario.json5"], "missing"),
        (["."], "no scenario found"),
        (["guard.json5", "--junit", "."], "write"),
    ],
)
def test_calls_at_fault(
    folder: Path,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    scenario(folder, SCENARIO % "'reject'", "guard.json5")
    assert main(["test", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_coverage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = "{ events: [{ phase: 'pre_tool_call', call: { id: 'c', name: 'read' } }], expect: [{}] }"
    path = scenario(folder, first, "guard.a.scenario.json5")
    guard = folder / "guard.chatml"
    assert main(["test", str(path), "--coverage"]) == 0
    assert capsys.readouterr().out.splitlines()[1:-1] == [
        f"{guard}: 4 of 8 branches ran",
        f'    {guard}:6:10: let* () = Tool.reject("no " ++ call.name) in Task.pure(st)',
        f'    {guard}:7:18: Task.fail("too late")',
        f"    {guard}:8:10: Task.pure(st)",
    ]
    scenario(folder, "{ events: [{ phase: 'turn_end' }], expect: [{ status: 'failed' }] }", "guard.b.scenario.json5")
    assert main(["test", str(folder), "--coverage", "--json"]) == 0
    (covered,) = json.loads(capsys.readouterr().out)["coverage"]
    assert (covered["script"], covered["branches"], covered["reached"]) == (str(guard), 8, 5)
    assert [missed["line"] for missed in covered["missed"]] == [6, 8]


def test_the_examples_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(ROOT / "examples")]) == 0
    assert "7 scenarios: 7 passed" in capsys.readouterr().out


def test_pytest_collects_scenarios(folder: Path) -> None:
    scenario(folder, SCENARIO % "'approve'", "guard.a.scenario.json5")
    scenario(folder, SCENARIO % "'reject'", "guard.b.scenario.json5")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "chatml_tools.testing.plugin", "-p", "no:cacheprovider", "-q", "."],
        cwd=folder,
        env=environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "+ 'reject'" in done.stdout
    assert "Traceback" not in done.stdout
