"""Where a part of a document comes from (chatmd.md section 3)."""

from __future__ import annotations

import os.path

import attrs

from chatml.source import Span


@attrs.frozen
class SourceRecord:
    """The file that a top-level element was written in.

    `file` is the label as written (the root's label, or the `src` of the import), `path` the absolute
    normalised path or None for a text without a file, `source_dir` the absolute directory of the
    declaring file, `prompt_dir` that of the root document, `namespace` None or names joined by colons,
    `source_sha256` the hexadecimal SHA-256 of the file's text as it was parsed, `span` the place of one
    element when the record speaks of one.
    """

    file: str
    path: str | None
    source_dir: str
    prompt_dir: str
    namespace: str | None = None
    source_sha256: str = ""
    span: Span | None = attrs.field(default=None, eq=False)

    def qualified(self, name: str) -> str:
        """A declared id or a reference as the whole document knows it.

        >>> SourceRecord("a", None, "/p", "/p", "team").qualified("dev")
        'team:dev'
        >>> SourceRecord("a", None, "/p", "/p", "team").qualified("builtin:yolo")
        'builtin:yolo'
        """
        return name if self.namespace is None or ":" in name else f"{self.namespace}:{name}"

    @property
    def within(self) -> str:
        """The way from the root document's directory to the file's; empty for the root's own directory.

        >>> SourceRecord("lib/x", None, "/p/lib", "/p").within
        'lib'
        """
        way = os.path.relpath(self.source_dir, self.prompt_dir)
        return "" if way == "." else way

    def at(self, span: Span) -> SourceRecord:
        """The record of one element of this file."""
        return attrs.evolve(self, span=span)
