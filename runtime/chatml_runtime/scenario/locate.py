"""Finding a value inside JSON5 text that is known to be well-formed, so that a diagnostic can point at it."""

from __future__ import annotations

import re
from typing import TypeAlias

import json5

from chatml.source import Source, Span

Path: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys of objects and indices of lists."""

BLANK = re.compile(r"(?:[\s\ufeff]+|//[^\n\r]*|/\*.*?\*/)*", re.DOTALL)
TOKEN = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{}\[\],:]|[^\s{}\[\],:"'/]+""", re.DOTALL)
OPENERS, CLOSERS = "{[", "}]"


def locate(source: Source, start: int, path: Path) -> Span:
    """The span of the value at a path; of the key itself where it has no value of its own to show.

    >>> locate(Source("s", "{a: [1, {b: 'x'}]}"), 0, ("a", 1, "b")).text
    "b: 'x'"
    """
    scanner = Scanner(source.text, start)
    left = scanner.place
    for step in path:
        left = scanner.enter(step)
    scanner.skip_value()
    return source.span(left, scanner.end)


def locate_elements(source: Source, start: int, path: Path) -> list[Span]:
    """The spans of all elements of the list at a path, in one walk over the text.

    >>> [span.text for span in locate_elements(Source("s", "{a: [1, /* two */ {b: 2}, ]}"), 0, ("a",))]
    ['1', '{b: 2}']
    """
    scanner = Scanner(source.text, start)
    for step in path:
        scanner.enter(step)
    scanner.take()
    spans = []
    while scanner.peek() not in ("", *CLOSERS):
        left = scanner.place
        scanner.skip_value()
        spans.append(source.span(left, scanner.end))
        if scanner.peek() == ",":
            scanner.take()
    return spans


def find_repeated_key(source: Source, start: int) -> tuple[Span, Span]:
    """The first key that stands twice in one object of a text that has such a key, both times.

    >>> [span.start.column for span in find_repeated_key(Source("s", "[{a: {b: 1}, b: 2, 'a': 3}]"), 0)]
    [2, 19]
    """
    scanner = Scanner(source.text, start)
    open_objects: list[dict[str, Span]] = []
    while scanner.peek():
        left = scanner.place
        token = scanner.take()
        if token in OPENERS:
            open_objects.append({})
        elif token in CLOSERS:
            open_objects.pop()
        elif scanner.peek() == ":":
            span = source.span(left, scanner.end)
            first = open_objects[-1].setdefault(key_text(token), span)
            if first is not span:
                return first, span
    raise AssertionError("no key stands twice")


class Scanner:
    """Walks over JSON5 text token by token. `place` is where the next token begins, `end` where the last ended."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.place = self.end = start
        self.skip_blank(start)

    def skip_blank(self, place: int) -> None:
        match = BLANK.match(self.text, place)
        self.place = place if match is None else match.end()

    def peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def take(self) -> str:
        """The next token."""
        match = TOKEN.match(self.text, self.place)
        if match is None:
            self.end = self.place = len(self.text)
            return ""
        self.end = match.end()
        self.skip_blank(self.end)
        return match.group()

    def skip_value(self) -> None:
        """Go past one value, brackets and all."""
        depth = 0
        while True:
            token = self.take()
            depth += (token in OPENERS) - (token in CLOSERS) if token else -depth
            if depth <= 0:
                return

    def enter(self, step: str | int) -> int:
        """Go to the value under a key or an index; returns where the key, or the element, begins."""
        self.take()
        index = 0
        while True:
            left = self.place
            if self.peek() in ("", *CLOSERS):
                return left
            if isinstance(step, str):
                key = self.take()
                self.take()
                if key_text(key) == step:
                    return left
            elif index == step:
                return left
            self.skip_value()
            if self.peek() == ",":
                self.take()
            index += 1


def key_text(token: str) -> str:
    """The key that a token spells."""
    if token[:1] in "\"'" or "\\" in token:
        quoted = token if token[:1] in "\"'" else f'"{token}"'
        return str(json5.loads(quoted))
    return token
