"""Reading documents and conversations for the commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import chatmd
from chatmd import nrchat
from chatmd.nrchat.items import from_item, to_item
from chatmd.transcript.trace_text import UnknownItemError, block
from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml_runtime.moderation.documents import script_source
from chatml_tools.console import UsageError, read_bytes

Items = list[dict[str, Any]]

SUFFIXES = {
    ".md": "chatmd",
    ".chatmd": "chatmd",
    ".json": "items",
    ".jsonl": "items",
    ".nrchat": "nrchat",
    ".chat": "nrchat",
}


class ConversationError(Exception):
    """A file that is not a conversation in its format: one line for the person, exit status 1."""


def load_document(path: str) -> chatmd.Document:
    """The document in a file. Raises `ChatmdError`; a file that cannot be read at all is a `UsageError`."""
    if path == "-":
        raise UsageError("a document names files beside it, so it is read from a file, not from standard input")
    if path.endswith(".chatml"):
        raise UsageError(f"{path} is a script, not a document: `chatml check {path}`")
    read_bytes(path)
    return chatmd.load_file(path)


def read_moderator(path: str) -> Source:
    """The moderator script of a document, with its places in the document or in its own file. Raises `CompileError`."""
    try:
        script = load_document(path).moderator
    except chatmd.ChatmdError as error:
        raise CompileError(error.diagnostics) from None
    if script is None:
        raise UsageError(f"{path} has no moderator script: its conversations go unmoderated")
    return script_source(script)


def format_of(path: str, named: str | None, option: str = "--from") -> str:
    """The format that was named, by an option of the call, or the one that the file's suffix stands for."""
    if named is not None:
        return named
    found = SUFFIXES.get(PurePath(path).suffix)
    if found is None:
        raise UsageError(f"cannot tell the format of {path} by its name: say {option}, one of {', '.join(FORMATS)}")
    return found


def read_chatmd(path: str) -> Items:
    return [dict(item) for item in chatmd.to_input_items(load_document(path))]


def read_items(path: str) -> Items:
    """A JSON array of items, or JSON Lines with an item each."""
    text = decode(path)
    try:
        items = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines() if line.strip()]
        )
    except ValueError as error:
        raise ConversationError(f"{path} is neither a JSON array nor JSON Lines: {error}") from None
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            raise ConversationError(f"{path}: item {position} is not a JSON object")
    return list(items)


def read_nrchat(path: str) -> Items:
    try:
        return [to_item(message) for message in nrchat.parse(decode(path))]
    except ValueError as error:
        raise ConversationError(f"{path}: {error}") from None


def decode(path: str) -> str:
    try:
        return read_bytes(path).decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ConversationError(f"{path} is not UTF-8 text: byte {error.start} begins no character") from None


def write_chatmd(items: Items) -> str:
    """Each item as an element with an identity: what carries one is read back without the line ends of its frame."""
    allocator = chatmd.Allocator("converted")
    try:
        return "\n".join(block(item, allocator.fresh()) for item in items)
    except UnknownItemError as error:
        raise ConversationError(str(error)) from None


def write_items(items: Items) -> str:
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def write_nrchat(items: Items) -> str:
    try:
        return nrchat.stringify([from_item(item) for item in items])
    except (ValueError, TypeError) as error:
        raise ConversationError(str(error)) from None


FORMATS: dict[str, tuple[Callable[[str], Items], Callable[[Items], str]]] = {
    "chatmd": (read_chatmd, write_chatmd),
    "items": (read_items, write_items),
    "nrchat": (read_nrchat, write_nrchat),
}
"""How a conversation is read from a file, and written, in each format."""
