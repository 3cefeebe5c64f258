"""A chat message and its place in a text (nrchat.md sections 9 and 10)."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs

from chatmd.nrchat.json5.compare import same_value


class Span(NamedTuple):
    """A half-open range `[start, end)` of a text, in code points: `text[span.start:span.end]` is the message.

    It begins at the marker's `%` and leaves out the line end before the next marker (the seam).
    """

    start: int
    end: int


def _show_meta(meta: dict[str, Any] | None) -> str:
    try:
        return repr(meta)
    except RecursionError:
        return "{...}"


@attrs.frozen(eq=False)
class Message:
    """One message of a chat.

    `role` is any text without white space; `name` is None or text; `meta` is None or a dict of JSON5 values
    (an empty one is still a meta); `body` is the text, with LF line ends.

    `raw_meta` is the meta's text as it stood in the file. While it is there, it is what `stringify` writes
    and `meta` is not looked at: change a meta with `with_meta`. `span` is the place that `parse` found the
    message at.

    Two messages are equal when everything but the span is; values of the metas compare as JSON5 (NaN equals
    NaN, `1` equals `1.0` and not `True`).

    >>> Message("user", "Bob", {"id": 1}, "hi") == Message("user", "Bob", {"id": 1.0}, "hi", span=Span(0, 20))
    True
    """

    role: str
    name: str | None = None
    meta: dict[str, Any] | None = attrs.field(default=None, repr=_show_meta)
    body: str = ""
    raw_meta: str | None = None
    span: Span | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self.raw_meta == other.raw_meta and self.same_content(other)

    def __hash__(self) -> int:
        return hash((self.role, self.name, self.body, self.raw_meta))

    def same_content(self, other: Message) -> bool:
        """Whether both say the same, however their metas were written down.

        >>> Message("u", meta={"a": 1}, raw_meta="{a:0x1}").same_content(Message("u", meta={"a": 1}))
        True
        """
        mine = (self.role, self.name, self.body)
        return mine == (other.role, other.name, other.body) and same_value(self.meta, other.meta)

    def with_meta(self, meta: dict[str, Any] | None) -> Message:
        """The message with another meta, which `stringify` will write in canonical form (nrchat.md A4, D5).

        >>> Message("u", meta={"a": 1}, raw_meta="{a:0x1}").with_meta({"a": 2})
        Message(role='u', name=None, meta={'a': 2}, body='', raw_meta=None, span=None)
        """
        return attrs.evolve(self, meta=meta, raw_meta=None)
