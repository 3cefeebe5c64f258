"""From bytes to the text of a document (chatmd.md section 0.4)."""

from __future__ import annotations

import hashlib
import re

SURROGATE = re.compile("[\ud800-\udfff]")
MARK = "\ufeff"


def decode(data: str | bytes) -> str:
    """UTF-8 with every undecodable byte (or lone surrogate) replaced by U+FFFD, without a leading
    byte-order mark.

    >>> decode(b"\\xef\\xbb\\xbf<user>\\xff</user>")
    '<user>\\ufffd</user>'
    """
    if isinstance(data, bytes):
        text = data.decode("utf-8", "replace")
    else:
        text = data if data.isascii() else SURROGATE.sub("\ufffd", data)
    return text.removeprefix(MARK)


def digest(text: str) -> str:
    """The SHA-256 of a text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
