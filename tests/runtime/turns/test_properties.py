"""Whatever a model does and whatever a policy decides: the invariants of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chatml_runtime.host.conversation import RunEnd
from chatml_runtime.host.policy import BudgetPolicy, RuntimePolicy
from chatml_runtime.host.work import AsyncWork
from chatml_runtime.moderation.capabilities import ModelError, ModelOk
from chatml_runtime.moderation.identities import HistoryEntry
from chatml_runtime.moderation.results import RunRecord
from chatml_runtime.moderation.tool_calls import CALLS
from chatml_runtime.script.effects import EndSession, Halt
from chatml_runtime.testing import call, custom_call, say, think, user
from tests.runtime.turns.runs import Talk, check_pairs, in_loop

POLICY = """
let plan = [{plan}]
let initial_state = 0
let on_event ctx st ev =
  let next = st + 1 in
  let decision = if st < length(plan) then plan[st] else "none" in
  match decision with
  | "reject" -> let* () = Tool.reject("no") in Task.pure(next)
  | "rewrite" -> let* () = Tool.rewrite_args(`String("changed")) in Task.pure(next)
  | "redirect" -> let* () = Tool.redirect("quick", `Null) in Task.pure(next)
  | "end" -> let* () = Runtime.end_session("ended") in Task.pure(next)
  | "halt" -> let* () = Turn.halt("halted") in Task.pure(next)
  | "fail" -> Task.fail("failed")
  | "emit" -> let* () = Runtime.emit(`Own) in Task.pure(next)
  | "turn" -> let* r = Task.catch(Runtime.request_turn(), fun m -> Task.pure(())) in Task.pure(next)
  | "job" -> let* id = Model.spawn("r", `Null) in Task.pure(next)
  | "hide" ->
      (match Context.last_item(ctx) with
       | `Some(item) -> let* () = Turn.delete_item(item.id) in Task.pure(next)
       | `None -> Task.pure(next))
  | "notice" -> let* () = Turn.append_notice("note") in Task.pure(next)
  | _ -> Task.pure(next)
"""
DECISIONS = ("none", "turn", "job", "emit", "notice", "hide", "reject", "rewrite", "redirect", "end", "halt", "fail")

plans = st.lists(st.sampled_from(DECISIONS) | st.just("none"), max_size=40)
tools = st.sampled_from(["quick", "slow", "raises", "unknown"])
items = st.one_of(
    st.just("message"),
    st.just("reasoning"),
    st.tuples(st.just("call"), tools),
    st.tuples(st.just("custom"), tools),
    st.just("break"),
)
ordinary = st.lists(st.one_of(st.just("message"), st.tuples(st.just("call"), st.just("quick"))), max_size=4)
responses = st.lists(st.lists(items, max_size=5) | ordinary, max_size=6)


class Chatter:
    """A model client that gives the generated responses, then nothing; it notes how many it was asked for."""

    def __init__(self, planned: Sequence[Sequence[Any]]) -> None:
        self.planned = planned
        self.asked = 0
        self.calls = 0

    async def respond(self, inputs: Any, tools: Any) -> Any:
        self.asked += 1
        for item in self.planned[self.asked - 1] if self.asked <= len(self.planned) else []:
            await asyncio.sleep(0)
            yield self.item(item)

    def item(self, item: Any) -> Any:
        if item == "break":
            raise ConnectionError("broken")
        if item == "message":
            return say("text")
        if item == "reasoning":
            return think("hm")
        self.calls += 1
        make: Any = call if item[0] == "call" else custom_call
        return make(item[1], '"x"', f"c{self.calls}")


async def run_tool(given: Any) -> str:
    if given.name in ("raises", "unknown"):
        raise LookupError(given.name)
    for _ in range(3 if given.name == "slow" else 0):
        await asyncio.sleep(0)
    return "ran"


class Notes:
    """What a user adds, one entry a time, after the turns that are listed."""

    def __init__(self, talk: Talk, turns: list[bool]) -> None:
        self.talk = talk
        self.turns = iter(turns)
        self.given = 0

    def take_text(self) -> str | None:
        return None

    def take_entries(self) -> Iterator[HistoryEntry]:
        if next(self.turns, False):
            self.given += 1
            yield HistoryEntry(self.talk.allocator.allocate(), user("note"))


def ends(record: RunRecord) -> bool:
    """Whether a handler run has ended the session."""
    outcome = record.outcome
    return any(isinstance(one, (EndSession, Halt)) for one in (*outcome.runtime_requests, *outcome.overlay_ops))


@settings(max_examples=300)
@given(
    plan=plans,
    planned=responses,
    notes=st.lists(st.booleans(), max_size=3),
    parallel=st.booleans(),
    moderated=st.booleans(),
    job_fails=st.booleans(),
)
def test_runs_keep_their_invariants(
    plan: list[str],
    planned: list[list[Any]],
    notes: list[bool],
    parallel: bool,
    moderated: bool,
    job_fails: bool,
) -> None:
    """Every call has exactly one output, the history only grows, nothing is delivered after the end, nor once a run
    has failed, and the number of model requests is bounded by the policy."""
    limit = 2

    async def main() -> None:
        async with AsyncWork(max_spawned_jobs=3) as work:
            model = Chatter(planned)
            jobs = {"r": lambda payload: ModelError("e") if job_fails else ModelOk(None)}
            talk = Talk(
                POLICY.format(plan=", ".join(f'"{one}"' for one in plan) or '"none"') if moderated else None,
                model,
                run_tool=run_tool,
                parallel_tools=parallel,
                policy=RuntimePolicy(budget=BudgetPolicy(max_self_triggered_turns=limit)),
                moderator={"capabilities": work.capabilities("s1", models=jobs)},
            )
            if talk.moderator is not None:
                work.register("s1", talk.moderator)
            steering = Notes(talk, notes)
            talk.conversation._steering = steering
            for _ in range(2):
                before = talk.conversation.history
                asked, calls, given_before = model.asked, model.calls, steering.given
                try:
                    report = await talk.conversation.run()
                except Exception:
                    pass  # which one is said elsewhere; what it leaves behind counts here
                else:
                    ended = talk.moderator is not None and talk.moderator.is_halted
                    assert (report.end is RunEnd.ENDED) == ended
                    assert report.history == talk.conversation.history
                history = talk.conversation.history
                assert history[: len(before)] == before
                assert talk.entries == list(history[1:])
                check_pairs(history)
                shown = tuple(effective.entry.item for effective in talk.driver.overlay.apply(history))
                assert talk.driver.overlay.items(history) == shown
                follow_ups = (model.calls - calls) + (steering.given - given_before)
                assert model.asked - asked <= (limit + 1) * (follow_ups + 1)
            assert sum(entry.item["type"] in CALLS for entry in talk.conversation.history) <= model.calls
            last = next((n for n, record in enumerate(talk.records) if ends(record)), None)
            assert last is None or last == len(talk.records) - 1

    in_loop(main())


@settings(max_examples=60)
@given(planned=responses, parallel=st.booleans())
def test_a_policy_that_only_looks_changes_nothing(planned: list[list[Any]], parallel: bool) -> None:
    """The history under a policy that decides nothing equals the one without a policy."""

    def history(source: str | None) -> tuple[list[Any], str]:
        talk = Talk(source, Chatter(planned), run_tool=run_tool, parallel_tools=parallel)
        try:
            talk.run()
        except Exception as error:
            return talk.items, type(error).__name__
        return talk.items, ""

    assert history("| `Never -> Task.pure(st)") == history(None)
