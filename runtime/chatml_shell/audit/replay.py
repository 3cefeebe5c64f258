"""What an audit tells afterwards: whether it is whole, what became of each request, what was cut short (section 20.6).

Nothing here executes or changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from chatml_shell.audit.chain import START, Chain, Record
from chatml_shell.audit.events import EVENTS, TERMINAL
from chatml_shell.audit.file import KEPT_ROTATIONS, SESSION_FILE, last_link, rotated
from chatml_shell.errors import StorageError


@attrs.frozen
class Report:
    """What a check of audit files found: how many records, the sequences of those that tell of a torn line, and how
    many bytes are torn at the end. The next record that is appended there will tell of these."""

    files: tuple[Path, ...]
    records: int
    first: int | None
    last: int | None
    recovered: tuple[int, ...]
    torn: int


@attrs.frozen
class RequestTrail:
    """What is recorded about a request, in order. It is complete when something says how a command of it ended."""

    session_id: str | None
    request_id: str
    records: tuple[Mapping[str, Any], ...]

    @property
    def complete(self) -> bool:
        return any(record["event"] in TERMINAL for record in self.records)


@attrs.frozen
class Interrupted:
    """A request that nothing says the end of (section 22): the host died. It is never taken up again."""

    request_id: str
    runtime_id: str
    manifest_sha256: str
    request_kind: str
    command_sha256: str
    cwd_sha256: str
    command: tuple[str, ...]
    effects: tuple[str, ...]
    timestamp: str
    retryable: bool = attrs.field(default=False, init=False)


def whole(path: Path) -> tuple[Path, ...]:
    """An audit file behind those that were set aside, the oldest first.

    Raises `StorageError` (`shell.audit_rotation_invalid`) when more than one is missing between them: one is what a
    host leaves that is stopped while it sets a file aside.
    """
    numbers = [number for number in range(1, KEPT_ROTATIONS + 1) if rotated(path, number).exists()]
    if numbers and numbers[-1] - len(numbers) > 1:
        raise StorageError("shell.audit_rotation_invalid", f"files are missing between {path} and number {numbers[-1]}")
    present = [path] if path.exists() or not numbers else []
    return (*(rotated(path, number) for number in reversed(numbers)), *present)


def session_file(session_dir: str) -> Path:
    """The audit file of a session."""
    return Path(session_dir, SESSION_FILE)


def validate(files: Sequence[Path]) -> Report:
    """Check files that form one chain, the oldest first. Raises `StorageError` at the first fault.

    Codes: `shell.audit_schema_version`, `_json`, `_field`, `_sequence_gap`, `_chain_previous`, `_chain_digest`,
    `_read_failed`. The first file may go on from one that is no longer kept, when it has a number.
    """
    chain = _chain(files)
    sequences = [record.link.sequence for record in _records(files, chain)]
    return Report(
        files=tuple(files),
        records=len(sequences),
        first=min(sequences, default=None),
        last=max(sequences, default=None),
        recovered=tuple(chain.recovered),
        torn=len(chain.torn),
    )


def replay(files: Sequence[Path]) -> tuple[RequestTrail, ...]:
    """What is recorded about each request, in the order of their beginnings. Raises as `validate` does."""
    trails: dict[tuple[str | None, str], list[Mapping[str, Any]]] = {}
    for record in _records(files, _chain(files)):
        if record.fields["event"] in EVENTS:
            place = _text(record, "session_id", optional=True), str(_text(record, "request_id"))
            trails.setdefault(place, []).append(record.fields)
    return tuple(RequestTrail(*place, tuple(records)) for place, records in trails.items())


def request(files: Sequence[Path], request_id: str) -> RequestTrail:
    """What is recorded about one request, the latest of that id.

    Raises `StorageError` as `validate` does, and `shell.audit_request_not_found`.
    """
    for trail in reversed(replay(files)):
        if trail.request_id == request_id:
            return trail
    raise StorageError("shell.audit_request_not_found", f"no record tells of the request {request_id}")


def interrupted(files: Sequence[Path]) -> tuple[Interrupted, ...]:
    """The requests that nothing says the end of, in the order of their beginnings."""
    return tuple(_interrupted(trail) for trail in replay(files) if not trail.complete)


def last_sequence(session_dir: str) -> int:
    """The sequence of the last record of a session; 0 when there is none. Raises `StorageError`."""
    for file in reversed(whole(session_file(session_dir))):
        try:
            with file.open("rb") as opened:
                link, _, _ = last_link(opened.fileno(), file.stat().st_size)
        except FileNotFoundError:
            continue
        if link is not None:
            return link.sequence
    return 0


def _interrupted(trail: RequestTrail) -> Interrupted:
    first, last = trail.records[0], trail.records[-1]
    return Interrupted(
        request_id=trail.request_id,
        runtime_id=first.get("runtime_id", ""),
        manifest_sha256=first.get("manifest_sha256", ""),
        request_kind=first.get("request_kind", ""),
        command_sha256=last.get("command_sha256", ""),
        cwd_sha256=last.get("cwd_sha256", ""),
        command=tuple(last.get("command", ())),
        effects=tuple(last.get("effects", ())),
        timestamp=last["timestamp"],
    )


def _chain(files: Sequence[Path]) -> Chain:
    """The chain that files form. What is left of a session may begin anywhere, if the oldest file has a number."""
    begins_late = bool(files) and files[0].suffix.removeprefix(".").isdigit()
    return Chain(None if begins_late else START)


def _records(files: Iterable[Path], chain: Chain) -> Iterator[Record]:
    for file in files:
        try:
            with file.open("rb") as lines:
                yield from (record for line in lines if (record := chain.add(line)) is not None)
        except OSError as error:
            why = error.strerror or str(error)
            raise StorageError("shell.audit_read_failed", f"{file}: {why.lower()}") from error


def _text(record: Record, name: str, *, optional: bool = False) -> str | None:
    value = record.fields.get(name)
    if isinstance(value, str) or (optional and value is None):
        return value
    raise StorageError("shell.audit_field", f"record {record.link.sequence} has no text in the field `{name}`")
