"""What a moderator is given with an event, and what it answers (runtime.md section 11)."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import attrs

from chatml.diagnostics.errors import ChatmlError
from chatml.values.model import Value
from chatml_runtime.moderation.identities import HistoryEntry, Json
from chatml_runtime.moderation.outcome import EMPTY, Outcome
from chatml_runtime.moderation.vocabulary import Phase, ToolDesc
from chatml_runtime.script.approvals import PendingRequest
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.session import RunStatus, Session


@attrs.frozen
class EventInput:
    """What the host knows when an event happens; `now_ms` counts milliseconds since the epoch."""

    session_id: str
    now_ms: int = 0
    history: Sequence[HistoryEntry] = ()
    available_tools: Sequence[ToolDesc] = ()
    session_meta: Json = None


class StopReason(enum.Enum):
    """Why a replay of the queue stopped."""

    EMPTY = "empty"
    LIMIT = "limit"
    HALTED = "halted"
    SUSPENDED = "suspended"


@attrs.frozen
class DrainResult:
    """The outcomes of the replayed events in order, why the replay stopped, and how many events still wait."""

    outcomes: tuple[Outcome, ...]
    stopped: StopReason
    remaining: int


@attrs.frozen
class ModerationResult:
    """What came of an event or an answer: its own outcome, and the replay that followed (None: there was none)."""

    status: RunStatus
    outcome: Outcome
    pending: PendingRequest | None = None
    replayed: DrainResult | None = None


@attrs.frozen
class RunRecord:
    """One handler run as an observer of the moderator sees it, right after its end and before any replay.

    `status` is None for a run that failed with `error` and was rolled back; `effects` are those of its commit.
    """

    phase: Phase
    event: Value
    status: RunStatus | None
    effects: tuple[Effect, ...] = ()
    outcome: Outcome = EMPTY
    pending: PendingRequest | None = None
    error: ChatmlError | None = None


def stop_reason(session: Session, done: int, most: int) -> StopReason | None:
    """Why a replay that has delivered some events goes no further, or None if it does."""
    if done >= most:
        return StopReason.LIMIT
    if session.is_halted:
        return StopReason.HALTED
    if session.pending is not None:
        return StopReason.SUSPENDED
    return None if session.queued_events else StopReason.EMPTY
