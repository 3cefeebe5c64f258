"""Where one input ends and the next begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.stack import deep
from chatml.syntax.parse import is_incomplete, parse
from chatml.syntax.parse.lexer import OPEN_COMMENT, tokens
from chatml.syntax.parse.table import ACTIONS, STARTS

COMMAND = re.compile(r"\s*:(?=[A-Za-z?]|\s*\Z)")
"""How a command begins. (No input begins with a colon.)"""

SHORT = 2_000
"""Characters up to which an empty line makes us look whether an input is complete."""

JOINS = ("and", "|")
"""What may follow an empty line and still go on with a complete input: the next function of a group, the next arm."""


def is_command(text: str) -> bool:
    return COMMAND.match(text) is not None


def is_complete(text: str) -> bool:
    """Whether a text is a whole input, or one that no further text can mend.

    >>> is_complete("let x ="), is_complete("let x = 1"), is_complete("let = "), is_complete(":type (")
    (False, True, True, True)
    """
    if is_command(text):
        return True
    try:
        with deep():
            parse(Source("<input>", text))
    except CompileError as error:
        return not is_incomplete(error)
    return True


def is_ready(text: str) -> bool:
    """Whether a typed text is to be answered: a complete line at once, several lines after an empty one.

    What is incomplete after two empty lines is answered, too, so that the person learns what it lacks.

    >>> is_ready("1 + 2"), is_ready("let f x =\\n  x"), is_ready("let f x =\\n  x\\n")
    (True, False, True)
    >>> is_ready("f(1"), is_ready("f(1\\n"), is_ready("f(1\\n\\n")
    (False, False, True)
    """
    lines = text.split("\n")
    empty = len(lines) - len(text.rstrip().split("\n"))
    return empty > 1 or ((len(lines) == 1 or empty == 1 or is_command(text)) and is_complete(text))


def begins_input(line: str) -> bool:
    """Whether an input can begin with a line: it stands at the margin, and a script can begin so.

    A comment tells nothing: it may stand before the next function of a group.

    >>> begins_input("f(1)"), begins_input("  f(1)"), begins_input("| `A -> 1"), begins_input("in x"), begins_input("")
    (True, False, False, False, False)
    >>> begins_input("(* more *)"), begins_input("(* more"), begins_input("(* more *) f(1)")
    (False, False, True)
    """
    if not line.strip() or line[0] in " \t":
        return False
    kind, _, word = next(tokens(line))
    if kind == OPEN_COMMENT or (kind >= 0 and not word):
        return False
    return kind < 0 or kind in ACTIONS[STARTS["program"]]


def split(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The inputs and commands in a stream of lines; an input may take several.

    It goes on over lines that are indented, or that no input can begin with, and for as long as it is incomplete.
    A line that begins with a command's colon is always a command.

    >>> list(split([b"let f x =\\n", b"  x\\n", b"f(1)\\n", b":undo\\n"]))
    [b'let f x =\\n  x\\n', b'f(1)\\n', b':undo\\n']
    """
    held = b""
    for line in lines:
        text = line.decode("utf-8", "replace")
        command = line[:1] == b":" and is_command(text)
        if held.strip() and (command or ends_before(held, text)):
            yield held
            held = b""
        if command:
            yield line
        elif held or text.strip():
            held += line
    if held.strip():
        yield held


def ends_before(held: bytes, line: str) -> bool:
    """Whether an input ends before a line: one at which another can begin, or an empty one."""
    if line.strip():
        return begins_input(line) and is_complete(held.decode("utf-8", "replace"))
    text = held.decode("utf-8", "replace") if len(held) < SHORT else ""
    return bool(text) and is_complete(text) and all(is_complete(f"{text}\n{word}") for word in JOINS)
