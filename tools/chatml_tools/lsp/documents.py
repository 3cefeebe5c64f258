"""The documents that an editor has open, by their URIs; what is on disk counts only for files that are not open."""

from __future__ import annotations

import os.path
from collections.abc import Iterator

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from chatmd.sources.files import read_regular
from chatml.records import mutable
from chatml.source import Span
from chatml_tools.lsp.positions import Positions
from chatml_tools.lsp.texts import PromptText, ScriptText
from chatml_tools.navigation import Preceding
from chatml_tools.scripts import DOCUMENTS

PROMPT = "chatmd"
"""What editors call the language of prompt documents whose names do not say it."""


@mutable
class Document:
    """An open document: its text as it stands, and what its completion remembers."""

    uri: str
    language: str
    version: int
    text: ScriptText
    preceding: Preceding | None = None

    def remembered(self) -> Preceding:
        """What completion remembers, if the surface that fits the script is still the same."""
        surface = self.text.surface
        if self.preceding is None or self.preceding.surface is not surface:
            self.preceding = Preceding(surface)
        return self.preceding


class Documents:
    """All open documents, and how positions in them are counted."""

    def __init__(self) -> None:
        self.positions = Positions()
        self.open: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self.open.values())

    def add(self, item: types.TextDocumentItem) -> Document:
        """A document was opened."""
        text = self.read(item.uri, item.language_id, item.text)
        document = self.open[item.uri] = Document(item.uri, item.language_id, item.version, text)
        return document

    def change(self, params: types.DidChangeTextDocumentParams) -> Document | None:
        """A document was changed; None if it is not open."""
        document = self.open.get(params.text_document.uri)
        if document is not None:
            text = document.text.source.text
            for change in params.content_changes:
                text = self.positions.change(text, change)
            document.version = params.text_document.version
            document.text = self.read(document.uri, document.language, text)
        return document

    def forget_files(self) -> list[Document]:
        """Read again what prompt documents read from other files or documents; returns the prompt documents."""
        prompts = [each for each in self if isinstance(each.text, PromptText)]
        for each in prompts:
            each.text = self.read(each.uri, each.language, each.text.source.text)
        return prompts

    def read(self, uri: str, language: str, text: str) -> ScriptText:
        """A text as what it is by its name or its language."""
        name = to_fs_path(uri) if uri.startswith("file:") else None
        if language == PROMPT or (name or uri).endswith(DOCUMENTS):
            return PromptText(name or f"<{uri}>", text, self.read_file)
        return ScriptText(name or uri, text)

    def read_file(self, path: str, limit: int) -> bytes:
        """The bytes of a file, as the editor has it if it is open. Raises `UnreadableError`."""
        document = self.named(path)
        return read_regular(path, limit) if document is None else document.text.source.text.encode("utf-8", "replace")

    def named(self, name: str) -> Document | None:
        """The open document of a path, or of the name that diagnostics have for it."""
        return next((document for document in self if document.text.source.name == name), None)

    def location(self, span: Span) -> types.Location:
        """Where a span is: in an open document, or in a file."""
        name = span.source.name
        document = self.named(name)
        uri = from_fs_path(os.path.abspath(name)) if document is None else document.uri
        return types.Location(uri or name, self.positions.range(span))
