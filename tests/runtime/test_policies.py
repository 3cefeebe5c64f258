"""The example policies do what their recordings say (examples/policies/README.md).

`pytest tests/runtime/test_policies.py --update` rewrites the recordings; then read the diff.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatml.source import Source
from chatml.surfaces.ui import UI_MODERATOR
from chatml.syntax.parse import parse
from chatml_runtime.scenario import Stage, read_scenario
from chatml_runtime.script.scripts import ScriptArtifact, compile_script
from chatml_tools.commands import main
from tests.house import ROOT

POLICIES = ROOT / "examples" / "policies"
SCRIPTS = sorted(POLICIES.glob("*.chatml"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_policy_does_what_is_recorded(script: Path, capsys: pytest.CaptureFixture[str], update: bool) -> None:
    status = main(["run", str(script), "--events", str(script.with_suffix(".scenario.json5")), "--json"])
    told = capsys.readouterr()
    assert (status, told.err) == (0, "")
    recording = script.with_suffix(".jsonl")
    if update:
        recording.write_text(told.out, encoding="utf-8")
    assert told.out == recording.read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_policy_is_listed_and_explained(script: Path) -> None:
    assert f"`{script.name}`" in (POLICIES / "README.md").read_text(encoding="utf-8")
    text = script.read_text(encoding="utf-8")
    assert text.startswith("(* ")
    parse(Source(script.name, text))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_policy_can_be_stored_between_any_two_events(script: Path) -> None:
    """The state of every policy is data at any time, so that a session can be resumed."""
    compiled = compile_script(script.read_text(encoding="utf-8"), surface=UI_MODERATOR)
    scenario = read_scenario(script.with_suffix(".scenario.json5").read_text(encoding="utf-8"))
    stage = Stage(ScriptArtifact("main", compiled), scenario, [])
    for line in scenario.events:
        stage.play(line)
        if stage.moderator.pending is None:
            json.dumps(stage.moderator.snapshot().to_json())
