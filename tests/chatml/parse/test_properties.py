"""Properties of the front end over generated trees and texts."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic
from chatml.source import Source
from chatml.syntax import ast
from chatml.syntax.ast_text import dump, show, show_expression
from chatml.syntax.parse import parse, parse_expression
from tests.chatml.parse import trees
from tests.chatml.parse.lark_oracle import first_error

NOT_IN_THE_GRAMMAR = {"syntax.int_out_of_range", "syntax.too_deep"}


def error_of(text: str, read: Callable[[Source], object]) -> Diagnostic | None:
    """The first error in a text, if any. Nothing but a `CompileError` may be raised."""
    try:
        read(Source("generated", text))
    except CompileError as error:
        return error.diagnostics[0]
    return None


@given(trees.scripts)
@settings(max_examples=300, deadline=None)
def test_shown_trees_parse_to_themselves(script: ast.Script) -> None:
    """The text of a tree parses to an equal tree."""
    text = show(script)
    assert dump(parse(Source("shown", text))) == dump(script)


@given(trees.exprs)
@settings(max_examples=200, deadline=None)
def test_shown_expressions_parse_to_themselves(expr: ast.Expr) -> None:
    """The text of an expression parses alone to an equal tree."""
    assert dump(parse_expression(Source("shown", show_expression(expr)))) == dump(expr)


@given(
    st.one_of(trees.nearly_scripts(), trees.token_soup, st.text(max_size=60)),
    st.sampled_from([("program", parse), ("expression", parse_expression)]),
)
@settings(max_examples=600, deadline=None)
def test_fails_like_lark(text: str, entry: tuple[str, Callable[[Source], object]]) -> None:
    """Our lexer and driver accept what Lark accepts on the same grammar, and fail at the same place."""
    start, read = entry
    found = error_of(text, read)
    expected = first_error(text, start)
    if found is None:
        assert expected is None
        return
    assert found.span is not None
    assert 0 <= found.span.left <= found.span.right <= len(text)
    assert str(found)
    if found.code not in NOT_IN_THE_GRAMMAR:
        assert found.span.left == expected
