"""A program with commands: `chatml` and `chatmd` are two of them."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from io import TextIOWrapper
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.records import frozen
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError

if TYPE_CHECKING:
    from chatml_tools import overview
else:
    overview = lazy("chatml_tools.overview")

GARBAGE_AT = 100_000
"""How many new objects make Python look for garbage. Trees hold none, and at its default it walks them all the time."""


@cache
def spare_the_collector() -> None:
    """Let Python look for garbage seldom in this process, and not at all when it ends, as all memory is freed then."""
    gc.set_threshold(GARBAGE_AT)
    atexit.register(gc.freeze)


UNUSABLE, INTERRUPTED = 2, 130


def prepare_output() -> None:
    """Escape what the encoding of standard output lacks; what goes to a closed stream goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """Let what is still in the buffer of standard output go nowhere, so that Python does not fail on it in the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@frozen
class CommandLine:
    """A program: its name, what it is for, and its commands with a summary each.

    A command is a module of `package` with a docstring (its help), `configure(arguments)` and `execute(args)`, which
    returns the exit status. It is loaded when it is called.
    """

    name: str
    description: str
    package: str
    commands: Mapping[str, str]

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run the command line; returns the exit status."""
        spare_the_collector()
        prepare_output()
        try:
            status = self.dispatch(list(sys.argv[1:] if argv is None else argv))
            sys.stdout.flush()
            return status
        except UsageError as failure:
            print(f"{self.name}: {failure}", file=sys.stderr)
            return UNUSABLE
        except KeyboardInterrupt:
            print(f"{self.name}: interrupted", file=sys.stderr)
            return INTERRUPTED
        except BrokenPipeError:
            give_up_output()
            return UNUSABLE
        except OSError as error:
            give_up_output()
            what = "write the output" if error.filename is None else f"use {error.filename}"
            print(f"{self.name}: cannot {what}: {error.strerror or error}", file=sys.stderr)
            return UNUSABLE

    def dispatch(self, words: list[str]) -> int:
        """Load the command that the words of a call name, and execute it."""
        name = words[0] if words else ""
        if name not in self.commands:
            overview.answer(self.name, self.description, self.commands, words)
            return UNUSABLE
        command = importlib.import_module(f"{self.package}.{name}")
        arguments = Arguments()
        command.configure(arguments)
        status: int = command.execute(arguments.read(words[1:], f"{self.name} {name}", command.__doc__))
        return status
