"""Text that has not decided yet where its lines end.

A document is a list of tokens with marks between them. A group, from `OPEN` to `CLOSE`, stands on one line if it fits
there, and otherwise breaks at its own lines. Everything here is iterative and linear: widths are differences of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import TypeAlias

from chatml.records import frozen


class Mark(IntEnum):
    """What stands between tokens."""

    OPEN = 0
    """A group begins that breaks at all its lines or at none."""
    FILL = 1
    """A group begins that breaks only at those of its lines after which something does not fit."""
    CLOSE = 2
    HEAD = 3
    """From here on the group need not fit: what follows breaks on its own, as the body of a last function does."""
    INDENT = 4
    """Lines of this group stand deeper from here on, if it is broken."""
    ALIGN = 5
    """Lines stand in this column from here on."""
    DEDENT = 6
    SPACE = 7
    SOFT = 8
    """A line end, or nothing."""
    LINE = 9
    """A line end, or a blank."""
    LAST_SOFT = 10
    """A `SOFT` at the end of a group, which may stay on the line of a `HEAD` although other lines end before it."""
    LAST_LINE = 11
    """A `LINE` of that kind."""
    HARD = 12
    """A line end."""
    KEEP = 13
    """After a line end: where the author left blank lines, one stays."""
    BLANK = 14
    """After a line end: an empty line."""


@frozen
class Comment:
    """A comment in a document: its text, the column where it was written, and whether it needs room on its line."""

    text: str
    column: int
    needs_room: bool

    def at(self, column: int) -> str:
        """The text with its later lines shifted, so that they stand to the first one as they did."""
        if "\n" not in self.text:
            return self.text
        first, *rest = self.text.split("\n")
        shifted = [first.rstrip()]
        for line in rest:
            body = line.lstrip(" ")
            indent = len(line) - len(body) + column - self.column
            shifted.append((" " * max(0, indent) + body).rstrip())
        return "\n".join(shifted)


Item: TypeAlias = str | Mark | Comment
Document: TypeAlias = list[Item]

STEP = 2
"""How much deeper an indented line stands."""

LASTS = frozenset((Mark.LAST_SOFT, Mark.LAST_LINE))
BREAKS = LASTS | {Mark.SOFT, Mark.LINE, Mark.HARD}
"""Where a line may end."""
BLANKS = frozenset((Mark.SPACE, Mark.LINE, Mark.LAST_LINE))
"""What is a blank on one line; several together are one."""
TOO_WIDE = 1 << 40


def flat(document: Iterable[Item]) -> str:
    """A document without comments on one line.

    >>> flat(["f", Mark.OPEN, "(", Mark.SOFT, "a", ",", Mark.LINE, "b", ")", Mark.CLOSE])
    'f(a, b)'
    """
    out: list[str] = []
    for item in document:
        if isinstance(item, str):
            out.append(item)
        elif item in BLANKS or item is Mark.HARD:
            out.append(" ")
    return "".join(out)


def width(item: str | Comment) -> int:
    """How many columns an item takes on one line; a text of several lines is as wide as its first or last one.

    A comment behind something breaks nothing: it may stand out.
    """
    if isinstance(item, Comment):
        return len(item.text) if item.needs_room else 0
    return len(item) if "\n" not in item else max(item.index("\n"), len(item) - item.rindex("\n") - 1)


class Measure:
    """How much of a document has to stand on one line together."""

    def __init__(self, document: Document) -> None:
        self.before = [0]
        """The sum of widths before each item."""
        self.reach: dict[int, int] = {}
        """For each group, and each line of a `FILL`, where what must fit with it ends."""
        self.owner: dict[int, int] = {}
        """The group of each line that may not end before its group does."""
        self.add_widths(document)
        self.find_groups(document)
        self.stops = self.find_stops(document)

    def add_widths(self, document: Document) -> None:
        total = 0
        spaced = False
        for item in document:
            if not isinstance(item, Mark):
                total += width(item)
                spaced = False
            elif item in BLANKS:
                total += not spaced
                spaced = True
            elif item is Mark.HARD:
                total += TOO_WIDE
            self.before.append(total)

    def find_groups(self, document: Document) -> None:
        groups: list[int] = []
        heads: list[int | None] = []
        lines: list[int | None] = []
        for place, item in enumerate(document):
            if not isinstance(item, Mark):
                continue
            if item is Mark.OPEN or item is Mark.FILL:
                groups.append(place)
                heads.append(None)
                lines.append(None)
            elif item is Mark.HEAD:
                heads[-1] = place
            elif item in LASTS:
                self.owner[place] = groups[-1]
            elif item is Mark.CLOSE or (item is Mark.LINE and groups and document[groups[-1]] is Mark.FILL):
                line = lines[-1]
                if line is not None:
                    self.reach[line] = place
                lines[-1] = place
                if item is Mark.CLOSE:
                    lines.pop()
                    head = heads.pop()
                    self.reach[groups.pop()] = place if head is None else head

    def find_stops(self, document: Document) -> list[int]:
        """For each place the next one where a line may end."""
        stops = [len(document)] * (len(document) + 2)
        for place in range(len(document) - 1, -1, -1):
            stops[place] = place if document[place] in BREAKS else stops[place + 1]
        return stops

    def needed(self, place: int, broken: dict[int, bool]) -> int:
        """The columns that a group needs on one line, or what follows a line of a `FILL`, up to the next line end."""
        stop = self.stops[self.reach[place]]
        while stop in self.owner and not broken[self.owner[stop]]:
            stop = self.stops[stop + 1]
        return self.before[stop] - self.before[place]


def render(document: Document, columns: int) -> str:
    """The text of a document, with lines of at most so many columns where they can be broken.

    >>> print(render(["f", Mark.OPEN, "(", Mark.INDENT, Mark.SOFT, "a", ",", Mark.LINE, "b", Mark.DEDENT,
    ...     Mark.SOFT, ")", Mark.CLOSE], 5))
    f(
      a,
      b
    )
    """
    page = Page(columns, Measure(document))
    for place, item in enumerate(document):
        if isinstance(item, Mark):
            MOVES[item](page, place)
        else:
            page.write(item)
    return "".join(page.out)


class Page:
    """A text being laid out."""

    def __init__(self, columns: int, measure: Measure) -> None:
        self.columns = columns
        self.measure = measure
        self.out: list[str] = []
        self.column = 0
        self.line_ends = 0
        """Line ends to write before the next token."""
        self.space = 0
        self.line_indent = 0
        self.indents = [0]
        self.groups: list[int] = []
        self.fills = [False]
        self.broken = {-1: True}
        """Which groups break; what stands in no group does."""

    @property
    def place(self) -> int:
        """The column of the next token."""
        return self.line_indent if self.line_ends else self.column + self.space

    @property
    def breaks(self) -> bool:
        """Whether the innermost group breaks."""
        return self.broken[self.groups[-1] if self.groups else -1]

    def fits(self, place: int) -> bool:
        return self.place + self.measure.needed(place, self.broken) <= self.columns

    def write(self, item: str | Comment) -> None:
        column = self.place
        if self.line_ends:
            self.out.append("\n" * self.line_ends if self.out else "")
            self.out.append(" " * column)
        elif self.space:
            self.out.append(" ")
        text = item.at(column) if isinstance(item, Comment) else item
        self.out.append(text)
        self.column = column + len(text) if "\n" not in text else len(text) - text.rindex("\n") - 1
        self.line_ends = self.space = 0

    def group(self, place: int, fill: bool) -> None:
        self.broken[place] = not self.fits(place)
        self.groups.append(place)
        self.fills.append(fill)

    def close(self, place: int) -> None:
        self.groups.pop()
        self.fills.pop()

    def indent(self, place: int) -> None:
        self.indents.append(self.indents[-1] + (STEP if self.breaks else 0))

    def align(self, place: int) -> None:
        self.indents.append(self.place)

    def dedent(self, place: int) -> None:
        self.indents.pop()

    def line(self, place: int, blank: int) -> None:
        if self.breaks and not (self.fills[-1] and self.fits(place)):
            self.hard(place)
        else:
            self.space = max(self.space, blank)

    def hard(self, place: int) -> None:
        self.line_ends = max(self.line_ends, 1)
        self.line_indent = self.indents[-1]

    def blank(self, place: int) -> None:
        if self.line_ends:
            self.line_ends = 2

    def blank_space(self, place: int) -> None:
        self.space = 1

    def nothing(self, place: int) -> None:
        pass


MOVES: dict[Mark, Callable[[Page, int], None]] = {
    Mark.OPEN: lambda page, place: page.group(place, False),
    Mark.FILL: lambda page, place: page.group(place, True),
    Mark.CLOSE: Page.close,
    Mark.HEAD: Page.nothing,
    Mark.INDENT: Page.indent,
    Mark.ALIGN: Page.align,
    Mark.DEDENT: Page.dedent,
    Mark.SPACE: Page.blank_space,
    Mark.SOFT: lambda page, place: page.line(place, 0),
    Mark.LINE: lambda page, place: page.line(place, 1),
    Mark.LAST_SOFT: lambda page, place: page.line(place, 0),
    Mark.LAST_LINE: lambda page, place: page.line(place, 1),
    Mark.HARD: Page.hard,
    Mark.KEEP: Page.nothing,
    Mark.BLANK: Page.blank,
}
