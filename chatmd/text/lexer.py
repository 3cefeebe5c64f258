"""Text to tokens (chatmd.md section 1).

One generator, one pass: it jumps from one `<`, RAW opener or comment to the next and never looks at the
characters between them one by one, so its time is linear in the text and small. It keeps the two things
that the token rules depend on: how many elements are open, and whether a structured scope is (section
1.4).

Inside an element, neighbouring verbatim text arrives as one TEXT token, also when it holds unknown markup; at
depth 0, where text is mostly an error, piece by piece as the rules cut it (a pipe does not cut it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum

from chatmd.report.problems import fault
from chatmd.text.attributes import scan
from chatmd.text.tags import BASE_TAGS, READ_FILE_NAMES, SCOPED_TAGS
from chatmd.text.tree import Attributes
from chatml.source import Source


class Kind(IntEnum):
    """What a token is: text, a start tag, a self-closed tag or an end tag."""

    TEXT = 0
    START = 1
    SELF = 2
    END = 3


Token = tuple[Kind, int, int, str, Attributes]
"""Kind, the two offsets, the text or the tag, and the attributes of a START or SELF."""

COMMENT, COMMENT_END = "<!--", "-->"
RAW, RAW_END = "RAW|", "|RAW"
RAW_WHITE = " \t\r\n"
"""What is lost between a token and a RAW opener (section 1.6): fewer characters than white space."""

TAG_NAME = re.compile(r"<(/?)([A-Za-z_][^> \t\n\v\f\r]*+)")
ANGLES = re.compile("<++")
TEXT, START, SELF, END = Kind.TEXT, Kind.START, Kind.SELF, Kind.END


def tokens(source: Source) -> Iterator[Token]:
    """The tokens of a source, in order.

    Raises `ChatmdError` (`chatmd.unterminated_comment`, `_raw` or `_attribute`) where the text breaks off.

    >>> for token in tokens(Source("x", '<user a="1">hi <b>!</user>')):
    ...     print(token[0].name, token[1:])
    START (0, 12, 'user', (('a', '1'),))
    TEXT (12, 19, 'hi <b>!', ())
    END (19, 26, 'user', ())
    """
    text = source.text
    size = len(text)
    find = text.find
    depth = 0
    scopes: list[int] = []
    known = BASE_TAGS
    kept = 0  # where the verbatim text begins that has not been handed out
    at = 0  # where the next token begins
    angle = close = -1  # the next "<" and the next ">" as far as they are known; `size` when there is none
    while True:
        if angle < at:
            angle = find("<", at)
            if angle < 0:
                angle = size
        opener = find(RAW, at, angle)
        if opener >= 0:
            end = _before_raw(text, at, opener)
            if kept < end:
                yield TEXT, kept, end, text[kept:end], ()
            at = opener + len(RAW)
            end = find(RAW_END, at)
            if end < 0:
                raise fault("chatmd.unterminated_raw", source.span(opener, at))
            yield TEXT, at, end, text[at:end], ()
            kept = at = end + len(RAW_END)
            continue
        if kept < angle and (not depth or angle == size):
            yield TEXT, kept, angle, text[kept:angle], ()
            kept = angle
        if angle == size:
            return
        if text.startswith(COMMENT, angle):
            if kept < angle:
                yield TEXT, kept, angle, text[kept:angle], ()
            at = angle + len(COMMENT)
            end = find(COMMENT_END, at)
            if end < 0:
                raise fault("chatmd.unterminated_comment", source.span(angle, at))
            kept = at = end + len(COMMENT_END)
            continue
        if close < angle:
            close = find(">", angle)
            if close < 0:
                close = size
        head = TAG_NAME.match(text, angle, close) if close < size else None
        if head is None:
            at = next(ANGLES.finditer(text, angle)).end()
        else:
            at = close + 1
            slash, name = head.groups()
            if slash:
                if name in known and head.end() == close:
                    if kept < angle:
                        yield TEXT, kept, angle, text[kept:angle], ()
                    yield END, angle, at, name, ()
                    kept = at
                    if scopes and scopes[-1] == depth:
                        scopes.pop()
                        if not scopes:
                            known = BASE_TAGS
                    if depth:
                        depth -= 1
                    continue
            else:
                left, right = head.end(), close
                self_closed = text[close - 1] == "/"
                if self_closed:
                    if left == close:
                        name = name[:-1]
                    right -= 1
                attributes: Attributes = scan(source, left + 1, right) if left < right else ()
                if name in known:
                    if kept < angle:
                        yield TEXT, kept, angle, text[kept:angle], ()
                    yield SELF if self_closed else START, angle, at, name, attributes
                    kept = at
                    if not self_closed:
                        depth += 1
                        if _opens_scope(name, attributes):
                            scopes.append(depth)
                            known = SCOPED_TAGS
                    continue
        if not depth:
            yield TEXT, angle, at, text[angle:at], ()
            kept = at


def _before_raw(text: str, at: int, opener: int) -> int:
    """Where the text before a RAW opener ends: white space that is all there is since the last token is
    lost.
    """
    if opener > at and text[opener - 1] in RAW_WHITE:
        before = text[at:opener].rstrip(RAW_WHITE)
        if not before or before.endswith("|"):
            return at + len(before)
    return opener


def _opens_scope(tag: str, attributes: Attributes) -> bool:
    """Whether a start tag opens a structured scope: the first attribute of a name decides."""
    if tag == "tool":
        first = dict(reversed(attributes))
        return first.get("type") == "shell" or first.get("name") in READ_FILE_NAMES
    return tag == "shell_access"
