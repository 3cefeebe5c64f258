"""Text without control sequences, for results and for people's eyes."""

from __future__ import annotations

import codecs
import re

CONTROL = re.compile(r"\x1b\[[^\x40-\x7e]*[\x40-\x7e]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
UNFINISHED = re.compile(r"\x1b(\[[^\x40-\x7e]*)?\Z")
UNSEEN = re.compile("[\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Controls of the eight-bit terminals, and what turns the direction of a line around (E-37)."""


def sanitise(text: str) -> str:
    r"""A text without CSI sequences and control characters, except line ends, carriage returns and tabs.

    >>> sanitise("\x1b[31mred\x1b[0m\a\tx\r\n")
    'red\tx\r\n'
    """
    return CONTROL.sub("", text)


def decoded(data: bytes, *, cut: bool) -> str:
    r"""The sanitised text of bytes; invalid ones are replaced.

    Of bytes that were cut off, a character or a control sequence that has no end is dropped, not shown in part.

    >>> decoded(b"ok \xff \xc3", cut=True), decoded(b"ok \xc3", cut=False)
    ('ok � ', 'ok �')
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=not cut)
    return sanitise(UNFINISHED.sub("", text) if cut else text)


def displayed(text: str, limit: int) -> str:
    r"""A text for a prompt to a person, `limit` characters at most: nothing that moves the cursor or turns the line.

    >>> displayed("rm \u202e\x1b[2K-rf", 40), displayed("a long one", 6)
    ('rm -rf', 'a lon…')
    """
    shown = UNSEEN.sub("", sanitise(text))
    return shown if len(shown) <= limit else shown[: max(limit - 1, 0)] + "…"
