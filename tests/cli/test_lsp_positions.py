"""Positions as editors count them, and changes at such positions."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from chatml.source import Source
from chatml_tools.lsp.positions import Positions

PIECES = st.sampled_from(["a", "bc", "é", "\U0001f600", "\u2028", "\x0c", "\n", "\r\n", "\r", " "])
TEXTS = st.lists(PIECES, max_size=12).map("".join)
ENCODINGS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def position_of(text: str, offset: int, encoding: str) -> types.Position:
    """The position of an offset, by the letter of the protocol."""
    lines = re.split(r"\r\n|\n|\r", text[:offset])
    codec, size = ENCODINGS[encoding]
    return types.Position(len(lines) - 1, len(lines[-1].encode(codec)) // size)


def places(text: str) -> list[int]:
    """The offsets that are not inside a line end."""
    return [offset for offset in range(len(text) + 1) if text[max(0, offset - 1) : offset + 1] != "\r\n"]


@given(TEXTS, st.sampled_from(list(ENCODINGS)))
def test_every_place_there_and_back(text: str, encoding: str) -> None:
    """Each place of a text has the position that the protocol says, and comes back from it."""
    positions, source = Positions(encoding), Source("s", text)
    for offset in places(text):
        position = positions.of(source, source.position(offset))
        assert position == position_of(text, offset, encoding)
        assert positions.offset(source, position) == offset


@given(TEXTS, TEXTS, st.integers(0, 30), st.integers(0, 30), st.sampled_from(list(ENCODINGS)))
def test_a_change_lands_where_it_was_made(text: str, new: str, one: int, other: int, encoding: str) -> None:
    """A change between two positions is one between the offsets that they stand for."""
    offsets = places(text)
    left, right = sorted((offsets[one % len(offsets)], offsets[other % len(offsets)]))
    place = types.Range(position_of(text, left, encoding), position_of(text, right, encoding))
    changed = Positions(encoding).change(text, types.TextDocumentContentChangePartial(place, new))
    assert changed == text[:left] + new + text[right:]


def test_positions_outside_of_the_text() -> None:
    positions, source = Positions(), Source("s", "ab\n\U0001f600c")
    for line, character, offset in ((0, 9, 2), (1, 1, 3), (1, 9, 5), (7, 0, 5)):
        assert positions.offset(source, types.Position(line, character)) == offset
