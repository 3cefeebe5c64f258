"""Diagnostics: what every phase reports, and how it is drawn.

A phase raises a record of facts; its own `problems` module words it as a `Diagnostic`; this module draws it and
knows no phase. In text a report begins with `FILE:LINE:COLUMN` (both from 1), severity, code and message, then
the source line with carets, labels, notes and help (design.md section 2).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any, Literal

from chatml.records import frozen
from chatml.source import Position, Span

Severity = Literal["error", "warning"]

COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "label": "\x1b[34m", "help": "\x1b[32m"}
BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
TAB_WIDTH = 4
WIDEST_LINE = 160
LONGEST_TEXT = 1_200


@frozen
class Label:
    """A second place that explains the first: `int` was expected *because of this*."""

    span: Span
    text: str


@frozen
class Diagnostic:
    """One finding about an input.

    `code` is stable and dotted (`type.mismatch`), `span` is None when no place is to blame. `labels` point at
    other places, `notes` give reasons, `help` says what to do. `str(diagnostic)` is the whole report, without colour.
    """

    code: str
    message: str
    span: Span | None = None
    severity: Severity = "error"
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None

    def __str__(self) -> str:
        return draw(self)


def draw(diagnostic: Diagnostic, *, colour: bool = False) -> str:
    """The report of a diagnostic as text of several lines, without a final line end."""
    return _Pen(colour).draw(diagnostic)


def draw_all(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Several reports, with an empty line between two of them."""
    return "\n\n".join(draw(diagnostic, colour=colour) for diagnostic in diagnostics)


def draw_place(span: Span) -> tuple[str, ...]:
    """A place in a few lines: `FILE:LINE:COLUMN`, the line, and the carets under it."""
    lines = _Pen(False).excerpt((span, "", "error", "^"), 0, repeat=True)
    return f"{span.source.name}:{span.start.place}", *(line.partition("│ ")[2] for line in lines)


def encode(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as plain data for `--json`: lines and columns from 1, as in the text; offsets from 0."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "span": None if diagnostic.span is None else encode_span(diagnostic.span),
        "labels": [{"span": encode_span(label.span), "text": label.text} for label in diagnostic.labels],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


def encode_span(span: Span) -> dict[str, Any]:
    """A span as plain data: the name of its file, and both ends."""
    return {"file": span.source.name, "start": encode_position(span.start), "end": encode_position(span.end)}


def encode_position(position: Position) -> dict[str, int]:
    """A position as plain data: line and column from 1, the offset in characters from 0."""
    return {"line": position.line, "column": position.column + 1, "offset": position.offset}


class _Pen:
    """Draws one report; holds whether to use colour."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def paint(self, style: str, text: str) -> str:
        return f"{style}{text}{RESET}" if self.colour and text else text

    def draw(self, diagnostic: Diagnostic) -> str:
        lines = [self.headline(diagnostic)]
        if diagnostic.span is not None:
            lines += self.excerpts(diagnostic.span, diagnostic)
        for note in diagnostic.notes:
            lines += self.paragraph("note", note, DIM)
        if diagnostic.help is not None:
            lines += self.paragraph("help", diagnostic.help, COLOURS["help"])
        return "\n".join(lines)

    def headline(self, diagnostic: Diagnostic) -> str:
        place = ""
        if diagnostic.span is not None:
            place = f"{diagnostic.span.source.name}:{diagnostic.span.start.place}: "
        kind = self.paint(COLOURS[diagnostic.severity], f"{diagnostic.severity}[{diagnostic.code}]")
        return f"{self.paint(BOLD, place)}{kind}: {self.paint(BOLD, _shortened(diagnostic.message))}"

    def excerpts(self, span: Span, diagnostic: Diagnostic) -> list[str]:
        """The source lines of the span and of the labels, in order of place, each marked."""
        marks = [(span, "", COLOURS[diagnostic.severity], "^")]
        marks += [(label.span, label.text, COLOURS["label"], "-") for label in diagnostic.labels]
        here = [mark for mark in marks if mark[0].source is span.source]
        elsewhere = [mark for mark in marks if mark[0].source is not span.source]
        gutter = max(len(str(mark[0].start.line)) for mark in marks)
        lines = [self.gutter(gutter)]
        previous = None
        for mark in sorted(here, key=lambda mark: mark[0].left):
            number = mark[0].start.line
            if previous is not None and number > previous + 1:
                lines.append(self.paint(DIM, f"{'':>{gutter}} ·"))
            lines += self.excerpt(mark, gutter, repeat=number != previous)
            previous = number
        for mark in elsewhere:
            lines.append(self.paint(DIM, f"{'':>{gutter}} ╭ {mark[0].source.name}:{mark[0].start.place}"))
            lines += self.excerpt(mark, gutter, repeat=True)
        return lines

    def gutter(self, width: int, number: int | None = None) -> str:
        return self.paint(DIM, f"{'' if number is None else number:>{width}} │")

    def excerpt(self, mark: tuple[Span, str, str, str], gutter: int, *, repeat: bool) -> list[str]:
        """One line of source (if `repeat`), and the line of marks under it."""
        span, text, style, stroke = mark
        start = span.start
        line = span.source.line(start.line)
        right = min(span.right - span.left + start.column, len(line))
        first = _first_shown(line, start.column)
        shown = line[first : first + WIDEST_LINE]
        before = _printable(line[first : start.column])
        under = _printable(line[start.column : max(right, start.column)])
        strokes = stroke * max(1, min(_width(under), WIDEST_LINE - _width(before)))
        drawn = []
        if repeat:
            drawn.append(f"{self.gutter(gutter, start.line)} {_printable(shown)}")
        marks = self.paint(style, f"{strokes} {_shortened(text)}".rstrip())
        drawn.append(f"{self.gutter(gutter)} {' ' * _width(before)}{marks}")
        return drawn

    def paragraph(self, title: str, text: str, style: str) -> list[str]:
        first, *rest = _shortened(text).split("\n")
        return [f"  {self.paint(style, title + ':')} {first}", *(f"        {line}" for line in rest)]


def _first_shown(line: str, column: int) -> int:
    """The first column to show of a line too long to show whole."""
    return 0 if len(line) <= WIDEST_LINE else max(0, min(column - WIDEST_LINE // 2, len(line) - WIDEST_LINE))


def _shortened(text: str) -> str:
    """Text without the middle of what is much too long to read, such as a name of a million letters."""
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT // 2]} … {text[-LONGEST_TEXT // 2 :]}"


def _printable(text: str) -> str:
    """Text with tabs widened and control characters made visible."""
    if text.isprintable():
        return text
    return "".join(
        " " * TAB_WIDTH if c == "\t" else c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _width(text: str) -> int:
    """Columns that a terminal gives to printable text: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
