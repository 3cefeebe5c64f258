"""The durable moderator: queue and replay, overlay, subscriptions (runtime.md section 11; R-026, R-033 to R-047)."""

from __future__ import annotations

from typing import Any

import pytest

from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.moderation.capabilities import Capabilities
from chatml_runtime.moderation.changes import Deleted, Halted, InsertedEntry, Position, Replaced
from chatml_runtime.moderation.identities import EntryId
from chatml_runtime.moderation.outcome import Outcome
from chatml_runtime.moderation.overlay import Inserted, Overlay, Replacement
from chatml_runtime.moderation.results import RunRecord, StopReason
from chatml_runtime.moderation.vocabulary import Phase, PreToolCall, SessionStart, ToolCall, TurnEnd
from chatml_runtime.script.approvals import AskText
from chatml_runtime.script.effects import EndSession, Halt, Reject
from chatml_runtime.script.errors import (
    ItemDecodeError,
    NotSuspendedError,
    ReplayError,
    SessionEndedError,
    SessionSuspendedError,
    TaskFailedError,
    ToolDecisionConflictError,
    UnknownTargetError,
)
from chatml_runtime.script.session import RunStatus
from tests.runtime.conversations import H2, TICK, Conversation

QUEUE = """
  | `Session_start -> let* () = Runtime.emit(`N(3)) in Task.pure(st)
  | `N(k) -> if k == 0 then Task.pure(st + 1)
             else let* () = Runtime.emit(`N(k - 1)) in Task.pure(st + 1)
  | `End -> let* () = Runtime.end_session("bye") in Task.pure(st)
  | `Bad -> Task.fail("bad")
"""
N0 = ("N", 0)


# -- queue and replay (A.4)


def test_r_033_emitted_events_are_replayed_in_the_same_drain() -> None:
    talk = Conversation(QUEUE)
    result = talk.send(SessionStart())
    assert result.replayed is not None
    assert (len(result.replayed.outcomes), result.replayed.stopped, talk.state) == (4, StopReason.EMPTY, 4)


def test_r_033_without_replay_after_events() -> None:
    talk = Conversation(QUEUE, replay_after_events=False)
    assert talk.send(SessionStart()).replayed is None
    assert (talk.state, talk.queue) == (0, ["`N(3)"])
    assert len(talk.replay().outcomes) == 4
    assert talk.state == 4


def test_r_034_a_replay_stops_at_its_limit() -> None:
    talk = Conversation(QUEUE, max_internal_event_drain=2)
    result = talk.send(SessionStart())
    assert result.replayed is not None
    assert (len(result.replayed.outcomes), result.replayed.stopped) == (2, StopReason.LIMIT)
    assert (result.replayed.remaining, talk.state, talk.queue) == (1, 2, ["`N(1)"])
    drained = talk.replay(2)
    assert (len(drained.outcomes), drained.stopped, drained.remaining, talk.state) == (2, StopReason.LIMIT, 0, 4)


def test_r_034_the_next_event_continues_what_was_left() -> None:
    talk = Conversation(QUEUE, max_internal_event_drain=2)
    talk.send(SessionStart())
    talk.send()
    assert (talk.state, talk.queue) == (4, [])


def test_r_035_an_end_stops_the_replay() -> None:
    talk = Conversation(QUEUE)
    talk.moderator.enqueue(("End",))
    talk.moderator.enqueue(N0)
    drained = talk.replay()
    assert [outcome.runtime_requests for outcome in drained.outcomes] == [(EndSession("bye"),)]
    assert (drained.stopped, drained.remaining) == (StopReason.HALTED, 1)
    assert (talk.state, talk.queue, talk.moderator.end_reason) == (0, ["`N(0)"], "bye")
    assert talk.replay().outcomes == ()


