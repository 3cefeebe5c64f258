"""Manifests that a session has authorised before (section 10.2).

A grant is stored after somebody has said yes, and counts for exactly the same authority from exactly the same files, in
the same session. A grant that cannot be stored is not given.
"""

from __future__ import annotations

import getpass
import inspect
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from chatml_shell.authority.authoriser import AuthoriseOnce, Authoriser, Reject, Verdict
from chatml_shell.authority.sources import IDENTITY
from chatml_shell.errors import StorageError
from chatml_shell.manifest.record import Manifest
from chatml_shell.storage.state_file import StateFile

SECTION = "manifest_grants"
SCHEMA_VERSION = 1
Json = dict[str, Any]


def facts(manifest: Manifest, session_id: str, environment: Mapping[str, str]) -> Json:
    """What a grant is for; a later manifest must have the same facts."""
    material = manifest.material
    declared = (*material.runtimes.values(), *material.tools.values(), *material.scripts.values())
    records = [one.source_record for one in declared if one.source_record is not None]
    root = next((record for record in records if record.prompt_dir != "/"), None)
    files = sorted({(f"{record.within or '.'}/{record.file}", record.source_sha256) for record in records})
    return {
        "schema_version": SCHEMA_VERSION,
        "manifest_sha256": manifest.sha256,
        "source_root": None if root is None else os.path.realpath(root.prompt_dir),
        "repository_identity": environment.get(IDENTITY),
        "profiles": sorted(
            [one.id, one.resolved_profile] for one in material.runtimes.values() if one.resolved_profile
        ),
        "files": [list(one) for one in files],
        "session_id": session_id,
        "user": getpass.getuser(),
        "host": socket.gethostname(),
    }


@attrs.frozen
class ManifestGrants:
    """The grants in the state of a session. Methods raise `StorageError`."""

    file: StateFile

    def all(self) -> list[Json]:
        """Every grant, oldest first, revoked ones included."""
        return list(self.file.read().get(SECTION, []))

    def fits(self, wanted: Json, now: float) -> bool:
        """Whether a grant for these facts counts."""
        return any(
            one.get("facts") == wanted
            and one.get("revoked") is None
            and (one.get("expires_at") is None or one["expires_at"] > now)
            for one in self.all()
        )

    def add(self, wanted: Json, now: float) -> None:
        """Keep a grant."""
        grant = {
            "id": f"manifest-grant-{secrets.token_hex(8)}",
            "facts": wanted,
            "created_at": now,
            "expires_at": None,
            "revoked": None,
        }
        self.file.update(lambda state: {**state, SECTION: [*state.get(SECTION, []), grant]})

    def revoke(self, grant_id: str, reason: str | None, now: float) -> Json:
        """Let a grant count no more. `shell.approval_grant_not_found` when there is none."""
        found: list[Json] = []

        def change(state: Json) -> Json:
            kept = state.get(SECTION, [])
            found.extend(one for one in kept if one["id"] == grant_id)
            if not found:
                raise StorageError("shell.approval_grant_not_found", f"unknown grant {grant_id}")
            revoked = {"at": now, "reason": reason}
            return {**state, SECTION: [{**one, "revoked": revoked} if one["id"] == grant_id else one for one in kept]}

        self.file.update(change)
        return found[0]


def remembering(
    grants: ManifestGrants,
    session_id: str,
    environment: Mapping[str, str],
    fallback: Authoriser,
    clock: Callable[[], float] = time.time,
) -> Authoriser:
    """An authoriser that knows what the session has authorised, asks `fallback` about the rest, and remembers a yes."""

    async def decide(manifest: Manifest, summary: str) -> Verdict:
        wanted = facts(manifest, session_id, environment)
        try:
            if grants.fits(wanted, clock()):
                return AuthoriseOnce()
        except StorageError as error:
            return Reject(f"the grants of the session cannot be read: {error}")
        verdict = fallback(manifest, summary)
        if inspect.isawaitable(verdict):
            verdict = await verdict
        if isinstance(verdict, AuthoriseOnce):
            try:
                grants.add(wanted, clock())
            except StorageError as error:
                return Reject(f"the grant cannot be stored: {error}")
        return verdict

    return decide
