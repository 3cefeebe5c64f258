"""Building a long text out of pieces without running away."""

from __future__ import annotations

from collections.abc import Sequence

from chatml.values.limits import LARGEST
from chatml.values.model import BuiltinFailure, Machine, Value
from chatml.values.walk import CYCLIC, holds_twice, unfolded_size

CHUNK = 2**16
PARTS_A_CHARACTER = 4
"""No text has fewer characters than a fourth of the parts of its value: a JSON number has three, its comma none."""

LONG = 16
"""Chunks after which the rest is estimated, so that a text that cannot fit is refused before it is written."""


class TextBuilder:
    """Collects the pieces of a value's text. The writer appends to `pieces` and calls `flush` when there are many.

    A running script passes its machine, whose limit bounds the text, and whose steps are charged for it. A cycle is
    looked for where the writer stands: a container that is open twice contains itself.
    """

    __slots__ = ("bound", "chunks", "machine", "pieces", "root", "size")

    def __init__(self, root: Value, machine: Machine | None) -> None:
        self.root = root
        self.machine = machine
        limit = None if machine is None else machine.limits.text
        self.bound = LARGEST if limit is None else min(limit, LARGEST)
        self.pieces: list[str] = []
        self.chunks: list[str] = []
        self.size = 0

    def flush(self, open: Sequence[Value]) -> None:
        """Join the pieces so far. `open` are the arrays and refs that the writer is in, from the outside in.

        Raises `BuiltinFailure` for a cycle, and the failure of the limit.
        """
        self.measure()
        self.chunks.append("".join(self.pieces))
        self.pieces.clear()
        chunks = len(self.chunks)
        if chunks & (chunks - 1) == 0 and holds_twice(open):  # at the first, second, fourth, eighth chunk ...
            raise BuiltinFailure(f"{CYCLIC}, so it has no text")
        if chunks == LONG:
            self.check((unfolded_size(self.root) or 0) // PARTS_A_CHARACTER)

    def measure(self) -> None:
        added = sum(map(len, self.pieces))
        self.size += added
        self.check(self.size)
        if self.machine is not None:
            self.machine.charge(added)

    def check(self, size: int) -> None:
        if size <= self.bound:
            return
        if self.machine is not None:
            self.machine.check_size(size)
        raise BuiltinFailure(f"the text would be longer than {self.bound:,} characters")

    def finish(self) -> str:
        """The whole text."""
        self.measure()
        self.chunks.append("".join(self.pieces))
        return "".join(self.chunks)
