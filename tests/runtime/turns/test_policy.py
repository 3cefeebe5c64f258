"""Policy: collapse, precedence, budgets, reducing outcomes (runtime.md sections 14, 15; R-058, R-062, R-063)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_runtime.host.followups import AutomaticTurn, FollowupLedger, StartReason
from chatml_runtime.host.policy import (
    BudgetPolicy,
    PauseCondition,
    RuntimePolicy,
    TurnRateLimit,
    collapse,
    decide_after_turn,
    next_self_triggered,
)
from chatml_runtime.host.reduction import ControllerActions, reduce_outcomes
from chatml_runtime.moderation.outcome import Outcome, PrependInstruction, RuntimeRequest
from chatml_runtime.script.effects import EndSession, Halt, RequestCompaction, RequestTurn
from chatml_runtime.script.errors import BudgetExceededError

TURN, COMPACTION = RequestTurn(), RequestCompaction()
A, B = EndSession("a"), EndSession("b")
HONOURING = RuntimePolicy(honor_request_compaction=True)
IDLE, USER = StartReason.IDLE_FOLLOWUP, StartReason.USER_SUBMIT


def test_the_defaults_of_the_specification() -> None:
    policy = RuntimePolicy()
    assert (policy.honor_request_turn, policy.honor_request_compaction) == (True, False)
    budget = policy.budget
    assert (budget.max_self_triggered_turns, budget.max_followup_turns, budget.max_internal_event_drain) == (10, 1, 100)
    assert (budget.turn_rate_limit, budget.pause_conditions) == (None, frozenset())


@pytest.mark.parametrize(
    ("requests", "followup", "policy", "continues", "reason", "compacts"),
    [
        ([TURN], False, RuntimePolicy(), True, None, False),
        ([TURN, TURN], False, RuntimePolicy(), True, None, False),
        ([COMPACTION], False, RuntimePolicy(), False, None, False),
        ([COMPACTION], False, HONOURING, False, None, True),
        ([COMPACTION, A], False, HONOURING, False, "a", True),
        ([TURN, A, B], True, RuntimePolicy(), False, "a", False),
        ([], True, RuntimePolicy(), True, None, False),
        ([], False, RuntimePolicy(), False, None, False),
        ([TURN], False, RuntimePolicy(honor_request_turn=False), False, None, False),
        ([TURN], True, RuntimePolicy(honor_request_turn=False), True, None, False),
    ],
)
def test_r_058_the_decision_after_a_turn(
    requests: Sequence[RuntimeRequest],
    followup: bool,
    policy: RuntimePolicy,
    continues: bool,
    reason: str | None,
    compacts: bool,
) -> None:
    decision = decide_after_turn(policy, tool_followup=followup, requests=requests)
    assert (decision.continue_, decision.end_reason, decision.compaction_requested) == (continues, reason, compacts)
    assert decision.forward == collapse(requests)


@given(st.lists(st.sampled_from([TURN, COMPACTION, A, B])))
def test_collapsing(requests: list[RuntimeRequest]) -> None:
    """A collapsed list holds the first of each kind, in order, and is as short as that."""
    collapsed = collapse(requests)
    assert len({type(request) for request in collapsed}) == len(collapsed) == len({type(r) for r in requests})
    for request in collapsed:
        assert next(one for one in requests if type(one) is type(request)) == request
    assert [requests.index(request) for request in collapsed] == sorted(requests.index(r) for r in collapsed)
    assert collapse(collapsed) == collapsed


def test_r_059_the_count_of_self_triggered_turns() -> None:
    policy = RuntimePolicy(budget=BudgetPolicy(max_self_triggered_turns=2))
    assert next_self_triggered(policy, next_self_triggered(policy, 0)) == 2
    with pytest.raises(BudgetExceededError, match=r"\(2\)"):
        next_self_triggered(policy, 2)


# -- automatic turns


def budget(**limits: Any) -> RuntimePolicy:
    return RuntimePolicy(budget=BudgetPolicy(**limits))


def start(ledger: FollowupLedger, policy: RuntimePolicy, now_ms: int, reason: StartReason = IDLE) -> AutomaticTurn:
    decision = ledger.decide(policy, reason, now_ms)
    if decision.allowed:
        ledger.note_started(policy, reason, now_ms)
    return decision


def test_r_062_follow_ups_between_submissions() -> None:
    ledger, policy = FollowupLedger(), RuntimePolicy()
    assert start(ledger, policy, 0).allowed
    second = start(ledger, policy, 1)
    assert (second.allowed, second.notice_key) == (False, "budget:max-followup-turns")
    assert second.notice_text
    assert start(ledger, policy, 2, USER).allowed
    assert start(ledger, policy, 3, StartReason.MODERATOR_REQUEST).allowed


def test_r_062_the_rate_limit() -> None:
    ledger, policy = FollowupLedger(), budget(max_followup_turns=10, turn_rate_limit=TurnRateLimit(1, 60_000))
    assert start(ledger, policy, 0).allowed
    assert start(ledger, policy, 60_000).notice_key == "budget:turn-rate-limit"
    assert start(ledger, policy, 60_000, USER).allowed  # bypasses it, and is not counted
    assert start(ledger, policy, 60_000).notice_key == "budget:turn-rate-limit"
    assert start(ledger, policy, 60_001).allowed
    assert not start(ledger, policy, 60_002).allowed


def test_r_062_a_pause_comes_first() -> None:
    ledger = FollowupLedger()
    policy = budget(
        max_followup_turns=0,
        turn_rate_limit=TurnRateLimit(0, 1),
        pause_conditions=frozenset({PauseCondition.FOLLOWUP_TURNS}),
    )
    assert start(ledger, policy, 0).notice_key == "budget:pause-followup-turns"
    assert start(ledger, policy, 0, USER) == AutomaticTurn(True)


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=40))
def test_the_rate_limit_holds_in_every_window(steps: list[tuple[int, bool]]) -> None:
    """No window of the rate limit sees more automatic turns than it allows, whatever the user does."""
    ledger, policy = FollowupLedger(), budget(max_followup_turns=100, turn_rate_limit=TurnRateLimit(2, 50))
    now, started = 0, []
    for wait, by_user in steps:
        now += wait
        if start(ledger, policy, now, USER if by_user else IDLE).allowed and not by_user:
            started.append(now)
    for at in started:
        assert sum(at <= other <= at + 50 for other in started) <= 2


# -- the reduction of outcomes


def test_r_063_the_actions_of_an_outcome() -> None:
    outcome = Outcome(runtime_requests=(TURN, COMPACTION, EndSession("done")), ui_notifications=("n",))
    assert reduce_outcomes(HONOURING, [outcome], schedule=IDLE) == ControllerActions(
        request_refresh=False,
        request_compact=True,
        request_turn=None,
        halt_reason="done",
        system_notices=("Session ended by moderator: done", "n"),
    )


@pytest.mark.parametrize(
    ("policy", "schedule", "turn"),
    [
        (RuntimePolicy(), IDLE, IDLE),
        (RuntimePolicy(), None, None),
        (RuntimePolicy(honor_request_turn=False), IDLE, None),
    ],
)
def test_a_turn_is_scheduled_if_someone_asks_and_the_host_wants(
    policy: RuntimePolicy, schedule: StartReason | None, turn: StartReason | None
) -> None:
    outcomes = [Outcome(), Outcome(runtime_requests=(TURN, COMPACTION))]
    actions = reduce_outcomes(policy, outcomes, schedule=schedule)
    assert (actions.request_turn, actions.request_compact) == (turn, False)


def test_only_overlay_operations_need_a_refresh() -> None:
    assert reduce_outcomes(RuntimePolicy(), [Outcome(overlay_ops=(PrependInstruction("x"),))], schedule=None) == (
        ControllerActions(request_refresh=True)
    )
    assert reduce_outcomes(RuntimePolicy(), [], schedule=IDLE) == ControllerActions()


def test_the_first_end_is_the_one_that_counts() -> None:
    outcomes = [
        Outcome(overlay_ops=(Halt("halted"),), ui_notifications=("one",)),
        Outcome(runtime_requests=(A,), ui_notifications=("two",)),
    ]
    actions = reduce_outcomes(RuntimePolicy(), outcomes, schedule=IDLE)
    assert actions.halt_reason == "halted"
    assert actions.system_notices == ("Session ended by moderator: halted", "one", "two")
    both = Outcome(overlay_ops=(Halt("halted"),), runtime_requests=(A, B))
    assert reduce_outcomes(RuntimePolicy(), [both], schedule=None).halt_reason == "a"
