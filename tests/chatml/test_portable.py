"""`chatml check --portable`: a warning at each use of an addition (X-12, X-49), and nowhere else."""

from __future__ import annotations

import pytest

from chatml.source import Source
from chatml.syntax.parse import parse
from chatml.syntax.portable import find_additions


def found(text: str) -> list[tuple[str, str, int]]:
    warnings = find_additions(parse(Source("script", text)))
    assert all(warning.severity == "warning" for warning in warnings)
    return [(warning.code, warning.span.text, warning.span.left) for warning in warnings if warning.span is not None]


def test_operators_are_marked_where_they_stand() -> None:
    assert found("print(a && b || c % 2 == 1)") == [
        ("portable.boolean_operator", "&&", 8),
        ("portable.boolean_operator", "||", 13),
        ("portable.remainder", "%", 18),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "not(true)",
        "fun x -> not(x)",
        "module M = struct let not = 1 end not(true)",
        "let not = not",
        "let f not = 1 not(true)",
        "let u = (let not = 1 in not); not",
        "match x with | not -> not | _ -> not",
        "match x with | `A(not) -> not | { a = not; _ } -> not | y -> not(y)",
        "let r = { f = not }",
        "let* not = not in not",
        "let rec f x = f(x) and g x = not(x)",
        "module M = struct let f = not let not = f end",
        "while not(true) do () done",
        "let g = not let rec not x = not(x)",
    ],
)
def test_one_use_of_the_builtin(text: str) -> None:
    assert [code for code, *_ in found(text)] == ["portable.not"]


@pytest.mark.parametrize(
    "text",
    [
        "let not b = b print(not(true))",
        "let rec not b = not(b)",
        "let rec f x = not(x) and not x = f(x)",
        "let x = let not = 1 in not",
        "let x = let rec not y = not(y) in not",
        "fun a not -> not",
        "{ not = 1 }.not",
        "match x with | { a = `A(1, not) } -> not",
        "module M = struct let not = 1 let x = not end",
        "let not = 1 module M = struct let x = not end",
        "let* not = x in not",
        '(* && *) print("% ||")',
    ],
)
def test_no_use_of_the_builtin(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('print(Path.normalise("a"))', ["Path"]),
        ("open Path", ["Path"]),
        ("let p = Int.abs", ["Int"]),
        ("Float.floor(Int.to_float(1))", ["Float", "Int"]),
        ("Array.sort_by(xs, f)", ["Array.sort_by"]),
        ("Json.canonical(Json.parse(text))", ["Json.canonical"]),
        ('Tool_call.path(call, "p") Tool_call.arg_int(call, "n")', ["Tool_call.path", "Tool_call.arg_int"]),
        ("let x = Path.join module Path = struct let join = 1 end let y = Path.join", ["Path"]),
        ("module M = struct module Path = struct let a = 1 end end let y = Path.join", ["Path"]),
    ],
)
def test_builtins(text: str, names: list[str]) -> None:
    """Each use of a builtin that others lack, under its qualified name or that of its module."""
    warnings = find_additions(parse(Source("script", text)))
    assert [warning.code for warning in warnings] == ["portable.builtin"] * len(names)
    assert [warning.message.split("`")[1] for warning in warnings] == names


@pytest.mark.parametrize(
    "text",
    [
        "Array.map(xs, f) Json.parse(text) Tool_call.arg(call, key)",
        "module Path = struct let join = 1 end let y = Path.join open Path",
        "module Array = struct let sort_by = 1 end let y = Array.sort_by",
        "{ path = 1 }.path { sort_by = Array }.sort_by",
    ],
)
def test_no_builtin(text: str) -> None:
    assert found(text) == []


def test_chains_and_nesting_cost_no_stack() -> None:
    """However long a chain, the walk does not recurse."""
    assert len(found("let x = " + "a && " * 50_000 + "a")) == 50_000
    assert len(found("let x = " + "not(" * 900 + "1" + ")" * 900)) == 900
