"""What a person is shown about a command, and who shows it.

Everything in a question is redacted, freed of control characters and bounded before it gets here, and the rationale is
the caller's own word: nobody should believe it.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

import attrs

from chatml_shell.approvals.answers import Answer, Deny, Once
from chatml_shell.approvals.identity import Identity
from chatml_shell.output.redact import Redactor
from chatml_shell.output.sanitise import displayed
from chatml_shell.policy.decide import Decision
from chatml_shell.policy.subject import Subject

LONGEST_COMMAND = 4_096
LONGEST_PREVIEW = 256
LONGEST_RATIONALE = 1_024
LONGEST_TEXT = 1_024
NUMBERS = itertools.count(1)


@attrs.frozen(kw_only=True)
class Question:
    """A request for approval, as it may be shown. `call_hash` is the identity that an answer is about."""

    id: str
    call_hash: str
    runtime_id: str
    manifest_sha256: str
    scopes: tuple[str, ...]
    kind: str
    command: str
    argv: tuple[str, ...]
    executable: str
    executable_sha256: str
    script_sha256: str | None
    cwd: str
    effects: tuple[str, ...]
    reason: str
    rationale: str | None


class Unanswered(Exception):
    """Raised by a provider that has nobody to ask: the request ends as `permission_required`."""


Provider = Callable[[Question], Awaitable[Answer]]
"""Asks a person. It may take its time, and must not block the event loop."""


def ask_about(
    subject: Subject, identity: Identity, decision: Decision, scopes: tuple[str, ...], redactor: Redactor
) -> Question:
    """The question about a subject."""

    def shown(text: str, limit: int = LONGEST_TEXT) -> str:
        return displayed(redactor.redact(text), limit)

    words = tuple(shown(word, LONGEST_COMMAND) for word in subject.command.argv)
    if subject.kind == "raw_shell":
        preview = displayed(redactor.redact(subject.command.arguments[-1]), LONGEST_PREVIEW)
        words = (*words[:-1], preview)
    return Question(
        id=f"shell-approval-{next(NUMBERS)}",
        call_hash=identity.command_hash,
        runtime_id=subject.runtime_id,
        manifest_sha256=subject.manifest_sha256,
        scopes=scopes,
        kind=subject.kind,
        command=displayed(quoted(words), LONGEST_COMMAND),
        argv=words,
        executable=shown(subject.executable.canonical),
        executable_sha256=subject.executable.sha256,
        script_sha256=subject.script.sha256 if subject.script is not None else None,
        cwd=shown(subject.cwd),
        effects=tuple(shown(str(effect)) for effect in subject.effects),
        reason=shown(decision.reason),
        rationale=None if subject.rationale is None else shown(subject.rationale, LONGEST_RATIONALE),
    )


def quoted(words: tuple[str, ...]) -> str:
    """Words as one line that shows where each begins and ends.

    >>> print(quoted(("git", "commit", "-m", "a b")))
    git commit -m 'a b'
    """
    return " ".join(
        word if word and PLAIN.issuperset(word) else "'" + word.replace("'", "'\\''") + "'" for word in words
    )


PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+/.,:@%")


async def deny_all(question: Question) -> Answer:
    """The provider of a host that never approves."""
    return Deny("this host approves nothing")


async def approve_all(question: Question) -> Answer:
    """The provider of tests: everything is approved, once."""
    return Once()
