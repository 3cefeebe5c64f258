"""A program with commands: `chatml` and `chatmd` are two of them."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence

from chatml.cli.console import Failure
from chatml.records import frozen

LAYOUT = argparse.RawDescriptionHelpFormatter
"""Help stands as it is written in the docstrings."""

GARBAGE_AT = 100_000
"""How many new objects make Python look for garbage. Trees hold none, and at its default it walks them all the time."""

OK, UNUSABLE, INTERRUPTED = 0, 2, 130


@frozen
class CommandLine:
    """A program: its name, what it is for, and its commands with a summary each.

    A command is a module of `package` with a docstring (its help), `configure(parser)` and `execute(arguments)`, which
    returns the exit status. It is loaded when it is called.
    """

    name: str
    description: str
    package: str
    commands: Mapping[str, str]

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run the command line; returns the exit status."""
        gc.set_threshold(GARBAGE_AT)
        try:
            return self.dispatch(list(sys.argv[1:] if argv is None else argv))
        except Failure as failure:
            print(f"{self.name}: {failure}", file=sys.stderr)
            return UNUSABLE
        except KeyboardInterrupt:
            print(f"{self.name}: interrupted", file=sys.stderr)
            return INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return UNUSABLE

    def dispatch(self, arguments: list[str]) -> int:
        """Load the command that the arguments name, and execute it."""
        name = arguments[0] if arguments else ""
        if name not in self.commands:
            self.overview(arguments)
            return UNUSABLE
        command = importlib.import_module(f"{self.package}.{name}")
        parser = argparse.ArgumentParser(
            prog=f"{self.name} {name}",
            description=command.__doc__,
            formatter_class=LAYOUT,
        )
        command.configure(parser)
        status: int = command.execute(parser.parse_args(arguments[1:]))
        return status

    def overview(self, arguments: list[str]) -> None:
        """Answer `--help`, `--version`, and calls without a known command."""
        commands = "\n".join(f"  {name:<10}{summary}" for name, summary in self.commands.items())
        parser = argparse.ArgumentParser(
            prog=self.name,
            usage=f"{self.name} COMMAND [ARGUMENT …]",
            description=self.description,
            epilog=f"commands:\n{commands}\n\n`{self.name} COMMAND --help` explains a command.",
            formatter_class=LAYOUT,
        )
        parser.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
        parser.add_argument("command", choices=self.commands, metavar="COMMAND", help=argparse.SUPPRESS)
        parser.parse_args(arguments)


class Version(argparse.Action):
    """Prints the version of the installed distribution; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        metadata = importlib.import_module("importlib.metadata")
        parser.exit(OK, f"{parser.prog} {metadata.version('chatml')}\n")
