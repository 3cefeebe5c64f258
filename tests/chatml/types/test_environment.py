"""What the checker is told of the world around a script (builtins.md 1.1 to 1.4)."""

from __future__ import annotations

import pytest

from chatml.source import Source
from chatml.syntax.parse import parse
from chatml.types import Environment, check
from chatml.types.model import (
    Array,
    Con,
    Empty,
    Extend,
    Fun,
    Int,
    Mu,
    Record,
    RecVar,
    RowVar,
    String,
    Type,
    Unit,
    Var,
    Variant,
)

a, b = Var("a"), Var("b")


def problems(environment: Environment, text: str) -> list[str]:
    return [str(diagnostic) for diagnostic in check(parse(Source("s", text)), environment).diagnostics]


def test_each_use_of_a_global_has_its_own_types():
    environment = Environment({"id": Fun([Var("a")], Var("a"))})
    assert problems(environment, 'let n = id(1) let s = id("s")') == []


def test_equal_names_are_one_variable_and_rows_have_names_of_their_own():
    environment = Environment({"same": Fun([a, Var("a")], Unit), "row": Fun([a, Record(RowVar("a"))], Unit)})
    assert problems(environment, "let u = row(1, { x = 1 })") == []
    assert problems(environment, 'let u = same(1, "s")') != []


def test_exports_of_a_module_are_independent():
    environment = Environment({}, {"M": {"id": Fun([a], a), "pair": Fun([a, b], Array(b))}})
    assert problems(environment, 'let u = M.id(1) let v = M.pair("s", 1) let m = M let w = m.id("s")') == []
    assert problems(environment, "let u = M.other") != []


def test_a_recursive_scheme_with_a_variable():
    chain = Mu("c", Variant(Extend({"End": Unit, "Link": Record(Extend({"v": a, "next": RecVar("c")}, Empty))}, Empty)))
    environment = Environment({"head": Fun([chain, a], a)})
    assert problems(environment, "let n = head(`Link({ v = 1; next = `Link({ v = 2; next = `End }) }), 3) + 1") == []
    assert problems(environment, 'let n = head(`Link({ v = 1; next = `Link({ v = "s"; next = `End }) }), 3)') != []


def test_an_alias_is_used_as_it_is():
    environment = Environment({}, {}, [("point", Record(Extend({"x": Int, "y": Int}, Empty)))])
    assert problems(environment, "let p : point = { x = 1; y = 2 }") == []
    assert problems(environment, "type point = int") != []


@pytest.mark.parametrize(
    ("aliases", "facts"),
    [
        ([("int", String)], ["int", "primitive"]),
        ([("t", String), ("t", String)], ["t", "Duplicate"]),
        ([("t", Mu("x", RecVar("x")))], ["t", "recursive"]),
        ([("t", Mu("x", Con("task", [RecVar("x")])))], ["t", "recursive"]),
        ([("t", Mu("x", Mu("y", RecVar("x"))))], ["t", "recursive"]),
        ([("t", Array(RecVar("x")))], ["t", "x", "recursion"]),
        ([("t", Array(Var("v")))], ["t", "v"]),
    ],
)
def test_a_faulty_alias_fails_every_script_without_a_place(aliases: list[tuple[str, Type]], facts: list[str]):
    environment = Environment({}, {}, aliases)
    (diagnostic,) = check(parse(Source("s", "let x = 1")), environment).diagnostics
    assert diagnostic.span is None
    assert diagnostic.code.startswith("type.")
    for fact in facts:
        assert fact in diagnostic.message


@pytest.mark.parametrize(
    "type",
    [
        Mu("x", Array(RecVar("x"))),
        Mu("x", Fun([RecVar("x")], Int)),
        Mu("x", Con("task", [Record(Extend({"r": RecVar("x")}, Empty))])),
        Mu("x", Array(Mu("y", Variant(Extend({"A": RecVar("x"), "B": RecVar("y")}, Empty))))),
        Mu("x", Array(Mu("x", Array(RecVar("x"))))),
    ],
)
def test_well_formed_recursive_aliases(type: Type):
    assert Environment({}, {}, [("t", type)]).problems == ()


def test_the_schemes_of_a_host_are_not_changed():
    scheme = Fun([Array(a)], a)
    environment = Environment({"first": scheme})
    problems(environment, "let f x = first(x) + 1 let n = f([1])")
    assert (scheme.params[0].element, scheme.result) == (a, a)


def test_later_definitions_replace_builtins():
    environment = Environment({"size": Fun([String], Int)})
    assert problems(environment, 'let size = size("s") let n = size + 1') == []
