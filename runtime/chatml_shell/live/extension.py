"""What extends a runtime, as the executor meets it: scripts and programs look the same here (shell.md section 8).

An extension answers with one of a few records or raises `ExtensionFailed`; what a failure counts as is said by the
declaration's `failure`, and is the stricter outcome where that says nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from chatml_shell.effects.effect import Effects
from chatml_shell.errors import NoAnswerError
from chatml_shell.output.finalise import Output
from chatml_shell.plans.outcome import Status
from chatml_shell.policy.decide import Decision
from chatml_shell.policy.matcher import Program
from chatml_shell.policy.subject import Subject

LENIENT = ("keep", "no_match")


class ExtensionFailed(NoAnswerError):
    """An extension that gave no answer: a code of section 23, and why, without secrets."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")


@attrs.frozen
class Added:
    """Effects that an analyzer adds."""

    effects: Effects


@attrs.frozen
class Replaced:
    """Effects that an analyzer puts in the place of those known so far."""

    effects: Effects


@attrs.frozen
class Continue:
    """The command goes on as it is."""


@attrs.frozen
class RewriteTo:
    """Other words, looked at from the start."""

    argv: tuple[str, ...]


@attrs.frozen
class Respond:
    """A result in the place of running the command."""

    status: Status
    stdout: str
    stderr: str


@attrs.frozen
class RejectWith:
    """The command, or its result, must not go on."""

    reason: str


@attrs.frozen
class Keep:
    """The result stays as it is."""


@attrs.frozen
class ReplaceResult:
    """Another result; `status` None keeps the status."""

    stdout: str
    stderr: str
    status: Status | None = None


@attrs.frozen(kw_only=True)
class Finished:
    """A command's result as interceptors see it."""

    subject: Subject
    status: Status
    output: Output
    intercepted_by: str | None


@attrs.frozen(kw_only=True)
class LiveAnalyzer:
    """Adds to what is known about effects; with `replaces` it may also take away."""

    id: str
    replaces: bool
    failure: str
    analyze: Callable[[Subject], Awaitable[Added | Replaced]]


@attrs.frozen(kw_only=True)
class LiveBefore:
    """Sees a command that the policy does not deny, if `match` holds for it."""

    id: str
    failure: str
    match: Program | None
    before: Callable[[Subject, Decision], Awaitable[Continue | RewriteTo | Respond | RejectWith]]


@attrs.frozen(kw_only=True)
class LiveAfter:
    """Sees a command's result, finalised."""

    id: str
    failure: str
    after: Callable[[Finished], Awaitable[Keep | ReplaceResult | RejectWith]]
