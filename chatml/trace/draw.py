"""A trace as lines for people: the place in the script, then what ran there, indented by what it ran inside of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from chatml.records import frozen
from chatml.source import Span
from chatml.trace.model import Entry, Failure, Kind, LeftOut, Trace

Style: TypeAlias = Literal["plain", "dim", "bold", "good", "bad", "ask"]
Paint: TypeAlias = Callable[[Style, str], str]
"""Gives a text a style, as the escapes of a terminal."""

GUTTER = 7
SHORTEST = 8
"""How far values are cut to make a line fit."""


def plain(style: Style, text: str) -> str:
    return text


def draw(trace: Trace, *, width: int = 120, paint: Paint = plain) -> Iterator[str]:
    """The lines of a trace; values are cut so that a line has at most `width` columns, if it can be."""
    return draw_all(trace.entries, 0, Pen(width, paint))


@frozen
class Pen:
    """How lines are drawn."""

    width: int
    paint: Paint


def draw_all(entries: Sequence[Entry | LeftOut], level: int, pen: Pen) -> Iterator[str]:
    indent = "  " * level
    told: set[Failure] = set()
    for entry in entries:
        if isinstance(entry, LeftOut):
            more = f"… {entry.entries:,} more left out"
            yield f"{'':{GUTTER}}{indent}{pen.paint('dim', more)}"
            continue
        at = pen.paint("dim", f"{place(entry.span):<{GUTTER}}")
        end = "" if entry.kind == "rollback" and entry.failure in told else ending(entry)
        yield f"{at}{indent}{line(entry, end, GUTTER + len(indent), pen)}"
        if entry.failure is not None:
            told.add(entry.failure)
        yield from draw_all(entry.inner, level + 1, pen)


def place(span: Span | None) -> str:
    """Line and column from 1."""
    return "" if span is None else span.start.place


def line(entry: Entry, end: str, taken: int, pen: Pen) -> str:
    """What an entry says in its line, how it ended, after so many columns."""
    paint = pen.paint
    values = [*entry.args] if entry.result is None else [*entry.args, entry.result]
    if pen.width and entry.kind in ("call", "operation", "bind"):
        fixed = len(entry.name) + len(end) + len("! () -> ") + len(", ") * (len(values) - 2)
        values = fit(values, pen.width - taken - fixed)
    args = ", ".join(values[: len(entry.args)])
    result = None if entry.result is None else values[-1]
    failed = paint("bad", end)
    match entry.kind:
        case "call":
            return f"{entry.name}({args}){'' if result is None else f' -> {result}'}{failed}"
        case "arm":
            return paint("good", f"| {one_line(entry.name)}")
        case "if":
            return f"{paint('good', f'if {one_line(entry.name)}')}: {result}"
        case "bind":
            return f"{one_line(entry.name)} = {args}"
        case "operation":
            gave = "" if result is None or result == "()" else f" -> {result}"
            return f"{paint('ask', f'! {entry.name}({args})')}{gave}{failed}"
        case _:
            style, word = ENDINGS[entry.kind]
            told = "".join(f": {text}" for text in (args, result) if text)
            return f"{paint(style, word)}{told}{failed}"


ENDINGS: dict[Kind, tuple[Style, str]] = {
    "catch": ("ask", "caught"),
    "commit": ("good", "commit"),
    "rollback": ("bad", "rolled back"),
    "suspend": ("ask", "suspended"),
    "resume": ("ask", "resumed"),
    "failure": ("bad", "failed"),
}


def ending(entry: Entry) -> str:
    """How an entry ended, if not with a value."""
    failure = entry.failure
    if failure is not None:
        if any(isinstance(inner, Entry) and inner.failure == failure for inner in entry.inner):
            return " ✗"
        at = "" if failure.span is None else f" ({place(failure.span)})"
        return f" ✗ {one_line(failure.message)}{at}"
    return {"continued": " ↻", "running": " …"}.get(entry.outcome, "")


def fit(texts: list[str], room: int) -> list[str]:
    """Texts that together take no more than the room, if the longest are cut; none below `SHORTEST`."""
    left = room
    most = SHORTEST
    for count, size in zip(range(len(texts), 0, -1), sorted(map(len, texts)), strict=True):
        most = max(SHORTEST, left // count)
        if size > most:
            break
        left -= size
    else:
        return texts
    return [text if len(text) <= most else f"{text[: most - 1]}…" for text in texts]


def one_line(text: str) -> str:
    return " ".join(text.split())
