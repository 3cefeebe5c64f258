"""Diagnostics as editors show them."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from chatml.diagnostics.model import Diagnostic
from chatml_tools.lsp.documents import Document, Documents

SOURCE = "chatml"
SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
BEGINNING = types.Range(types.Position(0, 0), types.Position(0, 0))
"""Where a finding stands that is about no place, or about one in another file; the latter is linked."""


def report(documents: Documents, document: Document) -> list[types.Diagnostic]:
    """Everything that is wrong with a document."""
    return [encode(documents, document, each) for each in document.text.diagnostics]


def encode(documents: Documents, document: Document, diagnostic: Diagnostic) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(documents.location(label.span), label.text) for label in diagnostic.labels
    ]
    place = BEGINNING
    if diagnostic.span is not None:
        location = documents.location(diagnostic.span)
        if location.uri == document.uri:
            place = location.range
        else:
            related.insert(0, types.DiagnosticRelatedInformation(location, diagnostic.message))
    return types.Diagnostic(
        place,
        "\n".join(lines(diagnostic)),
        severity=SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        source=SOURCE,
        related_information=related or None,
    )


def lines(diagnostic: Diagnostic) -> Iterator[str]:
    """What there is to read: the message, its reasons, what to do, and where to read more."""
    yield diagnostic.message
    yield from (f"note: {note}" for note in diagnostic.notes)
    if diagnostic.help is not None:
        yield f"help: {diagnostic.help}"
    yield f"more: chatml explain {diagnostic.code}"
