"""Automatic turns: who may start one when (runtime.md section 15.2)."""

from __future__ import annotations

import enum
from collections import deque

import attrs

from chatml_runtime.host.policy import PauseCondition, RuntimePolicy


class StartReason(enum.Enum):
    """Why a run starts."""

    USER_SUBMIT = "user_submit"
    MODERATOR_REQUEST = "moderator_request"
    IDLE_FOLLOWUP = "idle_followup"


@attrs.frozen
class AutomaticTurn:
    """Whether a run may start; if not, the notice that says why. A host shows each key once per session."""

    allowed: bool
    notice_key: str | None = None
    notice_text: str | None = None


ALLOWED = AutomaticTurn(True)
PAUSED = AutomaticTurn(
    False, "budget:pause-followup-turns", "Automatic follow-up turns are paused by the budget policy."
)
RATE_LIMITED = AutomaticTurn(
    False, "budget:turn-rate-limit", "An automatic follow-up turn was suppressed by the rate limit."
)
TOO_MANY = AutomaticTurn(
    False, "budget:max-followup-turns", "An automatic follow-up turn was suppressed: the follow-up limit is reached."
)
DRAINS_PAUSED = AutomaticTurn(
    False, "budget:pause-internal-event-drains", "Automatic handling of queued events is paused by the budget policy."
)


class FollowupLedger:
    """Counts the automatic turns of one session. It decides; a host notes what it has really started.

    >>> ledger, policy = FollowupLedger(), RuntimePolicy()
    >>> ledger.decide(policy, StartReason.IDLE_FOLLOWUP, now_ms=0).allowed
    True
    >>> ledger.note_started(policy, StartReason.IDLE_FOLLOWUP, now_ms=0)
    >>> ledger.decide(policy, StartReason.IDLE_FOLLOWUP, now_ms=1).notice_key
    'budget:max-followup-turns'
    """

    __slots__ = ("_since_submission", "_started")

    def __init__(self) -> None:
        self._since_submission = 0
        self._started: deque[int] = deque()

    def decide(self, policy: RuntimePolicy, reason: StartReason, now_ms: int) -> AutomaticTurn:
        """Whether a run may start now. A submission of the user always may."""
        budget = policy.budget
        if reason is StartReason.USER_SUBMIT:
            return ALLOWED
        if PauseCondition.FOLLOWUP_TURNS in budget.pause_conditions:
            return PAUSED
        rate = budget.turn_rate_limit
        if rate is not None and sum(at >= now_ms - rate.window_ms for at in self._started) >= rate.max_turns:
            return RATE_LIMITED
        return TOO_MANY if self._since_submission >= budget.max_followup_turns else ALLOWED

    def note_started(self, policy: RuntimePolicy, reason: StartReason, now_ms: int) -> None:
        """Take note of a run that has started. One of the user's resets the count, not the times."""
        if reason is StartReason.USER_SUBMIT:
            self._since_submission = 0
            return
        self._since_submission += 1
        rate = policy.budget.turn_rate_limit
        if rate is None:
            return
        self._started.append(now_ms)
        while self._started[0] < now_ms - rate.window_ms:
            self._started.popleft()
