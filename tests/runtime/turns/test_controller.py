"""The session controller in the hands of a scripted host (runtime.md section 15, 13.5, 13.6)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.host.controller import Controller
from chatml_runtime.host.policy import BudgetPolicy, PauseCondition, RuntimePolicy, TurnRateLimit
from chatml_runtime.moderation.capabilities import ModelError, ModelRefused
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry, IdentityError
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.overlay import Inserted
from chatml_runtime.moderation.results import EventInput
from chatml_runtime.moderation.vocabulary import SessionStart
from chatml_runtime.script.approvals import AskChoice, AskText, PendingRequest
from chatml_runtime.script.errors import BudgetExceededError, ReplayError, SessionBusyError, TaskFailedError
from chatml_runtime.testing import RecordingView, ScriptedHost, ScriptedModel, call, say, user
from tests.runtime.conversations import artifact, cases
from tests.runtime.turns.runs import check_pairs, in_loop, kind_of


def host(source: str, *responses: Any, **options: Any) -> ScriptedHost:
    return ScriptedHost(artifact_of(source), model=responses, **options)


def artifact_of(source: str) -> str:
    return cases(source) if source.lstrip().startswith("|") else source


def kinds(played: ScriptedHost) -> list[str]:
    return [kind_of(item) for item in played.history]


WATCH = "| `Never -> Task.pure(st)"


def budget(**limits: Any) -> RuntimePolicy:
    return RuntimePolicy(honor_request_compaction=True, budget=BudgetPolicy(**limits))


# -- the start


def test_the_start_comes_before_the_first_submission() -> None:
    with host(WATCH, [say("hi")]) as played:
        played.send("  hello  ")
        assert played.phases == ["session_start", "turn_start", "message_appended", "turn_end"]
        assert played.history == (user("hello"), say("hi"))


def test_a_policy_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "policy.chatml").write_text(cases(WATCH), encoding="utf-8")
    with ScriptedHost(tmp_path / "policy.chatml", model=[[say("hi")]]) as played:
        played.send("hello")
        assert played.texts == ["hi"]


def test_a_start_that_ends_the_session_discards_what_was_submitted() -> None:
    with host('| `Session_start -> let* () = Runtime.end_session("closed") in Task.pure(st)') as played:
        played.send("hello")
        assert (played.end_reason, played.history, played.model.requests) == ("closed", (), [])
        assert played.notices == ["Session ended by moderator: closed"]
        played.send("anyone?")
        assert played.phases == ["session_start"]


def test_a_start_that_fails_is_final() -> None:
    with host('| `Session_start -> Task.fail("no")') as played:
        for _ in range(2):
            with pytest.raises(TaskFailedError, match="no"):
                played.send("hello")
        assert (played.history, played.phases, played.model.requests) == ((), ["session_start"], [])


def test_a_start_may_ask_for_a_turn_by_an_event() -> None:
    source = """
      | `Session_start -> let* () = Runtime.emit(`Greet) in Task.pure(st)
      | `Greet -> let* () = Runtime.request_turn() in Task.pure(st)
    """
    with host(source, [say("good morning")]) as played:
        played.start()
        assert played.texts == ["good morning"]
        assert played.history == (say("good morning"),)  # no user item was made up


# -- runs, errors


def test_a_failing_run_is_shown_and_the_session_goes_on() -> None:
    with host(WATCH, [call("q", {}), OSError("line")], [say("back")], tools={"q": lambda args: ""}) as played:
        with pytest.raises(OSError, match="line"):
            played.send("one")
        played.send("two")
        assert kinds(played) == ["user", "call", "output", "user", "assistant"]
        check_pairs(played.controller.history)
        assert len(played.errors) == 1


def test_a_run_that_exceeds_its_budget() -> None:
    source = "| `Turn_end -> let* () = Runtime.request_turn() in Task.pure(st)"
    with host(source, *[[say("on")]] * 5, policy=budget(max_self_triggered_turns=1)) as played:
        with pytest.raises(BudgetExceededError):
            played.send("go")
        assert played.texts == ["on", "on"]


# -- drains and automatic turns

