"""What a program does, seen from outside: through the door of the package and nothing else."""

from __future__ import annotations

import attrs

import chatml
from chatml.diagnostics.model import Diagnostic
from chatml.pipeline import EngineName
from chatml.surfaces.shell import SHELL_SURFACES

SURFACES = {"core": chatml.CORE, "moderator": chatml.MODERATOR, "ui": chatml.UI_MODERATOR, **SHELL_SURFACES}


@attrs.frozen
class Outcome:
    """What checking and running a program gave: what it printed, and its findings with the failure, if any, last."""

    printed: tuple[str, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def error(self) -> Diagnostic | None:
        """The first error, or None when the program was accepted and ran to its end."""
        return next((finding for finding in self.findings if finding.severity == "error"), None)

    @property
    def report(self) -> str | None:
        """Every finding as the command line draws it, or None when there is none."""
        return "\n\n".join(map(str, self.findings)) if self.findings else None


def observe(
    program: str,
    name: str = "program.chatml",
    surface: str = "core",
    limits: chatml.Limits | None = None,
    engine: EngineName = "compiled",
    journaled: bool = False,
) -> Outcome:
    """Check a program and, when it has no error, run it."""
    findings = chatml.check(program, name=name, surface=SURFACES[surface])
    if any(finding.severity == "error" for finding in findings):
        return Outcome((), findings)
    lines: list[str] = []
    compiled = chatml.compile(program, name=name, surface=SURFACES[surface])
    try:
        compiled.run(print=lines.append, limits=limits or chatml.Limits(), engine=engine, journaled=journaled)
    except chatml.RuntimeFailure as failure:
        findings = (*findings, failure.diagnostic)
    return Outcome(tuple("\n".join(lines).split("\n")) if lines else (), findings)


def seen(outcome: Outcome) -> tuple[object, ...]:
    """What must be the same: the calls that a trace names may differ, as engines differ in what they keep of them."""
    error = outcome.error
    if error is None:
        return outcome.printed, None
    start = None if error.span is None else error.span.start
    return outcome.printed, error.code, error.message, start, [label.span.start for label in error.labels]
