"""A subject: one command as everybody who reviews it sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import attrs

from chatml_shell.effects.effect import Effects
from chatml_shell.plans.command import Command, Kind
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.request import PreparedScript


@attrs.frozen(kw_only=True)
class Stdin:
    """What a command reads: nothing, what the stage before writes, or bytes that the request brought."""

    kind: str = "empty"
    sha256: str | None = None
    size: int = 0

    @classmethod
    def of(cls, data: bytes, *, is_first: bool) -> Stdin:
        """The input of a stage: the first one gets the request's, the others what flows to them."""
        if not is_first:
            return cls(kind="pipeline")
        if not data:
            return cls()
        return cls(kind="supplied", sha256=hashlib.sha256(data).hexdigest(), size=len(data))


@attrs.frozen(kw_only=True)
class Subject:
    """A command under review: who asks, what it is, where it runs, what it would do."""

    request_id: str
    runtime_id: str
    manifest_sha256: str
    session_id: str | None
    origin: str
    rationale: str | None
    kind: Kind
    command: Command
    executable: Executable
    cwd: str
    environment: Mapping[str, str] = attrs.field(repr=False)
    stdin: Stdin
    script: PreparedScript | None
    effects: Effects
