"""`chatml new`: what it creates works as it stands, and it overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatml_tools.commands import main
from chatml_tools.documents import main as documents
from tests.house import run

FILES = ["README.md", "agent.chatmd", "policy.chatml", "policy.scenario.json5"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "guard"]) == 0
    assert capsys.readouterr() == (f"created guard: {', '.join(FILES)}\nnext: chatml test guard\n", "")
    return tmp_path / "guard"


def test_what_it_creates(project: Path) -> None:
    assert sorted(path.name for path in project.iterdir()) == FILES
    assert (project / "README.md").read_text(encoding="utf-8").startswith("# guard\n")


@pytest.mark.parametrize(
    "command",
    [
        ["run", "policy.chatml", "--events", "policy.scenario.json5"],
        ["run", "agent.chatmd", "--events", "policy.scenario.json5"],
        ["test", "."],
        ["check", "policy.chatml", "agent.chatmd"],
        ["fmt", "--check", "policy.chatml"],
    ],
    ids=" ".join,
)
def test_its_commands_pass(project: Path, command: list[str]) -> None:
    """Every command of the README runs, and reports nothing."""
    done = run("chatml", *command, cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_its_prompt_is_clean(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert documents(["check", str(project / "agent.chatmd")]) == 0
    assert capsys.readouterr().err == ""


def test_its_scenario_can_fail(project: Path) -> None:
    policy = project / "policy.chatml"
    policy.write_text(policy.read_text(encoding="utf-8").replace('"search"', '"find"'), encoding="utf-8")
    assert run("chatml", "test", ".", cwd=project).returncode == 1


def test_an_empty_directory_will_do(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_it_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("", encoding="utf-8")
    for directory in (tmp_path, tmp_path / "mine"):
        assert main(["new", str(directory)]) == 2
        assert f"{directory} exists and is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_what_it_cannot_create(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["new", str(tmp_path / "file" / "project")]) == 2
    assert "cannot create" in capsys.readouterr().err
