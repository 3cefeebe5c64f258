"""Shared shorthands of the tests of shell declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chatmd.shell.access import ShellAccess
from chatmd.shell.tool import ShellTool
from tests.chatmd.documents import finding, load

EVERYTHING = (Path(__file__).parent / "everything.chatmd").read_text(encoding="utf-8")
"""Every element and attribute of shell declarations, all five modes of tools (S-004)."""


def shell(inside: str = "", attributes: str = 'id="s"') -> str:
    """A runtime around some sections."""
    return f"<shell_access {attributes}>{inside}</shell_access>"


def policy(inside: str) -> str:
    """A runtime with one rule around some matchers."""
    return shell(f'<policy><rule id="r" action="ask">{inside}</rule></policy>')


def access(text: str) -> ShellAccess:
    """The one runtime of a document."""
    (runtime,) = load(text).shell_runtimes
    return runtime


def section(inside: str, name: str) -> Any:
    """One section of a runtime that holds nothing else."""
    return getattr(access(shell(inside)), name)


def tool(text: str) -> ShellTool:
    """The one shell tool of a document."""
    (found,) = load(text).tools
    assert isinstance(found, ShellTool)
    return found


def fault(text: str) -> tuple[str, str, str]:
    """Why a document does not load: code, path, and the text that the finding points at."""
    found = finding(text)
    assert found.span is not None
    return found.code, ".".join(found.path), found.span.text
