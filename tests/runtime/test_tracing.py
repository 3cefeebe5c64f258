"""A traced session does what it did, and its trace tells of operations, questions, commits and rollbacks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.surfaces.ui import UI_MODERATOR
from chatml.trace import draw
from chatml_runtime.script.errors import HandlerError
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.scripts import compile_script
from chatml_runtime.script.standard import Handlers
from chatml_runtime.script.tracing import trace_script
from tests.runtime.cases import Case, Conversation, check, read_corpus
from tests.runtime.conversations import cases
from tests.runtime.rollback import FAILURES, Part, Subject, asking, body, parts


def told(handler: str, *answers: str, **handlers: Any) -> list[str]:
    """The lines of a trace of the standard script with some cases: of an event, and of the answers to what it asks."""
    script, tracer = trace_script(compile_script(cases(handler), surface=UI_MODERATOR))
    session = script.instantiate(OpRegistry.standard(Handlers(**handlers)))
    with suppress(HandlerError):
        session.handle_event({"phase": "turn_start"}, ("Turn_start",))
        for answer in answers:
            session.resume(answer)
    return list(draw(tracer.take()))[1:]


@pytest.mark.parametrize("case", read_corpus(), ids=lambda case: f"{case.id} {case.title}")
def test_session(case: Case) -> None:
    """A traced session goes as the case says."""
    conversation = Conversation(case, traced=True)
    for step in case.steps:
        check(step, conversation.perform(step.command))


@settings(max_examples=100)
@given(parts, st.integers(0, 4), st.sampled_from(["Task.pure({ st with n = st.n + 1 })", *FAILURES]))
def test_tracing_changes_nothing(parts: list[Part], position: int, end: str) -> None:
    """A traced session commits, suspends and rolls back as any other, and fails with the same message."""
    subjects = [Subject(body(asking(parts, position), end), "walk", traced=traced) for traced in (False, True)]
    for _ in range(2):
        seen = [(attempt(subject), subject.observe()) for subject in subjects]
        assert seen[0] == seen[1], subjects[0].source


def attempt(subject: Subject) -> str | None:
    """Deliver an event and answer the question; the failure if it fails."""
    try:
        subject.deliver()
        subject.session.resume("yes")
    except HandlerError as error:
        return f"{type(error).__name__}: {error}"
    return None


def test_operations_are_told_in_order_with_what_the_host_gave() -> None:
    handler = '| `Turn_start -> let* r = Tool.call("t", `Bool(true)) in let* () = Log.info("x") in Task.pure(st + 1)'
    assert told(handler, tool_call=lambda context, name, args: ("Ok", args)) == [
        "4:5      | `Turn_start",
        '       ! Tool.call("t", `Bool(true)) -> `Ok(`Bool(true))',
        "4:20   let* r = `Ok(`Bool(true))",
        '       ! Log.info("x")',
        "       commit: no effects",
    ]


def test_let_plus_and_explicit_continuations() -> None:
    handler = "| `Turn_start -> let+ n = Task.bind(Task.pure(2), fun m -> Task.pure(m * 2)) in n + st"
    assert told(handler) == [
        "4:5      | `Turn_start",
        "4:53   fun(2) -> <task>",
        "4:20   let+ n = 4",
        "       commit: no effects",
    ]


def test_what_is_caught_and_what_it_drops() -> None:
    handler = """| `Turn_start ->
    let* () = Log.info("before") in
    let* () = Task.catch(
      let* () = Turn.prepend_system("be brief") in Task.fail("no"), fun why -> Log.warn(why)) in
    let* () = Turn.prepend_system("be long") in
    Task.pure(st)"""
    assert told(handler) == [
        "4:5      | `Turn_start",
        '       ! Log.info("before")',
        '       ! Turn.prepend_system("be brief")',
        '       caught: "no": 1 effect dropped',
        '7:69   fun("no") -> <task>',
        '       ! Log.warn("no")',
        '       ! Turn.prepend_system("be long")',
        "       commit: 1 effect",
    ]


def test_a_rollback_says_what_it_undoes_and_why() -> None:
    handler = '| `Turn_start -> let r = ref(0) in r := 1; let* () = Turn.prepend_system("x") in Task.fail("no")'
    assert told(handler) == [
        "4:5      | `Turn_start",
        '       ! Turn.prepend_system("x")',
        "       rolled back: 1 effect dropped, 1 array or ref restored ✗ no",
    ]


def test_a_failure_is_told_once_and_in_its_place() -> None:
    handler = '| `Turn_start -> let* () = Log.info("x") in let half n = 1 / n in Task.pure(half(st))'
    assert told(handler) == [
        "4:5      | `Turn_start",
        '       ! Log.info("x")',
        "4:79   half(0) ✗ division by zero (4:60)",
        "       rolled back: no effects dropped, no arrays and refs restored",
    ]
    assert told("| `Turn_start -> let* n = Task.pure(st) in Task.pure(1 / n)")[-1] == (
        "       rolled back: no effects dropped, no arrays and refs restored ✗ division by zero (4:56)"
    )


@pytest.mark.parametrize("operation", ['Tool.call("t", `Null)', 'Approval.ask_choice("?", [||])'])
def test_an_operation_that_fails(operation: str) -> None:
    written = operation.replace("[||]", 'Array.make(0, "")')
    lines = told(f"| `Turn_start -> let* x = {written} in Task.pure(st)")
    assert lines[-2].startswith(f"       ! {operation} ✗ ")
    assert lines[-1] == "       rolled back: no effects dropped, no arrays and refs restored"


def test_questions_and_answers() -> None:
    handler = '| `Turn_start -> let* name = Approval.ask_text("name?") in let* () = Log.info(name) in Task.pure(st)'
    assert told(handler, "Ada") == [
        "4:5      | `Turn_start",
        '       ! Approval.ask_text("name?") …',
        "       suspended",
        '       resumed: "Ada"',
        '4:20   let* name = "Ada"',
        '       ! Log.info("Ada")',
        "       commit: no effects",
    ]


def test_many_operations_are_bounded_and_the_commit_is_seen() -> None:
    handler = """| `Turn_start ->
    let rec all n = if n == 0 then Task.pure(st) else let* () = Log.info(to_string(n)) in all(n - 1) in all(5000)"""
    lines = told(handler)
    assert len(lines) < 1_000
    assert any("left out" in line for line in lines)
    assert lines[-1] == "       commit: no effects"


def test_a_session_that_is_not_traced_has_nothing_of_it() -> None:
    script = compile_script(cases("| `Turn_start -> Task.pure(st)"))
    session = script.instantiate(OpRegistry())
    assert type(session).__name__ == "Session"
