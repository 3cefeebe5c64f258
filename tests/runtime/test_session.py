"""What a session shows, commits, restores and refuses (runtime.md sections 3.3, 6, 7 and 8), on tasks built by hand."""

from __future__ import annotations

import contextlib
import gc
import weakref
from typing import Any

import pytest

from chatml.values.limits import Limits
from chatml.values.model import Perform, Pure, Ref, Task
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.errors import (
    ChatmlError,
    CommitRejectedError,
    HandlerError,
    InvalidContextError,
    SessionBusyError,
    SessionEndedError,
    TaskFailedError,
    ToolDecisionConflictError,
)
from chatml_runtime.script.operations import OpDef, OpKind
from chatml_runtime.script.session import RunStatus
from tests.runtime.puppets import TICK, TURN_START, PuppetInstance, session, then

PREPEND = Perform("Turn.prepend_system", ("x",))
ASK = Perform("Approval.ask_text", ("go?",))


@pytest.mark.parametrize(
    ("context", "fact"),
    [(7, "record"), (("Phase",), "record"), ({}, "missing field 'phase'"), ({"phase": 3}, "context.phase")],
)
def test_r008_context_errors(context: Any, fact: str) -> None:
    """A context without a phase is refused before any script code runs."""
    called = []
    it = session(lambda state, event: called.append(event))
    with pytest.raises(InvalidContextError, match=fact):
        it.handle_event(context, TICK)
    assert not called
    assert not it.is_running


def test_the_phase_is_opaque() -> None:
    it = session(lambda state, event: ASK)
    it.handle_event({"phase": "anything at all"}, TICK)
    assert it.phase == "anything at all"


class TestCommit:
    """The order of a commit, and what may refuse it (section 6.2)."""

    def test_order(self) -> None:
        """State is validated, then effects are prepared; only then is anything visible, and installed last."""
        seen: list[Any] = []
        it = session(lambda state, event: then(PREPEND, lambda _: Perform("Runtime.emit", (TICK,)), lambda _: Pure(1)))

        def look(name: str) -> None:
            seen.append((name, it.state, len(it.committed_effects), len(it.queued_events), it.is_running))

        def prepare(effects: Any) -> Any:
            look("prepare")
            assert [effect.op for effect in effects] == ["Turn.prepend_system", "Runtime.emit"]
            return lambda: look("install")

        it.handle_event(TURN_START, TICK, validate_state=lambda s: look(f"validate {s}"), prepare_commit=prepare)
        assert seen == [
            ("validate 1", 0, 0, 0, True),
            ("prepare", 0, 0, 0, True),
            ("install", 1, 2, 1, True),
        ]
        assert not it.is_running

    @pytest.mark.parametrize("hook", ["validate_state", "prepare_commit"])
    def test_a_refusal_rolls_back(self, hook: str) -> None:
        instance, ref = PuppetInstance(), Ref("old")

        def handler(state: Any, event: Any) -> Task:
            instance.machine.set_ref(ref, "new")
            return then(PREPEND, lambda _: Pure(1))

        def refuse(_: Any) -> Any:
            assert ref.content == "new"
            raise ValueError("not this")

        it = session(handler, instance=instance)
        options: dict[str, Any] = {hook: refuse}
        with pytest.raises(CommitRejectedError, match=r"^not this$") as raised:
            it.handle_event(TURN_START, TICK, **options)
        assert isinstance(raised.value.__cause__, ValueError)
        assert (it.state, it.committed_effects, ref.content, it.is_running) == (0, (), "old", False)

    def test_a_refusal_keeps_its_class(self) -> None:
        def refuse(effects: Any) -> Any:
            raise ToolDecisionConflictError("two decisions")

        with pytest.raises(ToolDecisionConflictError):
            session(lambda state, event: Pure(1)).handle_event(TURN_START, TICK, prepare_commit=refuse)

    def test_a_hook_that_prepares_nothing_refuses(self) -> None:
        """What installs a commit is known to be a function before anything is committed."""
        prepare: Any = [].append
        it = session(lambda state, event: Pure(1))
        with pytest.raises(CommitRejectedError, match=r"must return a function.*NoneType"):
            it.handle_event(TURN_START, TICK, prepare_commit=prepare)
        assert (it.state, it.is_running) == (0, False)

    def test_an_install_that_raises_comes_after_the_commit(self) -> None:
        """It must not; if it does, the session is committed and usable, and the host hears of it."""

        def install() -> None:
            raise RuntimeError("broken host")

        it = session(lambda state, event: Pure(state + 1))
        with pytest.raises(RuntimeError, match="broken host"):
            it.handle_event(TURN_START, TICK, prepare_commit=lambda effects: install)
        assert (it.state, it.is_running) == (1, False)
        it.handle_event(TURN_START, TICK)
        assert it.state == 2

    def test_hooks_of_a_resume_get_all_effects(self) -> None:
        it = session(lambda state, event: then(PREPEND, lambda _: ASK, lambda _: PREPEND, lambda _: Pure(1)))
        it.handle_event(TURN_START, TICK)
        prepared: list[int] = []
        with pytest.raises(CommitRejectedError):
            it.resume("x", prepare_commit=lambda effects: prepared.append(len(effects)) or 1 / 0)
        assert prepared == [2]
        assert (it.pending, it.state) == (None, 0)

    def test_a_hook_cannot_call_back(self) -> None:
        it = session(lambda state, event: Pure(1))
        with pytest.raises(CommitRejectedError, match="already handling"):
            it.handle_event(TURN_START, TICK, validate_state=lambda s: it.handle_event(TURN_START, TICK))


