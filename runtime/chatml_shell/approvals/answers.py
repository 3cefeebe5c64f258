"""What a reviewer may answer."""

from __future__ import annotations

from typing import Literal

import attrs

from chatml_shell.plans.command import Command

GrantScope = Literal["exact_session", "prefix_session", "durable_exact"]


@attrs.frozen
class Once:
    """Yes, this time."""


@attrs.frozen
class ForScope:
    """Yes, and again within a scope: until a Unix time, or for as long as the scope lasts. A `prefix_session` covers
    the commands that begin with `prefix`."""

    scope: GrantScope
    prefix: tuple[str, ...] = ()
    expires_at: float | None = None


@attrs.frozen
class Deny:
    """No, and why."""

    reason: str = "denied"


@attrs.frozen
class Rewrite:
    """Another command instead, which is looked at from the start."""

    command: Command


@attrs.frozen
class Defer:
    """The next reviewer may decide."""


Answer = Once | ForScope | Deny | Rewrite | Defer


def scope_of(answer: Answer) -> str | None:
    """The scope that an answer grants; None when it grants nothing."""
    if isinstance(answer, Once):
        return "once"
    return answer.scope if isinstance(answer, ForScope) else None


AUDITED: dict[type, str] = {
    Once: "approve_once",
    ForScope: "approve_scoped",
    Deny: "deny",
    Rewrite: "rewrite",
    Defer: "defer",
}
"""How an answer is called in records."""
