"""What was approved: of a session, or durably; and taking it back."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from chatml_shell.approvals.grants import Revocation, encode_grant
from chatml_shell.approvals.question import quoted
from chatml_shell.audit.recorder import append_management
from chatml_shell.errors import StorageError
from chatml_tools.console import UsageError, print_json, write
from chatml_tools.shell.asking import is_terminal
from chatml_tools.shell.hosting import SessionPlace, durable_grants, session_place

Json = dict[str, Any]


def grants(args: SimpleNamespace, words: list[str]) -> int:
    """Approvals of commands."""
    session = session_place(args.session)
    store = durable_grants() if session is None else session.grants

    def revoke(grant_id: str) -> None:
        store.revoke(grant_id, Revocation(at=time.time(), reason=args.reason))
        recorded(session, "grant_revoked", grant_id, args.reason)

    return answered(args, words, [encode_grant(one) for one in store.grants()], revoke, show_grant)


def manifest_grants(args: SimpleNamespace, words: list[str]) -> int:
    """Manifests that a session has authorised."""
    session = session_place(args.session)
    if session is None:
        raise UsageError("manifests are authorised in a session: name it with --session DIR")
    store, place = session.manifests, session

    def revoke(grant_id: str) -> None:
        store.revoke(grant_id, args.reason, time.time())
        recorded(place, "manifest_grant_revoked", grant_id, args.reason)

    return answered(args, words, store.all(), revoke, show_manifest)


def answered(
    args: SimpleNamespace,
    words: list[str],
    held: Sequence[Json],
    revoke: Callable[[str], None],
    show: Callable[[Json], str],
) -> int:
    """List grants, explain one, or take one back."""
    match words:
        case ["list"]:
            if args.json:
                print_json(list(held))
            else:
                write(sys.stdout, "\n".join(map(show, held)) or "nothing is granted")
        case ["explain", grant_id]:
            print_json(found(held, grant_id))
        case ["revoke", grant_id]:
            one = found(held, grant_id)
            if not args.yes and not confirmed(show(one)):
                write(sys.stderr, "chatmd: nothing was revoked")
                return 1
            revoke(grant_id)
            write(sys.stdout, f"revoked {grant_id}")
        case _:
            raise UsageError("usage: chatmd shell grants|manifest-grants list|explain ID|revoke ID")
    return 0


def found(held: Sequence[Json], grant_id: str) -> Json:
    """A grant by its id. Raises `StorageError` (`shell.approval_grant_not_found`)."""
    for one in held:
        if one["id"] == grant_id:
            return one
    raise StorageError("shell.approval_grant_not_found", f"unknown grant {grant_id}")


def confirmed(shown: str) -> bool:
    """Ask before something is revoked; where nobody can be asked, `--yes` must say it."""
    if not is_terminal():
        raise UsageError("revoking asks at a terminal; elsewhere write --yes")
    sys.stderr.write(f"{shown}\nRevoke this grant? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def recorded(session: SessionPlace | None, event: str, grant_id: str, reason: str | None) -> None:
    """Put a revocation into the audit of the session."""
    if session is not None:
        append_management(session.directory, {"event": event, "grant_id": grant_id, "reason": reason}, time.time)


def show_grant(grant: Json) -> str:
    """An approval in one line."""
    words = grant["prefix"] if grant["scope"] == "prefix_session" else grant["argv"]
    return f"{grant['id']}: {grant['scope']} {quoted(tuple(words))} by {grant['reviewer']}{state(grant)}"


def show_manifest(grant: Json) -> str:
    """An authorised manifest in one line."""
    return f"{grant['id']}: manifest {grant['facts']['manifest_sha256']}{state(grant)}"


def state(grant: Json) -> str:
    """Whether a grant counts."""
    return "" if grant["revoked"] is None else " (revoked)"
