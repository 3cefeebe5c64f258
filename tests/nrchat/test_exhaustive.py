"""Every short text over a small alphabet, held against the slow model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from chatmd.nrchat import ChatSyntaxError, Message, escape_body, parse, stringify
from chatmd.nrchat.fences import is_closed
from tests.nrchat import model


def words(alphabet: list[str], length: int) -> Iterator[str]:
    for count in range(length + 1):
        for word in itertools.product(alphabet, repeat=count):
            yield "".join(word)


def read(text: str) -> Any:
    try:
        return [(m.role, m.name, m.meta, m.body, m.raw_meta, m.span) for m in parse(text)]
    except ChatSyntaxError as error:
        return error.line


def read_by_the_model(text: str) -> Any:
    try:
        return model.parse(text)
    except model.ModelError as error:
        return error.line


def test_marker_lines() -> None:
    for tail in words(["\\", "{", "}", "a", " "], 6):
        assert read("%u" + tail) == read_by_the_model("%u" + tail), tail


def test_marker_lines_with_a_meta() -> None:
    for tail in words(["\\", "{", "}", "a", " ", "\r"], 4):
        text = f"%u {tail}{{a: 1}}{tail}\nx"
        assert read(text) == read_by_the_model(text), tail


def test_names() -> None:
    for name in words(["\\", "{", "}", "a"], 6):
        if name:
            text = stringify([Message("u", name)])
            assert text == model.stringify([("u", name, None, "", None)]), name
            assert parse(text)[0].name == name
            (back,) = parse(stringify([Message("u", name, {})]))
            assert (back.name, back.meta) == (name, {})


@pytest.mark.parametrize("alphabet", [["\n", "\r", "%", "a"], ["\n", "\\", "%", "\r\n", "%a"]])
def test_line_ends_and_ladders(alphabet: list[str]) -> None:
    for text in words(alphabet, 6):
        assert read(text) == read_by_the_model(text), text
        assert read("%u\n" + text) == read_by_the_model("%u\n" + text), text
        assert escape_body(text) == model.escape_body(text), text


def test_fences() -> None:
    for lines in itertools.product(["````", "`````\t", "```` x", "\\%", "%u", "````y`"], repeat=5):
        text = "\n".join(lines)
        assert read(text) == read_by_the_model(text), text
        assert escape_body(text) == model.escape_body(text), text
        assert is_closed(text) == model.closed(text), text