TIMED = """
  | `Session_start ->
      let* a = Schedule.after_ms(10, `Due(1)) in let* b = Schedule.after_ms(10, `Due(2)) in Task.pure(st)
  | `Due(n) -> let* () = Ui.notify("due " ++ to_string(n)) in let* () = Runtime.request_turn() in Task.pure(st + n)
"""


def test_a_timer_wakes_the_host_and_may_start_a_turn() -> None:
    with host(TIMED, [say("time is up")]) as played:
        played.start()
        played.advance(9)
        assert (played.state, played.history) == (0, ())
        played.advance(1)
        assert (played.state, played.texts) == (3, ["time is up"])
        assert played.notices == ["due 1", "due 2"]


def test_an_advance_ends_although_a_timer_sets_itself_anew() -> None:
    source = "| `Session_start -> let* t = Schedule.after_ms(0, `Go) in Task.pure(st)"
    with host(source + " | `Go -> let* t = Schedule.after_ms(0, `Go) in Task.pure(st + 1)") as played:
        played.start()
        played.advance(0)
        assert played.state == 1
        played.advance(5)
        assert 5 < played.state < 10


def test_automatic_turns_are_limited_and_the_notice_shown_once() -> None:
    source = """
      | `Turn_start -> let* id = Schedule.after_ms(10, `Again) in Task.pure(st)
      | `Again -> let* () = Runtime.request_turn() in Task.pure(st + 1)
    """
    with host(source, *[[say(f"{n}")] for n in range(9)]) as played:
        played.send("go")
        played.advance(100)
        assert (played.texts, played.state) == (["0", "1"], 2)
        suppressed = played.notices
        assert len(suppressed) == 1
        played.send("more")
        played.advance(100)
        assert played.texts == ["0", "1", "2", "3"]
        assert played.notices == suppressed


def test_the_rate_of_automatic_turns_is_limited() -> None:
    source = """
      | `Turn_start -> let* id = Schedule.after_ms(10, `Again) in Task.pure(st)
      | `Again -> let* () = Runtime.request_turn() in Task.pure(st + 1)
    """
    policy = budget(max_followup_turns=9, turn_rate_limit=TurnRateLimit(2, 1000))
    with host(source, *[[say(f"{n}")] for n in range(9)], policy=policy) as played:
        played.send("go")
        played.advance(100)
        assert len(played.texts) == 3
        assert "rate limit" in played.notices[0]


def test_a_pause_of_drains_leaves_the_queue_alone() -> None:
    paused = budget(pause_conditions=frozenset({PauseCondition.INTERNAL_EVENT_DRAINS}))
    with host(TIMED, [say("hi")], policy=paused) as played:
        played.start()
        played.advance(10)
        assert (played.state, len(played.moderator.queued_events)) == (0, 2)
        assert len(played.notices) == 1
        played.advance(10)
        assert len(played.notices) == 1
        played.send("go on")  # replays after the driver's events are not held back
        assert (played.state, len(played.model.requests)) == (3, 1)


def test_a_failing_drain_is_shown_and_not_repeated() -> None:
    source = """
      | `Session_start -> let* a = Schedule.after_ms(1, `Bad) in let* b = Schedule.after_ms(1, `Good) in Task.pure(st)
      | `Bad -> Task.fail("bad")
      | `Good -> Task.pure(st + 1)
    """
    with host(source, [say("hi")]) as played:
        played.start()
        with pytest.raises(ReplayError, match="bad"):
            played.advance(1)
        assert len(played.errors) == 1
        assert (played.state, played.moderator.queued_events) == (0, (("Good",),))
        played.send("go")  # replays what was left
        assert played.state == 1


