"""What a host grants to a policy script: which requests it honours, and how much automatic work (section 14).

Pure functions over frozen records. The decisions after a turn are here; those about automatic turns are in
`followups`, and what an interactive host does with an outcome in `reduction`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import attrs

from chatml_runtime.moderation.outcome import RuntimeRequest
from chatml_runtime.script import problems
from chatml_runtime.script.effects import EndSession, RequestCompaction, RequestTurn
from chatml_runtime.script.errors import BudgetExceededError


@attrs.frozen
class TurnRateLimit:
    """At most `max_turns` automatic turns in any `window_ms` milliseconds."""

    max_turns: int
    window_ms: int


class PauseCondition(enum.Enum):
    """What a host can hold back for a while."""

    FOLLOWUP_TURNS = "followup_turns"
    INTERNAL_EVENT_DRAINS = "internal_event_drains"


@attrs.frozen
class BudgetPolicy:
    """How much a script may cause by itself (section 14.4).

    `max_self_triggered_turns` bounds the turns in a row, inside one run, that happened only because the script asked.
    `max_followup_turns` bounds the automatic runs between two submissions of the user. `max_internal_event_drain`
    bounds each replay of the queue.
    """

    max_self_triggered_turns: int = 10
    max_followup_turns: int = 1
    max_internal_event_drain: int = 100
    turn_rate_limit: TurnRateLimit | None = None
    pause_conditions: frozenset[PauseCondition] = frozenset()


@attrs.frozen
class RuntimePolicy:
    """Which requests of a script a host honours, and its budget."""

    honor_request_turn: bool = True
    honor_request_compaction: bool = False
    budget: BudgetPolicy = BudgetPolicy()


DEFAULT_POLICY = RuntimePolicy()


def collapse(requests: Sequence[RuntimeRequest]) -> tuple[RuntimeRequest, ...]:
    """The first request of each kind, in the order in which they were made (section 14.1).

    >>> collapse([RequestTurn(), EndSession("a"), RequestTurn(), EndSession("b")])
    (RequestTurn(), EndSession(reason='a'))
    """
    first: dict[type, RuntimeRequest] = {}
    for request in requests:
        first.setdefault(type(request), request)
    return tuple(first.values())


@attrs.frozen
class TurnDecision:
    """What follows a turn. `forward` are its requests, collapsed, for the host to see."""

    continue_: bool
    end_reason: str | None
    compaction_requested: bool
    forward: tuple[RuntimeRequest, ...]


def decide_after_turn(
    policy: RuntimePolicy, *, tool_followup: bool, requests: Sequence[RuntimeRequest]
) -> TurnDecision:
    """Whether the model is asked again after a turn (section 14.2).

    `tool_followup` says that the model has something new to read: outputs, or notes of the user. `requests` are those
    that came up since the model was asked. An end of session beats everything.

    >>> decide_after_turn(RuntimePolicy(), tool_followup=False, requests=[RequestTurn()]).continue_
    True
    >>> decide_after_turn(RuntimePolicy(), tool_followup=True, requests=[RequestTurn(), EndSession("done")]).end_reason
    'done'
    """
    forward = collapse(requests)
    end_reason = next((request.reason for request in forward if isinstance(request, EndSession)), None)
    asked = policy.honor_request_turn and RequestTurn() in forward
    return TurnDecision(
        end_reason is None and (tool_followup or asked),
        end_reason,
        policy.honor_request_compaction and RequestCompaction() in forward,
        forward,
    )


def next_self_triggered(policy: RuntimePolicy, counter: int) -> int:
    """The number of self-triggered turns in a row, with one more; `BudgetExceededError` beyond the limit."""
    limit = policy.budget.max_self_triggered_turns
    if counter >= limit:
        raise BudgetExceededError(problems.too_many_self_triggered_turns(limit))
    return counter + 1
