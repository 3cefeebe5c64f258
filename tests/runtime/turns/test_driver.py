"""The elementary operations of the turn driver, plain and as coroutines, and approvals inside them (13.2, 13.4)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chatml.diagnostics.errors import SessionError
from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.host.policy import BudgetPolicy, RuntimePolicy
from chatml_runtime.host.turns import TurnDriver, TurnInput
from chatml_runtime.moderation.capabilities import Capabilities, ToolOk
from chatml_runtime.moderation.outcome import Outcome
from chatml_runtime.moderation.tool_calls import output_item
from chatml_runtime.moderation.vocabulary import ToolCall, ToolKind
from chatml_runtime.script.approvals import AskChoice, AskText, PendingRequest
from chatml_runtime.script.effects import EndSession, RequestTurn
from chatml_runtime.script.errors import (
    NotSuspendedError,
    ReplayError,
    SessionEndedError,
    SessionSuspendedError,
    TaskFailedError,
)
from tests.runtime.conversations import H2, Conversation
from tests.runtime.turns.runs import in_loop

CALL = ToolCall("c1", "q", {"m": "fast"}, payload='{"m":"fast"}')


class Person:
    """Answers from a list; keeps what it was asked, and why its last answer was not taken."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[PendingRequest, bool]] = []

    def answer(self, request: PendingRequest, problem: str | None) -> str:
        self.asked.append((request, problem is not None))
        return self.answers.pop(0)


class Later:
    """A person who takes time."""

    def __init__(self, *answers: str) -> None:
        self.person = Person(*answers)

    @property
    def asked(self) -> list[tuple[PendingRequest, bool]]:
        return self.person.asked

    async def answer(self, request: PendingRequest, problem: str | None) -> str:
        await asyncio.sleep(0)
        return self.person.answer(request, problem)


class Driven:
    """A driver over a script, with H2 as its history; each operation is called plainly or as a coroutine."""

    def __init__(self, source: str, *, awaited: bool = False, person: Any = None, **options: Any) -> None:
        moderator = options.pop("moderator", {})
        self.talk = Conversation(source, items=H2, surface=UI_MODERATOR, **moderator)
        self.outcomes: list[Outcome] = []
        self.awaited = awaited
        self.driver = TurnDriver(
            self.talk.moderator, session_id="s1", approval=person, on_outcome=self.outcomes.append, **options
        )

    def do(self, operation: str, *args: Any, **named: Any) -> Any:
        given = TurnInput(tuple(self.talk.history))
        if self.awaited:
            return in_loop(getattr(self.driver, f"a{operation}")(given, *args, **named))
        return getattr(self.driver, operation)(given, *args, **named)

    def tool_result(self) -> Any:
        item = output_item(CALL, "found")
        self.talk.append(item)
        return self.do("tool_result", name="q", kind=ToolKind.FUNCTION, output_item=item)


EVERYWHERE = """
let initial_state = []
let on_event ctx st ev =
  let last = Option.get_or(Context.last_item(ctx), Item.create("none", `Null)) in
  Task.pure(Array.append(st, [ctx.phase ++ " " ++ last.id]))
"""


@pytest.mark.parametrize("awaited", [False, True])
def test_every_operation_delivers_its_events(awaited: bool) -> None:
    driven = Driven(EVERYWHERE, awaited=awaited)
    driven.do("start")
    prepared = driven.do("begin_request")
    assert (list(prepared.inputs), prepared.ended) == (list(H2), False)
    driven.do("entry_appended")
    reviewed = driven.do("review_tool_call", CALL)
    assert (reviewed.call, reviewed.synthetic_output) == (CALL, None)
    driven.tool_result()
    driven.do("end_turn")
    driven.do("start", resumed=True)
    assert driven.talk.state == [
        "session_start 2:s1:1",
        "turn_start 2:s1:1",
        "message_appended 2:s1:1",
        "pre_tool_call 2:s1:2",
        "post_tool_response 2:s1:3",
        "message_appended 2:s1:3",
        "turn_end 2:s1:3",
        "session_resume 2:s1:3",
    ]
    assert len(driven.outcomes) == 8


REQUESTING = """
  | `Turn_end -> let* () = Runtime.emit(`More) in let* () = Runtime.request_turn() in Task.pure(st)
  | `More -> let* () = Runtime.request_turn() in let* () = Runtime.end_session("x") in Task.pure(st)
"""


@pytest.mark.parametrize("replays", [True, False])
def test_requests_come_in_order_own_first_not_collapsed(replays: bool) -> None:
    """Whoever replays, the moderator or the driver, the requests are the same."""
    driven = Driven(REQUESTING, moderator={"replay_after_events": replays})
    assert driven.do("end_turn") == (RequestTurn(), RequestTurn(), EndSession("x"))
    assert driven.driver.end_reason == "x"


def test_an_ended_session_is_told_nothing_more() -> None:
    driven = Driven('| `Session_start -> let* () = Runtime.end_session("over") in Task.pure(1)')
    assert driven.do("start") == (EndSession("over"),)
    assert driven.do("start", resumed=True) == ()
    assert driven.do("drain") == ()
    prepared = driven.do("begin_request")
    assert (prepared.ended, prepared.requests) == (True, ())
    for operation in ("entry_appended", "end_turn"):
        with pytest.raises(SessionEndedError):
            driven.do(operation)
    with pytest.raises(SessionEndedError):
        driven.do("review_tool_call", CALL)
    with pytest.raises(SessionEndedError):
        driven.tool_result()


