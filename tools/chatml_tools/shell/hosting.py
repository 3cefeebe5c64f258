"""The host that the command line is: its directories, its session, whom it asks."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from chatmd.document import Document
from chatml.records import frozen
from chatml_shell.approvals.grants import FileStore, GrantStore, MemoryStore
from chatml_shell.approvals.question import Provider
from chatml_shell.authority.authoriser import Authoriser
from chatml_shell.authority.manifest_grants import ManifestGrants, remembering
from chatml_shell.extensions.instances import FileSnapshots
from chatml_shell.instantiate.host import Host, host_paths
from chatml_shell.manifest.compile import compile_manifest
from chatml_shell.manifest.record import Manifest
from chatml_shell.storage.places import durable_file, session_file
from chatml_tools.console import UsageError

SESSION_OPTION = {"metavar": "DIR", "help": "the directory of the session: its grants, its audit, its scripts' states"}


@frozen
class SessionPlace:
    """A session on disk. Its id follows from where it is: moved elsewhere, its approvals count no more."""

    directory: str

    @property
    def id(self) -> str:
        """The session's id."""
        return f"session-{hashlib.sha256(self.directory.encode()).hexdigest()[:16]}"

    @property
    def grants(self) -> FileStore:
        """The approvals of the session."""
        return FileStore(session_file(self.directory))

    @property
    def manifests(self) -> ManifestGrants:
        """The manifests that the session has authorised."""
        return ManifestGrants(session_file(self.directory))

    @property
    def snapshots(self) -> FileSnapshots:
        """The states of its scripts."""
        return FileSnapshots(session_file(self.directory))


def session_place(directory: str | None) -> SessionPlace | None:
    """The session of a call; it is made where there is none."""
    if directory is None:
        return None
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot use the session {directory}: {error.strerror}") from None
    return SessionPlace(os.path.realpath(directory))


def durable_grants() -> FileStore:
    """The approvals of this user that outlive sessions."""
    return FileStore(durable_file(os.environ, str(Path.home())))


def manifest_of(document: Document) -> Manifest:
    """The manifest of a document on this machine. Raises `ShellError`."""
    return compile_manifest(document)


def make_host(manifest: Manifest, session: SessionPlace | None, provider: Provider | None) -> Host:
    """The host of a call in the directory where it is made."""
    grants: GrantStore = MemoryStore() if session is None else session.grants
    return Host(
        paths=host_paths(manifest, os.getcwd(), None if session is None else session.directory),
        session_id="call" if session is None else session.id,
        provider=provider,
        session_grants=grants,
        durable_grants=durable_grants(),
    )


def remembered(authoriser: Authoriser, session: SessionPlace | None) -> Authoriser:
    """An authoriser that also knows what the session has authorised."""
    if session is None:
        return authoriser
    return remembering(session.manifests, session.id, os.environ, authoriser)
