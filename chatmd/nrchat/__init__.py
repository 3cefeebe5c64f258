"""nr-chat: a plain text format for chat messages."""

from chatmd.nrchat.errors import NrChatError, SpanError
from chatmd.nrchat.fences import fence_for
from chatmd.nrchat.json5.read import parse_json5
from chatmd.nrchat.json5.write import stringify_json5
from chatmd.nrchat.ladder import escape_body
from chatmd.nrchat.message import Message, Span
from chatmd.nrchat.read import parse
from chatmd.nrchat.surgery import replace_span
from chatmd.nrchat.write import stringify
