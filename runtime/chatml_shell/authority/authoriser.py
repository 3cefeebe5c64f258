"""Asking for a manifest, and the grant that comes of a yes."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

import attrs

from chatml_shell.manifest.record import Manifest
from chatml_shell.problems import fault


@attrs.frozen
class AuthoriseOnce:
    """Yes: this manifest, in this process."""


@attrs.frozen
class Reject:
    """No, and why."""

    message: str = "nobody has authorised it"


Verdict = AuthoriseOnce | Reject
Authoriser = Callable[[Manifest, str], Verdict | Awaitable[Verdict]]
"""Decides about a manifest, given with its summary. May be a coroutine function."""


@attrs.frozen
class Grant:
    """A yes. It holds the hash of what was authorised and nothing else."""

    manifest_sha256: str


def reject(manifest: Manifest, summary: str) -> Verdict:
    """The authoriser of libraries and batch runs: nothing runs unless somebody has said so."""
    return Reject()


def only(sha256: str) -> Authoriser:
    """An authoriser that knows one manifest, by its hash."""

    def decide(manifest: Manifest, summary: str) -> Verdict:
        if manifest.sha256 == sha256.lower():
            return AuthoriseOnce()
        return Reject(f"the hash {sha256} was authorised, and this is {manifest.sha256}")

    return decide


def once(manifest: Manifest, summary: str) -> Verdict:
    """The authoriser of a host that has decided already: this manifest, whatever it is, for this process."""
    return AuthoriseOnce()


async def authorise(manifest: Manifest, authoriser: Authoriser) -> Grant:
    """Ask about a manifest. Raises `ShellError` (`shell.manifest_rejected`); an authoriser that fails has not said
    yes."""
    try:
        verdict = authoriser(manifest, manifest.summary)
        if inspect.isawaitable(verdict):
            verdict = await verdict
    except Exception as error:
        verdict = Reject(f"the authoriser failed: {type(error).__name__}")
    if isinstance(verdict, AuthoriseOnce):
        return Grant(manifest.sha256)
    why = verdict.message if isinstance(verdict, Reject) else "the authoriser gave no verdict"
    raise fault("shell.manifest_rejected", None, path=("manifest",), sha256=manifest.sha256, why=why)


def check_grant(grant: Grant, manifest: Manifest) -> None:
    """See that a grant is for this manifest. Raises `ShellError` (`shell.manifest_grant_mismatch`)."""
    if grant.manifest_sha256 != manifest.sha256:
        raise fault(
            "shell.manifest_grant_mismatch",
            None,
            path=("manifest",),
            granted=grant.manifest_sha256,
            sha256=manifest.sha256,
        )
