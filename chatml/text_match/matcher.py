"""A compiled pattern, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from chatml.text_match import sets
from chatml.text_match.automaton import Backward, Charge, Forward
from chatml.text_match.parse import Look, Set, parse
from chatml.text_match.program import assemble, divide
from chatml.text_match.sets import Ranges

KEPT = 64


class Matcher:
    """A pattern, ready to be searched for in any number of texts; made by `compile`.

    `cost` is what it cost to make, in the measure of `charge`: a caller that bounds the work of others charges it with
    each use, since a pattern that is not kept any more is compiled again.
    """

    def __init__(self, pattern: str) -> None:
        operations = parse(pattern)
        numbers: dict[Ranges, int] = {sets.ANY: 0}
        for operation in operations:
            if isinstance(operation, Set):
                numbers.setdefault(operation.ranges, len(numbers))
        looks = any(isinstance(operation, Look) for operation in operations)
        forward = assemble(operations, numbers, backward=False)
        backward = assemble(operations, numbers, backward=True)
        alphabet = divide(numbers, looks=looks)
        self.pattern = pattern
        self.cost = PER_INSTRUCTION * (len(forward) + len(alphabet.starts))
        self.forward = Forward(forward, alphabet, list(numbers), looks=looks)
        self.backward = Backward(backward, alphabet, looks=looks)

    def search(self, text: str, charge: Charge = lambda size: None) -> tuple[int, int] | None:
        """Where the first match begins and ends; of those that begin there the one that the pattern prefers.

        >>> compile("a|ab|bc").search("xabc"), compile("a|ab|bc").search("x")
        ((1, 2), None)
        """
        return next(self.find_all(text, charge), None)

    def matches(self, text: str, charge: Charge = lambda size: None) -> bool:
        """Whether the pattern matches anywhere in a text.

        >>> compile("(?i)rm\\\\s+-rf").matches("sudo RM  -rf /")
        True
        """
        return self.forward.end(text, 0, charge, any=True) is not None

    def find_all(self, text: str, charge: Charge = lambda size: None) -> Iterator[tuple[int, int]]:
        """The matches from left to right. They do not overlap, and at each place there is at most one empty one.

        >>> list(compile("a*").find_all("baac"))
        [(0, 0), (1, 3), (3, 3), (4, 4)]
        """
        place = 0
        while place <= len(text):
            end = self.forward.end(text, place, charge)
            if end is None:
                return
            start = self.backward.start_of(text, end, place, charge)
            yield start, end
            place = end if end > start else end + 1


PER_INSTRUCTION = 640
"""To make an instruction, or a class of characters, costs as much as to read so many characters."""


@lru_cache(maxsize=KEPT)
def compile(pattern: str) -> Matcher:
    """A pattern as a matcher. Raises `PatternError` with the reason and the place."""
    return Matcher(pattern)