def test_r_036_a_failing_event_is_consumed_and_the_prefix_is_kept() -> None:
    talk = Conversation(QUEUE)
    for event in (N0, ("Bad",), N0):
        talk.moderator.enqueue(event)
    with pytest.raises(ReplayError, match="bad") as caught:
        talk.replay()
    assert len(caught.value.outcomes) == 1
    assert isinstance(caught.value.cause, TaskFailedError)
    assert caught.value.committed is None
    assert (talk.state, talk.queue) == (1, ["`N(0)"])


def test_a_failing_replay_after_an_event_carries_the_events_own_result() -> None:
    talk = Conversation(
        '| `Go -> let* () = Turn.prepend_system("x") in let* () = Runtime.emit(`Bad) in Task.pure(1)'
        '| `Bad -> Task.fail("bad")'
    )
    with pytest.raises(ReplayError) as caught:
        talk.tick(("Go",))
    assert caught.value.committed.status is RunStatus.COMMITTED
    assert len(caught.value.committed.outcome.overlay_ops) == 1
    assert (talk.state, talk.moderator.overlay.revision) == (1, 1)


def test_r_037_first_in_first_out_across_sources() -> None:
    queues = list[list[str]]()
    talk = Conversation(QUEUE, observer=lambda run: queues.append(talk.queue))
    talk.moderator.enqueue(N0)
    assert (talk.state, talk.queue) == (0, ["`N(0)"])
    result = talk.send(SessionStart())
    assert queues[0] == ["`N(0)", "`N(3)"]
    assert result.replayed is not None
    assert (len(result.replayed.outcomes), talk.state) == (5, 5)


def test_r_037_without_replay_after_events() -> None:
    talk = Conversation(QUEUE, replay_after_events=False)
    talk.moderator.enqueue(N0)
    talk.send(SessionStart())
    assert talk.queue == ["`N(0)", "`N(3)"]


ASK = '| `Q -> let* a = Approval.ask_text("well?") in Task.pure(st + 10) | `N(k) -> Task.pure(st + 1)'


def test_r_038_a_replay_stops_at_a_prompt() -> None:
    talk = Conversation(ASK, surface=UI_MODERATOR)
    for event in (("Q",), N0):
        talk.moderator.enqueue(event)
    drained = talk.replay()
    assert (drained.outcomes, drained.stopped, drained.remaining) == ((Outcome(),), StopReason.SUSPENDED, 1)
    with pytest.raises(SessionSuspendedError) as caught:
        talk.replay()
    assert caught.value.pending == AskText("well?")
    result = talk.moderator.resume("yes")
    assert result.replayed is not None
    assert (talk.state, talk.queue, len(result.replayed.outcomes)) == (11, [], 1)


def test_an_event_whose_replay_meets_a_prompt_says_so() -> None:
    talk = Conversation(
        '| `Go -> let* () = Runtime.emit(`Q) in Task.pure(1) | `Q -> let* a = Approval.ask_text("?") in Task.pure(2)',
        surface=UI_MODERATOR,
    )
    result = talk.tick(("Go",))
    assert (result.status, result.pending) == (RunStatus.COMMITTED, AskText("?"))
    assert result.replayed is not None
    assert result.replayed.stopped is StopReason.SUSPENDED
    assert talk.state == 1


def test_r_026_suspend_block_resume_at_the_moderator() -> None:
    talk = Conversation(
        """
        | `Tick ->
          let* () = Turn.prepend_system("before") in
          let* () = Runtime.emit(`Q("buffered")) in
          let* a = Approval.ask_text("continue?") in
          let* () = Log.info(a) in
          Task.pure(st + 1)
        | `Q(text) -> let* () = Log.info(text) in Task.pure(st + 10)
        """,
        surface=UI_MODERATOR,
    )
    suspended = talk.tick()
    assert (suspended.status, suspended.pending) == (RunStatus.SUSPENDED, AskText("continue?"))
    assert (suspended.outcome, suspended.replayed, talk.state, talk.queue) == (Outcome(), None, 0, [])
    talk.moderator.enqueue(("Q", "host"))
    with pytest.raises(SessionSuspendedError):
        talk.send()
    queues = list[list[str]]()
    talk.moderator._observer = lambda run: queues.append(talk.queue)
    resumed = talk.moderator.resume("  yes  ")
    assert queues[0] == ["`Q(host)", "`Q(buffered)"]
    assert (resumed.status, talk.state) == (RunStatus.COMMITTED, 21)
    assert resumed.replayed is not None
    assert len(resumed.replayed.outcomes) == 2
    with pytest.raises(NotSuspendedError):
        talk.moderator.resume("again")


