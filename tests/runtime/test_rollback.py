"""Rollback is complete: properties over generated scripts (X-20)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.pipeline import EngineName
from chatml_runtime.script.errors import HandlerError
from tests.runtime.rollback import FAILURES, WRITES, Part, Subject, asking, body, engines, parts

EXAMPLES = settings(max_examples=60, deadline=None)


@EXAMPLES
@given(parts, st.sampled_from(FAILURES), engines)
def test_a_failed_event_leaves_nothing(parts: list[Part], failure: str, engine: EngineName) -> None:
    """After a failed event every observable equals its value before it."""
    subject = Subject(body(parts, failure), engine)
    before = subject.observe()
    for _ in range(2):
        with pytest.raises(HandlerError):
            subject.deliver()
        assert subject.observe() == before, subject.source


@EXAMPLES
@given(parts, st.integers(0, 4), st.sampled_from([*FAILURES, "abandon"]), engines)
def test_a_suspended_run_leaves_nothing(parts: list[Part], position: int, failure: str, engine: EngineName) -> None:
    """While a run is suspended, and after it failed or was abandoned, every observable is as before it."""
    end = "Task.pure(st)" if failure == "abandon" else failure
    subject = Subject(body(asking(parts, position), end), engine)
    before = subject.observe()
    request = subject.deliver().pending
    assert request is not None
    assert subject.observe() == (*before[:-1], request), subject.source
    if failure == "abandon":
        assert subject.session.abandon_pending() == request
    else:
        with pytest.raises(HandlerError):
            subject.session.resume("yes")
    assert subject.observe() == before, subject.source


@EXAMPLES
@given(parts, st.integers(0, 4))
def test_a_suspension_changes_nothing_in_the_end(parts: list[Part], position: int) -> None:
    """A run that was suspended and resumed ends as the same run without the question does."""
    end = "Task.pure({ st with n = st.n + 1 })"
    suspended, plain = Subject(body(asking(parts, position), end)), Subject(body(parts, end), "walk")
    for _ in range(2):
        suspended.deliver()
        suspended.session.resume("yes")
        plain.deliver()
        assert suspended.observe() == plain.observe(), suspended.source


@pytest.mark.parametrize("template", WRITES)
def test_every_write_is_a_write(template: str) -> None:
    """Each statement that the scripts above are made of does change something, and a failure takes it back."""
    write = template.format(i=1, b=1, k=55, key="a")
    committed = Subject(body([([write], "effect")], "Task.pure(st)"))
    before = committed.observe()[0]
    committed.deliver()
    assert committed.observe()[0] != before
    failed = Subject(body([([write], "effect")], 'Task.fail("no")'))
    with pytest.raises(HandlerError):
        failed.deliver()
    assert failed.observe()[0] == before


@pytest.mark.parametrize("failure", FAILURES)
def test_every_failure_is_a_failure(failure: str) -> None:
    """Each end that the scripts above have does fail."""
    with pytest.raises(HandlerError):
        Subject(body([(["counter := 1"], "effect")], failure)).deliver()


def test_reading_costs_the_journal_nothing() -> None:
    """What a run only reads, however much, is not in its journal; of what it writes only the written container is."""
    ask = 'let* answer = Approval.ask_text("go on?") in Task.pure(st)'
    reading = Subject(f"let seen = observe(st) in {ask}")
    reading.deliver()
    assert reading.session.written == ()
    writing = Subject(f"grid[1][0] <- 5; grid[1][1] <- 6; {ask}")
    writing.deliver()
    assert writing.session.written == ([3, 4],)
