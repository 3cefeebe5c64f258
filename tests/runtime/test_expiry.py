"""Questions that have a time: answered or expired is a branch of the script, the same in every host (live.md D.4)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.surfaces.ui import UI_MODERATOR
from chatml.syntax.parse import parse
from chatml.syntax.portable import find_additions
from chatml.values.text import show
from chatml_runtime.scenario import Record, Stage, read_scenario
from chatml_runtime.script.approvals import Answered, AskChoice, CallShown, Expired
from chatml_runtime.script.errors import NotSuspendedError, TaskFailedError
from chatml_runtime.script.problems import NOT_APPROVED
from chatml_runtime.testing import ScriptedHost, call, say
from tests.runtime.conversations import Conversation, artifact
from tests.runtime.conversations import cases as whole
from tests.runtime.turns.runs import in_loop
from tests.runtime.turns.test_controller import Interactive

WITHIN = """
  | `Pre_tool_call(c) ->
      let* r = Approval.ask_choice_within("run " ++ c.name ++ "?", ["yes", "no"], {ms}) in
      (match r with
       | `Answered(a) ->
           if a.answer == "yes" then Task.pure(st + 1)
           else
             let* () = Tool.reject(a.by ++ " said " ++ a.answer ++ " at " ++ to_string(a.at_ms)) in
             Task.pure(st + 10)
       | `Expired -> let* () = Tool.reject("nobody was there") in Task.pure(st + 100))
"""


def within(ms: int = 1000) -> str:
    return WITHIN.replace("{ms}", str(ms))


def test_v_072_a_script_must_think_of_both() -> None:
    script = WITHIN.replace("{ms}", "1000")
    artifact(script, surface=UI_MODERATOR)
    lines = [line for line in script.splitlines() if "`Expired" not in line]
    with pytest.raises(CompileError) as raised:
        artifact("\n".join(lines) + ")", surface=UI_MODERATOR)
    assert "Expired" in str(raised.value)
    artifact("\n".join(lines) + "\n       | _ -> Task.pure(st))", surface=UI_MODERATOR)


def test_the_alias_reply() -> None:
    source = 'let who : reply -> string = fun r -> match r with | `Answered(a) -> a.by | `Expired -> ""\n' + ENTRY
    artifact(source, surface=UI_MODERATOR)


ENTRY = "let initial_state = 0\nlet on_event ctx st ev = Task.pure(st)\n"


@pytest.mark.parametrize("name", ["ask_choice_within", "ask_text_within", "ask_about"])
def test_others_do_not_know_them(name: str) -> None:
    (warning,) = find_additions(parse(Source("s", f"let ask = Approval.{name}")))
    assert warning.code == "portable.builtin"
    assert warning.help is not None
    assert "Approval.ask_" in warning.help


# -- scenarios

CALLED = "{ user: 'Go' }, { model: [{ type: 'function_call', call_id: 'c1', name: 'rm', arguments: '{}' }] }"
REVIEW = "{ phase: 'pre_tool_call', call: { id: 'c1', name: 'rm', args: { path: 'a' } } }"


def records(script: str, events: str) -> list[Record]:
    scenario = read_scenario(f"{{ host: {{ tools: {{ rm: {{ ok: 'removed' }} }} }}, events: [{events}] }}")
    stage = Stage(artifact(script, surface=UI_MODERATOR), scenario, [])
    return [record for line in scenario.events for record in stage.play(line)]


@pytest.mark.parametrize("events", [REVIEW, CALLED])
def test_a_scenario_lets_a_question_expire(events: str) -> None:
    early = records(within(), f"{events}, {{ advance_ms: 999 }}")
    assert (early[-1].status, early[-1].phase) == ("suspended", "pre_tool_call")
    assert early[-1].to_json()["pending"] == {
        "kind": "ask_choice",
        "prompt": "run rm?",
        "choices": ["yes", "no"],
        "expires_ms": 1000,
    }
    late = records(within(), f"{events}, {{ advance_ms: 1000 }}")
    expired = late[len(early)]
    assert (expired.status, expired.phase, expired.state) == ("committed", "pre_tool_call", "100")
    assert expired.to_json()["decision"] == {"kind": "reject", "reason": "nobody was there"}
    assert expired.to_json()["pending"] is None


