"""A failing handler says where it failed: in the timeline, in JSON, in `str(error)`, in reports of tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatml.values.limits import Limits
from chatml_runtime.script.errors import LimitExceededError, ScriptRuntimeError, TaskFailedError
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.scripts import compile_script
from chatml_tools.commands import main

POLICY = """let initial_state = 0
let rec spin n = spin(n + 1)
let on_event ctx st ev = match ev with
  | `Turn_start -> Task.pure(1 / st)
  | `Turn_end -> Task.pure(spin(0))
  | `Session_start -> let i = ref(0) in while true do i := !i + 1 done; Task.pure(!i)
  | _ -> Task.fail("sorry")
"""
CONTEXT = {
    "phase": "p",
    "session_id": "s",
    "now_ms": 0,
    "items": [],
    "available_tools": [],
    "session_meta": ("Null",),
}


@pytest.mark.parametrize("engine", ["compiled", "walk"])
@pytest.mark.parametrize(
    ("event", "kind", "said"),
    [
        ("Turn_start", ScriptRuntimeError, "p.chatml:4:30: error[runtime.division_by_zero]"),
        ("Turn_end", LimitExceededError, "in the function `spin`"),
        ("Session_start", LimitExceededError, "in the loop of line 6"),
    ],
)
def test_the_error_has_its_place(engine: str, event: str, kind: type[ScriptRuntimeError], said: str) -> None:
    session = compile_script(POLICY, name="p.chatml", engine=engine).instantiate(OpRegistry.standard())  # type: ignore[arg-type]
    with pytest.raises(kind) as caught:
        session.handle_event(CONTEXT, (event,), limits=Limits(steps=1_000))
    assert said in str(caught.value)
    assert "^^^" in str(caught.value)


def test_a_failed_task_keeps_its_exact_text() -> None:
    session = compile_script(POLICY).instantiate(OpRegistry.standard())
    with pytest.raises(TaskFailedError) as caught:
        session.handle_event(CONTEXT, ("Session_resume",))
    assert str(caught.value) == "sorry"


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.chatml").write_text(POLICY, encoding="utf-8")
    scenario = "{ events: [{ phase: 'turn_start' }], expect: [{ status: 'committed' }] }"
    (tmp_path / "p.scenario.json5").write_text(scenario, encoding="utf-8")


@pytest.mark.usefixtures("policy")
def test_commands_say_the_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.chatml", "--events", "p.scenario.json5"]) == 1
    timeline = capsys.readouterr().out
    assert "at       p.chatml:4:30" in timeline
    assert "^^^^^^" in timeline
    assert main(["run", "p.chatml", "--events", "p.scenario.json5", "--json"]) == 1
    record = json.loads(capsys.readouterr().out.splitlines()[0])
    assert record["error"] == {"kind": "runtime", "message": "division by zero", "at": {"line": 4, "column": 30}}
    assert main(["test", "p.scenario.json5"]) == 1
    report = capsys.readouterr().out
    assert "the policy failed at p.chatml:4:30" in report
    assert "Task.pure(1 / st)" in report
