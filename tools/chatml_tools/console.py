"""What the commands share: reading files, refusing a call, and writing reports and JSON."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from chatml.diagnostics.errors import CompileError
from chatml.lazy import lazy
from chatml.records import evolve
from chatml_tools.arguments import Arguments

if TYPE_CHECKING:
    import json

    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
else:
    json, model = lazy("json"), lazy("chatml.diagnostics.model")


class UsageError(Exception):
    """The call or the environment is at fault: one line for the person, exit status 2."""


def refuse_twice(paths: Sequence[str]) -> None:
    """Standard input can be read once."""
    if paths.count("-") > 1:
        raise UsageError("standard input can be read once: name `-` once")


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for `-`."""
    if path == "-":
        if sys.stdin is None:
            raise UsageError("cannot read standard input: it is closed")
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:  # a path with a NUL in it is a `ValueError`
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def report(found: Sequence[Diagnostic]) -> None:
    """Draw diagnostics on standard error, in colour on a terminal."""
    if found:
        write(sys.stderr, model.draw_all(found, colour=wants_colour(sys.stderr)))


LINE_ENDS = "[\\u0085\\u2028\\u2029]"
"""What ends a line for some readers of lines, and JSON does not escape by itself."""

NOT_ASCII = "[^\\0-\\x7f]"


def print_json(document: Any) -> None:
    """Print one JSON document on a line of its own."""
    write(sys.stdout, dump_json(document))


def dump_json(document: Any) -> str:
    """A JSON document as one line."""
    return json_line(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def json_line(text: str) -> str:
    """JSON text as one line for every reader, in the encoding of standard output; escapes are those of JSON."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return re.sub(NOT_ASCII, escaped, text)
    return re.sub(LINE_ENDS, escaped, text)


def escaped(character: re.Match[str]) -> str:
    return json.dumps(character[0])[1:-1]


def write(stream: TextIO, line: str) -> None:
    """Write a line at once."""
    stream.write(line + "\n")
    stream.flush()


def wants_colour(stream: TextIO) -> bool:
    """Colour on a terminal only, and never when `NO_COLOR` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def encode_all(found: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Diagnostics as plain data."""
    return [model.encode(diagnostic) for diagnostic in found]


def add_strict(arguments: Arguments) -> None:
    """Offer `--strict`."""
    arguments.add("--strict", action="store_true", help="take every warning for an error")


def hardened(found: Sequence[Diagnostic], strict: bool) -> list[Diagnostic]:
    """Findings, with warnings as errors where these are asked for."""
    return [evolve(each, severity="error") if strict else each for each in found]


def heed(warnings: Sequence[Diagnostic], strict: bool) -> None:
    """Report warnings. Raises `CompileError` of them where warnings are errors."""
    if strict and warnings:
        raise CompileError(hardened(warnings, strict))
    report(warnings)


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
