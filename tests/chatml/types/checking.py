"""Checks texts against the core surface."""

from __future__ import annotations

from chatml.pipeline import environment
from chatml.source import Source
from chatml.stack import deep
from chatml.surfaces.core import CORE
from chatml.syntax.parse import parse
from chatml.types import Checked, check
from chatml.types.facts import Problem


def check_text(text: str, name: str = "script") -> Checked:
    """The result of checking a script."""
    with deep():
        return check(parse(Source(name, text)), environment(CORE))


def first_problem(text: str) -> Problem:
    """The first problem of a script that has one."""
    return check_text(text).problems[0]


def shown(text: str) -> dict[str, str]:
    """The printed types of a script without problems."""
    checked = check_text(text)
    assert checked.problems == (), [str(diagnostic) for diagnostic in checked.diagnostics]
    return {name: checked.show(name) for name in checked.bindings}
