"""What can go wrong with nr-chat and its JSON5, as branches of the toolkit's one tree (decision X-45).

```text
ChatmlError, ValueError
└── NrChatError
    ├── Json5Error           a text is not JSON5; carries line, column and offset within that text
    ├── ChatSyntaxError      a meta cannot be read; carries line and column in the chat
    ├── ChatFileError        a chat file is not UTF-8, or lost what had been read of it
    ├── SpanError            a span does not fit the text it is applied to
    ├── OffsetError          an offset points past the text or into the middle of a character
    └── WriteError           a message or a value that no reader could make use of
        └── WriteTypeError   the same because of its type, so also a TypeError
```
"""

from __future__ import annotations

from chatml.diagnostics.errors import ChatmlError


class NrChatError(ChatmlError, ValueError):
    """The base of every error of this package."""


class Json5Error(NrChatError):
    """A text that is not JSON5 (nrchat.md section 12).

    `line` and `column` count from 1, in code points of the JSON5 text, and only LF ends a line; `offset`
    counts from 0; `reason` is the message without the place.
    """

    def __init__(self, reason: str, *, line: int, column: int, offset: int) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        self.offset = offset
        super().__init__(f"{reason} (line {line}, column {column})")


class ChatSyntaxError(NrChatError):
    """A marker whose meta cannot be read (nrchat.md R6); `__cause__` is the `Json5Error`.

    `line` is the line of the marker, `column` the place in that line where reading stopped; both count from
    1.
    """

    def __init__(self, reason: str, *, line: int, column: int) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        super().__init__(f"line {line}, column {column}: the meta is not JSON5: {reason}")


class ChatFileError(NrChatError):
    """A file that cannot be read as a chat: it is not UTF-8, or it shrank while it was followed."""


class SpanError(NrChatError):
    """A span that does not lie in the text (nrchat.md R1)."""


class OffsetError(NrChatError):
    """An offset that has no counterpart in the other unit (nrchat.md S3)."""


class WriteError(NrChatError):
    """A message or a value whose text no reader could make use of (nrchat.md sections 11, 13 and 17)."""


class WriteTypeError(WriteError, TypeError):
    """A role that cannot stand in a marker, or a value that has no JSON5 form."""
