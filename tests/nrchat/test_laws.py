"""The laws of the format (nrchat.md section 15), each under its number, and the model as a second opinion."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chatmd.nrchat import (
    ChatSyntaxError,
    Message,
    Span,
    append_message,
    check,
    delete_message,
    escape_body,
    fence_for,
    insert_message,
    parse,
    replace_marker,
    replace_message,
    replace_span,
    stringify,
    stringify_json5,
)
from chatmd.nrchat.fences import is_closed, zones
from chatmd.nrchat.ladder import unescape_body
from tests.nrchat import model
from tests.nrchat.strategies import (
    FRAGMENTS,
    bodies,
    chats,
    chats_of_messages,
    closed_bodies,
    messages,
    metas,
    names,
    roles,
    tidy_chats,
)
from tests.nrchat.test_conformance import exact


def fields(message: Message) -> tuple[Any, ...]:
    return message.role, message.name, exact(message.meta), message.body, message.raw_meta, message.span


def readable(text: str) -> list[Message]:
    """The messages of a text; a text that cannot be read does not count."""
    try:
        return parse(text)
    except ChatSyntaxError:
        assume(False)
        raise


def fault_line(text: str) -> int | None:
    """The line that a text is refused for; None if it is read."""
    try:
        parse(text)
    except ChatSyntaxError as error:
        return error.line
    return None


def alike(some: list[Message], others: list[Message]) -> bool:
    return len(some) == len(others) and all(a.same_content(b) for a, b in zip(some, others, strict=True))


def doubled_cr(text: str) -> bool:
    return "\r\r\n" in text or text.endswith("\r\r")


def preamble(text: str, found: list[Message]) -> str:
    return text[: found[0].span.start] if found and found[0].span else text


def all_closed(text: str, found: list[Message]) -> bool:
    return is_closed(preamble(text, found)) and all(is_closed(message.body) for message in found)


def span(message: Message) -> Span:
    assert message.span is not None
    return message.span


@given(chats)
def test_the_model_agrees(text: str) -> None:
    """Reading, writing, canonical writing, escaping and fencing are those of the slow model."""
    line = fault_line(text)
    expected: list[tuple[Any, ...]] = []
    try:
        expected = model.parse(text)
    except model.ModelError as error:
        bad_line = error.line
    else:
        bad_line = None
    assert line == bad_line
    if line is None:
        found = parse(text)
        assert [fields(m) for m in found] == [(a, b, exact(c), d, e, f) for a, b, c, d, e, f in expected]
        assert stringify(found) == model.stringify(expected)
        assert stringify([m.with_meta(m.meta) for m in found]) == model.stringify([(*m[:4], None) for m in expected])
    assert escape_body(text) == model.escape_body(text)
    assert fence_for(text) == model.fence_for(text)
    assert is_closed(text) == model.closed(text)


@given(st.lists(st.builds(Message, roles, names, metas, bodies), max_size=4))
def test_the_model_writes_the_same(given_messages: list[Message]) -> None:
    """Any writable messages are written as the slow model writes them."""
    assert stringify(given_messages) == model.stringify(
        [(m.role, m.name, m.meta, m.body, None) for m in given_messages]
    )


@given(chats_of_messages)
def test_law_1_messages_survive(given_messages: list[Message]) -> None:
    """Written and read, messages are the same, and the raw meta is the canonical text."""
    back = parse(stringify(given_messages))
    assert alike(back, given_messages)
    assert [m.raw_meta for m in back] == [None if m.meta is None else stringify_json5(m.meta) for m in given_messages]


@given(chats_of_messages)
def test_check_finds_nothing_in_what_survives(given_messages: list[Message]) -> None:
    """Messages within the preconditions of law 1 have no problems, and strict writing takes them."""
    assert check(given_messages) == []
    assert stringify(given_messages, strict=True) == stringify(given_messages)


@given(
    st.lists(
        st.builds(
            Message,
            st.one_of(roles, st.sampled_from(["", "a b", "\ud800"])),
            st.one_of(names, st.text(max_size=3)),
            st.one_of(metas, st.just([1])),
            st.lists(st.sampled_from(FRAGMENTS), max_size=6).map("".join),
            st.sampled_from([None, None, "{a:1}", "{", "", "[1]", "{a:1}\r", "{a:1} // x"]),
        ),
        max_size=3,
    )
)
def test_check_promises_the_round_trip(given_messages: list[Message]) -> None:
    """Messages without problems read back as they were, raw meta included."""
    sound = [message for message in given_messages if not check([message])]
    assert check(sound) == []
    back = parse(stringify(sound))
    assert [(m.role, m.name, m.body) for m in back] == [(m.role, m.name, m.body) for m in sound]
    for one, other in zip(back, sound, strict=True):
        assert other.raw_meta is None or one.raw_meta == other.raw_meta


@given(chats)
def test_law_2_writing_is_stable(text: str) -> None:
    """Written canonically once, a chat is written the same again, and reads the same."""
    assume(not doubled_cr(text))
    found = readable(text)
    canonical = stringify(found)
    again = parse(canonical)
    assert stringify(again) == canonical
    assert [fields(m)[:5] for m in again] == [fields(m)[:5] for m in found]
    assert "\r\n" not in canonical


@given(chats)
@example("%a\r\r\n%b")
def test_laws_3_and_4_spans_tile_the_text(text: str) -> None:
    """Preamble, spans and seams make up the text; spans begin at a marker; a seam is one line end."""
    found = readable(text)
    rebuilt = preamble(text, found)
    for position, message in enumerate(found):
        start, end = span(message)
        last = position + 1 == len(found)
        following = len(text) if last else span(found[position + 1]).start
        assert start == len(rebuilt) < end <= following
        assert text[start] == "%"
        assert start == 0 or text[start - 1] == "\n"
        assert text[end:following] in (("", "\n", "\r\n") if last else ("\n", "\r\n"))
        rebuilt += text[start:following]
    assert rebuilt == text


@given(chats)
def test_laws_5_and_6_a_slice_reads_alone(text: str) -> None:
    """A message cut out reads the same alone, and so do the messages without the preamble."""
    found = readable(text)
    for message in found:
        piece = text[span(message).start : span(message).end]
        if not piece.endswith("\r\r"):
            assert [fields(m)[:5] for m in parse(piece + "\n")] == [fields(message)[:5]]
    cut = len(preamble(text, found))
    assert [fields(m)[:5] for m in parse(text[cut:])] == [fields(m)[:5] for m in found]
    assert [span(m).start + cut for m in parse(text[cut:])] == [span(m).start for m in found]


@given(tidy_chats, messages(), st.integers(0, 50))
def test_law_7_replacing_a_message(text: str, new: Message, index: int) -> None:
    """A message replaced by its span is replaced in the list, and in nothing else."""
    found = parse(text)
    assume(found)
    assert all_closed(text, found)
    index %= len(found)
    assume(text.endswith("\n") or index + 1 < len(found) or not new.body.endswith("\n"))
    edited = replace_message(text, found, index, new)
    assert alike(parse(edited), [*found[:index], new, *found[index + 1 :]])
    start, end = span(found[index])
    assert edited.startswith(text[:start])
    assert edited.endswith(text[end:])


@given(tidy_chats, st.integers(0, 50))
def test_law_8_deleting_a_message(text: str, index: int) -> None:
    """A message deleted is gone from the list, and nothing else is."""
    text += "\n"
    found = parse(text)
    assume(found)
    index %= len(found)
    assert alike(parse(delete_message(text, found, index)), found[:index] + found[index + 1 :])


@given(tidy_chats, messages(), st.integers(0, 50))
def test_inserting_and_appending_a_message(text: str, new: Message, index: int) -> None:
    """A message put in is in the list at its place; what stood in the text still stands around it."""
    found = parse(text)
    index %= len(found) + 1
    edited = insert_message(text, found, index, new)
    assert alike(parse(edited), [*found[:index], new, *found[index:]])
    assert edited == append_message(text, new) or index < len(found)
    place = span(found[index]).start if index < len(found) else len(text)
    assert edited.startswith(text[:place])
    assert edited.endswith(text[place:])


@given(tidy_chats, messages(), st.integers(0, 50))
def test_replacing_a_marker_line(text: str, new: Message, index: int) -> None:
    """A marker line replaced changes role, name and meta of one message, and no body."""
    found = parse(text)
    assume(found)
    index %= len(found)
    edited = replace_marker(text, found, index, new)
    expected = attrs.evolve(new, body=found[index].body)
    assert alike(parse(edited), [*found[:index], expected, *found[index + 1 :]])


@given(tidy_chats, chats_of_messages)
def test_law_9_texts_join(text: str, more: list[Message]) -> None:
    """Chats joined are read as the messages of both, and the spans of the first stay."""
    text += "\n"
    found = parse(text)
    assume(more)
    joined = parse(text + stringify(more))
    assert alike(joined, found + more)
    assert [m.span for m in joined[: len(found)]] == [m.span for m in found]


@given(chats, chats)
def test_law_10_writing_joins(text: str, more: str) -> None:
    """Two lists written one after the other are written as one list."""
    one, other = readable(text), readable(more)
    assert stringify(one + other) == stringify(one) + stringify(other)


@given(chats)
def test_law_11_canonical_slices(text: str) -> None:
    """In a canonical text every slice is the message as it is written."""
    canonical = stringify(readable(text))
    found = readable(canonical)
    assume(stringify(found) == canonical)
    for message in found:
        assert canonical[span(message).start : span(message).end] + "\n" == stringify([message])


@given(bodies)
def test_law_12_the_ladder(body: str) -> None:
    """Reading the ladder undoes escaping, and escaping moves no zone."""
    escaped = escape_body(body)
    assert unescape_body(escaped) == body
    lines = escaped.split("\n")
    assert model.zoned(lines) == model.zoned(body.split("\n"))


@given(chats)
def test_law_13_line_ends(text: str) -> None:
    """CRLF for LF changes no message, and moves each offset by the line ends before it."""
    assume("\r" not in text)
    crlf = text.replace("\n", "\r\n")
    assert fault_line(crlf) == fault_line(text)
    found = readable(text)
    moved = [Span(*(at + text.count("\n", 0, at) for at in span(m))) for m in found]
    other = parse(crlf)
    assert [fields(m)[:5] for m in other] == [fields(m)[:5] for m in found]
    assert [m.span for m in other] == moved


@given(chats)
def test_law_14_zones_of_bodies(text: str) -> None:
    """The zones of a document within a body are the zones of that body alone."""
    for message in readable(text):
        start, end = span(message)
        body = text.find("\n", start, end) + 1
        if body:
            inside = [(a - body, min(b, end) - body) for a, b in zones(text) if body <= a < end]
            assert inside == list(zones(text[body:end]))


@given(bodies, st.lists(messages(closed_bodies), max_size=2))
def test_law_15_quoting(guest: str, around: list[Message]) -> None:
    """A guest between the fences for it is left alone, and comes back between any other messages."""
    fence = fence_for(guest)
    body = f"{fence}\n{guest}\n{fence}"
    assert is_closed(body)
    assert escape_body(body) == body
    back = parse(stringify([*around, Message("host", body=body), *around]))
    assert back[len(around)].body == body
    assert len(back) == 2 * len(around) + 1


@given(chats, st.integers(0, 200), st.integers(0, 200), chats)
def test_law_17_surgery_is_local(text: str, one: int, other: int, new: str) -> None:
    """What stands outside a replaced span stays, and a span replaced by itself changes nothing."""
    start, end = sorted((one % (len(text) + 1), other % (len(text) + 1)))
    assert replace_span(text, Span(start, end), text[start:end]) == text
    edited = replace_span(text, Span(start, end), new)
    assert edited == "".join((text[:start], new, text[end:]))


@given(st.one_of(st.text(), chats))
def test_law_18_reading_only_fails_on_metas(text: str) -> None:
    """Any text is read, or refused for a meta at a line that is a marker."""
    number = fault_line(text)
    assert number is None or model.is_marker(text.split("\n")[number - 1])


# What the preconditions of the laws keep out, pinned down as it is.


def test_a_cr_at_a_line_end_is_lost() -> None:
    assert stringify([Message("a", body="x\r")]) == "%a\nx\r\n"
    assert parse("%a\nx\r\n")[0].body == "x"


def test_two_half_fences_make_one_message() -> None:
    assert len(parse(stringify([Message("a", body="````"), Message("b", body="````")]))) == 1


def test_doubled_cr_loses_one_each_time() -> None:
    once = parse("%a\nx\r\r\ny")
    assert once[0].body == "x\r\ny"
    assert parse(stringify(once))[0].body == "x\ny"


def test_a_last_line_feed_needs_one_in_the_file() -> None:
    text = "%u"
    edited = replace_message(text, parse(text), 0, Message("u", body="\n"))
    assert parse(edited)[0].body == ""
