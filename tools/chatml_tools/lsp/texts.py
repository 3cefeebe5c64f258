"""The texts that an editor has open, as they stand: scripts, and prompt documents with a moderator in them."""

from __future__ import annotations

import bisect
import os.path
from functools import cached_property

import chatmd
from chatmd.sources.files import Reader
from chatml.diagnostics.model import Diagnostic
from chatml.source import EmbeddedSource, Source
from chatml.surfaces.model import Surface
from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.moderation.documents import script_source
from chatml_tools.documents.check import findings
from chatml_tools.navigation import Analysis
from chatml_tools.scripts import SURFACES, fitting_surface


class ScriptText:
    """The text of a script. `name` is its path, or what the editor calls it."""

    def __init__(self, name: str, text: str) -> None:
        self.source = Source(name, text)

    @property
    def script(self) -> Source | None:
        """The script that can be looked at: here the whole text."""
        return self.source

    @property
    def surface(self) -> Surface:
        """The surface that fits the script; that of every moderator in a prompt."""
        return SURFACES[fitting_surface(self.source)]()

    @cached_property
    def analysis(self) -> Analysis | None:
        """What is known of the script, if there is one."""
        return None if self.script is None else Analysis(self.script, self.surface)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the text."""
        return () if self.analysis is None else self.analysis.diagnostics

    def inside(self, offset: int) -> int | None:
        """The offset in the script of an offset in the text; None if it is outside."""
        return offset


class PromptText(ScriptText):
    """The text of a prompt document; the script is its moderator, if it is written in this text."""

    def __init__(self, name: str, text: str, reader: Reader) -> None:
        super().__init__(name, text)
        self.reader = reader

    @cached_property
    def loaded(self) -> chatmd.Document | chatmd.ChatmdError:
        """The document, or why it does not load."""
        name, text = self.source.name, self.source.text
        directory = os.path.dirname(name) if os.path.isabs(name) else "."
        try:
            return chatmd.load(text, base_dir=directory, source=name, reader=self.reader)
        except chatmd.ChatmdError as error:
            return error

    @property
    def surface(self) -> Surface:
        return UI_MODERATOR

    @cached_property
    def script(self) -> EmbeddedSource | None:
        moderator = None if isinstance(self.loaded, chatmd.ChatmdError) else self.loaded.moderator
        source = None if moderator is None else script_source(moderator)
        return source if source is not None and source.outer.text == self.source.text else None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.loaded.diagnostics if isinstance(self.loaded, chatmd.ChatmdError) else findings(self.loaded)

    def inside(self, offset: int) -> int | None:
        if self.script is None:
            return None
        size = len(self.script.text)
        found = bisect.bisect_left(range(size), offset, key=self.script.offset_of)
        return found if self.script.offset_of(found) == offset else None
