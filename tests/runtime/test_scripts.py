"""Compiling and instantiating moderator scripts (runtime.md sections 3 and 11.1; R-001 to R-008)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from chatml.diagnostics.errors import CompileError, RuntimeFailure
from chatml.pipeline import compile
from chatml.source import Source
from chatml.surfaces.model import Surface
from chatml.surfaces.moderator import MODERATOR
from chatml.surfaces.ui import UI_MODERATOR
from chatml.types.guided import Entrypoints
from chatml.values.limits import Limits
from chatml_runtime.script.errors import (
    HandlerContractError,
    InstantiationError,
    InvalidContextError,
    ScriptRuntimeError,
)
from chatml_runtime.script.operations import OpDef, OpKind
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.scripts import ArtifactCache, CompiledScript, compile_script, source_hash
from chatml_runtime.script.session import Session
from tests.runtime.conversations import TICK, Conversation, artifact, cases

TURN_START = {"phase": "turn_start"}


def instantiate(compiled: CompiledScript, **options: Any) -> Session:
    return compiled.instantiate(OpRegistry.standard(), **options)


def unchecked(source: str, surface: Surface = MODERATOR) -> CompiledScript:
    return compile_script(source, surface=surface, entrypoints=None)


def problems(source: str, surface: Surface = MODERATOR) -> CompileError:
    with pytest.raises(CompileError) as caught:
        compile_script(source, surface=surface)
    return caught.value


def test_r_001_compile_once_run_twice() -> None:
    compiled = compile_script(cases("| `Tick -> Task.pure(st + 1)"))
    first, second = instantiate(compiled), instantiate(compiled)
    first.handle_event(TURN_START, TICK)
    first.handle_event(TURN_START, TICK)
    second.handle_event(TURN_START, TICK)
    assert (first.state, second.state) == (2, 1)


def test_r_002_globals_belong_to_the_session() -> None:
    compiled = compile_script(
        "let hits = ref(0)\nlet initial_state = 0\nlet on_event = fun ctx st ev -> hits := !hits + 1; Task.pure(!hits)"
    )
    first, second = instantiate(compiled), instantiate(compiled)
    first.handle_event(TURN_START, TICK)
    first.handle_event(TURN_START, TICK)
    second.handle_event(TURN_START, TICK)
    assert (first.state, second.state) == (2, 1)


def test_r_003_a_runtime_surface_with_other_names_is_refused() -> None:
    compiled = compile_script(cases("| `Tick -> Task.pure(st + 1)"))
    with pytest.raises(InstantiationError, match=r"modules.*Approval.*Ui") as caught:
        instantiate(compiled, surface=UI_MODERATOR)
    assert caught.value.code == "runtime.surface_mismatch"
    both_ways = compile_script(cases("| `Tick -> Task.pure(st + 1)"), surface=UI_MODERATOR)
    with pytest.raises(InstantiationError, match="modules"):
        instantiate(both_ways, surface=MODERATOR)


R_004 = {
    "a": ("let on_event = fun c s e -> Task.pure(s)", "`initial_state`", "Missing.*initial_state"),
    "b": ("let initial_state = 0", "`on_event`", "Missing.*on_event"),
    "c": ("let initial_state = 0\nlet on_event = 7", "context, state and event", "not callable"),
    "d": ("let initial_state = 0\nlet on_event = fun c s -> Task.pure(s)", "context, state and event", None),
}


@pytest.mark.parametrize("case", R_004)
def test_r_004_the_entry_points_are_checked(case: str) -> None:
    source, fact, unchecked_fact = R_004[case]
    diagnostic = problems(source).diagnostics[0]
    assert fact in diagnostic.message
    if "let on_event" in source and case in "cd":
        assert diagnostic.span is not None
        assert (diagnostic.span.start.line, diagnostic.span.text[:3]) == (2, "on_")
    compile(source, surface=MODERATOR)
    if unchecked_fact is not None:
        with pytest.raises(InstantiationError, match=unchecked_fact):
            instantiate(unchecked(source))
    else:
        session = instantiate(unchecked(source))
        with pytest.raises(ScriptRuntimeError, match="argument"):
            session.handle_event(TURN_START, TICK)
        assert session.state == 0


def test_r_004_e_the_initial_state_fits_the_state() -> None:
    error = problems('let initial_state = "x"\nlet on_event = fun c s e -> Task.pure(s + 1)')
    diagnostic = error.diagnostics[0]
    assert diagnostic.span is not None
    assert diagnostic.span.start.line == 1
    assert "`initial_state`" in diagnostic.message
    assert "string" in str(diagnostic)
    assert "int" in str(diagnostic)


STANDARD_EVENTS = (
    "Session_start",
    "Session_resume",
    "Turn_start",
    "Item_appended",
    "Pre_tool_call",
    "Post_tool_response",
    "Turn_end",
)


def test_r_004_f_events_that_can_never_match_are_a_warning() -> None:
    compiled = compile_script(
        "let initial_state = 0\nlet on_event = fun ctx st ev ->\n  match ev with\n  | `Session_begin -> Task.pure(st)"
    )
    (warning,) = compiled.warnings
    assert warning.severity == "warning"
    assert all(f"`{name}" in warning.message for name in STANDARD_EVENTS)
    assert "`Session_begin" in str(warning)
    assert not compile_script(cases("| `Session_begin -> Task.pure(st)")).warnings


@pytest.mark.parametrize("last", ["", "| _ -> Task.pure(st)"])
def test_an_arm_that_takes_an_argument_of_an_event_without_one_is_a_warning(last: str) -> None:
    """The types of `Turn_start(x)` and `Turn_start agree, so nothing else tells that the arm never runs (L-132)."""
    source = (
        "let initial_state = 0\nlet on_event ctx st ev =\n  match ev with\n"
        f"  | `Turn_start(x) -> Task.pure(1) | `Turn_end -> Task.pure(2) | `Tick(x) -> Task.pure(3)\n  {last}"
    )
    warnings = compile_script(source).warnings
    assert "can never match `Turn_start:" in warnings[0].message
    assert len(warnings) == (1 if last else 2)


