"""Edits by spans, and offsets in the units of other languages (nrchat.md section 14 and S3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmd.nrchat import (
    Message,
    NrChatError,
    OffsetError,
    Span,
    SpanError,
    append_message,
    delete_message,
    from_utf16_offsets,
    insert_message,
    parse,
    replace_marker,
    replace_message,
    replace_span,
    to_byte_offsets,
    to_utf16_offsets,
)
from tests.nrchat.strategies import chats


@pytest.mark.parametrize(
    "span",
    [(2, 1), (-1, 1), (0, 4), (4, 4), (True, 2), (0, False), (0.0, 1), ("0", 1), (None, 1), (1,), (0, 1, 2), 5, None],
)
def test_spans_that_do_not_fit(span: Any) -> None:
    with pytest.raises(SpanError) as caught:
        replace_span("abc", Span(*span) if isinstance(span, tuple) and len(span) == 2 else span, "")
    assert isinstance(caught.value, ValueError)


def test_spans_at_the_ends() -> None:
    assert replace_span("abc", Span(3, 3), "d") == "abcd"
    assert replace_span("abc", Span(0, 3), "") == ""
    assert replace_span("", Span(0, 0), "x") == "x"


CRLF = "pre\r\n%a Kim {k:1}  \r\none\r\n%b\r\n\r\n%c\r\nthree\r\n"


def test_edits_keep_the_line_ends_of_the_file() -> None:
    found = parse(CRLF)
    new = Message("n", body="1\n2")
    assert replace_message(CRLF, found, 1, new) == "pre\r\n%a Kim {k:1}  \r\none\r\n%n\r\n1\r\n2\r\n%c\r\nthree\r\n"
    assert insert_message(CRLF, found, 1, new) == (
        "pre\r\n%a Kim {k:1}  \r\none\r\n%n\r\n1\r\n2\r\n%b\r\n\r\n%c\r\nthree\r\n"
    )
    assert append_message(CRLF, new) == CRLF + "%n\r\n1\r\n2\r\n"
    assert delete_message(CRLF, found, 0) == "pre\r\n%b\r\n\r\n%c\r\nthree\r\n"
    assert delete_message(CRLF, found, 1) == "pre\r\n%a Kim {k:1}  \r\none\r\n%c\r\nthree\r\n"
    assert delete_message(CRLF, found, -1) == "pre\r\n%a Kim {k:1}  \r\none\r\n%b\r\n\r\n"
    assert replace_marker(CRLF, found, 0, new) == "pre\r\n%n\r\none\r\n%b\r\n\r\n%c\r\nthree\r\n"
    assert replace_marker("%a\r", parse("%a\r"), 0, new) == "%n\r"


def test_deleting_the_only_message_leaves_the_preamble() -> None:
    assert delete_message("pre\n%a\nx\n", parse("pre\n%a\nx\n"), 0) == "pre\n"


def test_appending_to_nothing_and_to_an_open_line() -> None:
    assert append_message("", Message("a", body="x")) == "%a\nx\n"
    assert append_message("%a\r\nx", Message("b")) == "%a\r\nx\r\n%b\r\n"
    assert insert_message("", [], 0, Message("a")) == "%a\n"


def test_edits_from_the_last_to_the_first_need_no_second_reading() -> None:
    text = "%a\n1\n%b\n2\n%c\n3\n"
    found = parse(text)
    for index in reversed(range(3)):
        text = replace_message(text, found, index, Message(f"n{index}", body="long enough to move the rest"))
    assert [message.role for message in parse(text)] == ["n0", "n1", "n2"]


def test_messages_need_their_spans() -> None:
    with pytest.raises(SpanError, match="no span"):
        delete_message("%a\n", [Message("a")], 0)
    with pytest.raises(IndexError):
        delete_message("%a\n", parse("%a\n"), 1)


TEXT = "a\N{ROCKET}é\u20ac\N{ROCKET}\n"


def test_offsets_of_other_languages() -> None:
    points = [0, 1, 2, 3, 4, 5, 6]
    assert to_utf16_offsets(TEXT, points) == [0, 1, 3, 4, 5, 7, 8]
    assert to_byte_offsets(TEXT, points) == [0, 1, 5, 7, 10, 14, 15]
    assert from_utf16_offsets(TEXT, [8, 0, 3, 3]) == [6, 0, 2, 2]
    assert to_utf16_offsets(TEXT, []) == []


@pytest.mark.parametrize("offset", [2, 6, 9, -1])
def test_offsets_without_a_counterpart(offset: int) -> None:
    with pytest.raises(OffsetError):
        from_utf16_offsets(TEXT, [offset])


@pytest.mark.parametrize("convert", [to_utf16_offsets, to_byte_offsets])
def test_offsets_past_the_text(convert: Any) -> None:
    with pytest.raises(NrChatError):
        convert(TEXT, [7])


@given(chats, st.lists(st.integers(0, 300), max_size=6))
def test_offsets_come_back(text: str, numbers: list[int]) -> None:
    """Offsets converted and converted back are the same, and mean the same place of the text."""
    offsets = [number % (len(text) + 1) for number in numbers]
    units = to_utf16_offsets(text, offsets)
    assert from_utf16_offsets(text, units) == offsets
    assert [text.encode("utf-16-le")[: 2 * unit].decode("utf-16-le") for unit in units] == [text[:o] for o in offsets]
    assert [text.encode()[:byte].decode() for byte in to_byte_offsets(text, offsets)] == [text[:o] for o in offsets]
