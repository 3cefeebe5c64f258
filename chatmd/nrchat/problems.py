"""What keeps a message from being written, or from reading back as it was (nrchat.md 11, 15 and 17)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from chatmd.nrchat.errors import Json5Error, WriteError, WriteTypeError
from chatmd.nrchat.fences import is_closed
from chatmd.nrchat.json5.read import parse_json5
from chatmd.nrchat.json5.write import stringify_json5
from chatmd.nrchat.message import Message
from chatmd.nrchat.whitespace import WHITESPACE

ROLE = re.compile(f"[^{WHITESPACE}]+")
CR_AT_LINE_END = re.compile(r"\r(?=\n|\Z)")
SURROGATE = re.compile("[\ud800-\udfff]")
SHOWN_ROLE = 40


@attrs.frozen
class Problem:
    """Something about the message number `index`, from 0, that reading its text would not give back.

    `field` is the field of `Message` that is at fault; `error` is what `stringify` raises for it.
    """

    index: int
    field: str
    error: WriteError

    def __str__(self) -> str:
        return f"message {self.index}, {self.field}: {self.error}"


def check(messages: Iterable[Message]) -> list[Problem]:
    """Everything that the round trip through text would lose or change, in order (nrchat.md section 17).

    An empty list promises that `parse(stringify(messages))` gives the messages back.

    >>> for problem in check([Message("user", " Bob", body="ok"), Message("bot", body="````\\nnot closed")]):
    ...     print(problem)
    message 0, name: white space around a name is lost on reading
    message 1, body: a fence line is never closed; it can swallow the messages that follow
    """
    return [
        Problem(index, field, error)
        for index, message in enumerate(messages)
        for field, error in (refusals(message) or losses(message))
    ]


def refusals(message: Message) -> list[tuple[str, WriteError]]:
    """What makes a message impossible to write: the field and the error, most often nothing (W4, X-45)."""
    role, name, body, raw = message.role, message.name, message.body, message.raw_meta
    found: list[tuple[str, WriteError]] = []
    if not isinstance(role, str) or ROLE.fullmatch(role) is None:
        found.append(("role", _bad_role(role)))
    if name is not None and (not isinstance(name, str) or "\n" in name):
        found.append(("name", _bad_line("name", name)))
    if raw is not None and (not isinstance(raw, str) or "\n" in raw):
        found.append(("raw_meta", _bad_line("raw_meta", raw)))
    if not isinstance(body, str):
        found.append(("body", WriteTypeError(f"a body is a str, not {type(body).__name__}")))
    return found


def _bad_role(role: Any) -> WriteError:
    if not isinstance(role, str):
        return WriteTypeError(f"a role is a str, not {type(role).__name__}")
    if not role:
        return WriteTypeError("a role cannot be empty")
    return WriteTypeError(f"a role cannot hold white space: {role[:SHOWN_ROLE]!r}")


def _bad_line(field: str, value: Any) -> WriteError:
    if not isinstance(value, str):
        return WriteTypeError(f"{field} is a str or None, not {type(value).__name__}")
    return WriteError(f"{field} cannot hold a line feed: what follows it would be read as a body or as a message")


def losses(message: Message) -> Iterator[tuple[str, WriteError]]:
    """What a message that can be written would lose when it is read again (nrchat.md section 17)."""
    name, body, raw = message.name, message.body, message.raw_meta
    if name is not None and not name:
        yield "name", WriteError("an empty name reads back as no name")
    elif name is not None and name.strip(WHITESPACE) != name:
        yield "name", WriteError("white space around a name is lost on reading")
    if raw is not None:
        yield from _raw_meta_losses(raw)
    elif message.meta is not None:
        yield from _meta_losses(message.meta)
    if CR_AT_LINE_END.search(body):
        yield "body", WriteError("a carriage return at a line end is lost on reading")
    if not is_closed(body):
        yield "body", WriteError("a fence line is never closed; it can swallow the messages that follow")
    for field, text in (("role", message.role), ("name", name), ("raw_meta", raw), ("body", body)):
        if text is not None and SURROGATE.search(text):
            yield field, WriteError("a lone surrogate cannot be encoded as UTF-8")


def _raw_meta_losses(raw: str) -> Iterator[tuple[str, WriteError]]:
    if not raw.startswith("{"):
        yield "raw_meta", WriteError("a meta begins with {; anything else is read as part of the name")
        return
    if raw.endswith("\r"):
        yield "raw_meta", WriteError("a carriage return at the end of the meta is lost on reading")
    try:
        parse_json5(raw)
    except Json5Error as error:
        yield "raw_meta", WriteError(f"the meta is not JSON5: {error}")


def _meta_losses(meta: Any) -> Iterator[tuple[str, WriteError]]:
    if not isinstance(meta, dict):
        yield "meta", WriteError(f"a meta is a dict; a {type(meta).__name__} is read as part of the name")
        return
    try:
        written = stringify_json5(meta)
    except WriteError as error:
        yield "meta", error
        return
    if SURROGATE.search(written):
        yield "meta", WriteError("a lone surrogate cannot be encoded as UTF-8")