@pytest.mark.parametrize("answer", [None, 7, b"yes"])
def test_an_answer_that_is_no_string_leaves_the_request_pending(answer: Any) -> None:
    talk = Conversation(ASK, surface=UI_MODERATOR)
    talk.tick(("Q",))
    with pytest.raises(TypeError, match="an answer is a string"):
        talk.moderator.resume(answer)
    assert talk.moderator.pending == AskText("well?")
    assert talk.moderator.resume("yes").status is RunStatus.COMMITTED


def test_the_observer_sees_every_run_with_its_facts() -> None:
    runs = list[RunRecord]()
    talk = Conversation(QUEUE, observer=runs.append, max_internal_event_drain=2)
    talk.send(SessionStart())
    with pytest.raises(TaskFailedError):
        talk.tick(("Bad",))
    assert [(run.phase, run.event) for run in runs] == [
        (Phase.SESSION_START, ("Session_start",)),
        (Phase.INTERNAL_EVENT, ("N", 3)),
        (Phase.INTERNAL_EVENT, ("N", 2)),
        (Phase.INTERNAL_EVENT, ("Bad",)),
    ]
    assert [effect.op for effect in runs[0].effects] == ["Runtime.emit"]
    assert (runs[-1].status, str(runs[-1].error)) == (None, "bad")


# -- overlay (A.5)

R_039 = """
| `Turn_start ->
  let* () = Turn.prepend_system("P1") in
  let* () = Turn.prepend_system("P2") in
  let* () = Turn.replace_item("2:s1:1", Item.output_text_message("lab", "rewritten")) in
  let* () = Turn.delete_item("2:s1:0") in
  let* () = Turn.append_item(Item.output_text_message("tail", "bye")) in
  Task.pure(st)
"""


def eid(sequence: int) -> EntryId:
    return EntryId("s1", sequence)


def test_r_039_all_operations() -> None:
    talk = Conversation(R_039, items=H2)
    talk.send()
    assert talk.shown() == [
        ("2:s1:2", "developer", "P1", Inserted(0)),
        ("2:s1:3", "developer", "P2", Inserted(1)),
        ("2:s1:1", "assistant", "rewritten", Replacement(eid(1), 2)),
        ("2:s1:4", "assistant", "bye", Inserted(4)),
    ]
    overlay = talk.moderator.overlay
    assert (overlay.revision, overlay.next_change_id, talk.allocator.next_sequence) == (1, 5, 5)
    (change,) = talk.published()
    assert change.operations == (
        InsertedEntry(eid(2), 0, Position.PREPENDED, None),
        InsertedEntry(eid(3), 1, Position.PREPENDED, None),
        Replaced(eid(1), 2, "lab"),
        Deleted(eid(0), 3),
        InsertedEntry(eid(4), 4, Position.APPENDED, "tail"),
    )
    assert change.affected_entry_ids == (eid(2), eid(3), eid(1), eid(0), eid(4))
    assert change.allocated_inserted_ids == (eid(2), eid(3), eid(4))
    assert (change.phase, change.visible_history_changed, change.revision) == (Phase.TURN_START, True, 1)
    assert (change.script_id, change.script_source_hash) == ("main", talk.artifact.source_hash)
    assert [entry.item for entry in talk.history] == list(H2)


