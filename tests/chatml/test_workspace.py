"""Workspaces: inputs mean what they would in one script, and can be taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings

import chatml
from chatml.source import Source
from chatml.surfaces.model import Surface
from chatml.syntax.parse import parse
from chatml_tools.workspace import Workspace
from chatml_tools.workspace.literal import literal
from tests.chatml.cases import Case, read_corpus
from tests.chatml.observe import SURFACES
from tests.chatml.programs import programs

LIMITS = chatml.Limits(steps=100_000, text=100_000)
PROGRAMS = [case for case in read_corpus() if case.fails is None]


def new(surface: Surface = chatml.CORE, printed: list[str] | None = None) -> Workspace:
    return Workspace(surface, print=([] if printed is None else printed).append, limits=LIMITS)


def enter(workspace: Workspace, *texts: str) -> list[str]:
    """Enter some inputs; the lines of all their answers."""
    return [
        line for text in texts for line in workspace.enter(Source(f"<input {len(workspace.inputs) + 1}>", text)).lines()
    ]


def state(workspace: Workspace) -> tuple[dict[str, str], dict[str, str], int]:
    """All that can be seen of a workspace: types, values, and how many inputs there are."""
    types = {result.name: result.type for result in workspace.definitions().results}
    return types, {name: literal(workspace.read(name)) for name in types}, len(workspace.inputs)


def statements(program: str) -> Iterator[str]:
    """The text of each statement of a program, and of what follows it."""
    starts = [statement.span.left for statement in parse(Source("program", program)).statements]
    for left, right in pairwise([*starts, len(program)]):
        yield program[left:right]


@given(programs())
@settings(max_examples=150)
def test_statement_by_statement(program: str) -> None:
    """A program that is entered statement by statement has the types, values and output that it has as one script."""
    printed: list[str] = []
    workspace, lines = new(printed=printed), []
    compiled = chatml.compile(program)
    try:
        instance = compiled.run(print=lines.append, limits=LIMITS, engine="walk")
    except chatml.RuntimeFailure as failure:
        if failure.limit is None:  # each input may take as many steps as a whole script
            told = failure.message
            with pytest.raises(chatml.RuntimeFailure, match=re.escape(told)):
                enter(workspace, *statements(program))
            assert printed == lines
        return
    enter(workspace, *statements(program))
    types, values, _ = state(workspace)
    assert printed == lines
    assert types == {name: compiled.checked.tell(name) for name in compiled.checked.bindings}
    assert values == {name: literal(instance[name]) for name in types}


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.id)
def test_the_corpus_statement_by_statement(case: Case) -> None:
    printed: list[str] = []
    surface = SURFACES[case.surface]
    workspace, lines = new(surface, printed), []
    compiled = chatml.compile(case.program, surface=surface)
    try:
        compiled.run(print=lines.append, limits=LIMITS, engine="walk")
    except chatml.RuntimeFailure:
        return  # it takes more steps than this test likes to take
    enter(workspace, *statements(case.program))
    assert printed == lines
    told = {name: compiled.checked.tell(name) for name in compiled.checked.bindings}
    assert {result.name: result.type for result in workspace.definitions().results} == told


@given(programs())
@settings(max_examples=100)
def test_undo_goes_all_the_way_back(program: str) -> None:
    """`undo` restores types and values of every definition as they were before the input."""
    workspace, before = new(), []
    enter(workspace, "let seen = ref([]) let table = Hashtbl.create() let cells = [1, 2, 3]")
    for text in (*statements(program), 'Hashtbl.set(table, "a", 1)', "cells[0] <- 9", "let cells = 1", "seen := [1.0]"):
        before.append(state(workspace))
        try:
            enter(workspace, text)
        except chatml.RuntimeFailure:
            assert state(workspace) == before.pop()
    while before:
        workspace.undo()
        assert state(workspace) == before.pop()


def test_redefinition_is_as_in_a_script() -> None:
    workspace = new()
    assert enter(workspace, "let x = 1", "let get u = x", 'let x = "two"', "get(())", "x") == [
        "x : int = 1",
        "get : (a -> int)",
        'x : string = "two"',
        "- : int = 1",
        '- : string = "two"',
    ]


def test_later_inputs_find_out_more_of_a_type() -> None:
    workspace = new()
    enter(workspace, "let cell = ref([])", "cell := [1]")
    assert enter(workspace, "cell") == ["- : ref(int array) = ref([1])"]
    with pytest.raises(chatml.CompileError):
        enter(workspace, 'cell := ["a"]')
    workspace.undo()
    workspace.undo()
    assert enter(workspace, 'cell := ["a"]', "!cell") == ['- : string array = ["a"]']


def test_reports_point_into_the_inputs_that_they_are_about() -> None:
    workspace = new()
    enter(workspace, "(* first *)\ntype t = { a : int }")
    with pytest.raises(chatml.CompileError) as raised:
        enter(workspace, "\n\n  type t = int")
    (found,) = raised.value.diagnostics
    assert (found.span.source.name, found.span.start.line) == ("<input 2>", 3)
    (label,) = found.labels
    assert (label.span.source.name, label.span.start.line) == ("<input 1>", 2)


@pytest.mark.parametrize(
    "text",
    [
        'let fresh = 1 cells[0] <- 7 seen := 5 fail("late")',
        'Hashtbl.set(table, "a", 1) Array.fill(cells, 0) cells[99]',
        "let fresh = 1 let bad = fresh + true",
        "let fresh = 1 let bad =",
        "module Fresh = struct let a = 1 let b = 1 / 0 end",
        "type fresh = int 1 / 0",
        "let rec loop n = loop(n) loop(1)",
    ],
)
def test_a_failed_input_leaves_nothing(text: str) -> None:
    workspace = new()
    enter(workspace, "let cells = [1, 2] let seen = ref(0) let table = Hashtbl.create()")
    before = state(workspace)
    with pytest.raises((chatml.CompileError, chatml.RuntimeFailure)):
        enter(workspace, text)
    assert state(workspace) == before
    assert enter(workspace, "let fresh = true type fresh = bool", "fresh")[-1] == "- : bool = true"


def test_an_interrupt_leaves_nothing() -> None:
    workspace = new()
    enter(workspace, "let cells = [1, 2] let table = Hashtbl.create()")
    before = state(workspace)

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    workspace.engine.sink = interrupt
    with pytest.raises(KeyboardInterrupt):
        enter(workspace, 'let fresh = 1 cells[1] <- 5 Hashtbl.set(table, "k", cells) let f x = print(x) f(1)')
    assert state(workspace) == before


def test_a_journal_of_its_own_for_each_input() -> None:
    workspace = new()
    enter(workspace, "let cell = ref(1)", "let alias = cell", "alias := 2", "cell := 3")
    workspace.undo()
    assert enter(workspace, "!cell") == ["- : int = 2"]
    workspace.undo()
    workspace.undo()
    assert enter(workspace, "!cell") == ["- : int = 1"]


def test_an_opened_module_is_closed_by_undo() -> None:
    workspace = new()
    enter(workspace, "module M = struct let inner = 1 end", "open M")
    assert enter(workspace, "inner") == ["- : int = 1"]
    workspace.undo()
    workspace.undo()
    with pytest.raises(chatml.CompileError):
        enter(workspace, "inner")


def test_types_are_told_without_running() -> None:
    printed: list[str] = []
    workspace = new(printed=printed)
    enter(workspace, "let cell = ref([])")
    assert workspace.type_of(Source("t", "print(1) cell := [1] let f x = x")).lines() == [
        "- : unit",
        "- : unit",
        "f : (a -> a)",
    ]
    assert printed == []
    assert enter(workspace, "cell") == ["- : ref('a array) = ref([])"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("()", []),
        ("print(1)", []),
        ("let u = ()", ["u : unit = ()"]),
        ("fun x -> x", ["- : ('a -> 'a)"]),
        ("type t = [ `A | `B(int) ]", ["type t = [`A | `B(int)]"]),
        ("module M = struct let a = 1 end", ["module M : {a: int}"]),
        ("let a = 1 let a = true", ["a : bool = true"]),
        ("1.0 2 -3", ["- : float = 1.0", "- : int = -1"]),
        (
            '{ s = "a\\"\\n"; v = `T(1, ["x"]) }',
            ['- : {s: string; v: [`T(int, string array) | ...]} = { s = "a\\"\\n"; v = `T(1, ["x"]) }'],
        ),
        ("ref(1)", ["- : ref(int) = ref(1)"]),
        ("print", ["- : ('a -> unit)"]),
        ("Task.pure(1)", ["- : int task = pure(1)"]),
        ("let rec f x = g(x) and g x = x", ["f : (a -> a)", "g : (a -> a)"]),
        ("(* nothing *)", []),
    ],
)
def test_answers(text: str, lines: list[str]) -> None:
    assert enter(new(chatml.UI_MODERATOR), text) == lines


def test_long_deep_and_cyclic_values_are_cut() -> None:
    workspace = new()
    (line,) = enter(workspace, "Array.make(1000, 1)")
    assert line.endswith("1, … 950 more]")
    (line,) = enter(workspace, 'let rec text n s = if n == 0 then s else text(n - 1, s ++ s) text(12, "ab")')[1:]
    assert line.endswith('"… 7,192 more characters')
    (line,) = enter(workspace, "let rec nest n = if n == 0 then `Leaf else `Node(nest(n - 1)) nest(10000)")[1:]
    assert line.endswith("(…" + ")" * 41)
    enter(workspace, "let loop = ref(`None)")
    (line,) = enter(workspace, "loop := `Some(loop)", "loop")
    assert len(line) < 3_000
