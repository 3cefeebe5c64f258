"""The task interpreter (runtime.md section 5), on tasks that are built by hand."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from chatml.values.limits import Limits
from chatml.values.model import Bind, Catch, Fail, Map, Perform, Pure, Spawn, Task, Value
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.errors import HandlerContractError, LimitExceededError, TaskFailedError
from chatml_runtime.script.operations import OpContext, OpDef, OpKind
from chatml_runtime.script.standard import Handlers
from tests.runtime.puppets import TICK, TURN_START, function, session, then

NODES = 1_000_000


def run(task: Task, **options: Any) -> Value:
    """The state that a task commits."""
    it = session(lambda state, event: task, **options)
    it.handle_event(TURN_START, TICK)
    return it.state


def test_a_million_chained_continuations_use_no_stack() -> None:
    count = 0

    def loop(value: int) -> Task:
        nonlocal count
        count += 1
        return Pure(value) if value == 0 else Bind(Pure(value - 1), step)

    step = function(loop)
    limit = sys.getrecursionlimit()
    assert run(loop(NODES)) == 0
    assert (count, sys.getrecursionlimit()) == (NODES + 1, limit)


@pytest.mark.parametrize("node", [Bind, Map, Catch], ids=["bind", "map", "catch"])
def test_a_million_nested_nodes_use_no_stack(node: type[Bind] | type[Map] | type[Catch]) -> None:
    add = {Bind: lambda n: Pure(n + 1), Map: lambda n: n + 1, Catch: lambda message: Fail(message)}[node]
    task: Task = Fail("deep") if node is Catch else Pure(0)
    continuation = function(add)
    for _ in range(NODES):
        task = node(task, continuation)
    if node is Catch:
        with pytest.raises(TaskFailedError, match=r"^deep$"):
            run(task)
    else:
        assert run(task) == NODES


def test_catch_restores_the_buffers_of_its_body_only() -> None:
    """A failed body leaves no effect, event or end of session; what came before it stays."""
    body = then(
        Perform("Turn.prepend_system", ("B",)),
        lambda _: Perform("Runtime.emit", (("X",),)),
        lambda _: Perform("Runtime.end_session", ("zz",)),
        lambda _: Fail("boom"),
    )
    task = then(
        Perform("Runtime.end_session", ("outer",)),
        lambda _: Catch(body, function(lambda message: Perform("Turn.halt", (message,)))),
        lambda _: Pure(1),
    )
    it = session(lambda state, event: task)
    result = it.handle_event(TURN_START, TICK)
    assert result.effects == (Effect("Runtime.end_session", ("outer",)), Effect("Turn.halt", ("boom",)))
    assert it.queued_events == ()
    assert it.end_reason == "outer"


def test_a_handler_runs_outside_its_own_catch() -> None:
    inner = Catch(Fail("a"), function(lambda m: Fail(m + "b")))
    assert run(Catch(inner, function(lambda m: Pure(m)))) == "ab"
    with pytest.raises(TaskFailedError, match=r"^ab$"):
        run(inner)


def test_map_does_not_run_a_returned_task() -> None:
    task = then(Map(Pure(1), function(lambda _: Fail("never"))), lambda made: Pure(type(made).__name__))
    assert run(task) == "Fail"


@pytest.mark.parametrize(
    ("task", "who"),
    [
        (7, "the handler"),
        (Bind(Pure(1), function(lambda _: 7)), "Task.bind"),
        (Catch(Fail("x"), function(lambda _: None)), "Task.catch"),
        (Catch(Bind(Pure(1), function(lambda _: 7)), function(lambda _: Pure(2))), "Task.bind"),
    ],
    ids=["handler", "bind", "catch", "caught_bind"],
)
def test_only_tasks_are_run(task: Any, who: str) -> None:
    """Something else than a task, where a task is due, fails the run past every catch."""
    with pytest.raises(HandlerContractError, match=who):
        run(task)


class TestR019TaskLimit:
    TASK = Bind(Pure(1), function(lambda x: Pure(x)))

    def limited(self, task: Task, tasks: int) -> Value:
        it = session(lambda state, event: task)
        it.handle_event(TURN_START, TICK, limits=Limits(tasks=tasks))
        return it.state

    def test_each_node_costs_one(self) -> None:
        assert self.limited(self.TASK, 3) == 1

    @pytest.mark.parametrize("tasks", [0, 1, 2])
    def test_one_less_fails_and_names_the_limit(self, tasks: int) -> None:
        with pytest.raises(LimitExceededError, match="tasks") as raised:
            self.limited(self.TASK, tasks)
        assert raised.value.limit == "tasks"
        assert raised.value.diagnostic.code == "runtime.limit"

    def test_no_catch_sees_it(self) -> None:
        with pytest.raises(LimitExceededError, match="tasks"):
            self.limited(Catch(self.TASK, function(lambda _: Pure(99))), 3)

    def test_it_lasts_across_a_suspension(self) -> None:
        ask = Perform("Approval.ask_text", ("go?",))
        it = session(lambda state, event: then(ask, lambda _: Pure(1), lambda _: Pure(2)))
        it.handle_event(TURN_START, TICK, limits=Limits(tasks=5))
        assert it.resume("x").pending is None
        it.handle_event(TURN_START, TICK, limits=Limits(tasks=4))
        with pytest.raises(LimitExceededError):
            it.resume("x")
        assert it.pending is None


NOW = OpDef("X.now", OpKind.EXTERNAL_SYNC, lambda context: 5)
JOB = OpDef("X.job", OpKind.EXTERNAL_ASYNC, lambda context: "job-1")


@pytest.mark.parametrize(
    ("task", "facts"),
    [
        pytest.param(Perform("X.job", ()), ["X.job", "must be spawned"], id="R-021 perform"),
        pytest.param(Spawn("X.now", ()), ["X.now", "not spawnable"], id="R-021 spawn"),
        (Spawn("Log.info", ("x",)), ["Log.info", "not spawnable"]),
        (Spawn("Approval.ask_text", ("x",)), ["Approval.ask_text", "not spawnable"]),
        pytest.param(Perform("X.none", ()), ["X.none", "Unknown"], id="R-021 unknown"),
        (Spawn("X.none", ()), ["X.none", "Unknown"]),
        (Perform("Turn.halt", ()), ["Turn.halt", "1", "0"]),
        (Perform("Turn.halt", (3,)), ["Turn.halt", "string"]),
        (Spawn("Schedule.after_ms", (True, 1)), ["Schedule.after_ms", "int"]),
        (Spawn("Schedule.after_ms", (-1, 1)), ["Schedule.after_ms", "non-negative"]),
        (Spawn("Process.run", ("ls", ["-l", 2])), ["Process.run", "string array"]),
        (Perform("Approval.ask_text", ()), ["Approval.ask_text", "1", "0"]),
        (Perform("Approval.ask_choice", ("p",)), ["Approval.ask_choice", "2", "1"]),
        (Perform("Approval.ask_text", (1,)), ["Approval.ask_text", "string"]),
        (Perform("Approval.ask_choice", ("p", ["a", 1])), ["Approval.ask_choice", "string array"]),
        (Perform("Approval.ask_choice", ("p", [])), ["Approval.ask_choice", "at least one choice"]),
        (Perform("Runtime.request_turn", ()), ["Runtime.request_turn", "turn_start", "turn_end", "internal_event"]),
    ],
)
def test_failures_of_operations_can_be_caught(task: Task, facts: list[str]) -> None:
    """Whatever keeps an operation from running is a task failure that names its facts."""
    options = {"ops": [NOW, JOB]}
    with pytest.raises(TaskFailedError) as raised:
        run(task, **options)
    message = run(Catch(task, function(lambda m: Pure(m))), **options)
    assert message == str(raised.value)
    assert [fact for fact in facts if fact not in message] == []


@pytest.mark.parametrize("op", ["Tool.call", "Model.call", "Schedule.cancel"])
def test_external_operations_are_not_configured_by_default(op: str) -> None:
    args = ("x",) if op == "Schedule.cancel" else ("x", ("Null",))
    with pytest.raises(TaskFailedError, match=f"{op} is not configured"):
        run(Perform(op, args))


def test_custom_operations_answer_with_their_value() -> None:
    task = then(Perform("X.now", ()), lambda now: Spawn("X.job", ()), lambda job: Pure(job))
    assert run(task, ops=[NOW, JOB]) == "job-1"


def test_r020_the_spawn_limit_counts_attempts() -> None:
    """Beyond `max_spawns` the next spawn fails, and can be caught; failed attempts count."""
    jobs: list[str] = []

    def spawn(context: OpContext, recipe: str, payload: Value) -> str:
        jobs.append(recipe)
        return f"job-{len(jobs)}"

    again = Catch(Spawn("Model.spawn", ("b", ("Null",))), function(lambda m: Pure(m)))
    it = session(
        lambda state, event: then(Spawn("Model.spawn", ("a", ("Null",))), lambda _: again),
        handlers=Handlers(model_spawn=spawn),
    )
    it.handle_event(TURN_START, TICK, max_spawns=1)
    assert "spawn limit" in it.state
    assert jobs == ["a"]
    it.handle_event(TURN_START, TICK)
    assert it.state == "job-3"


def test_r023_external_effects_survive_rollback() -> None:
    """A job that a failed run has started stays started."""
    jobs: list[str] = []

    def spawn(context: OpContext, recipe: str, payload: Value) -> str:
        jobs.append(recipe)
        return "job-1"

    it = session(
        lambda state, event: then(Spawn("Model.spawn", ("r", ("Null",))), lambda _: Fail("x")),
        handlers=Handlers(model_spawn=spawn),
    )
    with pytest.raises(TaskFailedError, match=r"^x$"):
        it.handle_event(TURN_START, TICK)
    assert (jobs, it.state) == (["r"], 0)


def test_buffered_end_reason_of_a_custom_operation() -> None:
    """A custom operation may emit and end the session without leaving an effect; a catch takes both back."""

    def both(context: OpContext) -> None:
        context.emit(("Made",))
        context.request_end("custom")

    op = OpDef("X.both", OpKind.DIAGNOSTIC, both)
    caught = Catch(Bind(Perform("X.both", ()), function(lambda _: Fail("x"))), function(lambda m: Pure(m)))
    it = session(lambda state, event: caught if event == TICK else Perform("X.both", ()), ops=[op])
    assert it.handle_event(TURN_START, TICK).effects == ()
    assert (it.queued_events, it.is_halted) == ((), False)
    assert it.handle_event(TURN_START, ("Go",)).effects == ()
    assert (it.queued_events, it.is_halted, it.end_reason) == ((("Made",),), True, "custom")