class TestEnding:
    """Section 6.4, X-23: what ends a session, and why."""

    END = Perform("Runtime.end_session", ("first",))

    def ended(self, task: Task, *ops: OpDef) -> Any:
        it = session(lambda state, event: task, ops=ops)
        it.handle_event(TURN_START, TICK)
        assert it.is_halted == (it.end_reason is not None)
        return it.end_reason

    def test_the_first_end_is_the_reason(self) -> None:
        assert self.ended(then(self.END, lambda _: Perform("Runtime.end_session", ("second",)))) == "first"

    def test_the_last_halt_is_the_reason(self) -> None:
        assert self.ended(then(Perform("Turn.halt", ("a",)), lambda _: Perform("Turn.halt", ("b",)))) == "b"

    def test_an_end_beats_a_halt(self) -> None:
        assert self.ended(then(Perform("Turn.halt", ("halt",)), lambda _: self.END)) == "first"

    def test_the_rest_of_the_run_is_committed(self) -> None:
        it = session(lambda state, event: then(self.END, lambda _: PREPEND, lambda _: Perform("Runtime.emit", (TICK,))))
        assert len(it.handle_event(TURN_START, TICK).effects) == 3
        assert it.queued_events == (TICK,)
        with pytest.raises(SessionEndedError):
            it.enqueue(TICK)

    def test_a_replaced_halt_with_other_arguments_is_refused(self) -> None:
        """Nothing is half committed when the reason cannot be read."""
        halt = OpDef("Turn.halt", OpKind.LOCAL_TRANSACTIONAL, lambda context: None)
        it = session(lambda state, event: then(Perform("Turn.halt", ()), lambda _: Pure(1)), ops=[halt])
        with pytest.raises(CommitRejectedError, match=r"Turn\.halt"):
            it.handle_event(TURN_START, TICK)
        assert (it.state, it.committed_effects, it.is_halted, it.is_running) == (0, (), False, False)

    def test_a_replaced_halt_without_effect_ends_nothing(self) -> None:
        assert self.ended(Perform("Turn.halt", ("x",)), OpDef("Turn.halt", OpKind.DIAGNOSTIC, lambda *_: None)) is None


class TestQueue:
    def test_first_in_first_out(self) -> None:
        it = session(lambda state, event: then(Perform("Runtime.emit", (("C",),)), lambda _: Pure(0)))
        it.enqueue(("A",))
        it.enqueue(("B",))
        it.handle_event(TURN_START, TICK)
        assert it.queued_events == (("A",), ("B",), ("C",))
        assert [it.take_queued() for _ in range(4)] == [("A",), ("B",), ("C",), None]

    def test_it_takes_events_during_a_suspension(self) -> None:
        it = session(lambda state, event: then(Perform("Runtime.emit", (("Own",),)), lambda _: ASK))
        it.handle_event(TURN_START, TICK)
        it.enqueue(("Host",))
        assert it.queued_events == (("Host",),)
        it.resume("x")
        assert it.queued_events == (("Host",), ("Own",))


