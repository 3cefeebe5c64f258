"""From an event to a kept record: content, filter, sink, and what a failure means (sections 20.2 to 20.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs

from chatmd.shell.extensions import Audit, AuditContent, AuditFailure
from chatmd.sources.paths import PathExpr
from chatml_shell.audit.events import BEFORE_START, SCHEMA_VERSION, Event, fields, instant
from chatml_shell.audit.file import ROTATE_AT, SESSION_FILE, ChainedFile
from chatml_shell.audit.sinks import Clock, Nowhere, Sink, StandardError
from chatml_shell.errors import Refusal, StorageError
from chatml_shell.output.redact import Redactor
from chatml_shell.problems import fault

PROTECTED = frozenset(
    {"schema_version", "sequence", "timestamp", "request_id", "runtime_id", "manifest_sha256", "event"}
)
"""The fields that no filter touches (section 20.5): without them a record cannot be told from others."""


@attrs.frozen
class Keep:
    """A filter's answer: the record stays as it is."""


@attrs.frozen
class DropField:
    """A filter's answer: a field is left out."""

    field: str


@attrs.frozen
class ReplaceFields:
    """A filter's answer: fields get other texts."""

    fields: Mapping[str, str]


Verdict = Keep | DropField | ReplaceFields


class Filter(Protocol):
    """Sees every record before it is kept. Whatever it raises counts as a failed write."""

    async def __call__(self, record: Mapping[str, Any]) -> Verdict: ...


@attrs.define
class Recorder:
    """Records the events of a runtime. `lost` counts those that were not kept, `trouble` is what kept the last one
    from it."""

    sink: Sink
    content: AuditContent
    failure: AuditFailure
    filter: Filter | None = None
    clock: Clock = attrs.field(default=lambda: 0.0, kw_only=True)
    lost: int = attrs.field(default=0, init=False)
    trouble: str | None = attrs.field(default=None, init=False)
    _turn: asyncio.Lock = attrs.field(factory=asyncio.Lock, init=False)

    async def record(self, event: Event, redactor: Redactor) -> None:
        """Keep a record of an event.

        Raises `Refusal` (`audit_unavailable`) when that fails and the declared policy forbids to go on: before the
        start of a command with `deny_start`, always with `terminate`. With `continue` it counts as lost.
        """
        if isinstance(self.sink, Nowhere):
            return
        try:
            async with self._turn:  # records keep the order of their events, however long a filter takes
                known = fields(event, self.content, redactor)
                self.sink.append(known if self.filter is None else await self._filtered(known, redactor))
        except Exception as error:
            self.lost += 1
            self.trouble = str(error) if isinstance(error, StorageError) else f"{error.__class__.__name__}: {error}"
            if self.failure == "terminate" or (self.failure == "deny_start" and event.name in BEFORE_START):
                raise Refusal(
                    "audit_unavailable", f"the audit keeps no record: {redactor.redact(self.trouble)}"
                ) from error

    async def _filtered(self, known: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
        assert self.filter is not None
        place = {
            "schema_version": SCHEMA_VERSION,
            "sequence": self.sink.next_sequence(),
            "timestamp": instant(self.clock()),
        }
        match await self.filter(place | known):
            case Keep():
                return known
            case DropField(field):
                _check({field}, place | known)
                return {name: value for name, value in known.items() if name != field}
            case ReplaceFields(others):
                _check(others.keys(), place | known)
                return known | {name: redactor.redact(text) for name, text in others.items()}
            case other:
                raise StorageError("shell.audit_write_failed", f"the filter answers {other!r}")

    def close(self) -> None:
        """Let go of the sink."""
        self.sink.close()


def open_recorder(
    audit: Audit,
    *,
    path: Callable[[PathExpr], str],
    session_dir: str | None,
    filter: Filter | None,
    clock: Clock,
    runtime: str,
) -> Recorder:
    """The recorder that a runtime declares, its sink open.

    Raises `ShellError` (`shell.audit_open_failed`) when it cannot be opened, whatever `failure` says (E-30).
    """
    sink: Sink
    match audit.format:
        case "none":
            sink = Nowhere()
        case "stderr":
            sink = StandardError(clock)
        case "jsonl":
            assert audit.path is not None
            sink = ChainedFile(Path(path(audit.path)), clock, durable=True)
        case "session":
            if session_dir is None:
                raise fault(
                    "shell.audit_open_failed",
                    audit.span,
                    path=("runtime", runtime, "audit"),
                    why="this run has no session directory",
                )
            sink = ChainedFile(Path(session_dir, SESSION_FILE), clock, rotate_at=ROTATE_AT)
    if isinstance(sink, ChainedFile):
        try:
            sink.open()
        except StorageError as error:
            raise fault(
                "shell.audit_open_failed", audit.span, path=("runtime", runtime, "audit"), why=error.message
            ) from error
    return Recorder(sink, audit.content, audit.failure, filter, clock=clock)


def append_management(session_dir: str, fields: Mapping[str, Any], clock: Clock) -> None:
    """Put a record about the session itself, such as a revoked grant, into its audit file.

    `fields` needs an `event` other than those of commands. Raises `StorageError` (`shell.audit_management_locked`,
    `shell.audit_management_write_failed`).
    """
    file = ChainedFile(Path(session_dir, SESSION_FILE), clock, rotate_at=ROTATE_AT)
    try:
        file.open()
        file.append(fields)
    except StorageError as error:
        if error.code == "shell.audit_management_locked":
            raise
        raise StorageError("shell.audit_management_write_failed", error.message) from error
    finally:
        file.close()


def _check(touched: Any, known: Mapping[str, Any]) -> None:
    protected = PROTECTED.intersection(touched)
    unknown = set(touched) - set(known)
    if protected or unknown:
        name = min(protected or unknown)
        why = "must stay" if protected else "does not exist"
        raise StorageError("shell.audit_write_failed", f"the filter touches the field `{name}`, which {why}")
