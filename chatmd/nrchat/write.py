"""Writing a chat (nrchat.md sections 5, 7 and 11)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatmd.nrchat.errors import WriteTypeError
from chatmd.nrchat.json5.write import stringify_json5
from chatmd.nrchat.ladder import escape_body
from chatmd.nrchat.message import Message
from chatmd.nrchat.problems import losses, refusals

BEFORE_ESCAPED = re.compile(r"(?=[{}]|\\(?:[{}\\]|\Z))")
BACKSLASH = r"\\"  # one, as a replacement


def stringify(messages: Iterable[Message], *, strict: bool = False) -> str:
    """The text of a chat (nrchat.md section 11): LF line ends, one at the end unless there are no messages.

    A meta is written as `raw_meta` if the message has it, else in canonical JSON5. Raises `WriteTypeError` (a
    `TypeError` and `ValueError`) for a role that is empty or holds white space, and for a value in a meta
    that has no JSON5 form; `WriteError` (a `ValueError`) for a name or raw meta with a line feed. With
    `strict`, everything that `check` finds is refused: what would not read back as it is.

    >>> stringify([Message("user", "Bob", {"id": 1}, "hi"), Message("bot", body="%done")])
    '%user Bob {id: 1}\\nhi\\n%bot\\n\\\\%done\\n'
    """
    return "".join(_pieces(messages, strict))


def _pieces(messages: Iterable[Message], strict: bool) -> Iterator[str]:
    for index, message in enumerate(messages):
        if not isinstance(message, Message):
            raise WriteTypeError(f"message {index} is not a Message but a {type(message).__name__}")
        refused = refusals(message)
        if strict and not refused:
            refused = list(losses(message))
        if refused:
            field, error = refused[0]
            raise type(error)(f"message {index}, {field}: {error}")
        yield marker_line(message)
        yield "\n"
        if message.body:
            yield escape_body(message.body)
            yield "\n"


def marker_line(message: Message) -> str:
    """The marker of a message that nothing is held against, without a line end (W2)."""
    line = f"%{message.role}"
    if message.name:
        line += f" {BEFORE_ESCAPED.sub(BACKSLASH, message.name)}"
    if message.raw_meta is not None:
        return f"{line} {message.raw_meta}"
    if message.meta is not None:
        return f"{line} {stringify_json5(message.meta)}"
    return line