def test_a_queue_that_refills_itself_does_not_hold_the_host() -> None:
    source = """
      | `Session_start -> let* () = Runtime.emit(`More) in Task.pure(st)
      | `More -> let* () = Runtime.emit(`More) in Task.pure(st + 1)
    """

    async def main() -> None:
        allocator = EntryIdAllocator("s1")
        moderator = Moderator.create(artifact(source), allocator=allocator)
        controller = Controller(
            moderator,
            session_id="s1",
            allocator=allocator,
            model=ScriptedModel([[say("hi")]]),
            run_tool=lambda call: "",
            view=RecordingView(),
        )
        await controller.settle()
        assert moderator.state == 100
        controller.wake()
        await controller.settle()
        assert moderator.state == 200
        assert controller.has_work
        controller.submit("hello")  # is not starved: the drain comes first, then the user
        await controller.settle()
        assert len(controller.history) == 2

    in_loop(main())


# -- jobs

REVIEWING = """
  | `Item_appended(item) -> let* id = Model.spawn("review", item.value) in Task.pure(st)
  | `Model_job_succeeded(id, recipe, verdict) ->
      let* () = Turn.append_notice("reviewed") in let* () = Runtime.request_turn() in Task.pure(st + 1)
  | `Model_job_failed(id, recipe, why) -> let* () = Ui.notify(id ++ ": " ++ why) in Task.pure(st)
"""


def test_jobs_arrive_when_time_passes() -> None:
    asked: list[Any] = []

    def review(payload: Any) -> Any:
        asked.append(payload)
        return ModelRefused("unsure") if len(asked) == 1 else ModelError("broken")

    with host(REVIEWING, [say("one"), say("two")], models={"review": review}) as played:
        played.send("go")
        assert (played.notices, asked) == ([], [])
        played.advance()
        assert played.notices == ["model-job-1: unsure", "model-job-2: broken"]
        assert asked == [say("one"), say("two")]


def test_a_job_may_change_what_the_model_sees_and_start_a_turn() -> None:
    with host(REVIEWING, [say("one")], [say("two")], models={"review": {"ok": True}}) as played:
        played.send("go")
        played.advance()
        assert played.texts == ["one", "two"]
        last = played.model.requests[-1].inputs[-1]
        assert (last["role"], last["content"][0]["text"]) == ("developer", "reviewed")
        row = next(row for row in played.view.rows if row.item["role"] == "developer")
        assert isinstance(row.provenance, Inserted)
        assert "reviewed" not in str(played.history)


# -- steering


def test_what_the_user_says_during_a_run_joins_after_its_outputs() -> None:
    def tool(args: Any) -> str:
        played.steer("  and hurry  ")
        played.steer("   ")
        played.steer("please")
        return "found"

    with host(WATCH, [call("q", {})], [say("done")], tools={"q": tool}) as played:
        played.send("go")
        assert kinds(played) == ["user", "call", "output", "user", "user", "assistant"]
        assert played.history[3:5] == (user("and hurry"), user("please"))
        assert [entry.id.sequence for entry in played.controller.history] == [0, 1, 4, 2, 3, 5]
        check_pairs(played.controller.history)


def test_what_comes_too_late_for_a_run_starts_one() -> None:
    """Moderated as it joins, and not held back by the budget of automatic turns."""
    source = """
      | `Turn_end -> let* r = Tool.call("late", `Null) in Task.pure(st)
      | `Item_appended(i) -> if Item.is_user(i) then Task.pure(st + 1) else Task.pure(st)
    """
    said = []

    def late(args: Any) -> str:
        if not said:
            said.append(played.steer("one more thing"))
        return ""

    paused = budget(pause_conditions=frozenset({PauseCondition.FOLLOWUP_TURNS}))
    with host(source, [say("done")], [say("that too")], tools={"late": late}, policy=paused) as played:
        played.send("go")
        assert kinds(played) == ["user", "assistant", "user", "assistant"]
        assert played.state == 1


def test_a_note_that_the_policy_refuses_is_dropped_and_said_so() -> None:
    source = '| `Item_appended(i) -> if Item.is_user(i) then Task.fail("no notes") else Task.pure(st)'

    def tool(args: Any) -> str:
        played.steer("note")
        return ""

    with host(source, [call("q", {})], [say("done")], tools={"q": tool}) as played:
        with pytest.raises(TaskFailedError, match="no notes"):
            played.send("go")
        assert len(played.errors) == 2  # in the run, and once more on its own
        assert kinds(played) == ["user", "call", "output"]
        played.send("again")
        assert played.texts == ["done"]


