"""What stands before a place of a script that is being written, kept from one key to the next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from chatml import ast
from chatml.parse.recovery import read_part, statement_starts
from chatml.pipeline import environment
from chatml.records import frozen
from chatml.source import Source
from chatml.stack import deep
from chatml.surfaces.model import Surface
from chatml.types import Statements
from chatml.types.statements import Mark
from chatml.workspace import Completion, complete

NAME = "<preceding>"


@frozen(eq=False)
class Part:
    """A text that holds a statement or some, and how things stood before it."""

    text: str
    before: Mark


class Preceding:
    """Completion in a script: the statements before the one with the cursor are read and checked once.

    A part of them that is wrong defines nothing.

    >>> from chatml.surfaces.core import CORE
    >>> preceding = Preceding(CORE)
    >>> text = "let user = { age = 1 }\\nlet old = user.\\nlet x = 1"
    >>> [each.text for each in preceding.complete(text, text.index(".") + 1)]
    ['age']
    """

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.types = Statements(environment(surface))
        self.parts: list[Part] = []
        self.following = ""

    @property
    def texts(self) -> Iterator[str]:
        """The texts whose tags are known: of the statements before, and of what comes after."""
        yield from (part.text for part in self.parts)
        yield self.following

    def complete(self, text: str, offset: int) -> list[Completion]:
        """What may stand at an offset of a text."""
        self.move(text, offset)
        start = sum([len(part.text) for part in self.parts])
        self.following = text[offset:]
        return complete(self, text[start:offset])

    def move(self, text: str, offset: int) -> None:
        """Let the parts be those before the statement that an offset stands in."""
        starts = statement_starts(text[:offset])
        bounds = [0, *[start for start in starts if start]]
        wanted = [text[left:right] for left, right in pairwise(bounds)]
        kept = 0
        while kept < min(len(wanted), len(self.parts)) and self.parts[kept].text == wanted[kept]:
            kept += 1
        if kept < len(self.parts):
            self.types.back(self.parts[kept].before)
            del self.parts[kept:]
        with deep():
            for part in wanted[kept:]:
                self.parts.append(Part(part, self.types.mark()))
                script = read_part(Source(NAME, part), 0, len(part))
                if isinstance(script, ast.Script):
                    self.types.extend(script)
