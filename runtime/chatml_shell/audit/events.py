"""Events, and the records that they become (sections 20.1 and 20.2)."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import attrs

from chatml_shell.output.redact import Redactor
from chatml_shell.plans.command import Kind

EventName = Literal[
    "resolved",
    "policy_decided",
    "approval_requested",
    "approval_answered",
    "reviewer_completed",
    "intercepted",
    "plan_created",
    "started",
    "output",
    "finished",
    "terminated",
    "rejected",
]
Content = Literal["metadata", "redacted", "full"]
EVENTS: frozenset[str] = frozenset(get_args(EventName))
BEFORE_START = EVENTS - {"started", "output", "finished", "terminated"}
TERMINAL = frozenset({"finished", "terminated", "rejected"})
"""The events after which a request counts as complete (section 20.6)."""

SCHEMA_VERSION = "ochat-shell-audit-v1"
LONGEST_WORD = 256
"""Characters of a word that content `redacted` shows; `full` shows all."""


@attrs.frozen(kw_only=True)
class Event:
    """Something that happened to a command of a request. `facts` are the fields of its kind (section 20.2)."""

    name: EventName
    session_id: str | None
    runtime_id: str
    manifest_sha256: str
    request_id: str
    plan_id: str | None = None
    request_kind: Kind
    argv: tuple[str, ...]
    cwd: str
    effects: Iterable[str] = ()
    facts: Mapping[str, Any] = attrs.field(factory=dict)


def fields(event: Event, content: Content, redactor: Redactor) -> dict[str, Any]:
    """The fields of an event's record in order, without those of the sink. No secret is in any of them.

    >>> event = Event(name="resolved", session_id=None, runtime_id="main", manifest_sha256="", request_id="shell-1",
    ...               request_kind="structured", argv=("echo", "K3Y"), cwd="/", effects=("read", "read"))
    >>> known = fields(event, "redacted", Redactor(["K3Y"]))
    >>> known["command"], known["effects"]
    (['echo', '[REDACTED]'], ['read'])
    """
    known: dict[str, Any] = {
        "session_id": event.session_id,
        "runtime_id": event.runtime_id,
        "manifest_sha256": event.manifest_sha256,
        "request_id": event.request_id,
        "plan_id": event.plan_id,
        "event": event.name,
        "request_kind": event.request_kind,
        "command_sha256": digest("\0".join(event.argv)),
        "cwd_sha256": digest(event.cwd),
        "effects": sorted(set(event.effects)),
    }
    if content != "metadata":
        words = redacted(list(event.argv), redactor)
        known["command"] = words if content == "full" else [_shortened(word) for word in words]
    known |= {name: fact for name, fact in redacted(dict(event.facts), redactor).items() if name not in known}
    return known


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def redacted(value: Any, redactor: Redactor) -> Any:
    """Plain data whose every text, keys included, is without secrets."""
    match value:
        case str():
            return redactor.redact(value)
        case Mapping():
            return {redactor.redact(str(name)): redacted(item, redactor) for name, item in value.items()}
        case list() | tuple():
            return [redacted(item, redactor) for item in value]
        case _:
            return value


def instant(seconds: float) -> str:
    """A time since the epoch as records write it.

    >>> instant(0.5)
    '1970-01-01T00:00:00.500000Z'
    """
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _shortened(word: str) -> str:
    if len(word) <= LONGEST_WORD:
        return word
    return f"{word[:LONGEST_WORD]}… ({len(word)} characters, sha256 {digest(word)})"
