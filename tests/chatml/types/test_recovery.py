"""Several errors in one go: each independent fault is reported once, the first one first (X-13)."""

from __future__ import annotations

import pytest

from tests.chatml.types.checking import check_text


def found(text: str) -> list[tuple[str, int]]:
    """The code and the line of each problem."""
    return [
        (diagnostic.code.removeprefix("type."), diagnostic.span.start.line if diagnostic.span else 0)
        for diagnostic in check_text(text).diagnostics
    ]


def test_independent_faults_are_all_reported():
    assert found('let a = 1 + "x"\nlet b = 2\nlet c = b ++ "y"\nprint(d)\nif 1 then 2 else 3') == [
        ("mismatch", 1),
        ("mismatch", 3),
        ("unknown_variable", 4),
        ("mismatch", 5),
    ]


@pytest.mark.parametrize(
    "text",
    [
        'let f x = x + "s"\nprint(f(1) + 1)\nprint(f("a", "b").c)',
        'let rec f x = g(x) and g x = 1 + "s"\nprint(f(1))\nprint(g.x)',
        'module M = struct let a = 1 + "s" let b = 2 end\nprint(M.a ++ "s")\nprint(M.b + 1)',
        'module M = struct let a = 1 + "s" end\nopen M\nprint(a.x)',
        "open Nowhere\nprint(helper(1))\nprint(other)",
        'let n = 1\nmodule M = struct let n = "s" let m = 2 end\nopen M\nprint(n ++ "t")\nprint(m + 1)',
        "type t = missing\nlet x : t = 1\nlet y : t array = [x]\nlet f : t -> int = fun a -> a",
        'type t = int\ntype t = string\nlet x : t = 1\nlet y : t = "s"',
        'type json = int\nlet x : json = 1\nlet s = Json.stringify(Json.parse("1"))',
        "let a = missing\nprint(a + 1)\nprint(a.b)",
        "let f x = missing(x).field + 1\nprint(f(1) + 1)",
    ],
)
def test_a_fault_has_no_consequences(text: str):
    assert len(found(text)) == 1


def test_unknown_names_of_one_statement_are_all_reported():
    assert found("let f x = first(x) + second(x) + third") == [("unknown_variable", 1)] * 3


def test_a_statement_at_fault_leaves_no_trace_in_what_it_used():
    assert found('let r = ref([])\nlet bad = (r := [1]; 1 + "s")\nr := ["s"]') == [("mismatch", 2)]


def test_faults_inside_a_module_are_all_reported():
    assert found('module M = struct\nlet a = 1 + "s"\nlet b = a + 1\nlet c = 2 ++ ""\nend') == [
        ("mismatch", 2),
        ("mismatch", 4),
    ]


def test_an_unknown_name_comes_before_a_later_fault_of_its_statement():
    assert found('let f = missing(1 + "s")') == [("unknown_variable", 1), ("mismatch", 1)]


def test_the_number_of_reports_is_bounded():
    assert len(found("print(1 + true)\n" * 500)) == 100
    assert len(found("let f x = " + " + ".join(f"y{n}" for n in range(500)))) == 100
