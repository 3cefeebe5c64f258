"""What follows what: the order of steps for every response, every order of outputs, and an end at any moment."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_runtime.host.followups import StartReason
from chatml_runtime.host.policy import BudgetPolicy, RuntimePolicy
from chatml_runtime.host.succession import (
    Append,
    AwaitOutput,
    AwaitResponse,
    BeginRequest,
    EndTurn,
    Operation,
    Review,
    StartTool,
    Stop,
    TakeNotes,
    TellOutput,
    Turn,
    Waiting,
    closing_outputs,
    next_operation,
    next_step,
)
from chatml_runtime.moderation.identities import EntryId, HistoryEntry
from chatml_runtime.moderation.tool_calls import CALLS, OUTPUTS, ReviewedCall, item_of
from chatml_runtime.script.effects import EndSession, RequestTurn
from chatml_runtime.script.errors import BudgetExceededError
from chatml_runtime.testing import call, say, think, user

REJECTED = "no"
items = st.lists(st.sampled_from(["say", "think", "call", "rejected"]), max_size=5)


def made(kind: str, name: str) -> Any:
    return {"say": say, "think": think}[kind]("text") if kind in ("say", "think") else call(kind, {}, call_id=name)


class Host:
    """Does what each step says, in plain calls; tools finish in a given order. Ends the session at a step, if told."""

    def __init__(self, responses: list[list[str]], finish: Any, *, end_at: int | None = None, notes: int = 0) -> None:
        self.responses = [
            [made(kind, f"c{turn}-{number}") for number, kind in enumerate(kinds)]
            for turn, kinds in enumerate(responses)
        ]
        self.finish = finish
        self.end_at = end_at
        self.notes = notes
        self.history: list[Any] = []
        self.done: list[tuple[str, Any]] = []
        self.running: list[EntryId] = []
        self.reading: list[Any] = []
        self.next = 0
        self.turn = Turn().wanted()
        self.ends_after_step: int | None = None

    @property
    def end_reason(self) -> str | None:
        return "over" if self.end_at is not None and len(self.done) >= self.end_at else None

    def play(self) -> Stop:
        step = next_step(self.turn, self.end_reason)
        while not isinstance(step, Stop):
            assert next_step(self.turn, self.end_reason) == step, "asking changes nothing"
            turn = self.turn
            if self.end_reason is not None and self.ends_after_step is None:
                self.ends_after_step = len(self.done)
            self.turn = self.after(step)
            assert self.turn != turn, "no step is taken twice"
            step = next_step(self.turn, self.end_reason)
        return step

    def entry(self, item: Any) -> HistoryEntry:
        self.next += 1
        return HistoryEntry(EntryId("s", self.next), item)

    def after(self, step: Any) -> Turn:
        turn = self.turn
        self.done.append((type(step).__name__, step))
        match step:
            case BeginRequest():
                self.reading = self.responses.pop(0) if self.responses else []
                return turn.begun()
            case Review(call=reviewed, entry=entry):
                output = REJECTED if reviewed.name == "rejected" else None
                return turn.reviewed(ReviewedCall(reviewed, item_of(reviewed, entry.item), output))
            case Append(entry=entry):
                self.history.append(entry.item)
                return turn.joined()
            case StartTool(opened=opened):
                self.running.append(opened.entry)
                return turn.running(opened.entry)
            case AwaitResponse():
                return turn.received(self.entry(self.reading.pop(0))) if self.reading else turn.over()
            case AwaitOutput():
                entry = self.running.pop(self.finish(len(self.running)))
                return turn.answered(entry, f"of {entry.encode()}")
            case TellOutput(item=item):
                self.history.append(item)
                return turn.told()
            case TakeNotes():
                taken, self.notes = self.notes, 0
                return turn.noted([self.entry(user("note")) for _ in range(taken)])
            case EndTurn():
                return turn.closed(RuntimePolicy())
        raise AssertionError(step)


@given(responses=st.lists(items, max_size=3), order=st.lists(st.integers(0, 99)), notes=st.integers(0, 2))
def test_the_order_of_a_run(responses: list[list[str]], order: list[int], notes: int) -> None:
    """A call is reviewed, joins and starts, in this order and once; outputs are told in the order of the calls."""
    picks = iter(order)
    host = Host(responses, lambda many: next(picks, 0) % many, notes=notes)
    assert host.play() == Stop(False)
    kinds = [kind for kind, _ in host.done]
    assert kinds.count("BeginRequest") == kinds.count("EndTurn") > 0
    begun = None
    for kind, step in host.done:
        if kind == "BeginRequest":
            assert begun is None
            begun, reviewed, started, told = step, [], [], []
        elif kind == "Review":
            reviewed.append(step.call.id)
        elif kind == "Append" and step.entry.item["type"] in CALLS:
            assert step.entry.item["call_id"] == reviewed[-1]
        elif kind == "StartTool":
            assert step.opened.call.id == reviewed[-1]
            assert step.opened.call.name != "rejected"
            started.append(step.opened.call.id)
        elif kind == "TellOutput":
            told.append(step.call.id)
            assert (step.item["output"] == REJECTED) == (step.call.name == "rejected")
        elif kind == "EndTurn":
            assert told == reviewed
            assert len(set(started)) == len(started)
            begun = None
    assert begun is None


@given(responses=st.lists(items, min_size=1, max_size=3), end_at=st.integers(0, 30), notes=st.integers(0, 1))
def test_nothing_begins_after_the_end(responses: list[list[str]], end_at: int, notes: int) -> None:
    """However early a session ends, every call has one output, and nothing is reviewed, started, asked or closed."""
    host = Host(responses, lambda many: 0, end_at=end_at, notes=notes)
    host.play()
    if host.ends_after_step is not None:
        after = {kind for kind, _ in host.done[host.ends_after_step :]}
        assert after <= {"Append", "AwaitResponse", "AwaitOutput", "TellOutput"}
    calls = [item["call_id"] for item in host.history if item["type"] in CALLS]
    outputs = [item["call_id"] for item in host.history if item["type"] in OUTPUTS.values()]
    assert calls == outputs
    begun = {step.opened.call.id for kind, step in host.done if kind == "StartTool"}
    rejected = {step.call.id for kind, step in host.done if kind == "Review" and step.call.name == "rejected"}
    for item in host.history:
        if item["type"] in OUTPUTS.values():
            name = item["call_id"]
            refused = REJECTED if name in rejected else "Session ended by moderator: over"
            assert (item["output"] == refused) == (name not in begun)


@pytest.mark.parametrize("finish", list(permutations(range(3))))
def test_outputs_known_early_wait_for_the_response(finish: tuple[int, ...]) -> None:
    """Outputs that are known while the model still speaks are told when it has finished (13.3, step 7)."""
    turn = Turn().wanted().begun()
    entries = [HistoryEntry(EntryId("s", number), call("read", {}, call_id=f"c{number}")) for number in range(3)]
    for entry in entries:
        turn = turn.received(entry)
        step = next_step(turn)
        assert isinstance(step, Review)
        turn = turn.reviewed(ReviewedCall(step.call, entry.item)).joined().running(entry.id)
    for number in finish:
        turn = turn.answered(entries[number].id, f"of {number}")
        assert next_step(turn) == AwaitResponse()
    turn = turn.over()
    for number in range(3):
        step = next_step(turn)
        assert isinstance(step, TellOutput)
        assert (step.call.id, step.item["output"]) == (f"c{number}", f"of {number}")
        turn = turn.told()
    assert next_step(turn) == TakeNotes()


def test_open_calls_of_a_failed_run_are_closed() -> None:
    entry = HistoryEntry(EntryId("s", 0), call("read", {}, call_id="c1"))
    turn = Turn().wanted().begun().received(entry)
    assert closing_outputs(turn) == (), "it is not in the history yet"
    (closing,) = closing_outputs(turn.joined())
    assert closing["call_id"] == "c1"


def ended(turn: Turn, **policy: Any) -> Turn:
    return turn.over().noted(()).closed(RuntimePolicy(**policy))


def test_who_asks_for_a_turn_gets_one() -> None:
    turn = Turn().wanted().begun().asked([RequestTurn()])
    assert next_step(ended(turn)) == BeginRequest()
    assert next_step(ended(turn, honor_request_turn=False)) == Stop(False)
    assert next_step(ended(turn.asked([EndSession("done")]))) == Stop(False)
    with pytest.raises(BudgetExceededError):
        ended(ended(turn).begun().asked([RequestTurn()]), budget=BudgetPolicy(max_self_triggered_turns=1))


def test_requests_made_before_the_model_is_asked_ask_for_nothing() -> None:
    assert next_step(ended(Turn().wanted().asked([RequestTurn()]).begun())) == Stop(False)


def test_news_reset_the_count() -> None:
    asked = ended(Turn().wanted().begun().asked([RequestTurn()]))
    assert asked.self_triggered == 1
    note = HistoryEntry(EntryId("s", 0), user("wait"))
    turn = asked.begun().over().noted([note])
    assert next_step(turn) == Append(note)
    assert turn.joined().closed(RuntimePolicy()).self_triggered == 0


def test_precedence_between_runs() -> None:
    waiting = Waiting(True, True, True, True, True, StartReason.IDLE_FOLLOWUP)
    order = [next_operation(waiting)]
    for done in ({"question": False, "events": False}, {"compaction": False}, {"notes": False}, {"submission": False}):
        waiting = attrs.evolve(waiting, **done)
        order.append(next_operation(waiting))
    assert order == list(Operation)
    assert next_operation(Waiting(events=True), drained=True) is None
    assert next_operation(Waiting()) is None
