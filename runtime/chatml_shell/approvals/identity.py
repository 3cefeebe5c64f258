"""What exactly was approved: hashes over length-prefixed parts (section 16.1).

A list is hashed as each part's length, a colon and the part, so that no two lists have the same text: `["ab", "c"]` is
not `["a", "bc"]`. A stage that reads from the stage before has that stage's identity in the place of its input's hash:
`cat x | sh` does not approve the `sh` of `curl y | sh`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import attrs

from chatml_shell.policy.subject import Subject


def hash_parts(parts: Iterable[str]) -> str:
    """The SHA-256 of a list of texts.

    >>> hash_parts(["ab", "c"]) == hash_parts(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()


@attrs.frozen(kw_only=True)
class Scope:
    """What an approval for a session covers beside the words of a command."""

    manifest_sha256: str
    runtime_id: str
    kind: str
    executable_sha256: str
    cwd_sha256: str
    environment_sha256: str
    stdin_sha256: str
    stdin_bytes: int
    script_sha256: str


@attrs.frozen(kw_only=True)
class Identity:
    """What one approval is about."""

    scope: Scope
    argv: tuple[str, ...]
    command_hash: str


def identify(subject: Subject, upstream: str = "") -> Identity:
    """The identity of a subject; `upstream` is the `command_hash` of the stage that writes its input."""
    stdin = upstream if subject.stdin.kind == "pipeline" else subject.stdin.sha256 or ""
    variables = (part for pair in sorted(subject.environment.items()) for part in pair)
    scope = Scope(
        manifest_sha256=subject.manifest_sha256,
        runtime_id=subject.runtime_id,
        kind=subject.kind,
        executable_sha256=subject.executable.sha256,
        cwd_sha256=hash_parts([subject.cwd]),
        environment_sha256=hash_parts(variables),
        stdin_sha256=stdin,
        stdin_bytes=subject.stdin.size,
        script_sha256=subject.script.sha256 if subject.script is not None else "",
    )
    parts = (
        scope.manifest_sha256,
        scope.runtime_id,
        scope.kind,
        subject.executable.canonical,
        scope.executable_sha256,
        scope.cwd_sha256,
        scope.environment_sha256,
        scope.stdin_sha256,
        str(scope.stdin_bytes),
        scope.script_sha256,
        *subject.command.argv,
    )
    return Identity(scope=scope, argv=subject.command.argv, command_hash=hash_parts(parts))