def test_a_request_that_waits_for_the_end_is_not_made() -> None:
    source = '| `Stop -> let* r = Tool.call("wait", `Null) in let* () = Runtime.end_session("x") in Task.pure(st)'

    async def wait(name: str, args: Any) -> ToolOk:
        await asyncio.sleep(0)
        return ToolOk(None)

    async def main() -> None:
        driven = Driven(source, moderator={"capabilities": Capabilities(tool_call=wait)})
        moderator = driven.talk.moderator
        moderator.enqueue(("Stop",))
        draining = asyncio.create_task(moderator.areplay(driven.talk.given))
        await asyncio.sleep(0)
        prepared = await driven.driver.abegin_request(TurnInput(tuple(driven.talk.history)))
        assert (prepared.ended, prepared.requests) == (True, ())
        await draining

    in_loop(main())


def test_after_an_end_in_post_tool_response_the_item_is_not_announced() -> None:
    driven = Driven('| `Post_tool_response(r) -> let* () = Runtime.end_session("x") in Task.pure(st)')
    assert driven.tool_result() == (EndSession("x"),)
    assert len(driven.outcomes) == 1


@pytest.mark.parametrize("replays", [True, False])
def test_the_policy_bounds_every_replay(replays: bool) -> None:
    source = """
      | `Turn_start -> let* () = Runtime.emit(`N) in Task.pure(st)
      | `N -> let* () = Runtime.emit(`N) in Task.pure(st + 1)
    """
    policy = RuntimePolicy(budget=BudgetPolicy(max_internal_event_drain=3))
    driven = Driven(source, policy=policy, moderator={"replay_after_events": replays})
    driven.do("begin_request")
    assert driven.talk.state == 3
    driven.do("drain")
    assert (driven.talk.state, driven.talk.queue) == (6, ["`N"])


def test_what_was_committed_before_a_failing_replay_is_told() -> None:
    source = """
      | `Turn_start -> let* () = Runtime.emit(`Good) in let* () = Runtime.emit(`Bad) in Task.pure(st)
      | `Good -> let* () = Ui.notify("good") in Task.pure(st)
      | `Bad -> Task.fail("bad")
    """
    driven = Driven(source)
    with pytest.raises(ReplayError, match="bad"):
        driven.do("begin_request")
    assert [outcome.ui_notifications for outcome in driven.outcomes] == [(), ("good",)]


# -- approvals

ASKING = """
  | `Pre_tool_call(c) ->
      let* a = Approval.ask_choice("run it?", ["yes", "no"]) in
      let* b = Approval.ask_text("why?") in
      let* () = Runtime.emit(`Asked) in
      let* () = if a == "yes" then Tool.approve() else Tool.reject(b) in
      Task.pure(st + 1)
  | `Asked -> let* b = Approval.ask_text("sure?") in let* () = Runtime.request_turn() in Task.pure(st + 10)
"""


def test_without_a_provider_the_request_is_handed_out() -> None:
    driven = Driven(ASKING)
    with pytest.raises(SessionSuspendedError) as caught:
        driven.do("review_tool_call", CALL)
    assert caught.value.pending == AskChoice("run it?", ("yes", "no"))
    for operation in ("begin_request", "entry_appended", "end_turn", "start", "drain"):
        with pytest.raises(SessionSuspendedError):
            driven.do(operation)
    assert driven.talk.state == 0


@pytest.mark.parametrize("replays", [True, False])
@pytest.mark.parametrize("awaited", [False, True])
def test_a_provider_answers_until_the_run_and_its_replay_are_committed(awaited: bool, replays: bool) -> None:
    person = (Later if awaited else Person)("perhaps", "no", " ", "risky", "sure")
    driven = Driven(ASKING, awaited=awaited, person=person, moderator={"replay_after_events": replays})
    reviewed = driven.do("review_tool_call", CALL)
    assert reviewed.synthetic_output == "risky"
    assert reviewed.requests == (RequestTurn(),)
    assert driven.talk.state == 11
    choice = AskChoice("run it?", ("yes", "no"))
    assert person.asked == [
        (choice, False),
        (choice, True),
        (AskText("why?"), False),
        (AskText("why?"), True),
        (AskText("sure?"), False),
    ]


def test_a_failing_resume_fails_the_operation() -> None:
    source = '| `Turn_start -> let* a = Approval.ask_text("?") in Task.fail("no " ++ a)'
    driven = Driven(source, person=Person("luck"))
    with pytest.raises(TaskFailedError, match="no luck"):
        driven.do("begin_request")
    assert driven.talk.moderator.pending is None


def test_a_provider_that_fails_leaves_the_request_pending() -> None:
    driven = Driven(ASKING, person=Person())
    with pytest.raises(IndexError):
        driven.do("review_tool_call", CALL)
    assert driven.talk.moderator.pending == AskChoice("run it?", ("yes", "no"))


def test_an_asynchronous_provider_needs_the_coroutines() -> None:
    driven = Driven(ASKING, person=Later("yes"))
    with pytest.raises(SessionError, match="asynchronous"):
        driven.do("review_tool_call", CALL)


def test_a_request_that_was_abandoned_meanwhile_cannot_be_answered() -> None:
    class Rude(Person):
        def answer(self, request: PendingRequest, problem: str | None) -> str:
            driven.talk.moderator.abandon_pending()
            return "yes"

    driven = Driven(ASKING, person=Rude())
    with pytest.raises(NotSuspendedError):
        driven.do("review_tool_call", CALL)


def test_a_drain_answers_what_is_pending_first() -> None:
    source = """
      | `Turn_start -> let* a = Approval.ask_text("?") in let* () = Runtime.emit(`On) in Task.pure(1)
      | `On -> Task.pure(2)
    """
    driven = Driven(source, person=(person := Person()))
    with pytest.raises(IndexError):
        driven.do("begin_request")
    person.answers.append("yes")
    assert driven.do("drain") == ()
    assert driven.talk.state == 2
