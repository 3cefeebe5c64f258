"""The arguments of a command: told once, read at once where the call is plain, and by `argparse` where it is not.

Importing `argparse` and setting it up takes longer than a short script takes to be checked and run. A call is plain
when every option in it is written out in full and takes what the command says; what `argparse` has to explain, refuse
or make out (`--help`, `--eve x`, `--events=x`, `-j4`, a missing argument) is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from chatml.lazy import lazy

if TYPE_CHECKING:
    import argparse
    import shutil
    import textwrap
else:
    argparse, shutil, textwrap = lazy("argparse"), lazy("shutil"), lazy("textwrap")

VALUE = frozenset(("choices", "default", "dest", "help", "metavar"))
"""What may be said of an option that plainly takes a value: no type to convert it to, no other number of values."""
PLACE = frozenset(("help", "metavar"))
"""What may be said of a positional argument that is plainly read; of the last one also `nargs="+"`: several words."""


class Arguments:
    """What a command takes: `add` is the `add_argument` of `argparse`, with a long name first if it is an option.

    >>> arguments = Arguments()
    >>> arguments.add("file")
    >>> arguments.add("--loud", action="store_true")
    >>> arguments.read(["a.txt", "--loud"], prog="show", description=None)
    namespace(loud=True, file='a.txt')
    """

    def __init__(self) -> None:
        self.told: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def add(self, *names: str, **settings: Any) -> None:
        """Take an argument: a positional one, or an option."""
        self.told.append((names, settings))

    def read(self, words: Sequence[str], prog: str, description: str | None) -> SimpleNamespace:
        """The arguments of a call, each an attribute. Raises `SystemExit` where `argparse` does."""
        return self.read_plain(words) or self.parser(prog, description).parse_args(words, SimpleNamespace())

    def parser(self, prog: str, description: str | None) -> argparse.ArgumentParser:
        """The parser that reads any call; its help keeps the paragraphs of a description apart."""
        layout = argparse.RawDescriptionHelpFormatter
        told = None if description is None else fit(description)
        parser = argparse.ArgumentParser(prog=prog, description=told, formatter_class=layout)
        for names, settings in self.told:
            parser.add_argument(*names, **settings)
        return parser

    def read_plain(self, words: Sequence[str]) -> SimpleNamespace | None:
        """What a plain call says; None for any other call."""
        options, places, read = self.tables()
        standing: list[str] = []
        over = False
        rest = iter(words)
        for word in rest:
            if not looks_like_option(word):
                if over:
                    return None  # `argparse` may have given a place away before it came here.
                standing.append(word)
                continue
            over = bool(standing)
            if word not in options:
                return None
            name, settings = options[word]
            if "action" in settings:
                read[name] = True
                continue
            value = next(rest, "--")
            if looks_like_option(value) or value not in settings.get("choices", (value,)):
                return None
            read[name] = value
        return SimpleNamespace(**read) if fill(places, standing, read) else None

    def tables(self) -> tuple[dict[str, tuple[str, dict[str, Any]]], list[tuple[str, dict[str, Any]]], dict[str, Any]]:
        """The plain options by each of their names, the positional arguments, and the value of each absent option."""
        options: dict[str, tuple[str, dict[str, Any]]] = {}
        places: list[tuple[str, dict[str, Any]]] = []
        absent: dict[str, Any] = {}
        for names, settings in self.told:
            if not names[0].startswith("-"):
                places.append((names[0], settings))
                continue
            name = settings.get("dest", names[0].lstrip("-").replace("-", "_"))
            is_flag = settings.get("action") == "store_true"
            absent[name] = settings.get("default", False if is_flag else None)
            if is_flag or settings.keys() <= VALUE:
                options |= dict.fromkeys(names, (name, settings))
        return options, places, absent


def fit(text: str) -> str:
    """Paragraphs, each as wide as `argparse` makes the rest of its help."""
    width = shutil.get_terminal_size().columns - 2
    return "\n\n".join([textwrap.fill(paragraph, width) for paragraph in text.strip().split("\n\n")])


def looks_like_option(word: str) -> bool:
    """Whether a word may be an option; a single `-` stands for standard input."""
    return word.startswith("-") and word != "-"


def fill(places: list[tuple[str, dict[str, Any]]], words: list[str], read: dict[str, Any]) -> bool:
    """Give the positional arguments their words; whether that was plain, and all of them have one."""
    many = bool(places) and places[-1][1].get("nargs") == "+"
    single = places[: len(places) - many]
    if not all(settings.keys() <= PLACE for _, settings in single):
        return False
    if len(words) < len(places) or (len(words) > len(places) and not many):
        return False
    read |= {name: word for (name, _), word in zip(single, words, strict=False)}
    if many:
        read[places[-1][0]] = words[len(single) :]
    return True
