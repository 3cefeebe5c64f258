"""Depth never crashes the checker, and its time grows with the text (X-04)."""

from __future__ import annotations

import sys
import time

import pytest

import chatml
from chatml.pipeline import environment
from chatml.source import Source
from chatml.surfaces.core import CORE
from chatml.syntax.parse import parse
from chatml.types.facts import TooDeep, TooLarge
from chatml.types.statements import Statements
from tests.chatml.types.checking import check_text, shown

LINKS = 10_000
NESTED = 900

CHAINS = {
    "sequence": ("let f () = " + "; ".join(["print(1)"] * LINKS), "( -> unit)"),
    "let in": ("let f x0 = " + "".join(f"let x{n + 1} = x{n} + 1 in " for n in range(LINKS)) + "x1", "(int -> int)"),
    "aliases": ("let f x0 = " + "".join(f"let x{n + 1} = x{n} in " for n in range(LINKS)) + "x1", "(a -> a)"),
    "growing type": ("let f x0 = " + "".join(f"let x{n + 1} = [x{n}] in " for n in range(LINKS)) + "1", "(a -> int)"),
    "else if": ("let f x = " + "".join(f"if x == {n} then {n} else " for n in range(LINKS)) + "0", "(int -> int)"),
    "operators": ("let f = " + " + ".join(["1"] * LINKS), "int"),
    "booleans": ("let f a = " + " && ".join(["a < 1"] * LINKS), "(int -> bool)"),
    "indices": ("let f = (fun a -> a" + "[0]" * LINKS + " + 1) == (fun a -> 1)", None),
    "calls": ("let f g = let h = g" + "(1)" * LINKS + " in 1", None),
    "fields": ("let f g = let h = g" + ".a" * LINKS + " in 1", None),
    "elements": ("let f x = [" + ", ".join(["x"] * LINKS) + "]", "(a -> a array)"),
    "arrays of one parameter": ("let f x = " + "; ".join(["[x]"] * LINKS), "(a -> a array)"),
    "statements": ("".join(f"let x{n} = {n}\n" for n in range(LINKS)) + "let f = x1", "int"),
    "growing statements": ("let f = 1\n" + "let f = { a = f }\n" * LINKS, None),
    "arms": ("let f x = match x with " + "".join(f"| {n} -> {n} " for n in range(LINKS)) + "| _ -> 0", "(int -> int)"),
    "tags": ("let f x = match x with " + "".join(f"| `T{n}(y) -> y " for n in range(LINKS)), None),
    "open tags": ("let f x = match x with " + "".join(f"| `T{n} -> {n} " for n in range(LINKS)) + "| _ -> 0", None),
    "declared tags": (
        "type t = [ " + " | ".join(f"`T{n}(int)" for n in range(LINKS)) + " ] "
        "let f : t -> int = fun x -> match x with " + "".join(f"| `T{n}(y) -> y " for n in range(LINKS)),
        None,
    ),
    "tasks": ("let f t = " + "let+ x = t in " * LINKS + "1", None),
    "group": ("let rec f x = x " + "".join(f"and f{n} x = f(x) " for n in range(LINKS // 4)), "(a -> a)"),
    "relay": (
        "let rec f x = x and f0 x = f(x) " + "".join(f"and f{n + 1} x = f{n}(x) " for n in range(LINKS // 4)),
        "(a -> a)",
    ),
    "nested arrays": ("let f = " + "[" * NESTED + "1" + "]" * NESTED, None),
    "nested records": ("let f = " + "{ a = " * NESTED + "1" + " }" * NESTED, None),
    "nested calls": ("let id x = x let f = " + "id(" * NESTED + "1" + ")" * NESTED, "int"),
    "shared parts": (
        "let d x = { l = x; r = x } let f x = " + "let x = d(x) in " * 300 + "let y = x == x in 1",
        "(a -> int)",
    ),
    "shared declarations": (
        "type t0 = { v : int } "
        + "".join(f"type t{n + 1} = {{ l : t{n}; r : t{n} }} " for n in range(100))
        + "let f x = let y : t100 = x in 1",
        None,
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_long_chains(name: str):
    text, type = CHAINS[name]
    limit = sys.getrecursionlimit()
    checked = check_text(text)
    assert [problem.__class__.__name__ for problem in checked.problems] in ([], ["NoEquality"])
    if type is not None:
        assert checked.show("f") == type
    elif not checked.problems:
        assert checked.show("f")
    assert sys.getrecursionlimit() == limit


def test_a_report_on_a_deep_type_is_short():
    checked = check_text("let x = 1\n" + "let x = { a = x }\n" * 2_000 + "print(x + 1)")
    assert len(str(checked.diagnostics[0])) < 2_000


@pytest.mark.parametrize("name", ["let in", "aliases", "growing type", "relay", "fields", "tags", "declared tags"])
def test_time_grows_with_the_text(name: str):
    text, _ = CHAINS[name]
    start = time.process_time()
    check_text(text)
    assert time.process_time() - start < 5


GROWING_ROWS = {
    "tags": "let f x = match x with " + "".join(f"| `T{n} -> {n} " for n in range(20_000)),
    "fields": "let f x = [" + ", ".join(f"x.a{n}" for n in range(20_000)) + "]",
}


@pytest.mark.parametrize("name", GROWING_ROWS)
def test_a_row_that_grows_label_by_label_takes_time_in_proportion(name: str) -> None:
    start = time.process_time()
    check_text(GROWING_ROWS[name])
    assert time.process_time() - start < 4


DOUBLING = {
    "tags": "let x = `Leaf\n" + "let x = `Node(x, x)\n" * 40,
    "records": "let x = fun y -> y\n" + "let x = { a = x; b = x }\n" * 40,
    "local": "let f = fun x -> " + "let x = `Node(x, x) in " * 40 + "x",
    "functions": "let f g = "
    + "".join(f"let x{n + 1} = fun y -> {{ a = x{n}; b = x{n} }} in " for n in range(40)).replace("x0", "g")
    + "x40",
}


@pytest.mark.parametrize("name", DOUBLING)
def test_types_that_double_with_each_line_are_refused(name: str):
    start = time.process_time()
    problems = check_text(DOUBLING[name] + "\nlet after = 1 + true").problems
    assert time.process_time() - start < 10
    assert [problem.__class__ for problem in problems] == [TooLarge]


PROPORTIONATE = {
    "group": lambda count: "let rec f0 x = x " + "".join(f"and f{n + 1} x = f{n}(x) " for n in range(count)),
    "booleans": lambda count: "let f a = " + " && ".join(["a < 1"] * count),
    "one name": lambda count: "let f x = x\n" + "let f x = f(x)\n" * count,
    "tags": lambda count: "let f x = match x with " + "".join(f"| `T{n} -> {n} " for n in range(count)),
    "opens": lambda count: "".join(f"module M{n} = struct let x{n} = 1 end\nopen M{n}\n" for n in range(count)),
    "joins": lambda count: "let f c = " + "if c == 0 then { a = 1; b = 2 } else " * count + "{ a = 1 }",
}
"""Scripts that grow with a number."""


@pytest.mark.parametrize("name", PROPORTIONATE)
def test_work_grows_with_the_text(name: str) -> None:
    def work(count: int) -> float:
        statements, most = Statements(environment(CORE)), 10_000_000
        assert statements.extend(parse(Source("growing", PROPORTIONATE[name](count))), most).problems == ()
        return most - statements.inference.unifier.work

    assert work(4_000) <= 2.2 * work(2_000) + 10


def test_copies_count_as_work_while_they_are_made() -> None:
    """The copy of a type that doubles with each line is given up within the budget, not after it."""
    statements = Statements(environment(CORE))
    program = "let p x = x\n" + "let p = { a = p; b = p }\n" * 40 + "let after = p\n" * 1_000
    checked = statements.extend(parse(Source("doubling", program)))
    assert [problem.__class__ for problem in checked.problems] == [TooLarge]


def test_beyond_any_room_it_is_a_diagnostic():
    script = parse(Source("deep", "let a = 1\nlet x = " + " + ".join(["1"] * 5_000) + "\nlet b = a + 1"))
    statements = Statements(environment(CORE))
    statements.check(script.statements)
    assert statements.inference.problems == [TooDeep(script.statements[1].span)]
    assert list(statements.definitions) == ["a", "x", "b"]


def test_deep_programs_print_their_types():
    assert shown("let x = 1 " + "let x = [x] " * 30)["x"] == "int" + " array" * 30


def test_a_long_arrow_is_one_function() -> None:
    """Time in proportion to the arrows, and one parameter for each."""
    program = chatml.compile(f"let f : {'int -> ' * 5_000}int = fun {' '.join(f'p{n}' for n in range(5_000))} -> p0")
    assert program.types["f"].count("int") == 5_001


def test_modules_as_deep_as_may_be_have_types_to_show() -> None:
    program = chatml.compile(f"{'module M = struct ' * 900}let x = 1{' end' * 900}")
    assert list(program.types) == ["M"]
