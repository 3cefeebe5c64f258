"""The session of a REPL: inputs and events in any order, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.diagnostics.errors import CompileError, RuntimeFailure
from chatml.source import Source
from chatml_runtime.scenario import read_scenario
from chatml_tools.repl.events import read_event
from chatml_tools.repl.session import Session
from chatml_tools.workspace.literal import literal

POLICY = """
let calls = ref(0)
let table = Hashtbl.create()
let cells = [0, 0]
let initial_state = { n = 0; seen = cells }
let on_event ctx st ev =
  calls := !calls + 1;
  cells[0] <- cells[0] + 1;
  match ev with
  | `Turn_start -> let* u = Runtime.emit(`Tick(!calls)) in Task.pure({ st with n = st.n + 1 })
  | `Tick(k) -> Hashtbl.set(table, to_string(k), k); Task.pure(st)
  | `Turn_end -> let* a = Approval.ask_text("more?") in Hashtbl.set(table, a, 0); Task.pure({ st with n = 100 })
  | `Item_appended(item) -> let* u = Turn.append_item(item) in Task.pure(st)
  | `Boom -> cells[1] <- 9; fail("boom")
  | _ -> Task.pure(st)
"""
EVENTS = (
    "turn_start",
    "turn_end",
    "{ answer: 'yes' }",
    "`Boom",
    "{ phase: 'message_appended', item: { type: 'message', role: 'user', content: 'hi' } }",
    "{ advance_ms: 5 }",
)
INPUTS = (
    "calls := 50",
    "let fresh = !calls",
    "cells[1] <- !calls  cells",
    'Hashtbl.remove(table, "1")',
    "1 / 0",
    "1 + true",
    "(* nothing *)",
    "let on_event ctx st ev = calls := !calls + 10; Task.pure(st)",
)
STEPS = st.lists(st.sampled_from(EVENTS + INPUTS), max_size=9)


def step(session: Session, text: str) -> None:
    """Carry out a step as a person would; what is at fault changes nothing."""
    if text in EVENTS:
        for line in read_event(text):
            session.deliver(line)
        return
    try:
        session.enter(Source("<input>", text))
    except (CompileError, RuntimeFailure):
        return


def state(session: Session) -> object:
    """All that a person can see."""
    workspace, conversation = session.workspace, session.world.conversation
    names = [result.name for result in workspace.definitions().results]
    looks = None
    if conversation is not None:
        looks = [*conversation.state(), *conversation.queue(), *conversation.effects(), *conversation.history()]
        looks += [*conversation.overlay(), str(conversation.stage.moderator.pending), len(conversation.waiting)]
    return workspace.definitions().lines(), [literal(workspace.read(name)) for name in names], looks


def begin(printed: list[str] | None = None) -> Session:
    session = Session(None, print=([] if printed is None else printed).append)
    session.load(Source("policy.chatml", POLICY), "policy.chatml")
    return session


@given(STEPS)
@settings(max_examples=60)
def test_undo_leads_back_through_inputs_and_events(texts: list[str]) -> None:
    """However inputs and events follow each other, each `undo` restores what a person saw before the step."""
    session = begin()
    before: list[object] = []
    for text in texts:
        seen, worlds, steps = state(session), len(session.worlds), len(session.world.steps)
        step(session, text)
        if len(session.worlds) > worlds:
            before += (seen, None)  # the beginning of a conversation is a step of its own
        elif len(session.world.steps) > steps:
            before.append(seen)
    while before:
        session.undo()
        expected = before.pop()
        assert expected is None or state(session) == expected
    assert state(session) == state(begin())


@contextmanager
def interrupted_after(allowed: list[int]) -> Iterator[None]:
    """An interrupt that comes when the context has been entered so many times."""
    allowed[0] -= 1
    yield
    if allowed[0] < 0:
        raise KeyboardInterrupt


@pytest.mark.parametrize("text", ["turn_start", "turn_end", "calls := 7 cells[0] <- 3 let other = 1"])
def test_an_interrupt_at_the_last_moment_leaves_nothing(text: str) -> None:
    """Not even of what was done already when it came."""
    allowed = [100]
    session = Session(None, print=[].append, inside=partial(interrupted_after, allowed))
    session.load(Source("policy.chatml", POLICY), "policy.chatml")
    for earlier in ("turn_start", "cells[1] <- 4", "turn_start"):
        step(session, earlier)
    before = state(session)
    allowed[0] = 0
    with pytest.raises(KeyboardInterrupt):
        step(session, text)
    allowed[0] = 100
    assert state(session) == before
    step(session, "turn_start")
    assert state(session) != before


def test_replaying_prints_nothing() -> None:
    printed: list[str] = []
    session = begin(printed)
    session.enter(Source("<input>", 'print("once")'))
    step(session, "turn_start")
    session.undo()
    assert printed == ["once"]


def test_what_waits_of_a_scenario_waits_again() -> None:
    session = begin()
    conversation = session.begin(read_scenario("[{ phase: 'turn_start' }, { phase: 'turn_start' }]"))
    session.deliver(conversation.waiting[0], waited=True)
    session.deliver(conversation.waiting[0], waited=True)
    assert len(conversation.waiting) == 0
    session.undo()
    again = session.world.conversation
    assert again is not None
    assert len(again.waiting) == 1


def test_inputs_beyond_the_way_back_are_taken_back_by_repetition() -> None:
    session = begin()
    for number in range(150):
        session.enter(Source("<input>", f"calls := {number}"))
    for number in range(149, 20, -1):
        assert literal(session.workspace.read("calls")) == f"ref({number})"
        session.undo()
