"""The examples: each one runs through the real command line, and its output stands beside it.

`NAME.chatml` prints what `NAME.out` holds; with a scenario `NAME.json5` it is a moderator and is fed its events.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import ROOT, run

EXAMPLES = sorted((ROOT / "examples").glob("*.chatml"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example(script: Path, update: bool) -> None:
    scenario = script.with_suffix(".json5")
    arguments = [script.name, "--events", scenario.name] if scenario.exists() else [script.name]
    finished = run("chatml", "run", *arguments, cwd=script.parent)
    assert (finished.returncode, finished.stderr) == (0, "")
    expectation = script.with_suffix(".out")
    if update:
        expectation.write_text(finished.stdout, encoding="utf-8")
    assert finished.stdout == expectation.read_text(encoding="utf-8")


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example_has_no_finding(script: Path) -> None:
    """An example gives no warning either."""
    finished = run("chatml", "check", script.name, cwd=script.parent)
    assert (finished.returncode, finished.stderr) == (0, "")
