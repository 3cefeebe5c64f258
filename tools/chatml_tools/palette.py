"""The styles of what is shown on a terminal."""

from __future__ import annotations

STYLES = {
    "dim": "\x1b[2m",
    "bold": "\x1b[1m",
    "good": "\x1b[32m",
    "bad": "\x1b[31m",
    "ask": "\x1b[33m",
    "plain": "",
}
RESET = "\x1b[0m"


def paint(style: str, text: str) -> str:
    """A text in a style, as the escapes of a terminal."""
    return f"{STYLES[style]}{text}{RESET}" if text and STYLES[style] else text
