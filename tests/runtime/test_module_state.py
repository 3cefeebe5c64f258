"""A moderator that is restored from its snapshot and one that lives on are the same (live.md D.6, X-55)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.pipeline import EngineName
from chatml.values.copies import fresh
from chatml.values.model import Ref
from chatml.values.text import show
from chatml_runtime.moderation.identities import EntryIdAllocator
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.results import EventInput
from chatml_runtime.moderation.snapshots import ModeratorSnapshot
from chatml_runtime.moderation.vocabulary import InternalEvent
from chatml_runtime.script.errors import ModuleStateError
from chatml_runtime.script.scripts import ScriptArtifact, compile_script

ENGINES: list[EngineName] = ["compiled", "walk"]


def compiled(source: str, engine: EngineName = "compiled") -> ScriptArtifact:
    return ScriptArtifact("main", compile_script(source, engine=engine))


def moderator(script: ScriptArtifact, snapshot: Any = None, **options: Any) -> Moderator:
    return Moderator.create(script, allocator=EntryIdAllocator("s"), snapshot=snapshot, **options)


def send(it: Moderator, tag: str = "Go") -> None:
    it.handle_event(InternalEvent((tag,)), EventInput("s"))


def restored(script: ScriptArtifact, it: Moderator, **options: Any) -> Moderator:
    """The moderator that another process would make of what is stored of this one."""
    snapshot = ModeratorSnapshot.from_json(json.loads(json.dumps(it.snapshot().to_json())))
    return moderator(script, snapshot, **options)


P1 = """
let n = ref(0)
let initial_state = 0
let on_event ctx st ev = let u = n := !n + 1 in Task.pure(!n)
"""

P3 = """
let initial_state = { xs = [0; 0] }
let on_event ctx st ev =
  match ev with
  | `Write -> let u = st.xs[0] <- 7 in Task.pure(st)
  | `Reset -> Task.pure(initial_state)
  | _ -> Task.pure(st)
""".replace("[0; 0]", "[0, 0]")


@pytest.mark.parametrize("engine", ENGINES)
def test_p1_a_counter_outside_of_the_state_is_refused(engine: EngineName) -> None:
    script = compiled(P1, engine)
    it = moderator(script, durable=True)
    with pytest.raises(ModuleStateError, match="what `n` holds"):
        send(it)
    assert it.state == 0
    live = moderator(script)
    send(live)
    send(live)
    assert live.state == 2, "a session that nobody stores may keep it"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "definitions",
    [
        'let table = Hashtbl.create() let write k = Hashtbl.set(table, "k", k)',
        "let xs = [0] let write k = xs[0] <- k",
        "let cell = { inner = { r = ref(0) } } let write k = cell.inner.r := k",
        "let make u = let hidden = ref(0) in fun k -> hidden := k let write = make(())",
        "let make u = let xs = [0] in { put = fun k -> xs[0] <- k } let box = make(()) let write k = box.put(k)",
        "module M = struct let r = ref(0) let put k = r := k end let write k = M.put(k)",
        "let held = `Some(ref(0)) let write k = match held with | `Some(r) -> r := k | _ -> ()",
    ],
)
def test_what_the_analysis_cannot_see_fails_at_its_commit(engine: EngineName, definitions: str) -> None:
    source = (
        f"{definitions}\nlet initial_state = 0\nlet on_event ctx st ev = let u = write(st + 1) in Task.pure(st + 1)"
    )
    it = moderator(compiled(source, engine), durable=True)
    for _ in range(2):
        with pytest.raises(ModuleStateError):
            send(it)
    assert it.state == 0
    it.snapshot()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "body",
    [
        "let u = st.xs[0] <- st.xs[0] + 1 in Task.pure(st)",
        "let local = ref(0) in let u = local := 5 in Task.pure({ xs = [!local] })",
        "let ys = Array.copy(shared) in let u = ys[0] <- 9 in Task.pure({ xs = ys })",
    ],
)
def test_a_state_and_what_is_new_may_be_written(engine: EngineName, body: str) -> None:
    source = f"let shared = [1]\nlet initial_state = {{ xs = shared }}\nlet on_event ctx st ev = {body}"
    it = moderator(compiled(source, engine), durable=True)
    send(it)
    send(it)


@pytest.mark.parametrize("engine", ENGINES)
def test_p3_the_first_state_is_a_copy(engine: EngineName) -> None:
    script = compiled(P3, engine)
    for restoring in (False, True):
        it = moderator(script)
        for tag in ("Write", "Reset"):
            send(it, tag)
            if restoring:
                it = restored(script, it)
        assert show(it.state) == "{ xs = [|0, 0|] }", "what it means does not hang on what was written to the state"


@pytest.mark.parametrize("engine", ENGINES)
def test_p2_two_names_for_one_array_stay_two_names_for_it(engine: EngineName) -> None:
    source = """
    let row = [0]
    let initial_state = { a = row; b = row }
    let on_event ctx st ev = let u = st.a[0] <- st.a[0] + 1 in Task.pure(st)
    """
    script = compiled(source, engine)
    live, stored = moderator(script, durable=True), moderator(script, durable=True)
    for count in range(1, 4):
        send(live)
        send(stored)
        stored = restored(script, stored, durable=True)
        assert show(live.state) == show(stored.state) == f"{{ a = [|{count}|]; b = [|{count}|] }}"


def test_each_session_has_a_first_state_of_its_own() -> None:
    script = compiled(P3)
    one, other = moderator(script), moderator(script)
    send(one, "Write")
    assert show(other.state) == "{ xs = [|0, 0|] }"


POLICY = """
let shared = [5, 6, 7]
let initial_state = { xs = [0, 0, 0]; n = 0; log = [""] }
let on_event ctx st ev =
  match ev with
  | `Add -> Task.pure({ st with n = st.n + 1 })
  | `Write -> let u = st.xs[st.n - (st.n / 3) * 3] <- st.n + 1 in Task.pure(st)
  | `Reset -> Task.pure(initial_state)
  | `Swap -> Task.pure({ st with xs = [st.xs[2], st.xs[0], st.xs[1]] })
  | `Emit -> let* () = Runtime.emit(`Put(st.xs)) in Task.pure({ st with n = st.n + 1 })
  | `Put(xs) -> let u = xs[0] <- 50 in Task.pure({ st with xs = xs })
  | `Share -> Task.pure({ st with xs = shared })
  | `Fail -> let u = st.xs[0] <- 99 in Task.fail("no")
  | `Log -> Task.pure({ st with log = Array.append(st.log, [to_string(st.n)]) })
  | _ -> Task.pure(st)
