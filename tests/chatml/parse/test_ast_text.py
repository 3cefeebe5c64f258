"""The printer: every form in every place of every form."""

from __future__ import annotations

import itertools
import re

import pytest

from chatml.source import Source
from chatml.syntax.ast_text import dump, show_expression
from chatml.syntax.parse import parse_expression

FORMS = [
    "x",
    "`A",
    "-_",
    "!_",
    "ref _",
    "_ * _",
    "_ + _",
    "_ == _",
    "_ && _",
    "_ || _",
    "_ := _",
    "_[_]",
    "_[_] <- _",
    "_.f",
    "_(_)",
    "`A(_, _)",
    "(_; _)",
    "[_, _]",
    "{ a = _; b = _ }",
    "{ _ with a = _; b = _ }",
    "fun x -> _",
    "if _ then _ else _",
    "while _ do _ done",
    "match _ with | x -> _ | y -> _",
    "let x = _ in _",
    "let f x = _ in _",
    "let rec f x = _ and g x = _ in _",
    "let* x = _ in _",
]
"""Each form of expression, with `_` where an expression stands."""


BRACKETED = ("[", "`", "{", "while")


def fillings(form: str, parts: list[str]) -> list[str]:
    """The form with each of its places filled with each of some parts, in parentheses, and with names elsewhere."""
    holes = [match.start() for match in re.finditer("_", form)]
    filled = []
    for hole, part in itertools.product(holes, parts):
        filled.append(form[:hole].replace("_", "a") + f"({part})" + form[hole + 1 :].replace("_", "b"))
    return filled or [form]


@pytest.mark.parametrize("outer", FORMS)
def test_every_form_in_every_place_of_every_form(outer: str) -> None:
    """However two or three forms are nested, the text that is written parses to the same tree."""
    innermost = [form for form in FORMS if not form.startswith(BRACKETED)]
    for text in fillings(outer, [inner for form in FORMS for inner in fillings(form, innermost)]):
        expr = parse_expression(Source("given", f"({text.replace('_', 'c')})"))
        shown = show_expression(expr)
        again = parse_expression(Source("shown", shown))
        assert dump(again) == dump(expr), (text, shown)
        assert shown.count("(") <= text.count("(") + 1
