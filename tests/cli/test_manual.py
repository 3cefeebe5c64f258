"""docs/cli.md is whole: a section for each command, with a transcript of it."""

from __future__ import annotations

import re

import pytest

from chatml_tools.commands import CHATML
from chatml_tools.documents import CHATMD
from tests.house import ROOT

COMMANDS = [f"{program.name} {command}" for program in (CHATML, CHATMD) for command in program.commands]


def test_sections_are_the_commands() -> None:
    """In the order in which `--help` lists them."""
    manual = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", manual, re.MULTILINE) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_section_shows_its_command(command: str) -> None:
    manual = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    section = manual.split(f"\n## {command}\n")[1].split("\n## ")[0]
    transcripts = "".join(re.findall(r"^```console\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))
    assert re.search(rf"^\$ .*\b{command}\b", transcripts, re.MULTILINE)
