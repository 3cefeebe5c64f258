"""Everything public of `chatmd.nrchat`. The package reads this file; type checkers do, too."""

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