def test_text_for_the_next_request_only() -> None:
    with host(WATCH, [say("one")], [say("two")]) as played:
        played.controller.steer_once("be brief")
        played.controller.steer_once(" ")
        played.send("go")
        played.send("on")
        first, second = played.model.requests
        assert first.inputs[-1]["content"][0]["text"] == "be brief"
        assert "be brief" not in str(second.inputs)


# -- questions


def test_a_question_in_a_run_is_answered_and_the_run_goes_on() -> None:
    source = """
      | `Pre_tool_call(c) ->
          let* answer = Approval.ask_choice("run " ++ c.name ++ "?", ["yes", "no"]) in
          let* () = if answer == "yes" then Tool.approve() else Tool.reject("denied") in Task.pure(st)
    """
    tools = {"q": lambda args: "ran"}
    with host(source, [call("q", {}), call("q", {})], [say("ok")], tools=tools, answers=["?", "yes", "no"]) as played:
        played.send("go")
        assert played.outputs == ["ran", "denied"]
        assert played.questions == [AskChoice("run q?", ("yes", "no"))] * 3


def test_a_question_in_a_drain_may_start_a_turn() -> None:
    source = """
      | `Session_start -> let* a = Schedule.after_ms(1, `Ask) in Task.pure(st)
      | `Ask -> let* a = Approval.ask_text("go on?") in let* () = Runtime.request_turn() in Task.pure(st)
    """
    with host(source, [say("on")], answers=["yes"]) as played:
        played.start()
        played.advance(1)
        assert (played.questions, played.texts) == ([AskText("go on?")], ["on"])


def test_a_question_that_nobody_answers_fails_what_asked_it() -> None:
    source = '| `Turn_end -> let* a = Approval.ask_text("?") in Task.pure(st)'
    with host(source, [say("one")], [say("two")]) as played:
        with pytest.raises(LookupError, match="no scripted answer"):
            played.send("go")
        assert played.moderator.pending is None


class Screen(RecordingView):
    """A view that says when something is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: asyncio.Queue[str | None] = asyncio.Queue()

    def ask(self, request: PendingRequest, problem: str | None) -> None:
        super().ask(request, problem)
        self.asked.put_nowait(problem)


class Interactive:
    """A controller as a real host has it: `serve` in the background, and a person who types."""

    def __init__(self, source: str, *responses: Any, tool: Any = lambda call: "ran", **options: Any) -> None:
        self.view = Screen()
        self.model = ScriptedModel(responses)
        allocator = EntryIdAllocator("s1")
        self.moderator = Moderator.create(artifact(source, surface=UI_MODERATOR), allocator=allocator)
        self.controller = Controller(
            self.moderator,
            session_id="s1",
            allocator=allocator,
            model=self.model,
            run_tool=tool,
            view=self.view,
            **options,
        )

    async def __aenter__(self) -> Interactive:
        self.serving = asyncio.create_task(self.controller.serve())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.controller.close()
        await self.serving

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            await asyncio.sleep(0)


ASKING = """
  | `Turn_start -> let* a = Approval.ask_choice("go?", ["yes", "no"]) in
                   if a == "yes" then Task.pure(st) else let* () = Runtime.end_session("no") in Task.pure(st)
"""


def test_what_the_person_types_answers_the_question_first() -> None:
    async def main() -> None:
        async with Interactive(ASKING, [say("done")]) as talk:
            talk.controller.submit("hello")
            assert await talk.view.asked.get() is None
            talk.controller.submit("perhaps")
            problem = await talk.view.asked.get()
            assert problem is not None
            assert "yes" in problem
            assert talk.view.questions == [AskChoice("go?", ("yes", "no"))] * 2
            talk.controller.submit("yes")
            await talk.until(lambda: len(talk.controller.history) == 2)
            assert [entry.item for entry in talk.controller.history] == [user("hello"), say("done")]
            assert talk.view.entries == list(talk.controller.history)

    in_loop(main())


def test_ready_says_when_it_is_the_persons_turn() -> None:
    async def main() -> None:
        async with Interactive(ASKING, [say("one")], [say("two")]) as talk:
            await talk.controller.ready()
            for text, questions, length in (("hello", 1, 1), ("yes", 1, 2), ("on", 2, 3), ("no", 2, 3)):
                talk.controller.submit(text)
                await talk.controller.ready()
                assert (len(talk.view.questions), len(talk.controller.history)) == (questions, length)
            assert talk.controller.is_ended

    in_loop(main())


def test_closing_gives_up_on_a_question() -> None:
    async def main() -> None:
        async with Interactive(ASKING) as talk:
            talk.controller.submit("hello")
            await talk.controller.ready()
        assert (talk.moderator.pending, talk.view.errors, talk.model.requests) == (None, [], [])

    in_loop(main())


def test_serving_ends_with_a_start_that_fails() -> None:
    async def main() -> None:
        talk = Interactive('| `Session_start -> Task.fail("no")')
        serving = asyncio.create_task(talk.controller.serve())
        await talk.controller.ready()
        with pytest.raises(TaskFailedError):
            await serving

    in_loop(main())


