"""What holds for every text, however broken."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import chatml
from tests.chatml.cases import read_corpus
from tests.chatml.programs import programs

PROGRAMS = [case.program for case in read_corpus()]

PIECES = re.findall(
    r"\S+",
    """
    fun if then else while do done let in match with module struct end open ref rec and type let* let+
    -> <- : := != = == < <= <. <=. > >= >. >=. + ++ +. - -. * *. / /. % && || ! ( ) { } [ ] ; , . |
    x y z M N `A `B _ () 0 1 2.5 true false "text" int string array task print Task.pure (* note *) (*
    "open \\ \\n & é 99999999999999999999
    """,
)
SEPARATORS = (" ", "", "\n", "\r\n", "\t")


@st.composite
def token_soup(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """Tokens in any order."""
    tokens = draw(st.lists(st.sampled_from(PIECES), max_size=40))
    return str(draw(st.sampled_from(SEPARATORS))).join(tokens)


@st.composite
def damaged(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """A program with a part cut out, doubled, or replaced."""
    text = draw(st.one_of(st.sampled_from(PROGRAMS), programs()))
    for _ in range(draw(st.integers(1, 3))):
        left, right = sorted(draw(st.integers(0, len(text))) for _ in range(2))
        middle = draw(st.sampled_from(["", text[left:right] * 2, " ", *PIECES]))
        text = text[:left] + middle + text[right:]
    return str(text)


def assert_sane(text: str) -> None:
    """Check a text and hold every finding to what a reader relies on."""
    for finding in chatml.check(text, name="any.chatml"):
        family = finding.code.split(".")[0]
        assert family in ("syntax", "type")
        assert finding.message
        if family == "syntax":
            assert finding.span is not None
        if finding.span is not None:
            assert 0 <= finding.span.left <= finding.span.right <= len(text)
        assert str(finding)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text(text: str) -> None:
    """Checking never raises, whatever the text; every finding lies inside it and can be drawn."""
    assert_sane(text)


@given(token_soup())
@settings(max_examples=300)
def test_token_soup(text: str) -> None:
    """Checking never raises on tokens in any order."""
    assert_sane(text)


@given(damaged())
@settings(max_examples=300)
def test_damaged_programs(text: str) -> None:
    """Checking never raises on a program with a part cut out, doubled or replaced."""
    assert_sane(text)
