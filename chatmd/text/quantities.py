"""Durations, sizes and whole numbers as attributes write them (shell.md section 2)."""

from __future__ import annotations

import math
import re
from decimal import Decimal

DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|s|m|h)", re.ASCII)
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
BYTES = re.compile(r"([0-9]{1,19})(B|KiB|MiB|GiB)?", re.ASCII)
SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
INTEGER = re.compile(r"[0-9]{1,19}", re.ASCII)
LARGEST = 2**63 - 1


def parse_duration(text: str) -> float | None:
    """Seconds, positive and finite; None when the text is not a duration.

    >>> parse_duration("2.5m"), parse_duration("250ms"), parse_duration("0s"), parse_duration("5")
    (150.0, 0.25, None, None)
    """
    match = DURATION.fullmatch(text)
    if match is None:
        return None
    seconds = float(match[1]) / 1000 if match[2] == "ms" else float(match[1]) * SECONDS[match[2]]
    return seconds if 0 < seconds < math.inf else None


def show_duration(seconds: float) -> str:
    """The canonical text of a duration.

    >>> show_duration(150.0), show_duration(0.25), show_duration(1e-05)
    ('150s', '0.25s', '0.00001s')
    """
    return format(Decimal(repr(seconds)), "f").removesuffix(".0") + "s"


def parse_bytes(text: str) -> int | None:
    """A size in bytes that fits 64 bits; None when the text is none.

    >>> parse_bytes("4KiB"), parse_bytes("12"), parse_bytes("1kb")
    (4096, 12, None)
    """
    match = BYTES.fullmatch(text)
    if match is None:
        return None
    size = int(match[1]) * SIZES[match[2] or "B"]
    return size if size <= LARGEST else None


def show_bytes(size: int) -> str:
    """The canonical text of a size.

    >>> show_bytes(4096)
    '4096B'
    """
    return f"{size}B"


def parse_integer(text: str) -> int | None:
    """A non-negative whole number that fits 64 bits; None when the text is none.

    >>> parse_integer("10"), parse_integer("-1"), parse_integer("1_0")
    (10, None, None)
    """
    if INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if number <= LARGEST else None
