"""Grants: approvals that reach beyond one command, and where they are kept (section 16.5)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, Protocol

import attrs

from chatml_shell.approvals.answers import ForScope
from chatml_shell.approvals.identity import Identity, Scope, hash_parts
from chatml_shell.errors import StorageError
from chatml_shell.output.redact import Redactor
from chatml_shell.storage.state_file import StateFile

SECTION = "approval_grants"
Json = dict[str, Any]


@attrs.frozen(kw_only=True)
class Revocation:
    """That a grant counts no more: since when, and why."""

    at: float
    reason: str | None = None


@attrs.frozen(kw_only=True)
class ApprovalGrant:
    """An approval that is kept. `argv` and `prefix` are for people, redacted; the hashes decide."""

    id: str
    scope: str
    session_id: str | None
    covers: Scope
    command_hash: str
    argv: tuple[str, ...]
    prefix: tuple[str, ...]
    prefix_words: int
    prefix_hash: str
    reviewer: str
    created_at: float
    expires_at: float | None
    last_used_at: float | None = None
    revoked: Revocation | None = None

    def fits(self, identity: Identity, session_id: str | None, now: float) -> bool:
        """Whether this grant approves a command now (section 16.2)."""
        if self.revoked is not None or (self.expires_at is not None and self.expires_at <= now):
            return False
        if self.covers != identity.scope:
            return False
        if self.scope == "durable_exact":
            return self.command_hash == identity.command_hash
        if session_id is None or self.session_id != session_id:
            return False
        if self.scope == "exact_session":
            return self.command_hash == identity.command_hash
        words = identity.argv[: self.prefix_words]
        return len(words) == self.prefix_words > 0 and hash_parts(words) == self.prefix_hash


def make_grant(
    answer: ForScope, identity: Identity, *, session_id: str | None, reviewer: str, now: float, redactor: Redactor
) -> ApprovalGrant:
    """The grant of an answer."""
    return ApprovalGrant(
        id=f"grant-{secrets.token_hex(8)}",
        scope=answer.scope,
        session_id=session_id,
        covers=identity.scope,
        command_hash=identity.command_hash,
        argv=tuple(map(redactor.redact, identity.argv)),
        prefix=tuple(map(redactor.redact, answer.prefix)),
        prefix_words=len(answer.prefix),
        prefix_hash=hash_parts(answer.prefix),
        reviewer=reviewer,
        created_at=now,
        expires_at=answer.expires_at,
    )


class GrantStore(Protocol):
    """Keeps grants. Every method may raise `StorageError`."""

    def grants(self) -> Iterable[ApprovalGrant]:
        """All grants, oldest first, revoked ones included."""

    def add(self, grant: ApprovalGrant) -> None:
        """Keep a grant; it counts when this has returned."""

    def revoke(self, grant_id: str, revocation: Revocation) -> ApprovalGrant:
        """Let a grant count no more. `shell.approval_grant_not_found` when there is none."""


class MemoryStore:
    """Grants for as long as the process lasts."""

    def __init__(self) -> None:
        self._grants: dict[str, ApprovalGrant] = {}

    def grants(self) -> Iterable[ApprovalGrant]:
        """All grants, oldest first."""
        return tuple(self._grants.values())

    def add(self, grant: ApprovalGrant) -> None:
        """Keep a grant."""
        self._grants[grant.id] = grant

    def revoke(self, grant_id: str, revocation: Revocation) -> ApprovalGrant:
        """Let a grant count no more."""
        if grant_id not in self._grants:
            raise unknown(grant_id)
        revoked = attrs.evolve(self._grants[grant_id], revoked=revocation)
        self._grants[grant_id] = revoked
        return revoked


@attrs.frozen
class FileStore:
    """Grants in a file: of one session beside its other state, or durable ones of all sessions."""

    file: StateFile

    def grants(self) -> Iterable[ApprovalGrant]:
        """All grants, oldest first."""
        return tuple(decode_grant(one, self.file.path) for one in self.file.read().get(SECTION, ()))

    def add(self, grant: ApprovalGrant) -> None:
        """Keep a grant."""
        self.file.update(lambda state: {**state, SECTION: [*state.get(SECTION, ()), encode_grant(grant)]})

    def revoke(self, grant_id: str, revocation: Revocation) -> ApprovalGrant:
        """Let a grant count no more."""
        found: list[ApprovalGrant] = []

        def change(state: Json) -> Json:
            kept = [decode_grant(one, self.file.path) for one in state.get(SECTION, ())]
            changed = [attrs.evolve(one, revoked=revocation) if one.id == grant_id else one for one in kept]
            found.extend(one for one in changed if one.id == grant_id)
            if not found:
                raise unknown(grant_id)
            return {**state, SECTION: [encode_grant(one) for one in changed]}

        self.file.update(change)
        return found[0]


def encode_grant(grant: ApprovalGrant) -> Json:
    """A grant as plain data."""
    return attrs.asdict(grant)


def decode_grant(given: Any, path: str) -> ApprovalGrant:
    """A grant from plain data. Raises `StorageError` (`shell.approval_file_integrity`)."""
    try:
        revoked = given["revoked"]
        return ApprovalGrant(
            **{
                **given,
                "covers": Scope(**given["covers"]),
                "argv": tuple(given["argv"]),
                "prefix": tuple(given["prefix"]),
                "revoked": None if revoked is None else Revocation(**revoked),
            }
        )
    except (TypeError, KeyError) as error:
        raise StorageError("shell.approval_file_integrity", f"{path} holds a damaged grant: {error}") from None


def unknown(grant_id: str) -> StorageError:
    """The error for a grant that is not there."""
    return StorageError("shell.approval_grant_not_found", f"unknown grant {grant_id}")