@pytest.mark.parametrize("events", [REVIEW, CALLED])
def test_a_scenario_says_who_answers_when(events: str) -> None:
    said = records(within(), f"{events}, {{ advance_ms: 7 }}, {{ answer: ' no ', by: 'ada' }}")
    decided = next(record for record in said if record.decision is not None)
    assert decided.to_json()["decision"] == {"kind": "reject", "reason": "ada said no at 7"}


def test_an_answer_that_is_late_or_will_not_do() -> None:
    late = records(within(), f"{REVIEW}, {{ advance_ms: 1000 }}, {{ answer: 'yes' }}")
    assert (late[-1].status, late[-1].state) == ("refused", "100")
    wrong = records(within(), f"{REVIEW}, {{ answer: 'perhaps' }}, {{ advance_ms: 999 }}, {{ answer: 'yes' }}")
    assert [record.status for record in wrong] == ["suspended", "refused", "committed"]
    assert wrong[-1].state == "1"


def test_timers_of_that_moment_are_queued_before_it() -> None:
    script = (
        within()
        + """
      | `Turn_start -> let* id = Schedule.after_ms(1000, `Ring) in Task.pure(st)
      | `Ring -> Task.pure(st + 1000)"""
    )
    said = records(script, f"{{ phase: 'turn_start' }}, {REVIEW}, {{ advance_ms: 5000 }}")
    last = [(record.phase, record.state) for record in said[-2:]]
    assert last == [("pre_tool_call", "100"), ("internal_event", "1100")]


def test_a_script_that_asks_again_waits_again() -> None:
    script = """
      let initial_state = 0
      let rec ask n = let* r = Approval.ask_text_within("well?", 10) in
        match r with | `Answered(a) -> Task.pure(n) | `Expired -> ask(n + 1)
      let on_event ctx st ev = ask(st)"""
    said = records(script, "{ phase: 'turn_start' }, { advance_ms: 35 }, { answer: 'here' }")
    assert [record.status for record in said] == ["suspended"] * 4 + ["committed"]
    assert said[-1].state == "3"
    assert [record.expires_ms for record in said[:4]] == [10, 20, 30, 40]
    endless = records(script, "{ phase: 'turn_start' }, { advance_ms: 1000000000 }")
    assert len(endless) == 10_001, "an advance ends"


@pytest.mark.parametrize("ms", [0, -1])
def test_no_time_is_no_question(ms: int) -> None:
    (record,) = records(within(ms), REVIEW)
    assert record.status == "failed"
    assert record.error is not None
    assert f"more than 0 milliseconds, and the script gave {ms}" in record.error.message


# -- other hosts


@settings(deadline=None, max_examples=30)
@given(at=st.integers(0, 60), ms=st.integers(1, 50), answer=st.sampled_from(["yes", "no"]))
def test_a_scenario_and_a_scripted_host_agree(at: int, ms: int, answer: str) -> None:
    """Whenever a person answers, in time or late, the script comes to the same state in both hosts."""
    said = records(within(ms), f"{CALLED}, {{ advance_ms: {at} }}, {{ answer: '{answer}', by: 'ada' }}")
    with ScriptedHost(
        whole(within(ms)),
        model=[[call("rm", {}, call_id="c1")], [say("done")]],
        tools={"rm": lambda args: "removed"},
    ) as host:
        host.send("Go")
        host.advance(at)
        if at < ms:
            host.answer(answer, by="ada")
        else:
            with pytest.raises(NotSuspendedError):
                host.answer(answer, by="ada")
        assert show(host.state) == said[-1].state
        (output,) = host.outputs
        decided = [record for record in said if record.phase == "pre_tool_call"][-1].to_json()["decision"]
        assert output == ("removed" if decided is None else decided["reason"])