def test_serving_ends_with_the_session() -> None:
    async def main() -> None:
        talk = Interactive(ASKING)
        async with talk:
            talk.controller.submit("hello")
            await talk.view.asked.get()
            talk.controller.submit("no")
            await talk.serving
            assert (talk.controller.is_ended, talk.view.notices) == (True, ["Session ended by moderator: no"])
            assert not talk.controller.has_work

    in_loop(main())


def test_a_run_that_is_cancelled_while_it_asks_can_be_taken_up_again() -> None:
    async def main() -> None:
        talk = Interactive(ASKING, [say("done")])
        async with talk:
            talk.controller.submit("hello")
            await talk.view.asked.get()
            talk.serving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await talk.serving
            assert talk.moderator.pending is not None
            talk.serving = asyncio.create_task(talk.controller.serve())
            await talk.view.asked.get()  # the question first
            talk.controller.submit("yes")
            await talk.until(lambda: talk.moderator.pending is None)
            talk.controller.submit("again")
            await talk.view.asked.get()
            talk.controller.submit("yes")
            await talk.until(lambda: len(talk.controller.history) == 3)

    in_loop(main())


def test_a_wakeup_from_another_thread_is_heard() -> None:
    source = "| `Outside -> Task.pure(st + 1)"

    async def main() -> None:
        async with Interactive(source) as talk:
            await asyncio.sleep(0)

            def outside() -> None:
                talk.moderator.enqueue(("Outside",))
                talk.controller.wake()

            await asyncio.to_thread(outside)
            await talk.until(lambda: talk.moderator.state == 1)

    in_loop(main())


def test_one_settle_at_a_time() -> None:
    async def main() -> None:
        async with Interactive(WATCH, [say("x")]) as talk:
            talk.controller.submit("x")
            await talk.until(lambda: talk.controller.is_running)
            with pytest.raises(SessionBusyError):
                await talk.controller.settle()

    in_loop(main())


# -- what is shown, compaction, stored sessions


def test_rows_are_shown_at_safe_points_with_their_revisions() -> None:
    source = """
      | `Item_appended(i) ->
          if Item.is_assistant(i) then
            let* () = Turn.replace_item(i.id, Item.output_text_message("x", "[hidden " ++ to_string(st) ++ "]")) in
            Task.pure(st + 1)
          else Task.pure(st)
      | `Turn_start ->
          (match Context.last_assistant_item(ctx) with
           | `Some(i) -> let* () = Turn.replace_item(i.id, Item.output_text_message("x", "[old]")) in Task.pure(st)
           | `None -> Task.pure(st))
    """
    with host(source, [say("secret")], [say("more")]) as played:
        played.send("one")
        assert [(row.item.get("role"), row.revision) for row in played.view.rows] == [("user", 0), ("assistant", 0)]
        assert played.view.rows[1].item["content"][0]["text"] == "[hidden 0]"
        assert played.texts == ["secret"]  # the canonical history is not rewritten
        shown = played.view.rows
        played.send("two")
        assert [row.revision for row in played.view.rows] == [0, 1, 0, 0]
        assert played.view.rows[0] is shown[0]
        assert played.view.rows[1].item["content"][0]["text"] == "[old]"


