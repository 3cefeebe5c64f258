"""Fence zones: runs of lines in which nothing is read (nrchat.md section 8).

A line of four or more backticks opens a zone if a line of at least as many, and nothing else, follows
anywhere below. Looking below for each opener would be quadratic. But a closer of `n` backticks is below a
place exactly when the last closer of `n` or more is; so one pass notes the last closer of each length, and a
second one finds the zones.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LEAST = "````"
FENCE = r"(`````*+)([^`\n]*+)(?=\n|\Z)"
FIRST_LINE = re.compile(FENCE)
LATER_LINE = re.compile(rf"\n{FENCE}")
BACKTICKS = re.compile("`+")
AFTER_CLOSER = " \t\r"


class Fence(NamedTuple):
    """A line shaped like an opener: its start, its end before the LF, its backticks, whether it may close."""

    start: int
    end: int
    run: int
    closes: bool


def fence_lines(text: str, start: int = 0) -> Iterator[Fence]:
    """The fence-shaped lines of a text from `start`, the beginning of a line, in order (Z1, Z2)."""
    first = FIRST_LINE.match(text, start)
    if first is not None:
        yield _fence(first)
    for match in LATER_LINE.finditer(text, start):
        yield _fence(match)


def _fence(match: re.Match[str]) -> Fence:
    return Fence(match.start(1), match.end(), len(match[1]), not match[2].strip(AFTER_CLOSER))


class Closers:
    """Where the last closer of each length stands: tells whether an opener is ever closed.

    Takes memory for the lengths, not for the lines.
    """

    def __init__(self, fences: Iterable[Fence] = ()) -> None:
        self._last: dict[int, int] = {}
        self._runs: list[int] | None = None
        self._reach: list[int] = []
        self.extend(fences)

    def extend(self, fences: Iterable[Fence], offset: int = 0) -> None:
        """Note further fence lines, which stand below all noted so far; `offset` is added to their places."""
        for fence in fences:
            if fence.closes:
                self._last[fence.run] = fence.start + offset
                self._runs = None

    def reach(self, run: int) -> int:
        """Where the last closer of at least `run` backticks starts; -1 if there is none."""
        if self._runs is None:
            self._runs = sorted(self._last)
            self._reach = [-1]
            for length in reversed(self._runs):
                self._reach.append(max(self._reach[-1], self._last[length]))
            self._reach.reverse()
        return self._reach[bisect_left(self._runs, run)]


def scan(text: str) -> Iterator[tuple[int, int | None]]:
    """Every opener outside the zones above it (Z3): its start, and the end of its zone, None if dangling."""
    if LEAST not in text:
        return
    closers = Closers(fence_lines(text))
    opener: Fence | None = None
    for fence in fence_lines(text):
        if opener is None:
            if closers.reach(fence.run) > fence.start:
                opener = fence
            else:
                yield fence.start, None
        elif fence.closes and fence.run >= opener.run:
            yield opener.start, fence.end
            opener = None


def zones(text: str) -> Iterator[tuple[int, int]]:
    """The zones of a text in order: from the opener's first backtick to the end of the closer's line.

    >>> list(zones("a\\n````\\n%b\\n````\\n`````"))
    [(2, 14)]
    """
    for start, end in scan(text):
        if end is not None:
            yield start, end


def is_closed(body: str) -> bool:
    """Whether no opener is left dangling, which could swallow the messages below (nrchat.md section 15).

    >>> is_closed("````\\nx\\n````"), is_closed("````\\nx")
    (True, False)
    """
    return all(end is not None for _, end in scan(body))


def fence_for(guest: str) -> str:
    """A fence that no run of backticks in `guest` can close (nrchat.md R4); at least four backticks.

    A guest between two such lines comes back as it went in, whatever it holds (except for CRs at line ends).

    >>> from chatmd.nrchat import escape_body
    >>> guest = "%user\\nlook: ```` and %more"
    >>> fence = fence_for(guest)
    >>> fence, f"{fence}\\n{guest}\\n{fence}" == escape_body(f"{fence}\\n{guest}\\n{fence}")
    ('`````', True)
    """
    longest = max((match.end() - match.start() for match in BACKTICKS.finditer(guest)), default=0)
    return "`" * max(len(LEAST), longest + 1)
