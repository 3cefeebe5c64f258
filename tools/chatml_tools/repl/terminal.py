"""The dialogue on a terminal: with prompt_toolkit where it is installed, else with Python's own `input`."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from chatml_tools.repl.commands import Quit
from chatml_tools.repl.dialogue import Dialogue
from chatml_tools.repl.inputs import is_ready
from chatml_tools.repl.interrupts import Interrupts
from chatml_tools.repl.screen import continuation, prompt

HINT = "`pip install 'chatml-toolkit[repl]'` adds completion, history and colours"

GARBAGE_AT = 2_000
"""How many new objects make Python look for garbage while a person types: often, so that no look takes long."""

ReadInput = Callable[[int], str]
"""Reads the input of that number. Raises `KeyboardInterrupt` and `EOFError`."""


def converse(dialogue: Dialogue, interrupts: Interrupts, file: str | None) -> None:
    """Answer what a person types, until they leave."""
    try:
        editor: Callable[[Dialogue], ReadInput] = importlib.import_module("chatml_tools.repl.editor").editor
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("prompt_toolkit", "pygments"):
            raise
        read_input: ReadInput = partial(read_plainly, interrupts)
        greet(dialogue, file, HINT)
    else:
        read_input = editor(dialogue)
        greet(dialogue, file)
    with interrupts.kept_off():
        if file is not None:
            stoppable(dialogue, lambda: dialogue.load(file))
        answer_all(dialogue, read_input)


def answer_all(dialogue: Dialogue, read_input: ReadInput) -> None:
    """Read inputs and answer them, to the end."""
    gc.set_threshold(GARBAGE_AT)
    world = None
    while True:
        if dialogue.session.world is not world:
            world = dialogue.session.world
            settle()
        try:
            text = read_input(dialogue.number)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            stoppable(dialogue, partial(dialogue.answer, text.encode("utf-8", "surrogatepass")))
        except Quit:
            return


def settle() -> None:
    """Look for garbage once, and then no more in what is there: all that a file leaves would be felt at some key."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def greet(dialogue: Dialogue, file: str | None, hint: str | None = None) -> None:
    """Say what this is. The surface is told here only if no file is about to choose one."""
    surface = "" if file is not None else f", surface {dialogue.session.world.surface}"
    lines = [f"ChatML{surface}. `:help` lists the commands, Ctrl-D leaves."]
    dialogue.screen.show(lines if hint is None else [*lines, hint])


def stoppable(dialogue: Dialogue, action: Callable[[], object]) -> None:
    """Answer; an interrupt stops the script that runs, and nothing of it is left."""
    try:
        action()
    except KeyboardInterrupt:
        dialogue.screen.complain("\ninterrupted: what was running is taken back")


def read_plainly(interrupts: Interrupts, number: int) -> str:
    """Read an input line by line."""
    with suppress(ImportError):  # Without it, the terminal's own editing is all there is.
        importlib.import_module("readline")
    text = ""
    try:
        while True:
            with interrupts:
                text += input(prompt(number) if not text else continuation(number))
            if is_ready(text):
                return text
            text += "\n"
    except KeyboardInterrupt:
        sys.stdout.write("\n")
        raise
    except EOFError:
        sys.stdout.write("\n")
        if text.strip():
            return text
        raise
