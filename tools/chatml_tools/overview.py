"""What a program answers when it is called without one of its commands."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import metadata

from chatml.diagnostics.suggest import did_you_mean

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
    refused = refusal(name, commands, words)
    if refused is not None:
        parser.error(refused)
    parser.parse_args(words)


def refusal(name: str, commands: Mapping[str, str], words: list[str]) -> str | None:
    """What is wrong with a call that names none of the commands; None for one that asks for help or the version."""
    if not words:
        return f"which command? `{name} --help` lists them"
    if words[0] in ("-h", "--help", "--version"):
        return None
    if words[0].startswith("-"):
        return f"the command comes first: {name} COMMAND {words[0]}"
    return f"unknown command {words[0]}: {did_you_mean(words[0], commands) or f'see `{name} --help`'}"


class Version(argparse.Action):
    """Prints the version of the installed distribution; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.exit(OK, f"{parser.prog} {metadata.version('chatml-toolkit')}\n")
