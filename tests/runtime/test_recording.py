"""Steps that wait: run again in any process, nothing happens twice, and what diverges is found (live.md D.1)."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.surfaces.ui import UI_MODERATOR
from chatml.values.model import Value
from chatml_runtime.host.turns import TurnDriver, TurnInput
from chatml_runtime.moderation.capabilities import Capabilities, ToolError, ToolOk
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.snapshots import ModeratorSnapshot
from chatml_runtime.moderation.tool_calls import call_of
from chatml_runtime.script.approvals import Answered
from chatml_runtime.script.errors import (
    ApprovalResponseError,
    NotSuspendedError,
    OperationFailed,
    ReplayDivergedError,
    SnapshotFormatError,
)
from chatml_runtime.script.recording import Recorded, Recording
from chatml_runtime.script.steps import ParkedStep, arun_step, run_step
from chatml_runtime.testing import call
from tests.runtime.conversations import artifact
from tests.runtime.turns.runs import in_loop

POLICY = """
let initial_state = { n = 0; seen = [""] }
let note st text = { n = st.n + 1; seen = Array.append(st.seen, [text]) }
let rec go st i =
  if i >= length(plan) then Task.pure(st) else
  match plan[i] with
  | "tool" -> let* r = Tool.call("work", `String(to_string(st.n))) in go(note(st, "tool"), i + 1)
  | "fails" ->
      let called = Task.map(Tool.call("broken", `String(to_string(st.n))), fun r -> "fine") in
      let* r = Task.catch(called, fun m -> Task.pure(m)) in
      go(note(st, r), i + 1)
  | "timer" -> let* id = Schedule.after_ms(5, `Ring(st.n)) in go(note(st, id), i + 1)
  | "ask" -> let* a = Approval.ask_text("why?") in go(note(st, a), i + 1)
  | "log" -> let* () = Log.info("at " ++ to_string(st.n)) in go(note(st, "log"), i + 1)
  | _ -> let* () = Turn.append_notice("here") in go(note(st, "notice"), i + 1)
let on_event ctx st ev = match ev with | `Pre_tool_call(c) -> go(st, 0) | _ -> Task.pure(st)
"""
KINDS = ["tool", "fails", "timer", "ask", "log", "notice"]
OUTSIDE = ["tool", "fails", "timer"]


class Killed(BaseException):
    """The process ends here."""


class World:
    """The outside: counts what really happens under which key; kills the process at the moments that it is told."""

    def __init__(self, deaths: list[int] | None = None) -> None:
        self.done: list[tuple[str, str]] = []
        self.logs: list[str] = []
        self.durable: dict[int, Recorded] = {}
        self.moment = 0
        self.deaths = set(deaths or [])
        self.timers = 0

    def may_die(self) -> None:
        self.moment += 1
        if self.moment in self.deaths:
            raise Killed

    def happens(self, what: str, key: str) -> None:
        self.may_die()
        self.done.append((what, key))
        self.may_die()

    # Recorder

    def begins(self, operation: Recorded) -> None:
        self.durable[operation.n] = operation
        self.may_die()

    def is_over(self, operation: Recorded) -> None:
        self.may_die()
        self.durable[operation.n] = operation


class Host:
    """A host that keeps a snapshot and a parked step as text, and makes a moderator anew for each run."""

    def __init__(self, source: str, world: World) -> None:
        self.artifact = artifact(source, surface=UI_MODERATOR)
        self.world = world
        self.snapshot = json.dumps(self.fresh().snapshot().to_json())
        self.step = json.dumps(ParkedStep("s/1", {"call": "c1"}, 7).to_json())
        self.asked = 0

    def fresh(self, recording: Recording | None = None, snapshot: Any = None) -> Moderator:
        capabilities = Capabilities(log=lambda level, text: self.world.logs.append(text))
        registry = capabilities.registry.replacing(*self.operations(capabilities))
        return Moderator.create(
            self.artifact,
            allocator=EntryIdAllocator("s", 100),
            capabilities=capabilities,
            extra_ops=tuple(registry) if recording is None else recording.operations(registry),
            snapshot=snapshot,
        )

    def operations(self, capabilities: Capabilities) -> Any:
        world = self.world

        def work(context: Any, name: str, args: Value) -> Value:
            if name == "broken":
                world.happens(name, context.key)
                raise OperationFailed("it is broken")
            world.happens(name, context.key)
            return ("Ok", ("String", f"result of {context.key}"))

        def after_ms(context: Any, delay: int, event: Value) -> str:
            world.happens("timer", context.key)
            return f"timer-of-{context.key}"

        for op in capabilities.registry:
            if op.name == "Tool.call":
                yield attrs.evolve(op, call=work)
            elif op.name == "Schedule.after_ms":
                yield attrs.evolve(op, call=after_ms)

    def act(self, recording: Recording) -> Any:
        moderator = self.fresh(recording, ModeratorSnapshot.from_json(json.loads(self.snapshot)))
        driver = TurnDriver(moderator, session_id="s", approval=recording)
        item = call("rm", {"path": "a"}, call_id="c1")
        driver.review_tool_call(TurnInput((), (), 7), call_of(item))
        return moderator.snapshot().to_json()

    def run(self) -> Any | None:
        """Run the stored step once: the snapshot after it, or None if it waits or its process is killed."""
        step = ParkedStep.from_json(json.loads(self.step))
        known = {recorded.n: recorded for recorded in step.recorded} | self.world.durable
        step = attrs.evolve(step, recorded=tuple(known[n] for n in sorted(known)))
        try:
            result = run_step(step, self.act, recorder=self.world, retry=lambda op, args: "keyed")
        except Killed:
            return None
        if not isinstance(result, ParkedStep):
            return result
        self.asked += 1
        self.step = json.dumps(result.answered(Answered(f"because {result.question_id}", "ada")).to_json())
        self.world.durable = {}
        return None


def finished(host: Host) -> Any:
    for _ in range(200):
        result = host.run()
        if result is not None:
            return result
    raise AssertionError("the step never ends")


def policy(plan: list[str]) -> str:
    return "let plan = [" + ", ".join(f'"{kind}"' for kind in ["notice", *plan]) + "]\n" + POLICY


@settings(deadline=None, max_examples=60)
@given(plan=st.lists(st.sampled_from(KINDS), max_size=7), deaths=st.lists(st.integers(1, 60), max_size=6))
def test_a_step_ends_as_if_nothing_had_happened(plan: list[str], deaths: list[int]) -> None:
    """Wherever its process ends and however often it waits, a step has the end of an undisturbed one, one key for each
    operation, repeats only what was under way, and logs once."""
    undisturbed, disturbed = World(), World(deaths)
    expected = finished(Host(policy(plan), undisturbed))
    assert finished(Host(policy(plan), disturbed)) == expected
    assert set(disturbed.done) == set(undisturbed.done)
    assert (
        len(undisturbed.done) == len(set(undisturbed.done)) == sum(kind in ("tool", "fails", "timer") for kind in plan)
    )
    assert len(disturbed.done) <= len(undisturbed.done) + len(set(deaths))
    assert disturbed.logs == undisturbed.logs
    assert len(undisturbed.logs) == plan.count("log")


@given(plan=st.lists(st.sampled_from(KINDS), max_size=6))
def test_a_step_that_waits_is_data(plan: list[str]) -> None:
    """What is stored of a step is the same after a trip through text, and running it again asks the same question."""
    host = Host(policy(["tool", *plan, "ask"]), World())
    step = run_step(ParkedStep("s/1"), host.act)
    assert isinstance(step, ParkedStep)
    assert ParkedStep.from_json(json.loads(json.dumps(step.to_json()))) == step
    assert run_step(step, host.act) == step


PLAN = ["tool", "timer", "ask", "tool", "ask", "log"]


def waiting(host: Host, answers: int) -> ParkedStep:
    step = ParkedStep("s/1")
    for _ in range(answers):
        result = run_step(step, host.act)
        assert isinstance(result, ParkedStep)
        step = result.answered("because")
    result = run_step(step, host.act)
    assert isinstance(result, ParkedStep)
    return result


@pytest.mark.parametrize("n", range(4))
def test_a_record_that_is_altered_is_found_and_nothing_happens_twice(n: int) -> None:
    """V-074: the step is asked again as generation 2; what was carried out is not carried out again."""
    host = Host(policy(PLAN), World())
    step = waiting(host, 1)
    done = list(host.world.done)
    assert len(done) == 3
    altered = [*step.recorded]
    altered[n] = attrs.evolve(altered[n], digest="0" * 64)
    again = run_step(attrs.evolve(step, recorded=tuple(altered), question=None), host.act)
    assert isinstance(again, ParkedStep)
    assert again.generation == 2
    assert again.question_id == "s/1/2", "the first question is asked anew"
    repeated = host.world.done[len(done) :]
    assert len(repeated) == (n in (0, 1)), "only what is not known any more by its digest"
    assert all("s/1.2/" in key for _, key in repeated), "it is another operation, under another key"
    done = list(host.world.done)
    second = run_step(again.answered("because"), host.act)
    assert isinstance(second, ParkedStep)
    third = run_step(second.answered("because"), host.act)
    assert not isinstance(third, ParkedStep)
    assert len(host.world.done) == len(done) + (n == 3), "what came after the question is known, too"
    broken = attrs.evolve(again.recorded[0], digest="1" * 64)
    with pytest.raises(ReplayDivergedError, match="second time"):
        run_step(attrs.evolve(again, recorded=(broken, *again.recorded[1:]), question=None), host.act)


def test_a_step_that_does_less_than_recorded_has_diverged() -> None:
    host = Host(policy(["tool"]), World())
    surplus = Recorded(1, "Tool.call", "0" * 64, "s/1/1", True, {"unit": True})
    first = run_step(ParkedStep("s/1"), lambda recording: (host.act(recording), list(recording.recorded))[1])
    assert not isinstance(first, ParkedStep)
    calls = []

    def act(recording: Recording) -> Any:
        calls.append(len(recording.recorded))
        return host.act(recording)

    assert not isinstance(run_step(ParkedStep("s/1", recorded=(*first, surplus)), act), ParkedStep)
    assert calls == [2, 0]
    assert len(host.world.done) == 1


def test_another_script_under_a_waiting_step_has_diverged() -> None:
    step = waiting(Host(policy(["tool", "ask"]), World()), 0)
    other = Host(policy(["tool", "log"]), World())
    result = run_step(step.answered("because"), other.act)
    assert not isinstance(result, ParkedStep)
    assert other.world.done == [], "the tool had run under the other script, with the same arguments"


def test_what_may_not_be_repeated_is_interrupted() -> None:
    world = World([2])  # after `begins`, while it happens
    host = Host(policy(["tool"]), world)
    with pytest.raises(Killed):
        run_step(ParkedStep("s/1"), host.act, recorder=world)
    step = ParkedStep("s/1", recorded=tuple(world.durable.values()))
    with pytest.raises(Exception, match="interrupted: it had begun"):
        run_step(step, host.act)
    assert world.done == []


def test_a_bad_answer_is_never_recorded() -> None:
    step = waiting(Host(policy(["ask"]), World()), 0)
    with pytest.raises(ApprovalResponseError):
        step.answered("  ")
    with pytest.raises(NotSuspendedError):
        step.answered("fine").answered("late")


@pytest.mark.parametrize("data", [{}, [], None, {"format": "chatml-parked-step", "version": 2}, {"format": "x"}])
def test_what_is_no_parked_step_is_refused(data: Any) -> None:
    with pytest.raises(SnapshotFormatError):
        ParkedStep.from_json(data)


def test_what_is_no_data_cannot_be_recorded() -> None:
    source = "| `Pre_tool_call(c) -> let* id = Schedule.after_ms(1, `Later(fun x -> x)) in Task.pure(st)"
    with pytest.raises(Exception, match=r"Schedule\.after_ms cannot be recorded"):
        run_step(ParkedStep("s/1"), Host(source, World()).act)


def test_awaited_operations_are_recorded() -> None:
    happened = []

    async def tool(name: str, args: Any) -> Any:
        happened.append(name)
        return ToolOk("fine") if name == "a" else ToolError("not fine")

    source = """| `Pre_tool_call(c) ->
      let* a = Tool.call("a", `Null) in let* b = Tool.call("b", `Null) in
      let* answer = Approval.ask_text("why?") in let* () = Tool.reject(answer) in Task.pure(st + 1)"""
    script, capabilities = artifact(source, surface=UI_MODERATOR), Capabilities(tool_call=tool)

    async def act(recording: Recording) -> Any:
        moderator = Moderator.create(
            script,
            allocator=EntryIdAllocator("s"),
            capabilities=capabilities,
            extra_ops=recording.operations(capabilities.registry),
        )
        driver = TurnDriver(moderator, session_id="s", approval=recording)
        return await driver.areview_tool_call(TurnInput(()), call_of(call("rm", {})))

    step = in_loop(arun_step(ParkedStep("s/1"), act))
    assert isinstance(step, ParkedStep)
    stored = ParkedStep.from_json(json.loads(json.dumps(step.answered("declined").to_json())))
    reviewed = in_loop(arun_step(stored, act))
    assert reviewed.synthetic_output == "declined"
    assert happened == ["a", "b"]


def test_a_catch_does_not_take_what_ends_a_run() -> None:
    source = """| `Pre_tool_call(c) ->
      let* a = Task.catch(Approval.ask_text("why?"), fun m -> Task.pure("caught " ++ m)) in
      let* () = Tool.reject(a) in Task.pure(st + 1)"""
    step = run_step(ParkedStep("s/1"), Host(source, World()).act)
    assert isinstance(step, ParkedStep)


def test_the_history_of_a_step_is_that_of_its_message() -> None:
    """Nothing but what the step is given is looked at: not the clock, not entries that came while it waited."""
    seen = []

    def act(recording: Recording) -> Any:
        host = Host(
            "| `Pre_tool_call(c) -> let* a = Approval.ask_text(to_string(ctx.now_ms)) in Task.pure(st)", World()
        )
        moderator = host.fresh(recording)
        driver = TurnDriver(moderator, session_id="s", approval=recording)
        item = call("rm", {}, call_id="c1")
        entry = HistoryEntry(EntryIdAllocator("s").allocate(), item)
        seen.append(driver.review_tool_call(TurnInput((), (), step.now_ms), call_of(item), entry=entry))
        return True

    step = ParkedStep("s/1", now_ms=42)
    parked = run_step(step, act)
    assert isinstance(parked, ParkedStep)
    assert parked.question is not None
    assert parked.question.request.prompt == "42"
    assert run_step(parked.answered("x"), act) is True
