"""Asking at a terminal, and reading answers that were given in advance."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from chatmd.shell.authority import authority, show_authority
from chatml_shell.approvals.answers import Answer, Deny, ForScope, Once
from chatml_shell.approvals.question import Question
from chatml_shell.authority.authoriser import AuthoriseOnce, Authoriser, Reject, Verdict, once, only, reject
from chatml_shell.chain.parse import ChainError, words_of
from chatml_shell.manifest.record import Manifest
from chatml_tools.console import UsageError

ANSWERS = "once, session, prefix:WORD WORD, durable, deny, deny:REASON"
HASH_LENGTH = 64


def is_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def authoriser_of(authorize: str | None) -> Authoriser:
    """Who decides about a manifest: the option of the call, else the person at the terminal, else nobody."""
    if authorize == "once":
        return once
    if authorize is not None:
        if len(authorize) != HASH_LENGTH or not all(digit in "0123456789abcdefABCDEF" for digit in authorize):
            raise UsageError("--authorize takes `once` or the 64 digits of a manifest's hash")
        return only(authorize)
    return ask_for_manifest if is_terminal() else reject


async def ask_for_manifest(manifest: Manifest, summary: str) -> Verdict:
    """Ask the person at the terminal about a manifest."""
    lines = [summary, *(f"  {show_authority(authority(one))}" for one in manifest.material.runtimes.values())]
    print("\n".join(lines), file=sys.stderr)
    answer = await read_line("Authorise this manifest for this call? [y/N] ")
    return AuthoriseOnce() if answer.strip().lower() in ("y", "yes") else Reject("the person at the terminal said no")


async def ask_for_command(question: Question) -> Answer:
    """Ask the person at the terminal about a command."""
    lines = [
        f"approval needed in {question.runtime_id}: {question.reason}",
        f"  command     {question.command}",
        f"  executable  {question.executable} ({question.executable_sha256[:12]}…)",
        f"  directory   {question.cwd}",
        f"  effects     {', '.join(question.effects) or 'none'}",
    ]
    if question.rationale is not None:
        lines.append(f"  the caller says, unverified: {question.rationale}")
    print("\n".join(lines), file=sys.stderr)
    while True:
        text = (await read_line(f"[{ANSWERS}] ")).strip()
        try:
            return parse_answer(text)
        except UsageError as error:
            print(error, file=sys.stderr)


async def read_line(prompt: str) -> str:
    """A line of the terminal; nothing when it is closed."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return await asyncio.to_thread(sys.stdin.readline) or "deny"


def parse_answers(texts: Sequence[str] | None) -> list[Answer]:
    """The answers of a call, in order. Raises `UsageError`."""
    return [parse_answer(text) for text in texts or ()]


def parse_answer(text: str) -> Answer:
    """An answer as the command line spells it. Raises `UsageError`.

    >>> parse_answer("prefix:git log")
    ForScope(scope='prefix_session', prefix=('git', 'log'), expires_at=None)
    """
    name, _, rest = text.partition(":")
    if text == "once":
        return Once()
    if text == "session":
        return ForScope("exact_session")
    if text == "durable":
        return ForScope("durable_exact")
    if name == "deny":
        return Deny(rest or "denied")
    if name == "prefix" and rest.strip():
        try:
            return ForScope("prefix_session", words_of(rest))
        except ChainError as error:
            raise UsageError(f"cannot read the words of the answer `{text}`: {error}") from None
    raise UsageError(f"`{text}` is not an answer; there are: {ANSWERS}")
