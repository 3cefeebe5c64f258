"""What the commands share: reading scripts, writing reports, and choosing a surface."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TextIO

from chatml.decode import decode
from chatml.diagnostics import Diagnostic, draw_all, encode
from chatml.source import Source
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Surface
from chatml.surfaces.moderator import MODERATOR
from chatml.surfaces.ui import UI_MODERATOR

SURFACES = {"core": CORE, "moderator": MODERATOR, "ui": UI_MODERATOR}

DOCUMENTS = (".md", ".chatmd")
"""The names of prompt documents end so."""

DEFINES_HANDLER = re.compile(r"^\s*let\s+(rec\s+)?on_event\b", re.MULTILINE)


class Failure(Exception):
    """The call or the environment is at fault: one line for the person, exit status 2."""


def add_surface(parser: argparse.ArgumentParser) -> None:
    """Offer `--surface`."""
    parser.add_argument(
        "--surface",
        choices=SURFACES,
        help="what the script can name (default: ui for a script that defines on_event, core for any other)",
    )


def choose_surface(name: str | None, source: Source) -> Surface:
    """The surface of that name, or the one that fits the script."""
    if name is None:
        name = "ui" if DEFINES_HANDLER.search(source.text) else "core"
    return SURFACES[name]


def read_source(path: str) -> Source:
    """The script in a file, on standard input for `-`, or the moderator of a prompt document.

    Raises `CompileError` for text that is not UTF-8, and for a document that does not load.
    """
    if path.endswith(DOCUMENTS):
        read_moderator: Callable[[str], Source] = import_module("chatml.cli.documents.reading").read_moderator
        return read_moderator(path)
    return decode("<stdin>", read_bytes(path)) if path == "-" else decode(path, read_bytes(path))


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for `-`."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror or error}") from None


def report(diagnostics: Iterable[Diagnostic]) -> None:
    """Draw diagnostics on standard error, in colour on a terminal."""
    text = draw_all(diagnostics, colour=wants_colour(sys.stderr))
    if text:
        write(sys.stderr, text)


LINE_ENDS = re.compile("[\\u0085\\u2028\\u2029]")
"""What ends a line for some readers of lines, and JSON does not escape by itself."""

NOT_ASCII = re.compile("[^\\0-\\x7f]")


def print_json(document: Any) -> None:
    """Print one JSON document on a line of its own."""
    write(sys.stdout, json_line(json.dumps(document, ensure_ascii=False, separators=(",", ":"))))


def json_line(text: str) -> str:
    """JSON text as one line for every reader, in the encoding of standard output; escapes are those of JSON."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return NOT_ASCII.sub(escaped, text)
    return LINE_ENDS.sub(escaped, text)


def escaped(character: re.Match[str]) -> str:
    return json.dumps(character[0])[1:-1]


def write(stream: TextIO, line: str) -> None:
    """Write a line at once; what the stream's encoding lacks is escaped."""
    try:
        stream.write(line + "\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


def wants_colour(stream: TextIO) -> bool:
    """Colour on a terminal only, and never when `NO_COLOR` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def encode_all(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Diagnostics as plain data."""
    return [encode(diagnostic) for diagnostic in diagnostics]


def conclude(found: Sequence[Diagnostic], files: int, *, as_json: bool) -> int:
    """Report what checking some files found, and how much of it; returns the exit status."""
    errors = sum(diagnostic.severity == "error" for diagnostic in found)
    warnings = len(found) - errors
    if as_json:
        print_json({"diagnostics": encode_all(found), "errors": errors, "warnings": warnings})
    else:
        report(found)
        print(f"{count(files, 'file')} checked: {count(errors, 'error')}, {count(warnings, 'warning')}")
    return 1 if errors else 0


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(2, "file")
    '2 files'
    """
    return f"{number} {noun}{'s' * (number != 1)}"
