"""What a program answers when it is called without one of its commands."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import metadata

OK = 0


def answer(name: str, description: str, commands: Mapping[str, str], words: list[str]) -> None:
    """Answer `--help`, `--version`, and calls without a known command; raises `SystemExit`."""
    listed = "\n".join(f"  {command:<10}{summary}" for command, summary in commands.items())
    parser = argparse.ArgumentParser(
        prog=name,
        usage=f"{name} COMMAND [ARGUMENT …]",
        description=description,
        epilog=f"commands:\n{listed}\n\n`{name} COMMAND --help` explains a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    parser.add_argument("command", choices=commands, metavar="COMMAND", help=argparse.SUPPRESS)
    parser.parse_args(words)


class Version(argparse.Action):
    """Prints the version of the installed distribution; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.exit(OK, f"{parser.prog} {metadata.version('chatml')}\n")
