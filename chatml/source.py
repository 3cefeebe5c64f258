"""Texts and places in them.

Everything that points into a text does it with a `Span`: two offsets in code points, resolved to lines and
columns only when someone looks. Lines count from 1, columns and offsets from 0 (language.md section 0).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from chatml.lazy import lazy

if TYPE_CHECKING:
    import bisect
else:
    bisect = lazy("bisect")

LINE_END = r"\r\n|\r|\n"


class Position(NamedTuple):
    """A place between two characters: `line` from 1, `column` and `offset` from 0, in code points."""

    line: int
    column: int
    offset: int

    @property
    def place(self) -> str:
        """Line and column as editors show them, both from 1.

        >>> Position(2, 0, 7).place
        '2:1'
        """
        return f"{self.line}:{self.column + 1}"


class Source:
    """A named text. LF, CR and CR LF each end a line.

    >>> Source("two.chatml", "a\\r\\nbc").position(4)
    Position(line=2, column=1, offset=4)
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in re.finditer(LINE_END, self.text))]

    def position(self, offset: int) -> Position:
        """The line and column of an offset."""
        line = bisect.bisect_right(self.line_starts, offset)
        return Position(line, offset - self.line_starts[line - 1], offset)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def span(self, left: int, right: int) -> Span:
        """The half-open span between two offsets."""
        return Span(self, left, right)

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"


class EmbeddedSource(Source):
    """A text that stands inside another: its places are shown as places of the outer one.

    `offset_of` leads from an offset of this text to the offset of the same character in the outer one.

    >>> page = Source("page.md", "one\\n<two>")
    >>> EmbeddedSource(page, "two", lambda offset: offset + 5).span(0, 3)
    Span(page.md:2:1-2:4)
    """

    def __init__(self, outer: Source, text: str, offset_of: Callable[[int], int]) -> None:
        super().__init__(outer.name, text)
        self.outer = outer
        self.offset_of = offset_of

    def position(self, offset: int) -> Position:
        return self.outer.position(self.offset_of(offset))

    def line(self, number: int) -> str:
        return self.outer.line(number)


class Span:
    """A half-open range `[left, right)` of a source, in code points."""

    __slots__ = ("left", "right", "source")

    def __init__(self, source: Source, left: int, right: int) -> None:
        self.source = source
        self.left = left
        self.right = right

    @property
    def start(self) -> Position:
        """Where the span begins."""
        return self.source.position(self.left)

    @property
    def end(self) -> Position:
        """Where the span ends: the position after its last character."""
        return self.source.position(self.right)

    @property
    def text(self) -> str:
        """The text that the span covers."""
        return self.source.text[self.left : self.right]

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of another."""
        return Span(self.source, self.left, other.right)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return self.source is other.source and self.left == other.left and self.right == other.right

    def __hash__(self) -> int:
        return hash((id(self.source), self.left, self.right))

    def __repr__(self) -> str:
        (line, column, _), (end_line, end_column, _) = self.start, self.end
        return f"Span({self.source.name}:{line}:{column}-{end_line}:{end_column})"