def test_some_events_may_go_unmatched() -> None:
    compiled = compile_script(
        "let initial_state = 0\nlet on_event = fun ctx st ev ->\n  match ev with\n"
        "  | `Session_start -> Task.pure(st) | `Turn_start -> Task.pure(st) | `Item_appended(i) -> Task.pure(st)\n"
        "  | `Pre_tool_call(c) -> Task.pure(st) | `Turn_end -> Task.pure(st) | `Tick -> Task.pure(st)"
    )
    (warning,) = compiled.warnings
    assert "`Session_resume" in warning.message
    assert "`Post_tool_response" in warning.message
    assert "`Turn_end" not in warning.message


@pytest.mark.parametrize(
    ("source", "line", "facts"),
    [
        ("let initial_state = 0\nlet on_event ctx st ev = st + 1", 2, ["on_event", "task"]),
        ('let initial_state = 0\nlet on_event ctx st ev = Task.pure("x")\n', 2, ["next state", "int", "string"]),
        ("let initial_state = 0\nlet on_event ctx st ev = print(ctx.phse); Task.pure(st)", 2, ["phse", "context"]),
        ("let initial_state = 0\nlet on_event ctx st ev = Task.pure(st + ev)", 2, ["event", "int"]),
        (
            "let initial_state = 0\nlet on_event ctx st ev = match ev with"
            " | `Pre_tool_call(c) -> Task.pure(st + c) | _ -> Task.pure(st)",
            2,
            ["`Pre_tool_call", "tool_call", "int"],
        ),
        (
            "let initial_state = 0\nlet on_event ctx st ev = match ev with"
            " | `Turn_start(x) -> Task.pure(st + x) | _ -> Task.pure(st)",
            2,
            ["`Turn_start"],
        ),
    ],
)
def test_a_violated_contract_is_told_in_its_own_words(source: str, line: int, facts: list[str]) -> None:
    diagnostic = problems(source).diagnostics[0]
    assert diagnostic.span is not None
    assert diagnostic.span.start.line == line
    for fact in facts:
        assert fact in str(diagnostic)


@pytest.mark.parametrize(
    "source",
    [
        "let initial_state = 0 let on_event ctx st ev = Task.pure(st)",
        "let initial_state = [] let on_event ctx st ev = Task.pure(Array.append(st, [ctx.phase]))",
        "let initial_state = { n = 0 } let on_event ctx st ev = Task.pure({ st with n = st.n + 1 })",
        "let initial_state = `Idle let on_event ctx st ev = match st with"
        " | `Idle -> Task.pure(`Busy(1)) | `Busy(n) -> Task.pure(`Idle)",
        "let initial_state = 0 let on_event ctx st ev = match ev with"
        " | `Item_appended(i) -> print(Item.text(i)); Task.pure(st) | `Pre_tool_call(c) -> print(c.name); Task.pure(st)"
        " | `Post_tool_response(r) -> print(r.result); Task.pure(st) | `Custom(x, y) -> Task.pure(x + y)"
        " | _ -> Task.pure(st)",
        "type state = { seen : string array }\nlet initial_state : state = { seen = [] }\n"
        "let on_event : context -> state -> [ `Turn_start | `Turn_end ] -> state task = fun ctx st ev -> Task.pure(st)",
    ],
)
def test_scripts_that_keep_the_contract_compile(source: str) -> None:
    compile_script(source)


