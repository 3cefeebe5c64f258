"""Several errors in one go: the first as ever, then one for each later part that is wrong on its own."""

from __future__ import annotations

import pytest

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.syntax.parse import MOST_PROBLEMS, parse


def codes(text: str) -> list[tuple[str, int]]:
    with pytest.raises(CompileError) as caught:
        parse(Source("script", text))
    return [(found.code, found.span.start.line) for found in caught.value.diagnostics if found.span is not None]


def test_reading_goes_on_at_the_next_statement() -> None:
    text = """let a = if x then y

let b = [1 2]
let ok = 1
type t = int * int
module M = struct
  let f x : int = 1
end
let c == 2
"""
    assert codes(text) == [
        ("syntax.missing_else", 3),
        ("syntax.missing_separator", 3),
        ("syntax.type_form", 5),
        ("syntax.annotated_parameter", 7),
        ("syntax.definition_sign", 9),
    ]


def test_comments_and_strings_begin_no_statement() -> None:
    assert codes('let a = )\n(*\nlet b = )\n*)\nlet s = "\nlet c = )\n"') == [("syntax.unopened", 1)]


def test_keywords_inside_a_line_begin_no_statement() -> None:
    assert codes("let a = ) let b = )\n  let c = )") == [("syntax.unopened", 1)]


def test_an_unknown_character_is_passed_and_an_open_string_or_comment_is_not() -> None:
    assert codes("let a = 1 & 2\nlet b = )") == [("syntax.unknown_character", 1), ("syntax.unopened", 2)]
    assert codes('let a = "\nlet b = )') == [("syntax.unterminated_string", 2)]
    assert codes("let a = (*\nlet b = )") == [("syntax.unterminated_comment", 1)]


def test_there_is_an_end_to_it() -> None:
    assert len(codes("let a = )\n" * 1_000)) == MOST_PROBLEMS
