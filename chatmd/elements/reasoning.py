"""Reasoning and its summaries (chatmd.md section 5.7)."""

from __future__ import annotations

import attrs

from chatmd.elements.message import HistoryEntry, read_identity, source_context
from chatmd.elements.reading import Reading, lenient, literal_import, texts
from chatmd.text.attributes import WHITE, value
from chatmd.text.tree import Element, Text

SUMMARY_TEXT = "summary_text"


@attrs.frozen
class Summary:
    """One summary of a model's reasoning."""

    text: str
    type: str = SUMMARY_TEXT


@attrs.frozen
class Reasoning(HistoryEntry):
    """What a model reasoned, as the summaries that it gave."""

    id: str
    status: str | None = None
    summary: tuple[Summary, ...] = ()


def read_reasoning(element: Element, reading: Reading) -> Reasoning:
    """Reasoning. Raises `ChatmdError`: `chatmd.missing_attribute`, `chatmd.invalid_history_id`."""
    given = lenient(element)
    identity = reading.required(element, given, "id", empty=True)
    return Reasoning(
        identity,
        given.get("status"),
        tuple(_summaries(element, reading)),
        history_id=read_identity(element, given, reading),
        source_context=source_context(given, reading),
        span=element.span,
        source_record=reading.record,
    )


def _summaries(element: Element, reading: Reading) -> list[Summary]:
    """The `<summary>` children, and the texts between them that are not blank, stripped."""
    found: list[Summary] = []
    pending: list[str] = []

    def close() -> None:
        text = "".join(pending).strip(WHITE)
        pending.clear()
        if text:
            found.append(Summary(text))

    for child in element.children:
        if isinstance(child, Text):
            pending.append(child.text)
        elif child.tag == "import":
            pending.append(literal_import(child))
        elif child.tag == "summary":
            close()
            kind = value(child, "type")
            text = texts(child, child.children, reading).strip(WHITE)
            found.append(Summary(text, SUMMARY_TEXT if kind is None else kind))
        else:
            reading.ignore(child, element)
    close()
    return found
