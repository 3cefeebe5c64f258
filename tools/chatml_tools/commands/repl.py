"""Enter statements and see their values and types, one input at a time; `:help` lists what else there is.

On a terminal with completion, history and colours (the extra `chatml-toolkit[repl]`); piped, each input is read from
standard input, results go to standard output, reports to standard error, and the exit status is 1 if any input failed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from types import SimpleNamespace

from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, read_bytes
from chatml_tools.repl.commands import Quit
from chatml_tools.repl.dialogue import Dialogue
from chatml_tools.repl.inputs import split
from chatml_tools.repl.interrupts import Interrupts
from chatml_tools.repl.screen import Screen
from chatml_tools.repl.session import Inside, Session
from chatml_tools.scripts import SURFACES


def configure(arguments: Arguments) -> None:
    arguments.add("file", nargs="?", metavar="FILE", help="a script or a prompt document to load first")
    arguments.add(
        "--surface",
        choices=SURFACES,
        help="what inputs can name (default: core; with FILE, ui if it defines on_event)",
    )


def execute(args: SimpleNamespace) -> int:
    if args.file is not None:
        read_bytes_of(args.file)
    if sys.stdin is None:
        raise UsageError("cannot read standard input: it is closed")
    if sys.stdin.isatty() and sys.stdout.isatty():
        interrupts = Interrupts()
        converse: Callable[[Dialogue, Interrupts, str | None], None]
        converse = importlib.import_module("chatml_tools.repl.terminal").converse
        converse(begin(args.surface, lambda: interrupts, is_terminal=True), interrupts, args.file)
        return 0
    dialogue = begin(args.surface, nullcontext, is_terminal=False)
    return 0 if answer_all(dialogue, args.file, sys.stdin.buffer) else 1


def read_bytes_of(path: str) -> None:
    """Refuse a file that cannot be read before anything else happens."""
    if path == "-":
        raise UsageError("standard input has the inputs, so the script cannot be there, too")
    read_bytes(path)


def begin(surface: str | None, inside: Inside, *, is_terminal: bool) -> Dialogue:
    screen = Screen(is_terminal)
    width = None if is_terminal else 0
    return Dialogue(Session(surface, print=screen.print, inside=inside, colour=screen.colour, width=width), screen)


def answer_all(dialogue: Dialogue, file: str | None, lines: Iterable[bytes]) -> bool:
    """Answer all inputs in a stream; whether all is well."""
    is_well = file is None or dialogue.load(file)
    try:
        for data in split(lines):
            is_well &= dialogue.answer(data)
    except Quit:
        pass
    return is_well
