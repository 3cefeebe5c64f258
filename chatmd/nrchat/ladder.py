"""The ladder: the backslashes that keep body lines from being markers (nrchat.md section 7)."""

from __future__ import annotations

import re
from collections.abc import Callable

from chatmd.nrchat.fences import zones

NEEDS_RUNG = re.compile(r"\\*%")
LINE_NEEDS_RUNG = re.compile(r"\n(?=\\*%)")
HAS_RUNG = re.compile(r"\\+%")
LINE_HAS_RUNG = re.compile(r"\n\\(?=\\*%)")


def escape_body(body: str) -> str:
    """The body with a backslash more before each line that begins with `%`, or backslashes and `%` (R3).

    Lines in fence zones stay as they are. Each call adds a rung; reading takes one off.

    >>> print(escape_body("%user\\n\\\\%x\\n100% sure"))
    \\%user
    \\\\%x
    100% sure
    """
    return _outside_zones(body, _climb) if "%" in body else body


def unescape_body(body: str) -> str:
    """The body with one backslash less before each line that begins with backslashes and `%` (B3)."""
    return _outside_zones(body, _descend) if "\\%" in body else body


def _outside_zones(body: str, change: Callable[[str], str]) -> str:
    """The body with its stretches between zones changed. All but the first begin with the LF after a zone."""
    pieces: list[str] = []
    position = 0
    for start, end in zones(body):
        pieces.append(change(body[position:start]))
        pieces.append(body[start:end])
        position = end
    pieces.append(change(body[position:]))
    return "".join(pieces)


def _climb(lines: str) -> str:
    rung = "\\" if NEEDS_RUNG.match(lines) else ""
    return rung + LINE_NEEDS_RUNG.sub(r"\n\\", lines)


def _descend(lines: str) -> str:
    rung = 1 if HAS_RUNG.match(lines) else 0
    return LINE_HAS_RUNG.sub("\n", lines[rung:])
