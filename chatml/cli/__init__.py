"""The command line: `chatml COMMAND …`, each command a module of its own that is loaded when it is called.

Exit status: 0 fine, 1 the input is at fault (diagnostics on standard error), 2 the call or the environment is.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from chatml.cli.console import Failure

COMMANDS = {
    "run": "run a script, or feed events to a moderator",
    "check": "report every error and warning of some scripts",
    "types": "print the type of each top-level binding",
    "explain": "explain a diagnostic code, with examples",
}

OK, AT_FAULT, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return dispatch(arguments)
    except Failure as failure:
        print(f"chatml: {failure}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("chatml: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNUSABLE


def dispatch(arguments: list[str]) -> int:
    """Load the command that the arguments name, and execute it."""
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        overview(arguments)
        return UNUSABLE
    command = importlib.import_module(f"chatml.cli.{name}")
    parser = argparse.ArgumentParser(prog=f"chatml {name}", description=command.__doc__, formatter_class=Layout)
    command.configure(parser)
    status: int = command.execute(parser.parse_args(arguments[1:]))
    return status


class Layout(argparse.RawDescriptionHelpFormatter):
    """Help as it is written in the docstrings."""


def overview(arguments: list[str]) -> None:
    """Answer `--help`, `--version`, and calls without a known command."""
    commands = "\n".join(f"  {name:<10}{summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="chatml",
        usage="chatml COMMAND [ARGUMENT …]",
        description="Policy as code for LLM conversations.",
        epilog=f"commands:\n{commands}\n\n`chatml COMMAND --help` explains a command.",
        formatter_class=Layout,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help=argparse.SUPPRESS)
    parser.parse_args(arguments)


class Version(argparse.Action):
    """Prints the version of the installed distribution; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        metadata = importlib.import_module("importlib.metadata")
        parser.exit(OK, f"chatml {metadata.version('chatml')}\n")