class TestRestore:
    def test_it_replaces_everything(self) -> None:
        it = session(lambda state, event: then(PREPEND, lambda _: Pure(state + 1)))
        it.handle_event(TURN_START, TICK)
        it.enqueue(("Old",))
        it.restore(41, [("New",)], halted=False)
        assert (it.state, it.queued_events, it.committed_effects, it.is_halted) == (41, (("New",),), (), False)
        it.handle_event(TURN_START, TICK)
        assert it.state == 42

    def test_an_ended_session_can_be_restored_to_life(self) -> None:
        it = session(lambda state, event: Perform("Turn.halt", ("x",)))
        it.handle_event(TURN_START, TICK)
        it.restore(0, [], halted=False)
        assert (it.is_halted, it.end_reason) == (False, None)
        it.restore(0, [], halted=True)
        assert (it.is_halted, it.end_reason) == (True, None)
        with pytest.raises(SessionEndedError):
            it.handle_event(TURN_START, TICK)


def test_committed_effects_can_be_taken() -> None:
    it = session(lambda state, event: PREPEND)
    it.handle_event(TURN_START, TICK)
    assert it.take_committed() == (Effect("Turn.prepend_system", ("x",)),)
    assert it.committed_effects == it.take_committed() == ()


@pytest.mark.parametrize("answer", [None, 7, b"yes"])
def test_an_answer_that_is_no_string_is_a_fault_of_the_host(answer: Any) -> None:
    it = session(lambda state, event: then(ASK, lambda _: Pure(1)))
    it.handle_event(TURN_START, TICK)
    with pytest.raises(TypeError, match=rf"a string.*{type(answer).__name__}"):
        it.resume(answer)
    assert it.pending is not None
    it.resume("yes")
    assert it.state == 1


def test_abandoning_nothing_is_no_error() -> None:
    assert session(lambda state, event: Pure(0)).abandon_pending() is None


def test_written_containers_can_be_seen() -> None:
    """While a run is active or suspended a host sees what it has written to."""
    instance, array = PuppetInstance(), [1]

    def handler(state: Any, event: Any) -> Task:
        instance.machine.set_item(array, 0, 2)
        return ASK

    it = session(handler, instance=instance)
    assert it.written == ()
    it.handle_event(TURN_START, TICK)
    assert [container is array for container in it.written] == [True]
    it.abandon_pending()
    assert it.written == ()


def test_the_engine_is_given_back() -> None:
    """Between runs the instance has no journal and its own budget; each run has its own limits."""
    instance = PuppetInstance()
    machine = instance.machine
    own = machine.budget
    budgets: list[Any] = []

    def handler(state: Any, event: Any) -> Task:
        budgets.append(machine.budget)
        assert machine.journal is not None
        return then(ASK, lambda _: budgets.append(machine.budget) or Pure(0))

    it = session(handler, instance=instance)
    it.handle_event(TURN_START, TICK, limits=Limits(steps=5))
    assert (machine.journal, machine.budget) == (None, own)
    it.resume("x")
    assert (machine.journal, machine.budget) == (None, own)
    assert budgets[0] is budgets[1]
    assert budgets[0].limits == Limits(steps=5)


def test_a_run_leaves_no_garbage() -> None:
    """What a run held is freed at its end without the collector of cycles."""

    class Watched(Ref):
        __slots__ = ("__weakref__",)

    def handler(state: Any, event: Any) -> Task:
        ref = Watched(0)
        watched.append(weakref.ref(ref))
        instance.machine.set_ref(ref, 1)
        failing = {"Fail": Perform("No.such", ()), "Refused": Perform("Tool.call", ("t", ("Null",)))}
        return {"Ask": ASK, **failing}.get(event[0], Pure(0))

    instance = PuppetInstance()
    it = session(handler, instance=instance)
    for end in ("Commit", "Fail", "Refused", "Ask"):
        watched: list[Any] = []
        gc.disable()
        try:
            with contextlib.suppress(TaskFailedError):
                it.handle_event(TURN_START, (end,))
            it.abandon_pending()
            assert [ref() for ref in watched] == [None], end
        finally:
            gc.enable()


def test_errors_have_one_root() -> None:
    assert issubclass(HandlerError, ChatmlError)
    assert issubclass(SessionBusyError, ChatmlError)


def test_statuses() -> None:
    assert [status.value for status in RunStatus] == ["committed", "suspended"]
