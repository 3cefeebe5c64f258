"""Fenced blocks of Markdown documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import attrs

FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)[ ]*$", re.DOTALL | re.MULTILINE)


@attrs.frozen
class Snippet:
    """A fenced block: its language, the words after it, its text, and the line where the text begins."""

    path: Path
    line: int
    language: str
    options: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for the name of a test."""
        return f"{self.path.name}:{self.line}"


def snippets(path: Path) -> Iterator[Snippet]:
    """The fenced blocks of a document, in order."""
    document = path.read_text(encoding="utf-8")
    for match in FENCE.finditer(document):
        language, *options = match["info"].split() or [""]
        line = document.count("\n", 0, match.start("text")) + 1
        yield Snippet(path, line, language, tuple(options), match["text"])


def replace_text(snippet: Snippet, text: str) -> None:
    """Give a snippet another text in its document."""
    document = snippet.path.read_text(encoding="utf-8")
    opening = "```" + " ".join([snippet.language, *snippet.options]) + "\n"
    assert opening + snippet.text in document, f"{snippet.place} stands otherwise in its document"
    snippet.path.write_text(document.replace(opening + snippet.text, opening + text, 1), encoding="utf-8")
