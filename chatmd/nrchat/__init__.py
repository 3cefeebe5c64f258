"""nr-chat: a plain text format for storing and moving chat messages, and JSON5 (nrchat.md, docs/nrchat.md).

A line that begins with `%` opens a message; what follows, up to the next such line, is its body.

>>> messages = parse("%user Bob {id: 7}\\nWhat is 2+2?\\n%assistant\\n4.\\n")
>>> messages[0].name, messages[0].meta, messages[1].body
('Bob', {'id': 7}, '4.')
>>> stringify([*messages, Message("user", body="%thanks")])
'%user Bob {id: 7}\\nWhat is 2+2?\\n%assistant\\n4.\\n%user\\n\\\\%thanks\\n'

Text in, text out: `parse`, `stringify`, `check`. Edit in place: `replace_span` and the functions beside it.
Quote: `escape_body`, `fence_for`. Files: `ChatFile`, `iter_messages`, `follow`. Provider items: `to_item`,
`from_item`. JSON5: `parse_json5`, `stringify_json5`. Offsets in other units: `to_utf16_offsets` and its kin.
Every error is an `NrChatError`, so a `ValueError`; `chatmd.nrchat.errors` draws their tree.
"""

from chatmd.nrchat.errors import (
    ChatFileError,
    ChatSyntaxError,
    Json5Error,
    NrChatError,
    OffsetError,
    SpanError,
    WriteError,
    WriteTypeError,
)
from chatmd.nrchat.fences import fence_for
from chatmd.nrchat.file import ChatFile
from chatmd.nrchat.items import from_item, to_item
from chatmd.nrchat.json5.read import parse_json5
from chatmd.nrchat.json5.write import stringify_json5
from chatmd.nrchat.ladder import escape_body
from chatmd.nrchat.message import Message, Span
from chatmd.nrchat.offsets import from_utf16_offsets, to_byte_offsets, to_utf16_offsets
from chatmd.nrchat.problems import Problem, check
from chatmd.nrchat.read import parse
from chatmd.nrchat.stream import follow, iter_messages
from chatmd.nrchat.surgery import (
    append_message,
    delete_message,
    insert_message,
    replace_marker,
    replace_message,
    replace_span,
)
from chatmd.nrchat.write import stringify

__all__ = [
    "ChatFile",
    "ChatFileError",
    "ChatSyntaxError",
    "Json5Error",
    "Message",
    "NrChatError",
    "OffsetError",
    "Problem",
    "Span",
    "SpanError",
    "WriteError",
    "WriteTypeError",
    "append_message",
    "check",
    "delete_message",
    "escape_body",
    "fence_for",
    "follow",
    "from_item",
    "from_utf16_offsets",
    "insert_message",
    "iter_messages",
    "parse",
    "parse_json5",
    "replace_marker",
    "replace_message",
    "replace_span",
    "stringify",
    "stringify_json5",
    "to_byte_offsets",
    "to_item",
    "to_utf16_offsets",
]
