"""A conversation described as data: what a scenario file says, read and checked (docs/scenarios.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs

from chatml.diagnostics.model import Diagnostic
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.vocabulary import Event, ToolDesc


@attrs.frozen(eq=False)
class Answer:
    """One answer of the data host: `kind` is `ok`, `error`, `refused` or `fail`, `content` the JSON or the text."""

    kind: str
    content: Json


Answers: TypeAlias = Mapping[str, tuple[Answer, ...]]
"""The answers under the name of a tool, model recipe or program: one per call, the last one repeats."""


@attrs.frozen(eq=False)
class HostData:
    """What the data host can answer."""

    tools: Answers = attrs.field(factory=dict)
    models: Answers = attrs.field(factory=dict)
    processes: Answers = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class SessionData:
    """The session before the first event. The id is the namespace of identities; `history` takes 0, 1, …"""

    id: str = "session"
    meta: Json = None
    now_ms: int = 0
    tools: tuple[ToolDesc, ...] = ()
    history: tuple[Json, ...] = ()


@attrs.frozen(eq=False)
class Deliver:
    """An event for the script."""

    event: Event


@attrs.frozen(eq=False)
class Append:
    """An item that joins the history, and the event that tells the script of it."""

    item: Json


@attrs.frozen(eq=False)
class Say:
    """A submission of the user, as a host makes it."""

    item: Json


@attrs.frozen(eq=False)
class Speak:
    """The model's response to the request that is open."""

    items: tuple[Json, ...]


@attrs.frozen(eq=False)
class Respond:
    """An answer to the pending request, and who gave it."""

    text: str
    by: str = ""


@attrs.frozen(eq=False)
class Advance:
    """Time passes: timers that are due and finished jobs arrive."""

    ms: int


Line: TypeAlias = Deliver | Append | Say | Speak | Respond | Advance


@attrs.frozen(eq=False)
class Scenario:
    """A whole scenario. `expect` holds what `chatml test` compares the records with, `warnings` what is odd in it."""

    events: tuple[Line, ...]
    session: SessionData = SessionData()
    host: HostData = HostData()
    expect: tuple[Json, ...] | None = None
    warnings: tuple[Diagnostic, ...] = ()
