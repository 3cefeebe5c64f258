"""A document as history: every item gets an identity (chatmd.md section 16.2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import attrs

from chatmd.document import Document
from chatmd.elements.history_id import HistoryId
from chatmd.elements.message import HistoryEntry
from chatmd.report.problems import fault
from chatmd.request.agents import RunAgent
from chatmd.request.convert import IdentifiedItem, ItemDict, identified_items
from chatmd.request.resources import Context
from chatml.source import Span


@attrs.frozen
class Entry:
    """One item of a history."""

    id: HistoryId
    item: ItemDict


@attrs.define
class Allocator:
    """Gives fresh identities of one namespace, counting from `next`."""

    namespace: str
    next: int = 0

    def fresh(self) -> HistoryId:
        """The next identity."""
        identity = HistoryId(self.namespace, self.next)
        self.next += 1
        return identity


def materialise_history(
    document: Document,
    allocator: Allocator,
    ctx: Context | None = None,
    run_agent: RunAgent | None = None,
) -> list[Entry]:
    """The items of a document with identities: written ones are kept, the others come from the allocator, which is
    first moved beyond every written identity of its namespace.

    Raises `ChatmdError` (`chatmd.duplicate_history_id`), and whatever `to_input_items` raises.

    >>> import chatmd
    >>> text = '<user ochat-history-id="4:same:7">a</user><assistant>b</assistant>'
    >>> history = materialise_history(chatmd.load(text, base_dir="."), Allocator("same"))
    >>> [str(entry.id) for entry in history]
    ['4:same:7', '4:same:8']
    """
    items = identified_items(document, ctx, run_agent)
    seen: dict[HistoryId, IdentifiedItem] = {}
    for found in items:
        identity = found.history_id
        if identity is None:
            continue
        if identity in seen:
            raise _duplicate(document, identity, seen[identity], found)
        seen[identity] = found
        if identity.namespace == allocator.namespace:
            allocator.next = max(allocator.next, identity.seq + 1)
    return [Entry(found.history_id or allocator.fresh(), found.item) for found in items]


def _duplicate(document: Document, identity: HistoryId, first: IdentifiedItem, second: IdentifiedItem) -> Exception:
    places = [_span(document, first), _span(document, second)]
    where = [f"{found.source_context} (element {found.index})" for found in (first, second)]
    return fault(
        "chatmd.duplicate_history_id",
        places[1],
        labels=[(places[0], "the first one is here")] if places[0] is not None else (),
        id=str(identity),
        first=where[0],
        second=where[1],
    )


def _span(document: Document, found: IdentifiedItem) -> Span | None:
    element = document.elements[found.index]
    return element.span if isinstance(element, HistoryEntry) else None


def fingerprint(item: Mapping[str, Any]) -> str:
    """What the content of an item is recognised by: equal items have equal fingerprints."""
    return hashlib.sha256(json.dumps(item, sort_keys=True).encode("ascii")).hexdigest()


def checkpoint(history: list[Entry]) -> dict[HistoryId, str]:
    """The fingerprints of a history as it came from its document (section 16.4)."""
    return {entry.id: fingerprint(entry.item) for entry in history}
