"""Positions as editors count them: lines from 0, characters in the units of an encoding."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from chatml.records import frozen
from chatml.source import Position, Source, Span

UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}
"""The length of a text in the units of each encoding that an editor may ask for."""


@frozen
class Positions:
    """Converts between the places of a source and those of the editor, in the encoding that both agreed on.

    >>> positions = Positions("utf-16")
    >>> source = Source("s", "a\\n\\U0001f600b")
    >>> positions.of(source, source.position(3)), positions.offset(source, types.Position(1, 2))
    (1:2, 3)
    """

    encoding: str = "utf-16"

    def of(self, source: Source, position: Position) -> types.Position:
        """The editor's position for one in a source."""
        line = source.line(position.line)
        return types.Position(position.line - 1, UNITS[self.encoding](line[: position.column]))

    def range(self, span: Span) -> types.Range:
        """The editor's range of a span."""
        return types.Range(self.of(span.source, span.start), self.of(span.source, span.end))

    def offset(self, source: Source, position: types.Position) -> int:
        """The offset of an editor's position; one after the end of a line, or of the text, is at that end.

        Inside a character it is before the character.
        """
        if position.line >= len(source.line_starts):
            return len(source.text)
        start, line = source.line_starts[position.line], source.line(position.line + 1)
        if line.isascii():
            return start + min(position.character, len(line))
        units = UNITS[self.encoding]
        left = position.character
        for index, character in enumerate(line):
            left -= units(character)
            if left < 0:
                return start + index
        return start + len(line)

    def change(self, text: str, change: types.TextDocumentContentChangeEvent) -> str:
        """The text after a change of it."""
        if not isinstance(change, types.TextDocumentContentChangePartial):
            return change.text
        source = Source("", text)
        left, right = self.offset(source, change.range.start), self.offset(source, change.range.end)
        return text[:left] + change.text + text[max(left, right) :]
