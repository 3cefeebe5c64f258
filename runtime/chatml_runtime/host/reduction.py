"""What an interactive host does with the outcomes of a moderator (runtime.md section 15.1)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from chatml_runtime.host.followups import StartReason
from chatml_runtime.host.policy import RuntimePolicy
from chatml_runtime.moderation.outcome import Outcome
from chatml_runtime.script import problems
from chatml_runtime.script.effects import EndSession, Halt, RequestCompaction, RequestTurn


@attrs.frozen
class ControllerActions:
    """What is to be done: show the history anew, compact it (before anything else), start a run, say things.

    `halt_reason` is set if the session has ended; `internal_events_remain` after a drain that has left some.
    """

    request_refresh: bool = False
    request_compact: bool = False
    request_turn: StartReason | None = None
    halt_reason: str | None = None
    system_notices: tuple[str, ...] = ()
    internal_events_remain: bool = False


def reduce_outcomes(
    policy: RuntimePolicy, outcomes: Sequence[Outcome], *, schedule: StartReason | None
) -> ControllerActions:
    """The actions that some outcomes ask for. With `schedule=None` requests for a turn are ignored.

    >>> outcome = Outcome(runtime_requests=(RequestTurn(), EndSession("done")), ui_notifications=("bye",))
    >>> actions = reduce_outcomes(RuntimePolicy(), [outcome], schedule=StartReason.IDLE_FOLLOWUP)
    >>> actions.request_turn, actions.halt_reason, actions.system_notices
    (None, 'done', ('Session ended by moderator: done', 'bye'))
    """
    requests = [request for outcome in outcomes for request in outcome.runtime_requests]
    reason = next((reason for reason in map(end_reason, outcomes) if reason is not None), None)
    asked = policy.honor_request_turn and RequestTurn() in requests and reason is None
    notices = [text for outcome in outcomes for text in outcome.ui_notifications]
    return ControllerActions(
        request_refresh=any(outcome.overlay_ops for outcome in outcomes),
        request_compact=policy.honor_request_compaction and RequestCompaction() in requests,
        request_turn=schedule if asked else None,
        halt_reason=reason,
        system_notices=tuple(notices if reason is None else [problems.ended_by_moderator(reason), *notices]),
    )


def end_reason(outcome: Outcome) -> str | None:
    """Why an outcome ends the session: its first `Runtime.end_session`, else its last `Turn.halt`, else None."""
    ends = [request.reason for request in outcome.runtime_requests if isinstance(request, EndSession)]
    halts = [operation.reason for operation in outcome.overlay_ops if isinstance(operation, Halt)]
    return ends[0] if ends else halts[-1] if halts else None