def test_the_contract_can_have_other_names() -> None:
    names = Entrypoints(initial_state="start", on_event="step")
    compiled = compile_script("let start = 1 let step ctx st ev = Task.pure(st + 1)", entrypoints=names)
    session = compiled.instantiate(OpRegistry.standard(), entrypoints=names)
    session.handle_event(TURN_START, TICK)
    assert session.state == 2


def test_r_005_duplicate_operations_are_refused() -> None:
    def op(name: str) -> OpDef:
        return OpDef(name, OpKind.DIAGNOSTIC, lambda context: None)

    with pytest.raises(InstantiationError, match=r"A\.b, Log\.info"):
        OpRegistry([op("Log.info"), op("A.b"), op("Log.info"), op("A.b"), op("C.d")])


def test_r_006_the_handler_returns_a_task() -> None:
    source = "let initial_state = 0\nlet on_event = fun ctx st ev -> st + 1"
    diagnostic = problems(source).diagnostics[0]
    assert "task" in diagnostic.message
    session = instantiate(unchecked(source))
    with pytest.raises(HandlerContractError, match="task"):
        session.handle_event(TURN_START, TICK)
    assert session.state == 0


def test_r_007_ui_modules_need_the_ui_surface() -> None:
    source = '| `Tick -> let* () = Ui.notify("x") in Task.pure(st)'
    assert "`Ui`" in problems(cases(source)).diagnostics[0].message
    talk = Conversation(source, surface=UI_MODERATOR)
    assert talk.tick().outcome.ui_notifications == ("x",)


@pytest.mark.parametrize(
    ("context", "fact"),
    [
        (7, "expected a record"),
        ({"other": 1}, "missing field 'phase'"),
        ({"phase": 3}, "context.phase: expected a string"),
    ],
)
def test_r_008_context_errors(context: Any, fact: str) -> None:
    printed = list[str]()
    session = instantiate(
        compile_script('let initial_state = 0 let on_event ctx st ev = print("called"); Task.pure(st)'),
        print=printed.append,
    )
    with pytest.raises(InvalidContextError, match=fact):
        session.handle_event(context, TICK)
    assert not printed


def test_a_top_level_that_fails_makes_no_session() -> None:
    with pytest.raises(RuntimeFailure, match="boom"):
        instantiate(compile_script('let initial_state = 0 let on_event ctx st ev = Task.pure(st) let x = fail("boom")'))
    endless = compile_script(
        "let initial_state = 0 let on_event ctx st ev = Task.pure(st) let x = while true do () done"
    )
    with pytest.raises(RuntimeFailure, match="steps"):
        instantiate(endless, limits=Limits(steps=1000))


def test_the_cache_compiles_each_source_once_per_surface() -> None:
    cache = ArtifactCache()
    source = cases("| `Tick -> Task.pure(st + 1)")
    one = cache.get("one", source)
    assert one.compiled is cache.get("two", Source("named.chatml", source)).compiled
    assert cache.get("one", source, surface=UI_MODERATOR).compiled is not one.compiled
    assert cache.get("one", source + " ").compiled is not one.compiled
    assert len(cache) == 3
    assert one.source_hash == source_hash(source) == one.compiled.source_hash
    with pytest.raises(CompileError):
        cache.get("one", "let initial_state = 0")
    assert len(cache) == 3


def test_a_source_with_many_characters_keeps_its_exact_text_and_hash() -> None:
    source = cases('| `Tick -> let* () = Log.info("é€😀") in Task.pure(st)')
    assert artifact(source).compiled.source == source
    assert artifact(source).source_hash == source_hash(source)


def test_many_threads_share_one_script() -> None:
    """Sessions of one compiled script, each in its own thread, end exactly as they would alone (X-26)."""
    compiled = artifact(
        "let log = ref([])\nlet initial_state = 0\n"
        "let on_event ctx st ev = match ev with | `Add(n) -> log := Array.append(!log, [n]); "
        "Task.pure(st + n * length(!log)) | _ -> Task.pure(st)"
    )
    alone = Conversation(compiled)
    for n in range(30):
        alone.tick(("Add", n))
    states = list[int]()

    def run() -> None:
        talk = Conversation(compiled)
        for n in range(30):
            talk.tick(("Add", n))
        states.append(talk.state)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states == [alone.state] * 8
