"""Labels must be distinct within one record, update, pattern or written type."""

from __future__ import annotations

from collections.abc import Iterable

from chatml.source import Span
from chatml.syntax import ast
from chatml.types.facts import DuplicateLabel, Fault, Owner


def refuse_repetition(owner: Owner, labels: Iterable[ast.Ident], blamed: Span | None) -> None:
    """Raise `Fault` for the first label that occurs twice, at the span given or else at the label."""
    seen: dict[str, Span] = {}
    for label in labels:
        if label.name in seen:
            span = label.span if blamed is None else blamed
            raise Fault(DuplicateLabel(span, owner, label.name, seen[label.name], label.span))
        seen[label.name] = label.span