def test_a_person_at_the_controller_has_so_long() -> None:
    script = within(30).replace("`Pre_tool_call(c)", "`Turn_start").replace('"run " ++ c.name ++ "?"', '"run?"')
    script = script.replace("Tool.reject", "Runtime.end_session")

    async def main() -> None:
        async with Interactive(script, [say("done")]) as talk:
            talk.controller.submit("hello")
            assert await talk.view.asked.get() is None
            talk.controller.submit("perhaps")
            assert await talk.view.asked.get() is not None
            await talk.until(lambda: talk.controller.is_ended)
            assert talk.controller.driver.end_reason == "nobody was there"

    in_loop(main())


def test_a_host_gives_up_on_a_question_without_a_time() -> None:
    script = """| `Turn_start ->
      let* a = Task.catch(Approval.ask_text("well?"), fun m -> Task.pure(m)) in
      let* () = Runtime.end_session(a) in Task.pure(st)"""

    async def main() -> None:
        async with Interactive(script, [say("done")], max_wait_ms=20) as talk:
            talk.controller.submit("hello")
            await talk.until(lambda: talk.controller.is_ended)
            assert talk.controller.driver.end_reason == "Approval.ask_text: nobody answered within 20 ms"

    in_loop(main())


def test_a_moderator_takes_replies() -> None:
    source = within().replace("`Pre_tool_call(c)", "`Turn_start").replace("c.name", '"rm"')
    talk = Conversation(source, surface=UI_MODERATOR)
    for response, state in ((Expired(), 100), (Answered("yes", "ada", 5), 101), ("yes", 102)):
        talk.send()
        assert talk.moderator.resume(response).pending is None
        assert talk.state == state
    source = '| `Turn_start -> let* a = Approval.ask_text("well?") in Task.pure(st + 1)'
    plain = Conversation(source, surface=UI_MODERATOR)
    plain.send()
    with pytest.raises(TaskFailedError, match="nobody answered within 7 ms"):
        plain.moderator.resume(Expired(7))
    plain.send()
    plain.moderator.resume(Answered("well", "ada"))
    assert plain.state == 1
    plain.send()
    with pytest.raises(TypeError):
        plain.moderator.resume(7)  # type: ignore[arg-type]


# -- the call that a question is about

ABOUT = """
  | `Pre_tool_call(c) ->
      let other = { id = c.id; name = c.name; args = `Object([{ key = "path"; value = `String("b") }]) } in
      let* r = Approval.ask_about(other, "run this?", ["yes", "no"], 1000) in
      (match r with
       | `Answered(a) -> let* () = Tool.rewrite_args({args}) in Task.pure(st + 1)
       | `Expired -> let* () = Tool.reject("expired") in Task.pure(st))
"""


def test_v_071_the_call_that_was_shown_is_the_one_that_runs() -> None:
    with ScriptedHost(
        "let initial_state = 0\nlet on_event ctx st ev = match ev with"
        + ABOUT.replace("{args}", "other.args")
        + "| _ -> Task.pure(st)",
        model=[[call("rm", {"path": "a"}, call_id="c1")], [say("done")]],
        tools={"rm": lambda args: f"removed {args['path']}"},
        answers=["yes"],
    ) as host:
        host.send("Go")
        assert host.outputs == ["removed b"]
        (question,) = host.questions
        assert question == AskChoice("run this?", ("yes", "no"), 1000, CallShown("c1", "rm", {"path": "b"}))


def test_v_071_another_call_than_the_one_shown_does_not_run() -> None:
    script = ABOUT.replace("{args}", "c.args")
    said = records(script, f"{CALLED}, {{ answer: 'yes' }}")
    assert said[1].to_json()["pending"]["call"] == {"id": "c1", "name": "rm", "args": {"path": "b"}}
    with ScriptedHost(
        whole(script),
        model=[[call("rm", {"path": "a"}, call_id="c1")], [say("done")]],
        tools={"rm": lambda args: "removed"},
        answers=["yes"],
    ) as host:
        host.send("Go")
        assert host.outputs == [NOT_APPROVED]