@pytest.mark.parametrize(("target", "fact"), [("2:s1:99", '"2:s1:99"'), ("zzz", "length of its namespace is missing")])
def test_r_040_an_unknown_target_rolls_everything_back(target: str, fact: str) -> None:
    talk = Conversation(
        '| `Turn_start -> let* () = Turn.prepend_system("x") in '
        f'let* () = Turn.delete_item("{target}") in Task.pure(1)',
        items=H2,
    )
    with pytest.raises(UnknownTargetError, match=fact):
        talk.send()
    assert (talk.state, talk.moderator.overlay, talk.allocator.next_sequence) == (0, Overlay(), 2)
    assert talk.published() == ()


def test_r_041_the_last_replacement_wins_and_a_tombstone_wins_over_all() -> None:
    talk = Conversation(
        '| `Put(text) -> let* () = Turn.replace_item("2:s1:1", Item.user_text("x", text)) in Task.pure(st)'
        '| `Drop -> let* () = Turn.delete_item("2:s1:1") in Task.pure(st)',
        items=H2,
    )
    talk.tick(("Put", "one"))
    talk.tick(("Put", "two"))
    assert talk.shown()[1][2] == "two"
    assert (len(talk.moderator.overlay.replacements), talk.moderator.overlay.revision) == (1, 2)
    talk.tick(("Drop",))
    talk.tick(("Put", "three"))
    assert [row[0] for row in talk.shown()] == ["2:s1:0"]
    assert talk.moderator.overlay.revision == 4


def test_r_042_replace_or_append_and_notices() -> None:
    talk = Conversation(
        '| `A -> let* () = Turn.replace_or_append(`Some("2:s1:0"), Item.user_text("i", "new")) in Task.pure(st)'
        '| `B -> let* () = Turn.replace_or_append(`None, Item.user_text("i", "more")) in Task.pure(st)'
        '| `C -> let* () = Turn.append_notice("watch") in Task.pure(st)',
        items=H2,
    )
    for name in "ABC":
        talk.tick((name,))
    assert [(role, text) for _, role, text, _ in talk.shown()] == [
        ("user", "new"),
        ("assistant", "Hi"),
        ("user", "more"),
        ("developer", "watch"),
    ]
    assert [insertion.script_label for insertion in talk.moderator.overlay.appended] == ["i", "system:watch"]


def test_r_043_inserted_targets_are_accepted_without_effect() -> None:
    talk = Conversation(R_039 + '| `Drop -> let* () = Turn.delete_item("2:s1:2") in Task.pure(st)', items=H2)
    talk.send()
    before = talk.shown()
    talk.tick(("Drop",))
    assert (talk.shown(), talk.moderator.overlay.revision) == (before, 2)
    assert eid(2) in talk.moderator.overlay.deleted


def test_r_044_a_halt_ends_the_session() -> None:
    talk = Conversation(
        '| `Turn_start -> let* () = Runtime.emit(`X) in let* () = Turn.halt("stop") in Task.pure(1)', items=H2
    )
    result = talk.send()
    assert result.outcome.overlay_ops == (Halt("stop"),)
    assert result.outcome.runtime_requests == ()
    assert result.replayed is None
    (change,) = talk.published()
    assert (change.operations, change.visible_history_changed) == ((Halted("stop", 0),), False)
    moderator = talk.moderator
    assert (moderator.is_halted, moderator.end_reason, moderator.overlay.halt_reason) == (True, "stop", "stop")
    assert (moderator.overlay.revision, talk.state, talk.queue) == (1, 1, ["`X"])
    with pytest.raises(SessionEndedError):
        talk.send()
    with pytest.raises(SessionEndedError):
        moderator.enqueue(TICK)


def test_r_045_the_context_shows_the_canonical_history() -> None:
    talk = Conversation(
        R_039 + "| `Look -> let* () = Log.info(to_string(Array.map(ctx.items, fun i -> [Item.id(i)]))) in "
        "let* () = Log.info(to_string(Array.map(ctx.items, Item.text))) in Task.pure(st)",
        items=H2,
        capabilities=logging(logs := []),
    )
    talk.send()
    talk.tick(("Look",))
    assert logs == ["[|[|2:s1:0|], [|2:s1:1|]|]", "[|`Some(Hello), `Some(Hi)|]"]


