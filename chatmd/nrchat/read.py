"""Reading a chat (nrchat.md sections 3 to 10).

Regular expressions jump from marker to marker; what lies between is sliced, not looked at line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatmd.nrchat.errors import ChatSyntaxError, Json5Error
from chatmd.nrchat.fences import zones
from chatmd.nrchat.json5.read import parse_json5
from chatmd.nrchat.ladder import unescape_body
from chatmd.nrchat.message import Message, Span
from chatmd.nrchat.whitespace import WHITESPACE

MARKER = f"%([^{WHITESPACE}]+)"
FIRST_LINE = re.compile(MARKER)
LATER_LINE = re.compile(f"\n{MARKER}")


def parse(text: str) -> list[Message]:
    """The messages of a chat, in order, with their spans (nrchat.md section 3).

    What stands before the first marker is passed over. `text` must have its line ends untouched: open files
    with `newline=""`. Raises `ChatSyntaxError`, a `ValueError` with the line, for the first meta that is not
    JSON5.

    >>> for message in parse("%user Bob {id: 1}\\nhi\\n%bot\\n\\\\%done\\n"):
    ...     print(message.role, message.name, message.meta, message.body, message.span)
    user Bob {'id': 1} hi Span(start=0, end=20)
    bot None None %done Span(start=21, end=32)
    """
    if not isinstance(text, str):
        raise TypeError(f"parse reads a str, not {type(text).__name__}; decode bytes as UTF-8 first")
    return list(read_messages(text))


def read_messages(text: str, offset: int = 0, line: int = 1) -> Iterator[Message]:
    """The messages of a text that stands `offset` code points, and at line `line`, into a larger one."""
    reader = _Reader(text, offset, line)
    previous: re.Match[str] | None = None
    for marker in markers(text):
        if previous is not None:
            yield reader.message(previous, _before_seam(text, marker.start(1) - 2))
        previous = marker
    if previous is not None:
        yield reader.message(previous, _before_seam(text, len(text) - 1) if text.endswith("\n") else len(text))


def markers(text: str) -> Iterator[re.Match[str]]:
    """The markers outside the zones, in order (M1); group 1 is the role, and the `%` stands before it."""
    all_zones = zones(text)
    zone = next(all_zones, None)
    for marker in _marker_lines(text):
        at = marker.start(1) - 1
        while zone is not None and zone[1] < at:
            zone = next(all_zones, None)
        if zone is None or at < zone[0]:
            yield marker


def _marker_lines(text: str) -> Iterator[re.Match[str]]:
    first = FIRST_LINE.match(text)
    if first is not None:
        yield first
    yield from LATER_LINE.finditer(text)


def _before_seam(text: str, line_end: int) -> int:
    """Where a message ends whose last line ends with the LF at `line_end` (S1)."""
    return line_end - 1 if text[line_end - 1] == "\r" else line_end


class _Reader:
    """Reads messages of one text; knows where that text begins in the file."""

    def __init__(self, text: str, offset: int, line: int) -> None:
        self.text = text
        self.offset = offset
        self.line = line

    def message(self, marker: re.Match[str], end: int) -> Message:
        """The message of a marker, which ends before `end`."""
        text = self.text
        role = marker[1]
        start, role_end = marker.start(1) - 1, marker.end()
        line_end = text.find("\n", role_end, end)
        body = ""
        if line_end < 0:
            line_end = end
        else:
            body = _read_body(text[line_end + 1 : end])
        if text[line_end - 1] == "\r":
            line_end -= 1
        span = Span(start + self.offset, end + self.offset)
        if role_end == line_end:
            return Message(role, None, None, body, None, span)
        tail = text[role_end:line_end]
        brace = _meta_start(tail)
        if brace < 0:
            return Message(role, _read_name(tail), None, body, None, span)
        raw = tail[brace:]
        try:
            meta = parse_json5(raw)
        except Json5Error as error:
            line = self.line + text.count("\n", 0, start)
            column = role_end + brace - start + error.column
            raise ChatSyntaxError(error.reason, line=line, column=column) from error
        return Message(role, _read_name(tail[:brace]), meta, body, raw, span)


def _read_body(raw: str) -> str:
    """A body as it is meant: one rung off the ladder, one CR off each line end (B2, B3)."""
    if "\\%" in raw:
        raw = unescape_body(raw)
    if "\r" in raw:
        raw = raw.replace("\r\n", "\n").removesuffix("\r")
    return raw


def _meta_start(tail: str) -> int:
    """Where the meta begins in what follows the role; -1 if there is none (M3).

    That is the first brace that is not escaped. Of the backslashes right before a brace, each pair is one escape, so
    the brace is escaped when their number is odd.
    """
    start = 0
    while (brace := tail.find("{", start)) >= 0:
        before = tail[start:brace]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return brace
        start = brace + 1
    return -1


def _read_name(part: str) -> str | None:
    """The name in what stands between role and meta (N1)."""
    name = part.strip(WHITESPACE)
    if "\\" in name:
        pieces = (piece.replace("\\{", "{").replace("\\}", "}") for piece in name.split("\\\\"))
        name = "\\".join(pieces)
    return name or None
