"""Where a REPL writes: results on standard output, reports on standard error."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence

from chatml.diagnostics.model import Diagnostic
from chatml.records import frozen
from chatml_tools.console import report, wants_colour, write


@frozen
class Screen:
    """`is_terminal`: a person reads, so lines are kept as short as the terminal."""

    is_terminal: bool

    @property
    def width(self) -> int:
        """How many columns a line may take; 0 sets no bound."""
        return shutil.get_terminal_size((100, 24)).columns if self.is_terminal else 0

    @property
    def colour(self) -> bool:
        return self.is_terminal and wants_colour(sys.stdout)

    def show(self, lines: Iterable[str]) -> None:
        for line in lines:
            write(sys.stdout, line)

    def print(self, line: str) -> None:
        """What a script prints."""
        write(sys.stdout, line)

    def complain(self, message: str) -> None:
        write(sys.stderr, message)

    def report(self, diagnostics: Sequence[Diagnostic]) -> None:
        report(diagnostics)


def prompt(number: int) -> str:
    """What stands before the input of that number.

    >>> prompt(3), continuation(3)
    ('3> ', '.. ')
    """
    return f"{number}> "


def continuation(number: int) -> str:
    """What stands before its further lines, as wide."""
    return f"{'.' * len(str(number))}. "
