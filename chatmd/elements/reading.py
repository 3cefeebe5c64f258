"""What every reader of an element is handed, and what it leaves in the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from chatmd.report.problems import ChatmdError, Diagnostic, fault, problem
from chatmd.report.provenance import SourceRecord
from chatmd.sources.source import Sources
from chatmd.text.tree import Element, Node, Text
from chatml.source import Span


@attrs.frozen(kw_only=True)
class Placed:
    """A part of the model that knows where it was written; its place takes no part in equality."""

    span: Span | None = attrs.field(default=None, eq=False, repr=False)
    source_record: SourceRecord | None = attrs.field(default=None, eq=False, repr=False)


@attrs.frozen
class Reading:
    """The reading of the elements of one file: its record, its name in diagnostics, and what is shared by
    all.
    """

    record: SourceRecord
    shown: str
    sources: Sources
    warnings: list[Diagnostic]

    def fault(self, code: str, span: Span, **facts: Any) -> ChatmdError:
        """The exception for a fault of this file."""
        return fault(code, span, source=self.record, **facts)

    def warn(self, code: str, span: Span, **facts: Any) -> None:
        """Add a warning about this file."""
        self.warnings.append(problem(code, span, source=self.record, **facts))

    def ignore(self, child: Element, parent: Element) -> None:
        """Warn about a child that its parent makes nothing of."""
        self.warn("chatmd.ignored_child", child.span, tag=child.tag, parent=parent.tag)

    def required(self, element: Element, given: dict[str, str], name: str, *, empty: bool = False) -> str:
        """An attribute that must be there (and, unless `empty`, must not be empty):
        `chatmd.missing_attribute`.
        """
        value = given.get(name)
        if value is None or not (value or empty):
            raise self.fault("chatmd.missing_attribute", element.span, tag=element.tag, attribute=name)
        return value


def lenient(element: Element) -> dict[str, str]:
    """The attributes of a lenient element: the last of several wins, a flag is the empty string (section
    5.3).
    """
    return {name: value or "" for name, value in element.attrs}


def literal_import(element: Element) -> str:
    """An `<import>` that is not expanded, as the text that it stays (section 4.2).

    >>> from chatmd.text.parse import parse_tree
    >>> literal_import(parse_tree('<import src="q.md" x>ignored</import>')[0])
    '<import src="q.md" x=""/>'
    """
    written = [f'{name}="{value or ""}"' for name, value in element.attrs]
    return f"<import {' '.join(written)}/>"


def texts(element: Element, children: Iterable[Node], reading: Reading) -> str:
    """The children of an element that is nothing but text; recognised elements are ignored with a warning."""
    parts = []
    for child in children:
        if isinstance(child, Text):
            parts.append(child.text)
        elif child.tag == "import":
            parts.append(literal_import(child))
        else:
            reading.ignore(child, element)
    return "".join(parts)
