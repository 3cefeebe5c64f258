"""The house as data: its packages, their modules, and how to run its commands without an installation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "chatml": ROOT / "chatml",
    "chatmd": ROOT / "chatmd",
    "chatml_runtime": ROOT / "runtime/chatml_runtime",
    "chatml_shell": ROOT / "runtime/chatml_shell",
    "chatml_tools": ROOT / "tools/chatml_tools",
}
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = {
    "chatml": "from chatml_tools.commands import main; raise SystemExit(main())",
    "chatmd": "from chatml_tools.documents import main; raise SystemExit(main())",
}


@attrs.frozen
class ModuleFile:
    """A module of the house: its dotted name, and where its text stands."""

    name: str
    path: Path


def modules() -> Iterator[ModuleFile]:
    """Every module of the packages."""
    for package, directory in PACKAGES.items():
        for path in sorted(directory.rglob("*.py")):
            parts = [package, *path.relative_to(directory).with_suffix("").parts]
            yield ModuleFile(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path)


def environment(**changes: str) -> dict[str, str]:
    """The environment for a child process: finds the packages, writes UTF-8, uses no colour."""
    search_path = os.pathsep.join([str(ROOT), str(ROOT / "runtime"), str(ROOT / "tools")])
    settings = {"PYTHONPATH": search_path, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "COLUMNS": "100"}
    return {**os.environ, **settings, **changes}


def run(command: str, *arguments: str, stdin: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run one of the project's commands in a process of its own, as a shell would."""
    return subprocess.run(
        [sys.executable, "-c", COMMANDS[command], *arguments],
        cwd=cwd,
        env=environment(),
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