COMPACTING = "| `Turn_end -> let* () = Runtime.request_compaction() in Task.pure(st)"


def keep_last(entries: Sequence[HistoryEntry]) -> Sequence[HistoryEntry]:
    return entries[-1:]


def test_a_compaction_that_the_policy_honours_shortens_the_history() -> None:
    with host(COMPACTING, [say("one")], [say("two")], compact=keep_last, policy=budget()) as played:
        played.send("go")
        assert played.history == (say("one"),)
        assert played.view.rows[0].item == say("one")
        played.send("on")
        assert played.model.requests[1].inputs == (say("one"), user("on"))


@pytest.mark.parametrize("options", [{"compact": keep_last}, {"policy": budget()}], ids=["not honoured", "no way"])
def test_a_compaction_that_is_not_to_be(options: dict[str, Any]) -> None:
    with host(COMPACTING, [say("one")], **options) as played:
        played.send("go")
        assert len(played.history) == 2


def test_a_compaction_that_fails_changes_nothing() -> None:
    def twice(entries: Sequence[HistoryEntry]) -> Sequence[HistoryEntry]:
        return [*entries, *entries]

    with host(COMPACTING, [say("one")], compact=twice, policy=budget()) as played:
        with pytest.raises(IdentityError):
            played.send("go")
        assert len(played.history) == 2


def test_a_stored_session_is_resumed() -> None:
    source = "| `Session_start -> Task.pure(1) | `Session_resume -> Task.pure(st + 10)"
    allocator = EntryIdAllocator("s1")
    first = Moderator.create(artifact(source), allocator=allocator)
    first.handle_event(SessionStart(), EventInput("s1"))

    async def main() -> None:
        moderator = Moderator.create(artifact(source), allocator=allocator, snapshot=first.snapshot())
        controller = Controller(
            moderator,
            session_id="s1",
            allocator=allocator,
            model=ScriptedModel(),
            run_tool=lambda call: "",
            view=RecordingView(),
            resumed=True,
        )
        await controller.settle()
        assert moderator.state == 11

    in_loop(main())


def test_r_069_a_stored_session_that_is_over_starts_no_turn() -> None:
    allocator = EntryIdAllocator("s1")
    ending = '| `Session_start -> let* () = Turn.halt("x") in Task.pure(1)'
    first = Moderator.create(artifact(ending), allocator=allocator)
    first.handle_event(SessionStart(), EventInput("s1"))

    async def main() -> None:
        moderator = Moderator.create(artifact(ending), allocator=allocator, snapshot=first.snapshot())
        model = ScriptedModel()
        controller = Controller(
            moderator,
            session_id="s1",
            allocator=allocator,
            model=model,
            run_tool=lambda call: "",
            view=RecordingView(),
            resumed=True,
        )
        controller.submit("hello")
        await controller.settle()
        assert (controller.is_ended, controller.history, model.requests) == (True, (), [])

    in_loop(main())


def test_without_a_script_the_controller_is_a_plain_chat() -> None:
    async def main() -> None:
        controller = Controller(
            None,
            session_id="s1",
            allocator=EntryIdAllocator("s1"),
            model=ScriptedModel([[say("hi")]]),
            run_tool=lambda call: "",
            view=(view := RecordingView()),
        )
        controller.submit("hello")
        await controller.settle()
        assert [row.item for row in view.rows] == [user("hello"), say("hi")]

    in_loop(main())


def test_the_end_of_a_session_drops_its_timers() -> None:
    source = """
      | `Session_start -> let* a = Schedule.after_ms(10, `Due) in Task.pure(st)
      | `Turn_end -> let* () = Turn.halt("enough") in Task.pure(st)
    """
    with host(source, [say("hi")]) as played:
        played.send("go")
        assert played.end_reason == "enough"
        assert len(played._work.timers) == 0
        played.advance(10)
        assert played.phases[-1] == "turn_end"