def test_r_046_an_undecodable_item_is_refused() -> None:
    talk = Conversation('| `Turn_start -> let* () = Turn.append_item(Item.create("x", `Null)) in Task.pure(1)')
    with pytest.raises(ItemDecodeError, match='"x"'):
        talk.send()
    assert (talk.state, talk.moderator.overlay) == (0, Overlay())


def test_r_047_subscriptions() -> None:
    woken = list[int]()

    def wake() -> None:
        woken.append(1)
        raise RuntimeError("a subscriber's own affair")

    talk = Conversation(
        """
        | `Two -> let* () = Turn.prepend_system("a") in let* () = Turn.append_notice("b") in Task.pure(st)
        | `Bad -> let* () = Turn.prepend_system("a") in Task.fail("no")
        | `Ask -> let* () = Turn.prepend_system("a") in let* x = Approval.ask_text("?") in
                  let* () = Turn.append_notice(x) in Task.pure(st)
        """,
        surface=UI_MODERATOR,
    )
    subscription = talk.moderator.subscribe(wake)
    talk.tick(("Two",))
    assert (len(woken), [len(change.operations) for change in subscription.drain()]) == (1, [2])
    with pytest.raises(TaskFailedError):
        talk.tick(("Bad",))
    talk.tick(("Ask",))
    assert (len(woken), subscription.drain()) == (1, ())
    talk.moderator.resume("ok")
    (change,) = subscription.drain()
    assert (len(woken), len(change.operations), change.phase) == (2, 2, Phase.INTERNAL_EVENT)
    subscription.close()
    subscription.close()
    talk.tick(("Two",))
    assert (len(woken), subscription.drain()) == (2, ())
    restored = Conversation(talk.artifact, snapshot=talk.moderator.snapshot(), allocator=talk.allocator)
    assert (restored.published(), restored.moderator.overlay.revision) == ((), talk.moderator.overlay.revision)


def test_change_records_keep_the_phase_of_the_suspended_event() -> None:
    talk = Conversation(
        '| `Turn_end -> let* x = Approval.ask_text("?") in let* () = Turn.prepend_system(x) in Task.pure(st)',
        surface=UI_MODERATOR,
    )
    talk.send(TurnEnd())
    talk.moderator.resume("ok")
    assert [change.phase for change in talk.published()] == [Phase.TURN_END]


def test_an_event_without_overlay_operations_leaves_the_revision() -> None:
    talk = Conversation("| `Tick -> Task.pure(st + 1)")
    talk.tick()
    assert (talk.moderator.overlay, talk.published()) == (Overlay(), ())


def test_targets_are_checked_against_the_history_seen_last() -> None:
    talk = Conversation(
        "| `Drop(id) -> let* () = Turn.delete_item(id) in Task.pure(st)", items=H2, replay_after_events=False
    )
    talk.history.pop()
    with pytest.raises(UnknownTargetError):
        talk.tick(("Drop", "2:s1:1"))
    talk.append(H2[1])
    talk.tick(("Drop", "2:s1:2"))
    assert [row[0] for row in talk.shown()] == ["2:s1:0"]


# -- tool decisions


@pytest.mark.parametrize(
    "decisions",
    [
        'let* () = Tool.approve() in let* () = Tool.reject("x") in',
        "let* () = Tool.approve() in let* () = Tool.approve() in",
    ],
)
def test_r_050_two_decisions_are_refused(decisions: str) -> None:
    talk = Conversation(
        f'| `Pre_tool_call(c) -> {decisions} Task.pure(1) | `Tick -> let* () = Tool.reject("y") in Task.pure(2)'
    )
    with pytest.raises(ToolDecisionConflictError, match="at most one"):
        talk.send(PreToolCall(ToolCall("c1", "q", {})))
    assert talk.state == 0
    assert talk.tick().outcome.tool_decision == Reject("y")


def logging(lines: list[str]) -> Capabilities:
    """A bundle that keeps log lines."""
    return Capabilities(log=lambda level, message: lines.append(message))
