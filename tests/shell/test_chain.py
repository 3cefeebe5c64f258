"""Chains: words, pipes and operators, and the place where a text stops being one (shell.md section 12.7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_shell.chain.parse import ChainError, parse_chain, words_of
from chatml_shell.plans.request import Chain


def argvs(text: str) -> list[list[tuple[str, ...]]]:
    """The words of each stage of each pipeline."""
    return [[stage.argv for stage in link.stages] for link in parse_chain(text).links]


def test_s_019_what_is_a_chain() -> None:
    """S-019: operators, literal dollars, tildes and stars, and pieces that join into one word."""
    assert argvs("echo 'a b' | wc -c && echo done") == [[("echo", "a b"), ("wc", "-c")], [("echo", "done")]]
    assert argvs('echo "$X" ~ *') == [[("echo", "$X", "~", "*")]]
    assert argvs("""a"b"'c'\\ d""") == [[("abc d",)]]
    assert [link.operator for link in parse_chain("a||b;c&&d").links] == [";", "||", ";", "&&"]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("cat a > b", 6),
        ("sleep 1 &", 8),
        ("echo $(id)", 5),
        ("echo ok |", 0),
        ("echo `id`", 5),
        ('echo "`id`"', 6),
        ('echo "$(id)"', 6),
        ("| a", 0),
        ("a ;; b", 3),
        ("a;", 0),
        ("", 0),
        ("   ", 0),
        ("echo 'a", 5),
        ('é "b', 3),
        ("a \\", 2),
        ("a {b", 2),
        ("a<b", 1),
    ],
)
def test_s_019_what_is_none(text: str, offset: int) -> None:
    """S-019: the offset counts bytes; a missing command at the end is at 0."""
    with pytest.raises(ChainError) as raised:
        parse_chain(text)
    assert raised.value.offset == offset


@given(st.text(max_size=40))
def test_every_text_is_a_chain_or_a_chain_error(text: str) -> None:
    """Parsing ends with a chain of non-empty pipelines or with `ChainError`, for every text."""
    try:
        found: Chain | ChainError = parse_chain(text)
    except ChainError as error:
        found = error
    if isinstance(found, Chain):
        assert all(link.stages for link in found.links)
    else:
        assert 0 <= found.offset <= len(text.encode("utf-8", "surrogatepass"))


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="'"), min_size=1), min_size=1, max_size=5))
def test_quoted_words_come_back(words: list[str]) -> None:
    """Words in single quotes read back as they are."""
    assert words_of(" ".join(f"'{word}'" for word in words)) == tuple(words)
