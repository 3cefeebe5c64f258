"""Building a long text out of pieces without running away."""

from __future__ import annotations

from collections.abc import Callable

from chatml.values.limits import LARGEST
from chatml.values.model import BuiltinFailure, Value
from chatml.values.walk import CYCLIC, unfolded_size

CHUNK = 2**16
PARTS_A_CHARACTER = 4
"""No text has fewer characters than a fourth of the parts of its value: a JSON number has three, its comma none."""


def refuse_huge(size: int) -> None:
    """The bound that holds where no limit of a run does."""
    if size > LARGEST:
        raise BuiltinFailure(f"the text would be longer than {LARGEST:,} characters")


class TextBuilder:
    """Collects the pieces of a value's text. The writer appends to `pieces` and calls `flush` when there are many.

    Only then is the value searched for a cycle, and its size held against the limit: a short text costs neither.
    """

    __slots__ = ("check_size", "chunks", "pieces", "root", "size")

    def __init__(self, root: Value, check_size: Callable[[int], None] | None) -> None:
        self.root = root
        self.check_size = check_size or refuse_huge
        self.pieces: list[str] = []
        self.chunks: list[str] = []
        self.size = 0

    def flush(self) -> None:
        """Join the pieces so far; raises `BuiltinFailure` for a cycle, and what `check_size` raises."""
        if not self.chunks:
            size = unfolded_size(self.root)
            if size is None:
                raise BuiltinFailure(f"{CYCLIC}, so it has no text")
            self.check_size(size // PARTS_A_CHARACTER)
        self.measure()
        self.chunks.append("".join(self.pieces))
        self.pieces.clear()

    def measure(self) -> None:
        self.size += sum([len(piece) for piece in self.pieces])
        self.check_size(self.size)

    def finish(self) -> str:
        """The whole text."""
        self.measure()
        self.chunks.append("".join(self.pieces))
        return "".join(self.chunks)
