"""Reading a chat that arrives in pieces: no I/O, only text in and messages out.

A message is complete when the next marker has arrived and no fence line above that marker may still turn out
to be the opener of a zone that holds it (nrchat.md Z7). Every stretch of complete messages is handed to the
same reader that `parse` uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from chatmd.nrchat.fences import Closers, fence_lines
from chatmd.nrchat.message import Message
from chatmd.nrchat.read import FIRST_LINE, LATER_LINE, read_messages

BOM = "\ufeff"
OPENS = 2  # characters of a line that tell whether it is a marker


class Lines:
    """Cuts text into blocks of whole lines, and drops a byte order mark at its start.

    `offset` is where the line begins that is not complete yet, in code points of the file.
    """

    def __init__(self) -> None:
        self.offset = 0
        self._rest: list[str] = []
        self._begun = False

    def add(self, text: str) -> str:
        """The lines that this text completes; empty if it completes none."""
        if text and not self._begun:
            self._begun = True
            if text[0] == BOM:
                text = text[1:]
                self.offset = 1
        cut = text.rfind("\n") + 1
        if cut == 0:
            if text:
                self._rest.append(text)
            return ""
        block = "".join((*self._rest, text[:cut]))
        self._rest = [text[cut:]] if cut < len(text) else []
        self.offset += len(block)
        return block

    def head(self) -> str:
        """The first characters of the line that is not complete yet."""
        head = ""
        for piece in self._rest:
            head += piece[: OPENS - len(head)]
            if len(head) == OPENS:
                break
        return head

    def rest(self) -> str:
        """The line that was never completed."""
        return "".join(self._rest)


class Feed:
    """Turns text that arrives in pieces into messages.

    With `closers`, those of the whole text to come, every zone is known at its opener, and no message is held
    back for longer than it takes to see the next marker. Without, messages below an unclosed opener wait for
    its closer or for the end.

    >>> feed = Feed()
    >>> [message.body for piece in ("%a\\nx", "y\\n%b\\nz", "\\n") for message in feed.add(piece)]
    ['xy']
    >>> [message.body for message in feed.close()]
    ['z']
    """

    def __init__(self, closers: Closers | None = None) -> None:
        self._closers = closers
        self._lines = Lines()
        self._kept: list[str] = []  # whole lines from the start of the current message (or preamble)
        self._line = 1  # number of the first of them
        self._in_message = False
        self._open = 0  # backticks of the fence that is open, or may be; 0 outside

    def add(self, text: str) -> Iterator[Message]:
        """The messages that this piece completes."""
        block = self._lines.add(text)
        if block:
            yield from self._take(block, self._lines.offset - len(block))
        if self._in_message and not self._open and FIRST_LINE.match(self._lines.head()):
            self._in_message = False
            yield from self._messages(self._lines.offset)

    def close(self) -> Iterator[Message]:
        """The messages that are left: nothing more will come."""
        rest = self._lines.rest()
        self._kept.append(rest)
        yield from self._messages(self._lines.offset + len(rest))

    def _take(self, block: str, offset: int) -> Iterator[Message]:
        """Look at whole lines, which begin at `offset`; give out what is above the last certain marker."""
        places = list(self._markers(block, offset))
        begin = 0
        if places and not self._in_message:
            begin = places[0]
            self._kept.append(block[:begin])
            self._cut()
            self._in_message = True
        if places:
            last = places[-1]
            self._kept.append(block[begin:last])
            yield from self._messages(offset + last)
            begin = last
        self._kept.append(block[begin:])
        if not self._in_message and (not self._open or self._closers is not None):
            self._cut()

    def _markers(self, block: str, offset: int) -> Iterator[int]:
        """Where the markers of a block stand that no zone can take away any more."""
        start = 0
        for fence in fence_lines(block):
            if not self._open:
                if self._closers is None or self._closers.reach(fence.run) > offset + fence.start:
                    yield from _marker_places(block, start, fence.start)
                    self._open = fence.run
            elif fence.closes and fence.run >= self._open:
                self._open = 0
                start = fence.end
        if not self._open:
            yield from _marker_places(block, start, len(block))

    def _messages(self, end: int) -> Iterator[Message]:
        """The messages of what is kept, which ends at the offset `end`."""
        text, line = self._cut()
        return read_messages(text, end - len(text), line)

    def _cut(self) -> tuple[str, int]:
        """What is kept, and the line that it begins on; nothing is kept any more."""
        text, line = "".join(self._kept), self._line
        self._kept.clear()
        self._line += text.count("\n")
        return text, line


def _marker_places(block: str, start: int, end: int) -> Iterator[int]:
    """Where the markers of a stretch stand, which begins at a line or at the LF before it."""
    if FIRST_LINE.match(block, start, end):
        yield start
    for marker in LATER_LINE.finditer(block, start, end):
        yield marker.start(1) - 1
