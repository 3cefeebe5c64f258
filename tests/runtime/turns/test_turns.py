"""The run of a conversation, step by step (runtime.md section 13; R-051 to R-061, R-071)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from chatml_runtime.host.conversation import RunEnd
from chatml_runtime.host.policy import BudgetPolicy, RuntimePolicy
from chatml_runtime.host.turns import TurnDriver, TurnInput
from chatml_runtime.moderation.capabilities import Capabilities, ToolOk
from chatml_runtime.moderation.identities import HistoryEntry
from chatml_runtime.moderation.results import EventInput
from chatml_runtime.script.effects import EndSession, RequestTurn
from chatml_runtime.script.errors import BudgetExceededError, UnexpectedToolDecisionError
from chatml_runtime.testing import call, custom_call, say, user
from tests.runtime.turns.runs import Talk, check_pairs, in_loop

WATCH = "| `Never -> Task.pure(st)"
CHECKING = [[say("checking"), call("q", {"m": "fast"}, "c1")], [say("done")]]
TOOLS = {"q": lambda args: "found"}


def limited(turns: int) -> RuntimePolicy:
    return RuntimePolicy(budget=BudgetPolicy(max_self_triggered_turns=turns))


class Notes:
    """A steering source with some texts and entries to give."""

    def __init__(self, texts: Sequence[str] = (), entries: Sequence[HistoryEntry] = ()) -> None:
        self.texts = list(texts)
        self.entries = list(entries)

    def take_text(self) -> str | None:
        return self.texts.pop(0) if self.texts else None

    def take_entries(self) -> Sequence[HistoryEntry]:
        taken, self.entries = self.entries, []
        return taken


def test_r_051_a_decision_where_no_call_is_under_review_is_reported_and_stays() -> None:
    talk = Talk("| `Turn_start -> let* () = Tool.approve() in Task.pure(st + 1)", CHECKING, TOOLS)
    with pytest.raises(UnexpectedToolDecisionError, match="turn_start"):
        talk.run()
    assert talk.moderator is not None
    assert talk.moderator.state == 1
    assert talk.model.requests == []


@pytest.mark.parametrize(
    ("case", "source"),
    [
        ('| `Item_appended(i) -> let* () = Tool.reject("no") in Task.pure(st)', "message_appended"),
        ('| `Post_tool_response(r) -> let* () = Tool.reject("no") in Task.pure(st)', "post_tool_response"),
        ('| `Turn_end -> let* () = Tool.reject("no") in Task.pure(st)', "turn_end"),
        (
            "| `Pre_tool_call(c) -> let* () = Runtime.emit(`Go) in Task.pure(st)"
            " | `Go -> let* () = Tool.approve() in Task.pure(st)",
            "internal_event",
        ),
    ],
    ids=lambda value: value if "`" not in value else "",
)
def test_r_051_in_every_other_phase(case: str, source: str) -> None:
    talk = Talk(case, CHECKING, TOOLS)
    with pytest.raises(UnexpectedToolDecisionError, match=f"^{source} "):
        talk.run()
    check_pairs(talk.conversation.history)


def test_r_052_a_rejected_call_is_not_run_and_has_the_reason_as_output() -> None:
    lines: list[str] = []
    talk = Talk(
        """| `Pre_tool_call(c) -> let* () = Tool.reject("denied") in Task.pure(st)
           | `Post_tool_response(r) -> let* () = Log.info(to_string(r.result)) in Task.pure(st)""",
        CHECKING,
        TOOLS,
        moderator={"capabilities": Capabilities(log=lambda level, line: lines.append(line))},
    )
    report = talk.run()
    assert talk.called == []
    assert talk.items[3] == {"type": "function_call_output", "call_id": "c1", "output": "denied"}
    assert lines == ["`String(denied)"]
    assert len(talk.model.requests) == 2
    assert report.end is RunEnd.STOPPED


def test_r_053_after_a_redirect_the_result_carries_the_new_name() -> None:
    lines: list[str] = []
    talk = Talk(
        """| `Pre_tool_call(c) -> let* () = Tool.redirect("other", `String("x")) in Task.pure(st)
           | `Post_tool_response(r) -> let* () = Log.info(r.name ++ to_string(r.result)) in Task.pure(st)""",
        [[custom_call("q", "raw", "c1")], []],
        {"other": lambda args: {"ok": args}},
        moderator={"capabilities": Capabilities(log=lambda level, line: lines.append(line))},
    )
    talk.run()
    assert talk.called == [("other", "x")]
    assert lines == ["other`Object([|{ key = ok; value = `String(x) }|])"]
    assert talk.items[1]["input"] == "x"


def test_r_054_the_order_of_events() -> None:
    talk = Talk(WATCH, CHECKING, TOOLS)
    report = talk.run()
    assert talk.phases == [
        "turn_start",
        "message_appended",
        "pre_tool_call",
        "message_appended",
        "post_tool_response",
        "message_appended",
        "turn_end",
        "turn_start",
        "message_appended",
        "turn_end",
    ]
    assert talk.kinds == ["user", "assistant", "call", "output", "assistant"]
    assert (report.end, report.end_reason, report.requests) == (RunEnd.STOPPED, None, ())
    assert talk.entries == list(report.history[1:])


def test_r_055_an_end_at_the_start_of_a_turn() -> None:
    steering = Notes(["later"])
    talk = Talk(
        '| `Turn_start -> let* () = Runtime.end_session("enough") in Task.pure(st)', CHECKING, steering=steering
    )
    report = talk.run()
    assert (report.end, report.end_reason) == (RunEnd.ENDED, "enough")
    assert (talk.model.requests, talk.phases, steering.texts) == ([], ["turn_start"], ["later"])
    assert talk.observed == [EndSession("enough")]
    again = talk.run()  # an ended session takes no more runs
    assert (again.end, again.end_reason, talk.phases) == (RunEnd.ENDED, "enough", ["turn_start"])


def test_r_044_a_halt_ends_the_run_without_a_model_call() -> None:
    talk = Talk('| `Turn_start -> let* () = Turn.halt("stop") in Task.pure(st)', CHECKING)
    report = talk.run()
    assert (report.end, report.end_reason, report.requests) == (RunEnd.ENDED, "stop", ())
    assert talk.model.requests == []


def test_r_056_text_for_one_request_only() -> None:
    talk = Talk(WATCH, CHECKING, TOOLS, steering=Notes(["later"]))
    talk.run()
    first, second = talk.model.requests
    assert first.inputs[-1] == {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": "later"}],
    }
    assert len(first.inputs) == 2
    assert [item.get("role") for item in second.inputs] == ["user", "assistant", None, None]
    assert "later" not in str(talk.items)


def test_r_056_empty_text_adds_nothing_and_the_end_of_a_turn_takes_none() -> None:
    steering = Notes(["", "kept"])
    talk = Talk(WATCH, [[say("done")]], steering=steering)
    talk.run()
    assert len(talk.model.requests[0].inputs) == 1
    assert steering.texts == ["kept"]


def test_r_057_entries_of_the_user_join_after_the_outputs() -> None:
    steering = Notes()
    talk = Talk(WATCH, CHECKING, TOOLS, steering=steering)
    entry = HistoryEntry(talk.allocator.allocate(), user("also this"))
    steering.entries.append(entry)
    report = talk.run()
    second = talk.model.requests[1].inputs
    assert [item["type"] for item in second[-3:]] == ["function_call", "function_call_output", "message"]
    assert second[-1] == entry.item
    assert report.history[4] is entry
    assert talk.phases[5:8] == ["message_appended", "message_appended", "turn_end"]


def test_r_057_entries_alone_cause_a_follow_up() -> None:
    steering = Notes()
    talk = Talk(None, [[say("one")], [say("two")]], steering=steering)
    steering.entries.append(HistoryEntry(talk.allocator.allocate(), user("more")))
    talk.run()
    assert talk.kinds == ["user", "assistant", "user", "assistant"]


def test_r_059_too_many_turns_that_the_script_asked_for() -> None:
    talk = Talk(
        "| `Turn_end -> let* () = Runtime.request_turn() in Task.pure(st)",
        [[say(f"{n}")] for n in range(9)],
        policy=limited(2),
    )
    with pytest.raises(BudgetExceededError, match=r"\(2\)") as caught:
        talk.run()
    assert len(talk.model.requests) == 3
    assert caught.value.history == talk.conversation.history
    assert talk.kinds == ["user", "assistant", "assistant", "assistant"]


def test_r_059_a_tool_call_begins_the_count_anew() -> None:
    responses: list[Any] = [[say(f"{n}")] for n in range(9)]
    responses[1] = [call("q", {}, "c1")]
    talk = Talk("| `Turn_end -> let* () = Runtime.request_turn() in Task.pure(st)", responses, TOOLS, policy=limited(2))
    with pytest.raises(BudgetExceededError):
        talk.run()
    assert len(talk.model.requests) == 5


def test_r_059_requests_are_ignored_if_the_policy_says_so() -> None:
    talk = Talk(
        "| `Turn_end -> let* () = Runtime.request_turn() in Task.pure(st)",
        [[say("one")]],
        policy=RuntimePolicy(honor_request_turn=False),
    )
    assert talk.run().requests == (RequestTurn(),)
    assert talk.observed == [RequestTurn()]


REPLAYING = """
  | `{event} -> let* () = Runtime.emit(`Again) in Task.pure(st)
  | `Again -> if st == 0 then let* () = Runtime.request_turn() in Task.pure(1) else Task.pure(st)
"""


def test_r_060_a_request_replayed_at_the_start_of_a_turn_starts_no_other() -> None:
    talk = Talk(REPLAYING.format(event="Turn_start"), [[say("one")]])
    assert talk.run().requests == (RequestTurn(),)
    assert talk.events[:2] == ["`Turn_start", "`Again"]
    assert len(talk.model.requests) == 1


def test_r_060_one_replayed_after_the_last_message_does() -> None:
    talk = Talk(REPLAYING.format(event="Item_appended(i)"), [[say("one")], [say("two")]])
    talk.run()
    assert len(talk.model.requests) == 2


def test_r_061_an_end_while_a_call_is_reviewed() -> None:
    talk = Talk(
        '| `Pre_tool_call(c) -> let* () = Runtime.end_session("x") in Task.pure(st)',
        [[call("a", {}, "c1"), call("b", {}, "c2")]],
        {"a": lambda args: "ran", "b": lambda args: "ran"},
        steering=(steering := Notes()),
    )
    steering.entries.append(HistoryEntry(talk.allocator.allocate(), user("note")))
    report = talk.run()
    assert talk.called == []
    assert talk.outputs == ["Session ended by moderator: x"] * 2
    assert talk.phases == ["turn_start", "pre_tool_call"]
    assert (report.end, report.end_reason) == (RunEnd.ENDED, "x")
    assert len(steering.entries) == 1  # deferred entries are not taken
    check_pairs(report.history)


@pytest.mark.parametrize(
    ("case", "outputs"),
    [
        (
            '| `Pre_tool_call(c) -> let* () = Tool.reject("no") in let* () = Turn.halt("x") in Task.pure(st)',
            ["no", "Session ended by moderator: x"],
        ),
        (
            '| `Item_appended(i) -> let* () = Turn.halt("x") in Task.pure(st)',
            ["Session ended by moderator: x"] * 2,
        ),
        (
            "| `Pre_tool_call(c) -> let* () = Runtime.emit(`End) in Task.pure(st)"
            ' | `End -> let* () = Turn.halt("x") in Task.pure(st)',
            ["Session ended by moderator: x"] * 2,
        ),
    ],
    ids=["rejected", "call appended", "replayed"],
)
def test_r_061_other_ends_before_a_call_has_begun(case: str, outputs: list[str]) -> None:
    talk = Talk(case, [[call("a", {}, "c1"), call("b", {}, "c2")]], {"a": lambda args: "", "b": lambda args: ""})
    assert talk.run().end_reason == "x"
    assert (talk.called, talk.outputs) == ([], outputs)


def test_r_061_tools_that_run_are_awaited_when_the_session_ends() -> None:
    """The second call ends the session while the first is under way; its output is recorded, no event delivered."""

    async def slow(args: Any) -> str:
        await asyncio.sleep(0.01)
        return "ran"

    talk = Talk(
        """| `Pre_tool_call(c) ->
             if c.id == "c2" then let* () = Runtime.end_session("x") in Task.pure(st) else Task.pure(st)""",
        [[call("a", {}, "c1"), call("b", {}, "c2"), say("last words")]],
        {"a": slow, "b": slow},
    )
    report = talk.run()
    assert talk.outputs == ["ran", "Session ended by moderator: x"]
    assert talk.phases == ["turn_start", "pre_tool_call", "message_appended", "pre_tool_call"]
    assert talk.kinds == ["user", "call", "call", "assistant", "output", "output"]
    assert report.end is RunEnd.ENDED


def test_an_event_from_outside_may_end_the_session_at_any_moment() -> None:
    """A host that drains while a run is under way: events of the run that wait for that drain are not delivered, and
    the run ends as gracefully as if the script had ended it there."""
    source = """
      | `Stop -> let* wait = Tool.call("wait", `Null) in let* () = Runtime.end_session("outside") in Task.pure(st)
    """

    async def wait(name: str, args: Any) -> ToolOk:
        for _ in range(4):
            await asyncio.sleep(0)
        return ToolOk(None)

    async def main(moment: int) -> Talk:
        talk = Talk(
            source,
            [[say("look"), call("a", {}, "c1"), call("a", {}, "c2")], [say("done")]],
            {"a": late},
            moderator={"capabilities": Capabilities(tool_call=wait)},
        )
        moderator = talk.moderator
        assert moderator is not None
        running = asyncio.create_task(talk.conversation.run())
        for _ in range(moment):
            await asyncio.sleep(0)
        moderator.enqueue(("Stop",))
        await moderator.areplay(EventInput("s1"))
        assert (await running).end is RunEnd.ENDED
        return talk

    for moment in range(1, 12):
        talk = in_loop(main(moment))
        check_pairs(talk.conversation.history)
        assert talk.events[-1] == "`Stop"


async def late(args: Any) -> str:
    await asyncio.sleep(0.001)
    return "ran"


def test_r_061_an_end_after_a_tool_has_run() -> None:
    talk = Talk(
        '| `Post_tool_response(r) -> let* () = Runtime.end_session("x") in Task.pure(st)',
        [[call("a", {}, "c1"), call("a", {}, "c2")]],
        {"a": lambda args: "ran"},
    )
    assert talk.run().end is RunEnd.ENDED
    assert talk.outputs == ["ran", "ran"]
    assert talk.phases[-1] == "post_tool_response"
    assert talk.phases.count("post_tool_response") == 1


def test_r_071_without_a_script() -> None:
    plain, watched = Talk(None, CHECKING, TOOLS), Talk(WATCH, CHECKING, TOOLS)
    report, other = plain.run(), watched.run()
    assert report.history == other.history
    assert (report.requests, plain.observed, plain.records) == ((), [], [])
    driver = TurnDriver(None, session_id="s1")
    given = TurnInput(report.history)
    assert driver.begin_request(given).inputs == tuple(plain.items)
    assert (driver.start(given), driver.entry_appended(given), driver.end_turn(given), driver.drain(given)) == ((),) * 4
    assert [row.entry for row in driver.overlay.apply(report.history)] == list(report.history)
