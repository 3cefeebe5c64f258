"""Surgery: editing a chat by spans, so that every other character stays where it is (nrchat.md section 14).

`messages` is always what `parse` returned for `text`. For several edits of one text, go from the last message
to the first, or parse again in between.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from chatmd.nrchat.errors import SpanError
from chatmd.nrchat.message import Message, Span
from chatmd.nrchat.write import stringify


def replace_span(text: str, span: Span, replacement: str) -> str:
    """The text with `text[span.start:span.end]` replaced (R1). The replacement is not looked at.

    Raises `SpanError`, a `ValueError`, unless `0 <= start <= end <= len(text)` with true integers; nothing is
    clipped.

    >>> replace_span("%user\\nhi\\n%bot\\n", Span(0, 8), "%user\\nhello")
    '%user\\nhello\\n%bot\\n'
    """
    start, end = _checked(text, span)
    return text[:start] + replacement + text[end:]


def _checked(text: str, span: Span) -> tuple[int, int]:
    try:
        start, end = span
    except (TypeError, ValueError):
        raise SpanError(f"a span is a pair of offsets, not {type(span).__name__}") from None
    for name, offset in (("start", start), ("end", end)):
        if not isinstance(offset, int) or isinstance(offset, bool):
            raise SpanError(f"the {name} of a span is an integer, not {type(offset).__name__}")
    if not 0 <= start <= end <= len(text):
        raise SpanError(f"the span {start} to {end} does not lie in a text of {len(text)} characters")
    return start, end


def replace_message(text: str, messages: Sequence[Message], index: int, message: Message) -> str:
    """The text with one message put in the place of another.

    >>> from chatmd.nrchat import parse
    >>> text = "%user\\r\\nhi\\r\\n%bot\\r\\n"
    >>> replace_message(text, parse(text), 0, Message("user", body="one\\ntwo"))
    '%user\\r\\none\\r\\ntwo\\r\\n%bot\\r\\n'
    """
    return replace_span(text, _span(messages[index]), _text_of(message, line_end(text)))


def delete_message(text: str, messages: Sequence[Message], index: int) -> str:
    """The text without one message and one of its seams.

    >>> from chatmd.nrchat import parse
    >>> text = "%a\\nx\\n%b\\ny\\n"
    >>> delete_message(text, parse(text), 0), delete_message(text, parse(text), 1)
    ('%b\\ny\\n', '%a\\nx\\n')
    """
    spans = [_span(message) for message in messages]
    index = range(len(spans))[index]
    if index + 1 < len(spans):
        removed = Span(spans[index].start, spans[index + 1].start)
    elif index:
        removed = Span(spans[index - 1].end, spans[index].end)
    else:
        removed = Span(spans[0].start, len(text))
    return replace_span(text, removed, "")


def insert_message(text: str, messages: Sequence[Message], index: int, message: Message) -> str:
    """The text with a message put in before message `index`, or at the end if no such message exists.

    >>> from chatmd.nrchat import parse
    >>> text = "%a\\n%c\\n"
    >>> insert_message(text, parse(text), 1, Message("b", body="x"))
    '%a\\n%b\\nx\\n%c\\n'
    """
    if index >= len(messages):
        return append_message(text, message)
    start = _span(messages[index]).start
    end = line_end(text)
    return replace_span(text, Span(start, start), _text_of(message, end) + end)


def append_message(text: str, message: Message) -> str:
    """The text with a message put in at its end.

    >>> append_message("%a\\nx", Message("b"))
    '%a\\nx\\n%b\\n'
    """
    end = line_end(text)
    before = "" if not text or text.endswith("\n") else end
    return f"{text}{before}{_text_of(message, end)}{end}"


def replace_marker(text: str, messages: Sequence[Message], index: int, message: Message) -> str:
    """The text with the marker line of one message written anew; its body stays as it is.

    >>> from chatmd.nrchat import parse
    >>> text = "%user {n: 1}\\n  hi\\n"
    >>> messages = parse(text)
    >>> replace_marker(text, messages, 0, messages[0].with_meta({"n": 2}))
    '%user {n: 2}\\n  hi\\n'
    """
    start, end = _span(messages[index])
    found = text.find("\n", start, end)
    marker_end = end if found < 0 else found
    marker_end -= text[start:marker_end].endswith("\r")
    return replace_span(text, Span(start, marker_end), _text_of(attrs.evolve(message, body=""), "\n"))


def line_end(text: str) -> str:
    """The line end of a text, judged by its first one; LF if it has none."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _text_of(message: Message, end: str) -> str:
    """A message as text without its last line end."""
    return stringify([message]).removesuffix("\n").replace("\n", end)


def _span(message: Message) -> Span:
    if message.span is None:
        raise SpanError("the message has no span; surgery needs the messages that parse found in this text")
    return message.span
