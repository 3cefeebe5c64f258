"""Each effect knows the place of the expression that decided on it, and an observer is told of starts and ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.pipeline import EngineName
from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.moderation.identities import EntryIdAllocator
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.results import EventInput, RunRecord
from chatml_runtime.moderation.vocabulary import InternalEvent, Phase, TurnStart
from chatml_runtime.scenario import Record, play, read_scenario
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.errors import SessionSuspendedError
from chatml_runtime.script.scripts import ScriptArtifact, compile_script
from chatml_runtime.script.tracing import trace_script
from tests.runtime.conversations import cases
from tests.runtime.test_module_state import moderator

ENGINES: list[EngineName] = ["compiled", "walk"]

SCRIPT = """let refuse why = Tool.reject(why)
let initial_state = 0
let on_event ctx st ev =
  match ev with
  | `Pre_tool_call(c) ->
      let* () = Turn.append_notice("looked at") in
      let* () = if c.name == "rm" then refuse("no") else Tool.approve() in
      Task.pure(st)
  | `Turn_start ->
      let say = Log.info in
      let* () = say("begun") in
      let* () = Task.map(Runtime.emit(`Mine), fun u -> u) in
      let* r = Task.catch(Runtime.end_session("over"), fun m -> Task.pure(())) in
      Task.pure(st)
  | _ -> Task.pure(st)
"""


def records(source: str, events: str, engine: EngineName = "compiled", *, sites: bool = True) -> list[Record]:
    script = compile_script(source, name="s.chatml", surface=UI_MODERATOR, engine=engine, sites=sites)
    played = play(ScriptArtifact("main", script), read_scenario(events))
    return [record for record in played if isinstance(record, Record)]


CALL = "[{ phase: 'pre_tool_call', call: { id: 'c', name: 'rm' } }]"


@pytest.mark.parametrize("engine", ENGINES)
def test_effects_point_at_what_decided_them(engine: EngineName) -> None:
    (record,) = records(SCRIPT, CALL, engine)
    assert [(effect["op"], effect["at"]) for effect in record.to_json()["effects"]] == [
        ("Turn.append_message", {"file": "s.chatml", "line": 6, "column": 17}),
        ("Tool.reject", {"file": "s.chatml", "line": 1, "column": 18}),
    ]
    (record, _) = records(SCRIPT, "[{ phase: 'turn_start' }, { phase: 'turn_end' }]", engine)
    places = [effect["at"] for effect in record.to_json()["effects"]]
    assert [(place["line"], place["column"]) for place in places] == [(12, 26), (13, 27)]


def test_without_sites_nothing_is_known() -> None:
    (record,) = records(SCRIPT, CALL, sites=False)
    assert [list(effect) for effect in record.to_json()["effects"]] == [["op", "args"]] * 2


def test_a_place_is_no_part_of_what_an_effect_is() -> None:
    (record,) = records(SCRIPT, CALL)
    assert record.effects[1].site is not None
    span = record.effects[1].site
    assert Effect("Tool.reject", ("no",), span) == Effect("Tool.reject", ("no",))


DECISIONS = [
    'Tool.reject("no")',
    "Tool.approve()",
    'Turn.append_notice("n")',
    'Turn.prepend_system("s")',
    "Runtime.emit(`Own)",
    'Log.warn("w")',
    'Task.catch(Tool.call("t", `Null), fun m -> Task.fail("caught " ++ m))',
    'Task.map(Turn.delete_item("x"), fun u -> u)',
    'Approval.ask_text("why?")',
]


@settings(deadline=None)
@given(
    chosen=st.lists(st.sampled_from(DECISIONS), max_size=5),
    engine=st.sampled_from(ENGINES),
    answers=st.lists(st.just("{ answer: 'x' }"), max_size=2),
)
def test_sites_change_nothing_else(chosen: list[str], engine: EngineName, answers: list[str]) -> None:
    """A script that is compiled with sites does what it does without, and every effect has a place in the script."""
    body = "".join(f"let* u{number} = {decision} in " for number, decision in enumerate(chosen))
    source = cases(f"| `Pre_tool_call(c) -> {body}Task.pure(st + 1)")
    events = f"[{', '.join([CALL[1:-1], *answers])}]"
    plain = [record.to_json() for record in records(source, events, engine, sites=False)]
    sited = [record.to_json() for record in records(source, events, engine)]
    for record in sited:
        for effect in record["effects"]:
            at = effect.pop("at")
            assert source.splitlines()[at["line"] - 1][at["column"] - 1 :].startswith(effect["op"].split(".")[0])
    assert sited == plain


def test_traces_say_where_an_operation_was_asked_for() -> None:
    script, tracer = trace_script(compile_script(SCRIPT, name="s.chatml", surface=UI_MODERATOR, sites=True))
    it = moderator(ScriptArtifact("main", script))
    tracer.take()
    it.handle_event(TurnStart(), EventInput("s"))
    waiting: list[Any] = list(tracer.take().to_json())
    found = {}
    while waiting:
        entry = waiting.pop()
        if entry.get("kind") == "operation":
            found[entry["name"]] = entry["at"]
        waiting += entry.get("inner", [])
    assert found["Log.info"] == {"line": 10, "column": 17}
    assert found["Runtime.end_session"] == {"line": 13, "column": 27}


class Watching:
    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def run_started(self, phase: Phase, event: Any) -> None:
        self.told.append(("start", phase, event[0]))

    def __call__(self, record: RunRecord) -> None:
        status = None if record.status is None else record.status.value
        self.told.append(("end", record.phase, record.event[0], status))


def test_an_observer_is_told_of_starts_and_ends() -> None:
    watching = Watching()
    source = cases(
        '| `Turn_start -> let* () = Runtime.emit(`Mine) in Task.pure(st) | `Mine -> Task.fail("no")'
        '| `Ask -> let* a = Approval.ask_text("?") in Task.pure(st)'
    )
    script = ScriptArtifact("main", compile_script(source, surface=UI_MODERATOR))
    it = Moderator.create(script, allocator=EntryIdAllocator("s"), observer=watching)
    with pytest.raises(Exception, match="no"):
        it.handle_event(TurnStart(), EventInput("s"))
    it.handle_event(InternalEvent(("Ask",)), EventInput("s"))
    with pytest.raises(SessionSuspendedError):
        it.handle_event(TurnStart(), EventInput("s"))
    it.resume("x")
    turn, internal = Phase.TURN_START, Phase.INTERNAL_EVENT
    assert watching.told == [
        ("start", turn, "Turn_start"),
        ("end", turn, "Turn_start", "committed"),
        ("start", internal, "Mine"),
        ("end", internal, "Mine", None),
        ("start", internal, "Ask"),
        ("end", internal, "Ask", "suspended"),
        ("end", internal, "Ask", "committed"),
    ], "what is refused does not start, and an answer starts nothing anew"


def test_json_lines_hold_the_places() -> None:
    (record,) = records(SCRIPT, CALL)
    assert json.loads(json.dumps(record.to_json()))["effects"][1]["at"]["line"] == 1
