"""What audits tell."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

from chatml_shell.audit.replay import (
    Interrupted,
    RequestTrail,
    interrupted,
    replay,
    request,
    session_file,
    validate,
    whole,
)
from chatml_shell.errors import StorageError
from chatml_tools.console import UsageError, print_json, write
from chatml_tools.shell.hosting import session_place

USAGE = "usage: chatmd shell audit validate|replay FILE…, or chatmd shell audit request ID FILE…"


def audit(args: SimpleNamespace, words: list[str]) -> int:
    """Check an audit, or tell what is in it. Rotated files are found beside the one that is named."""
    if not words or words[0] not in ("validate", "replay", "request"):
        raise UsageError(USAGE)
    what, *rest = words
    wanted = rest.pop(0) if what == "request" and rest else ""
    if not rest:
        raise UsageError(USAGE)
    try:
        files = whole(Path(rest[0])) if len(rest) == 1 else tuple(map(Path, rest))
        if what == "validate":
            return validated(args, files)
        trails = (request(files, wanted),) if what == "request" else replay(files)
    except StorageError as error:
        return refused(args, error)
    if args.json:
        print_json([encode(trail) for trail in trails])
    else:
        write(sys.stdout, "\n".join(show(trail) for trail in trails) or "no request is recorded")
    return 0


def validated(args: SimpleNamespace, files: tuple[Path, ...]) -> int:
    """Say that an audit is whole, and what is torn of it."""
    found = validate(files)
    if args.json:
        print_json(
            {
                "files": [str(file) for file in found.files],
                "records": found.records,
                "first": found.first,
                "last": found.last,
                "recovered": list(found.recovered),
                "torn": found.torn,
            }
        )
    else:
        torn = f", {found.torn} bytes torn at the end" if found.torn else ""
        write(sys.stdout, f"{found.records} records, whole{torn}")
    return 0


def refused(args: SimpleNamespace, error: StorageError) -> int:
    """Say what is wrong with an audit."""
    if args.json:
        print_json({"code": error.code, "message": error.message})
    print(f"chatmd: {error}", file=sys.stderr)
    return 1


def encode(trail: RequestTrail) -> dict[str, object]:
    """A request as plain data."""
    return {
        "request_id": trail.request_id,
        "session_id": trail.session_id,
        "complete": trail.complete,
        "records": [dict(record) for record in trail.records],
    }


def show(trail: RequestTrail) -> str:
    """A request for people: what happened, in order."""
    steps = " → ".join(str(record["event"]) for record in trail.records if record["event"] != "output")
    return f"{trail.request_id}: {steps}{'' if trail.complete else ' (never ended)'}"


def encode_interrupted(one: Interrupted) -> dict[str, object]:
    """A request that never ended as plain data."""
    return {
        "request_id": one.request_id,
        "runtime_id": one.runtime_id,
        "manifest_sha256": one.manifest_sha256,
        "request_kind": one.request_kind,
        "command_sha256": one.command_sha256,
        "cwd_sha256": one.cwd_sha256,
        "command": list(one.command),
        "effects": list(one.effects),
        "timestamp": one.timestamp,
        "retryable": one.retryable,
    }


def interrupted_requests(args: SimpleNamespace, words: list[str]) -> int:
    """The requests of a session that nothing says the end of. None of them is ever taken up again."""
    session = session_place(args.session)
    if words != ["list"] or session is None:
        raise UsageError("usage: chatmd shell interrupted list --session DIR")
    try:
        found = interrupted(whole(session_file(session.directory)))
    except StorageError as error:
        return refused(args, error)
    if args.json:
        print_json([encode_interrupted(one) for one in found])
    else:
        lines = [f"{one.request_id} in {one.runtime_id}: {' '.join(one.command)}" for one in found]
        write(sys.stdout, "\n".join(lines) or "no request was interrupted")
    return 0
