"""ChatMD: prompt documents and transcripts as files; and `chatmd.nrchat`, the message text format."""

from __future__ import annotations

from chatmd.agent_cache import AgentCache
from chatmd.convert import IdentifiedItem, identified_items, to_input_items
from chatmd.document import Document
from chatmd.loader import load, load_file
from chatmd.parse import parse_tree
from chatmd.problems import ChatmdError, Diagnostic
from chatmd.resources import Context
from chatmd.write import dumps

__all__ = [
    "AgentCache",
    "ChatmdError",
    "Context",
    "Diagnostic",
    "Document",
    "IdentifiedItem",
    "dumps",
    "identified_items",
    "load",
    "load_file",
    "parse_tree",
    "to_input_items",
]
