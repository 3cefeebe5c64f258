"""Failures of scripts as a host meets them: class, place, limit (runtime.md sections 5.3 and 19)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import chatml
from chatml_runtime import (
    HandlerError,
    Handlers,
    LimitExceededError,
    OpRegistry,
    ScriptRuntimeError,
    Session,
    compile_script,
)

SOURCE = """\
let rec spin x = spin(x + 1)
let rec deep x = if x == 0 then 0 else 1 + deep(x - 1)
let rec forever n = Task.bind(Task.pure(n), fun x -> forever(x + 1))
let half n = 1 / n
let cell = ref(0)
let initial_state = 0
let on_event = fun ctx st ev ->
  cell := !cell + 1;
  match ev with
  | `Divide -> Task.map(Task.pure(0), half)
  | `Spin -> Task.pure(spin(0))
  | `Deep -> Task.pure(deep(100000))
  | `Text -> Task.pure(length(Array.make(5000, 0)))
  | `Forever -> forever(0)
  | `Call -> let* r = Tool.call("t", `Null) in Task.pure(st + 1)
  | `Cell -> Task.pure(!cell)
  | `Print -> print("out"); Task.fail("no")
  | _ -> Task.pure(st)
"""
CONTEXT = {"phase": "turn_start"}
LIMITS = chatml.Limits(steps=50_000, depth=20_000, text=1_000, tasks=10_000)


def start(**options: Any) -> Session:
    return compile_script(SOURCE, name="fails.chatml").instantiate(OpRegistry.standard(), **options)


@contextmanager
def rolled_back(session: Session) -> Iterator[None]:
    """Holds that what happens inside leaves the session as it was, and usable."""
    yield
    assert (session.state, session.is_running) == (0, False)
    session.handle_event(CONTEXT, ("Cell",))
    assert session.state == 1, "the write of the failed run is undone"


def test_a_failure_has_its_place() -> None:
    """The error of a script says where, and by which calls, like any failure of the language."""
    session = start()
    with rolled_back(session), pytest.raises(ScriptRuntimeError) as raised:
        session.handle_event(CONTEXT, ("Divide",))
    error = raised.value
    assert isinstance(error, chatml.RuntimeFailure)
    assert isinstance(error, HandlerError)
    assert error.span is not None
    assert (error.span.start.line, error.span.text) == (4, "1 / n")
    assert (error.code, error.limit) == ("runtime.division_by_zero", None)
    assert str(error.diagnostic).startswith("fails.chatml:4:14: error[runtime.division_by_zero]")


@pytest.mark.parametrize(
    ("event", "limit"), [("Spin", "steps"), ("Deep", "depth"), ("Text", "text"), ("Forever", "tasks")]
)
def test_an_exceeded_limit_names_itself(event: str, limit: str) -> None:
    """Each of the four limits stops a run that goes beyond it, in words that name it, and rolls it back."""
    session = start()
    with rolled_back(session), pytest.raises(LimitExceededError, match=limit) as raised:
        session.handle_event(CONTEXT, (event,), limits=LIMITS)
    assert (raised.value.limit, raised.value.code) == (limit, "runtime.limit")


def test_limits_are_per_run() -> None:
    """Each event has the whole of its limits, whatever the last one used."""
    session = start()
    for _ in range(20):
        session.handle_event(CONTEXT, ("Cell",), limits=chatml.Limits(steps=3, tasks=1))
    assert session.state == 20


def test_what_was_printed_stays_printed() -> None:
    printed: list[str] = []
    session = start(print=printed.append)
    with pytest.raises(HandlerError):
        session.handle_event(CONTEXT, ("Print",))
    assert printed == ["out"]


def test_sessions_of_one_script_share_nothing() -> None:
    """R-002: two sessions, in the middle of their runs, have their own definitions and journals."""
    script = compile_script(SOURCE, name="fails.chatml")
    sessions: list[Session] = []

    def tool_call(context: Any, name: str, args: Any) -> Any:
        if context.session is sessions[0]:
            sessions[1].handle_event(CONTEXT, ("Call",))
            raise OSError("only the first fails")
        return ("Ok", args)

    registry = OpRegistry.standard(Handlers(tool_call=tool_call))
    sessions += [script.instantiate(registry), script.instantiate(registry)]
    with pytest.raises(HandlerError, match="only the first fails"):
        sessions[0].handle_event(CONTEXT, ("Call",))
    for session, state, cell in zip(sessions, (0, 1), (1, 2), strict=True):
        assert session.state == state
        session.handle_event(CONTEXT, ("Cell",))
        assert session.state == cell
