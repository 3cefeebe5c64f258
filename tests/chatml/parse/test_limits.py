"""Depth, length and time: no text crashes the host, chains are long, and what is too deep says so (X-04)."""

from __future__ import annotations

import time

import pytest

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.syntax.ast_text import dump, show
from chatml.syntax.parse import parse, problems
from chatml.syntax.parse.driver import MAX_DEPTH

NESTED = {
    "parentheses": ("(", "(", "1", ")"),
    "array": ("[", "[", "1", "]"),
    "record": ("{ a = ", "{", "1", " }"),
    "call": ("f(", "(", "1", ")"),
    "index": ("a[", "[", "1", "]"),
    "tag": ("`A(", "(", "1", ")"),
    "body of fun": ("fun x -> ", "fun", "1", ""),
    "condition": ("if ", "if", "a", " then b else c"),
    "branch": ("if a then ", "if", "b", " else c"),
    "last arm": ("match a with | x -> ", "match", "b", ""),
    "scrutinee": ("match ", "match", "a", " with | x -> b"),
    "loop": ("while a do ", "while", "b", " done"),
    "value of a local let": ("let x = ", "let", "1", " in x"),
    "value of a task": ("let* x = ", "let*", "t", " in x"),
    "function in a function": ("let f x = ", "let", "x", " in f"),
    "member of a group": ("let rec f x = ", "let", "x", " in f"),
}
CHAINS = {
    "sequence": ("(", "a; ", "b)"),
    "let in": ("", "let x = 1 in ", "x"),
    "function in": ("", "let f x = x in ", "f"),
    "task in": ("", "let* x = t in ", "x"),
    "else if": ("", "if a then b else ", "c"),
    "operators": ("", "1 + ", "1"),
    "conditions": ("", "a && ", "b"),
    "assignments": ("", "a := ", "b"),
    "element assignments": ("", "a[0] <- ", "b"),
    "minus": ("", "- ", "1"),
    "dereferences": ("", "!", "a"),
    "references": ("", "ref ", "a"),
    "calls": ("f", "(x)", ""),
    "fields": ("r", ".x", ""),
    "indices": ("a", "[0]", ""),
    "array": ("[", "1, ", "1]"),
    "arguments": ("f(", "1, ", "1)"),
    "record": ("{ ", "a = 1; ", "b = 2 }"),
    "arms": ("match a with ", "| 1 -> 2 ", ""),
    "bindings": ("let rec f x = 1 ", "and g x = 2 ", ""),
    "parameters": ("fun ", "x ", "-> 1"),
    "statements": ("", "let x = 1 ", ""),
    "bare statements": ("", "x ", ""),
    "arrows": ("type t = ", "int -> ", "int"),
    "constructors": ("type t = int", " array", ""),
}


def nested(form: tuple[str, str, str, str], levels: int) -> str:
    opening, _, core, closing = form
    return "f(" + opening * (levels - 1) + core + closing * (levels - 1) + ")"


def error(text: str) -> CompileError:
    with pytest.raises(CompileError) as caught:
        parse(Source("deep", text))
    return caught.value


@pytest.mark.parametrize("form", NESTED.values(), ids=NESTED.keys())
def test_nesting_works_to_the_limit_and_no_further(form: tuple[str, str, str, str]) -> None:
    """1,000 levels parse; of 1,001 the token that opens the last one is reported."""
    script = parse(Source("deep", nested(form, MAX_DEPTH)))
    assert dump(parse(Source("shown", show(script)))) == dump(script)
    diagnostic = error(nested(form, MAX_DEPTH + 1)).diagnostics[0]
    assert diagnostic.code == "syntax.too_deep"
    assert diagnostic.span is not None
    opening, opener, *_ = form
    assert diagnostic.span.text == opener
    assert diagnostic.span.left == len("f(") + len(opening) * (MAX_DEPTH - 1) + opening.index(opener)


def test_a_statement_opens_no_level() -> None:
    text = "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH
    for before in (
        "let x = ",
        "let f x = ",
        "let rec f x = ",
        "let x : int = ",
        "let y = 1 in ",
        "fun x -> 1 let y = ",
    ):
        parse(Source("deep", before + text))
        assert error(f"{before}({text})").diagnostics[0].code == "syntax.too_deep"


def test_modules_patterns_and_types_are_nested_too() -> None:
    for opening, core, closing, before, after in (
        ("module M = struct ", "", "end ", "", ""),
        ("`A(", "x", ")", "match a with | ", " -> 1"),
        ("{ a = ", "x", " }", "match a with | ", " -> 1"),
        ("(", "int", ")", "type t = ", ""),
        ("{ a : ", "int", " }", "type t = ", ""),
        ("[ `A(", "int", ") ]", "type t = ", ""),
    ):
        parse(Source("deep", before + opening * 450 + core + closing * 450 + after))
        text = before + opening * 1_001 + core + closing * 1_001 + after
        assert error(text).diagnostics[0].code == "syntax.too_deep"


@pytest.mark.parametrize("form", CHAINS.values(), ids=CHAINS.keys())
def test_chains_are_long(form: tuple[str, str, str]) -> None:
    """10,000 links parse, and are written again."""
    start, link, end = form
    shown = show(parse(Source("chain", start + link * 10_000 + end)))
    assert shown.count(link.strip()) >= 9_999
    assert show(parse(Source("shown", shown))) == shown


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(" * 100_000, "syntax.too_deep"),
        ("let x = 1\n" * 50_000 + "(* open", "syntax.unterminated_comment"),
        ("(*" * 500_000, "syntax.unterminated_comment"),
        ("(*)" * 300_000, "syntax.unterminated_comment"),
        ('"' + "\\" * 1_000_001, "syntax.unterminated_string"),
        ('"' + '\\"' * 500_000, "syntax.unterminated_string"),
        ("1" * 1_000_000, "syntax.int_out_of_range"),
        (" " * 1_000_000 + "&", "syntax.unknown_character"),
        ("let u = " + "a; " * 50_000 + ")", "syntax.trailing_semicolon"),
        ("if a then b else " * 50_000 + ")", "syntax.unopened"),
        ("f(" + "x, " * 50_000 + "]", "syntax.trailing_comma"),
        ("a.b" * 100_000 + "= ", "syntax.missing_let"),
    ],
    ids=lambda value: value if value.startswith("syntax.") else "",
)
def test_errors_of_long_texts_come_quickly(text: str, code: str) -> None:
    """Time is linear in the length of the text, errors included; drawing the report too."""
    began = time.process_time()
    failure = error(text)
    assert failure.diagnostics[0].code == code
    assert len(str(failure)) < 2_000
    assert time.process_time() - began < 5


def test_a_long_line_is_read() -> None:
    assert parse(Source("long", "x" * 1_000_000)).statements
    assert parse(Source("long", "1" * 400 + ".5")).statements
    assert parse(Source("long", "0" * 1_000_000 + "7")).statements


def test_a_lone_surrogate_is_refused() -> None:
    """A host may hand in any string; half a UTF-16 pair is not a text, wherever it stands (X-01)."""
    for text in ('print("\ud800")', "(* \udfff *)", "\ud800"):
        assert error(text).diagnostics[0].code == "syntax.lone_surrogate"


def test_every_help_for_a_character_is_for_one_that_starts_no_token() -> None:
    for letter in problems.UNKNOWN_CHARACTERS:
        assert error(f"let x = {letter}").diagnostics[0].code == "syntax.unknown_character"
