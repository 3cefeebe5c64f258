"""What stands before a place of a script that is being written, kept from one key to the next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from chatml.pipeline import environment
from chatml.records import frozen
from chatml.source import Source
from chatml.stack import deep
from chatml.surfaces.model import Surface
from chatml.syntax import ast
from chatml.syntax.parse.recovery import read_part, statement_starts
from chatml.types import Statements
from chatml.types.guided import GuidedStatements
from chatml.types.statements import Mark
from chatml_tools.completion.complete import Completion, complete

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
        self.types: Statements = GuidedStatements(environment(surface))
        self.parts: list[Part] = []
        self.following = ""

    @property
    def texts(self) -> Iterator[str]:
        """The texts whose tags are known: of the statements before, and of what comes after."""
        yield from (part.text for part in self.parts)
        yield self.following

    @property
    def reach(self) -> int:
        """How many characters the parts have."""
        return sum([len(part.text) for part in self.parts])

    def complete(self, text: str, offset: int) -> list[Completion]:
        """What may stand at an offset of a text."""
        self.move(text, offset)
        start = self.reach
        self.following = text[offset:]
        return complete(self, text[start:offset])

    def move(self, text: str, offset: int) -> None:
        """Let the parts be those before the statement that an offset stands in."""
        before = text[:offset]
        left, kept = self.common(before)
        bounds = [left, *[start for start in statement_starts(before, left) if start > left]]
        wanted = [before[left:right] for left, right in pairwise(bounds)]
        while wanted and kept < len(self.parts) and self.parts[kept].text == wanted[0]:
            kept += 1
            del wanted[0]
        if kept < len(self.parts):
            self.types.back(self.parts[kept].before)
            del self.parts[kept:]
        with deep():
            for part in wanted:
                self.parts.append(Part(part, self.types.mark()))
                script = read_part(Source(NAME, part), 0, len(part))
                if isinstance(script, ast.Script):
                    self.types.extend(script)

    def common(self, text: str) -> tuple[int, int]:
        """Where the last part begins that a text has in common with what was before, and how many come before it.

        That part may be longer now: what follows it may belong to it.
        """
        left = count = size = 0
        for part in self.parts:
            if not text.startswith(part.text, left + size):
                break
            left, count, size = left + size, count + 1, len(part.text)
        return left, max(count - 1, 0)
