"""A command: literal words, never a line for a shell."""

from __future__ import annotations

from typing import Literal

import attrs

Kind = Literal["structured", "script_file", "raw_shell"]
"""What a request is about: literal words, a script file with a recorded digest, or text for a shell."""


@attrs.frozen
class Command:
    """A program, as it was asked for, and its arguments.

    >>> Command("git", ("status",)).argv
    ('git', 'status')
    """

    program: str
    arguments: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """The words, the program first."""
        return (self.program, *self.arguments)
