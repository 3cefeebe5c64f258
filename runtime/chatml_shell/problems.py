"""The findings of the shell runtime: facts in, one wording per code out (shell.md section 23).

A phase says `raise fault("shell.backend_unavailable", span, path=…, runtime=…)`; the sentence and the help are decided
here. Each code has an entry in `chatml_shell/catalogue/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chatmd.report.problems import Diagnostic, worded
from chatmd.report.wording import Wording
from chatml.source import Span
from chatml_shell.errors import ShellError

WORDINGS: dict[str, Wording] = {}


def problem(code: str, span: Span | None, **facts: Any) -> Diagnostic:
    """The finding of a code of this package. Keywords as in `chatmd.report.problems.worded`."""
    return worded(WORDINGS[code], code, span, **facts)


def fault(code: str, span: Span | None, **facts: Any) -> ShellError:
    """The exception for one finding, ready to be raised."""
    return ShellError([problem(code, span, **facts)])


def sorted_findings(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings without repetitions in the order of reports: by code, path and message (section 9.1)."""
    found = {(one.code, one.path, one.message): one for one in findings}
    return [found[key] for key in sorted(found)]
