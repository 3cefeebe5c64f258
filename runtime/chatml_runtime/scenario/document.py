"""The text of a scenario as data with places: JSON5, one value, or an object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn, TypeVar

import attrs
import json5

from chatml.border.python import from_json
from chatml.diagnostics.errors import BoundaryError, CompileError
from chatml.diagnostics.model import Diagnostic, Label
from chatml.diagnostics.suggest import did_you_mean
from chatml.source import Source, Span
from chatml.values.surrogates import pairs_joined
from chatml_runtime.moderation.identities import Json
from chatml_runtime.scenario.locate import Path, find_repeated_key, locate

JSON5_PROBLEM = re.compile(r"<string>:(\d+) (.*?)(?: at column (\d+))?$", re.DOTALL)
WORD = re.compile(r"[\w$]+")
LARGEST = 2**53 - 1


@attrs.frozen(eq=False)
class Document:
    """A text. `starts` holds the offset of each line's value in JSON Lines; it is None if the text is one value."""

    source: Source
    starts: tuple[int, ...] | None = None

    def span_of(self, path: Path) -> Span:
        """The place of a value, or of a key if the path ends in one that is unknown."""
        if self.starts is None:
            return locate(self.source, 0, path)
        first, *rest = path or (0,)
        return locate(self.source, self.starts[int(first)], tuple(rest))


def parse(source: Source) -> Node:
    """The data in a text: one JSON5 value, or one object per line; `CompileError` if it is neither."""
    lines = [
        (start, text)
        for start, text in zip(
            source.line_starts,
            (source.line(number + 1) for number in range(len(source.line_starts))),
            strict=True,
        )
        if text.strip() and not text.lstrip().startswith("//")
    ]
    if not lines:
        fail(source, 0, "scenario.syntax", "the scenario is empty: it needs a list of events")
    if len(lines) > 1 and is_object(lines[0][1]):
        data = [parse_value(source, start, text) for start, text in lines]
        return Node(data, (), Document(source, tuple(start for start, _ in lines)))
    return Node(parse_value(source, 0, source.text), (), Document(source))


def is_object(text: str) -> bool:
    try:
        return isinstance(load(text), dict)
    except RepeatedKey:
        return True
    except (ValueError, RecursionError):
        return False


def load(text: str) -> Json:
    """The value of a JSON5 text; most are plain JSON, which is read a hundred times faster."""
    try:
        return json.loads(text, object_pairs_hook=once_each)
    except ValueError:
        return joined(json5.loads(text, object_pairs_hook=once_each))


class RepeatedKey(Exception):
    """An object has a key twice; which of the two was meant, nobody can tell."""


def once_each(pairs: Iterable[tuple[str, Json]]) -> Json:
    """The object of some pairs."""
    data: dict[str, Json] = {}
    for key, value in pairs:
        if key in data:
            raise RepeatedKey
        data[key] = value
    return data


def joined(data: Json) -> Json:
    """Data with a character for each pair of escapes, which the reader of JSON5 leaves as two halves."""
    match data:
        case str():
            return pairs_joined(data)
        case list():
            return [joined(item) for item in data]
        case dict():
            return {pairs_joined(key): joined(item) for key, item in data.items()}
    return data


def parse_value(source: Source, start: int, text: str) -> Json:
    try:
        return load(text)
    except RecursionError:
        fail(source, start, "scenario.syntax", "the scenario is nested too deeply")
    except RepeatedKey:
        other, repeated = find_repeated_key(source, start)
        raise CompileError(
            [
                Diagnostic(
                    "scenario.repeated_key",
                    "an object has this key twice",
                    repeated,
                    labels=(Label(other, "the first one"),),
                    help="remove one of them",
                )
            ]
        ) from None
    except ValueError as error:
        problem = JSON5_PROBLEM.match(str(error))
        if problem is None:
            fail(source, start, "scenario.syntax", f"the scenario is not JSON5: {error}")
        line, message, column = problem.groups()
        first = source.position(start).line
        offset = source.line_starts[min(first + int(line) - 2, len(source.line_starts) - 1)] + int(column or 1) - 1
        word = word_at(source.text, offset)
        if word is not None:
            fail(source, word.start(), "scenario.syntax", f'the scenario is not JSON5: unexpected "{word[0]}"')
        fail(source, offset, "scenario.syntax", f"the scenario is not JSON5: {lower(message)}")


def lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def word_at(text: str, offset: int) -> re.Match[str] | None:
    """The word around a place; a reader of JSON5 gives up in its middle, where it ceases to be `true` or `null`."""
    start = offset
    while start > 0 and WORD.match(text, start - 1):
        start -= 1
    return WORD.match(text, start) if offset < len(text) and WORD.match(text, offset) else None


def fail(source: Source, offset: int, code: str, message: str) -> NoReturn:
    left = min(offset, len(source.text))
    raise CompileError([Diagnostic(code, message, source.span(left, min(left + 1, len(source.text))))])


Read = TypeVar("Read")


@attrs.frozen(eq=False)
class Node:
    """A piece of the data and its path, so that a problem can be shown where it is."""

    data: Json
    path: Path
    document: Document

    def fail(self, code: str, message: str, help: str | None = None) -> NoReturn:
        """Refuse the scenario because of this piece."""
        place = show_path(self.path)
        diagnostic = Diagnostic(
            code, f"{place}: {message}" if place else message, self.document.span_of(self.path), help=help
        )
        raise CompileError([diagnostic])

    def at(self, key: str | int) -> Node:
        return Node(self.data[key], (*self.path, key), self.document)

    def object(self) -> Mapping[str, Json]:
        if not isinstance(self.data, dict):
            self.fail("scenario.shape", "expected an object")
        return self.data

    def each(self, read: Callable[[Node], Read]) -> tuple[Read, ...]:
        """The elements of a list."""
        if not isinstance(self.data, list):
            self.fail("scenario.shape", "expected a list")
        return tuple(read(self.at(index)) for index in range(len(self.data)))

    def known(self, *keys: str, required: Sequence[str] = ()) -> dict[str, Node]:
        """The fields of an object that may have these keys."""
        for key in self.object():
            if key not in keys:
                Node(None, (*self.path, key), self.document).fail(
                    "scenario.unknown_key",
                    f"unknown key; expected {' or '.join(keys) if len(keys) < 3 else 'one of ' + ', '.join(keys)}",
                    did_you_mean(key, keys),
                )
        for key in required:
            if key not in self.data:
                self.fail("scenario.shape", f"the key `{key}` is missing")
        return {key: self.at(key) for key in self.data}

    def text(self) -> str:
        if not isinstance(self.data, str):
            self.fail("scenario.shape", "expected a string")
        self.json()
        return self.data

    def integer(self) -> int:
        """An integer of at least 0 that JSON can hold."""
        number = self.data
        if isinstance(number, float) and number.is_integer():
            number = int(number)
        if type(number) is not int or number < 0:
            self.fail("scenario.shape", "expected an integer of at least 0")
        if number > LARGEST:
            self.fail("scenario.shape", f"expected an integer of at most {LARGEST:,}")
        return number

    def json(self) -> Json:
        """Data that scripts can hold."""
        try:
            from_json(self.data)
        except BoundaryError as error:
            self.fail("scenario.data", str(error))
        return self.data

    def item(self) -> Json:
        """A provider item."""
        self.object()
        return self.json()


def show_path(path: Path) -> str:
    """A path as JavaScript would write it: `events[3].call`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
