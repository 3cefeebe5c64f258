"""The records of a played scenario: one per delivered event, and one at the end (docs/scenarios.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal, TypeAlias

import attrs

from chatml.diagnostics.errors import ChatmlError, RuntimeFailure, SessionError
from chatml.source import Span
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.outcome import Redirect, RewriteArgs, RuntimeRequest, ToolDecision
from chatml_runtime.script.approvals import AskChoice, PendingRequest
from chatml_runtime.script.effects import Approve, EndSession, Reject, RequestTurn
from chatml_runtime.script.errors import (
    BudgetExceededError,
    CommitRejectedError,
    HandlerContractError,
    TaskFailedError,
    UnexpectedToolDecisionError,
)

Kind: TypeAlias = Literal["task", "runtime", "host"]
Status: TypeAlias = Literal["committed", "suspended", "failed", "refused"]


@attrs.frozen
class ShownEffect:
    """A committed effect: the operation, its arguments as value text, and all of it in short for people.

    `site` is the place of the expression that decided on it, where it is known.
    """

    op: str
    args: tuple[str, ...]
    brief: str
    site: Span | None = None

    def to_json(self) -> Json:
        """The effect as a record shows it; without `at` if its place is not known."""
        data = {"op": self.op, "args": list(self.args)}
        return data if self.site is None else {**data, "at": site_json(self.site)}


@attrs.frozen
class Problem:
    """Why an event failed or was refused: `task`, `runtime` or `host`, and the message."""

    kind: Kind
    message: str
    span: Span | None = None

    def to_json(self) -> dict[str, Json]:
        """The error as a record has it; `at` is where in the script it failed, line and column from 1."""
        data: dict[str, Json] = {"kind": self.kind, "message": self.message}
        if self.span is not None:
            data["at"] = {"line": self.span.start.line, "column": self.span.start.column + 1}
        return data


@attrs.frozen
class Record:
    """What came of one delivered event. Values are shown as text; the last three fields are for people only.

    `expires_ms` is when the pending question expires, by the session's clock; it is part of `pending` in JSON. `line`
    names what was refused, where that is not an event.
    """

    phase: str | None
    event: str | None
    status: Status
    state: str
    effects: tuple[ShownEffect, ...] = ()
    emitted: tuple[str, ...] = ()
    queue: tuple[str, ...] = ()
    decision: ToolDecision | None = None
    requests: tuple[RuntimeRequest, ...] = ()
    pending: PendingRequest | None = None
    halted: bool = False
    logs: tuple[tuple[str, str], ...] = ()
    printed: tuple[str, ...] = ()
    error: Problem | None = None
    expires_ms: int | None = None
    replayed: bool = False
    brief: str = ""
    line: str = "answer"

    def to_json(self) -> dict[str, Json]:
        """The record as `chatml run --events --json` prints it."""
        return {
            "phase": self.phase,
            "event": self.event,
            "status": self.status,
            "state": self.state,
            "effects": [effect.to_json() for effect in self.effects],
            "emitted": list(self.emitted),
            "queue": list(self.queue),
            "decision": None if self.decision is None else decision_json(self.decision),
            "requests": [request_json(request) for request in self.requests],
            "pending": None if self.pending is None else pending_json(self.pending, self.expires_ms),
            "halted": self.halted,
            "logs": [list(line) for line in self.logs],
            "printed": list(self.printed),
            "error": None if self.error is None else self.error.to_json(),
        }


@attrs.frozen
class Ending:
    """How things stand after the last event; `effective_history` holds provider items."""

    state: str
    queue: tuple[str, ...]
    halted: bool
    effective_history: tuple[Json, ...]

    def to_json(self) -> dict[str, Json]:
        """The last line of `chatml run --events --json`."""
        return {
            "final": True,
            "state": self.state,
            "queue": list(self.queue),
            "halted": self.halted,
            "effective_history": list(self.effective_history),
        }


WITHIN = ("expires_ms", "replayed", "brief", "line")
"""The fields that are no keys of their own in JSON."""

KEYS_OF_RECORD = tuple(field.name for field in attrs.fields(Record) if field.name not in WITHIN)
KEYS_OF_ENDING = ("final", *(field.name for field in attrs.fields(Ending)))
"""The keys of their JSON."""


DECISIONS_AND_REQUESTS = (
    "Tool.approve",
    "Tool.reject",
    "Tool.rewrite_args",
    "Tool.redirect",
    "Runtime.request_turn",
    "Runtime.request_compaction",
    "Runtime.end_session",
)
"""The effects that a record also shows as its decision or a request."""


def site_json(site: Span) -> Json:
    """A place in a script: the file without its folders, so that a record is the same wherever it lies; line and column
    count from 1, as in traces."""
    return {"file": PurePath(site.source.name).name, "line": site.start.line, "column": site.start.column + 1}


def decision_json(decision: ToolDecision) -> Json:
    match decision:
        case Approve():
            return {"kind": "approve"}
        case Reject(reason=reason):
            return {"kind": "reject", "reason": reason}
        case RewriteArgs(args=args):
            return {"kind": "rewrite_args", "args": args}
        case Redirect(name=name, args=args):
            return {"kind": "redirect", "name": name, "args": args}


def request_json(request: RuntimeRequest) -> Json:
    if isinstance(request, EndSession):
        return {"end_session": request.reason}
    return "request_turn" if isinstance(request, RequestTurn) else "request_compaction"


def pending_json(request: PendingRequest, expires_ms: int | None) -> Json:
    """A question: its kind, its words, the call that it is about and when it expires, where it has them."""
    data: dict[str, Json] = {"kind": "ask_text", "prompt": request.prompt}
    if isinstance(request, AskChoice):
        data |= {"kind": "ask_choice", "choices": list(request.choices)}
        if request.about is not None:
            data["call"] = attrs.asdict(request.about, recurse=False)
    return data if expires_ms is None else {**data, "expires_ms": expires_ms}


KINDS: Mapping[type[ChatmlError], Kind] = {
    TaskFailedError: "task",
    RuntimeFailure: "runtime",
    HandlerContractError: "runtime",
    CommitRejectedError: "host",
    SessionError: "host",
    UnexpectedToolDecisionError: "host",
    BudgetExceededError: "host",
}
"""Which errors are whose fault."""


def problem_of(error: ChatmlError) -> Problem:
    """An error of an event as a record shows it."""
    kinds: list[Kind] = [kind for error_class, kind in KINDS.items() if isinstance(error, error_class)]
    if isinstance(error, RuntimeFailure):
        return Problem(kinds[0], error.message, error.span)
    return Problem(kinds[0], str(error))