"""
TAGS = ["Add", "Write", "Reset", "Swap", "Emit", "Share", "Fail", "Log"]


@settings(deadline=None)
@given(tags=st.lists(st.sampled_from(TAGS), max_size=12), engine=st.sampled_from(ENGINES))
def test_restoring_between_events_makes_no_difference(tags: list[str], engine: EngineName) -> None:
    """Whatever the events, a moderator restored before each of them has the states of one that lives on."""
    script = compiled(POLICY, engine)
    live, stored = moderator(script, durable=True), moderator(script, durable=True)
    for tag in tags:
        outcomes = []
        for it in (live, stored):
            try:
                send(it, tag)
                outcomes.append("committed")
            except Exception as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        stored = restored(script, stored, durable=True)
        assert show(live.state) == show(stored.state)


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.dictionaries(st.text(max_size=2), parts, max_size=3)
        | st.tuples(st.just("Tag"), parts)
        | parts.map(Ref)
    ),
    max_leaves=8,
)


@given(values)
def test_a_copy_is_equal_and_shares_nothing_that_can_be_written(value: Any) -> None:
    """A copy shows as its original does, and no array and no ref is part of both."""
    copied = fresh(value)
    assert show(copied) == show(value)
    assert not containers(copied) & containers(value)


def containers(value: Any) -> set[int]:
    if isinstance(value, Ref):
        return {id(value)} | containers(value.content)
    if isinstance(value, (list, tuple)):
        own = {id(value)} if isinstance(value, list) else set()
        return own.union(*[containers(part) for part in value])
    return set().union(*[containers(part) for part in value.values()]) if isinstance(value, dict) else set()


def test_a_value_that_contains_itself_has_a_copy_that_does() -> None:
    cell = Ref(None)
    cell.content = ("Some", {"next": cell, "twice": [cell, cell]})
    copied = fresh(cell)
    assert copied is not cell
    assert copied.content[1]["next"] is copied
    assert copied.content[1]["twice"] == [copied, copied]
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert len(fresh(deep)) == 1
