"""The examples of the shell runtime: they have no finding, and do what their comments say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chatmd
from chatml_shell.manifest.compile import compile_manifest
from tests.house import ROOT, run

EXAMPLES = sorted((ROOT / "examples/shell").glob("*.chatmd"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_no_finding(path: Path) -> None:
    found = run("chatmd", "check", str(path))
    assert (found.returncode, found.stderr) == (0, "")
    assert compile_manifest(chatmd.load_file(path), platform="linux").warnings == ()


def call(name: str, tool: str, arguments: dict[str, object]) -> dict[str, object]:
    """What comes of a call of an example's tool."""
    path = str(ROOT / f"examples/shell/{name}.chatmd")
    found = run("chatmd", "call", path, tool, json.dumps(arguments), "--authorize", "once", "--json")
    value: dict[str, object] = json.loads(found.stdout)
    return value


def test_greeting() -> None:
    assert call("greeting", "greet", {"arguments": ["Ada"]})["output"] == "Hello Ada\n"


def test_git_asks_allows_and_denies() -> None:
    assert call("git", "git", {"program": "git", "arguments": ["status"]})["code"] is None
    assert call("git", "git", {"program": "git", "arguments": ["commit"]})["code"] == "permission_required"
    assert call("git", "git", {"program": "git", "arguments": ["push"]})["code"] == "denied"
    assert call("git", "git", {"program": "sh", "arguments": ["-c", "id"]})["code"] == "denied"
