"""Where the runtime meets ChatMD documents: a prompt's moderator, and a session's changes as a transcript."""

from __future__ import annotations

from chatmd.document import Document
from chatmd.elements.script import Script
from chatmd.transcript.export import Deleted, Halted, Inserted, OverlayEntry, Replaced, overlay_text
from chatml.source import EmbeddedSource
from chatml.surfaces.model import Surface
from chatml.surfaces.moderator import MODERATOR
from chatml_runtime.moderation.overlay import Overlay
from chatml_runtime.script.scripts import ArtifactCache, ScriptArtifact


def overlay_entries(overlay: Overlay) -> tuple[OverlayEntry, ...]:
    """The changes in the order of the document: prepended, appended, replaced, deleted, halted.

    For `chatmd.transcript.export.Session(overlay=…)`, which writes them after the canonical history.
    """
    entries: list[OverlayEntry] = [Inserted(one.entry.item) for one in overlay.prepended + overlay.appended]
    entries += [Replaced(one.target_id.encode(), one.item) for one in overlay.replacements]
    entries += [Deleted(one.target_id.encode()) for one in overlay.tombstones]
    entries += [] if overlay.halt_reason is None else [Halted(overlay.halt_reason)]
    return tuple(entries)


def export_overlay(overlay: Overlay) -> str:
    """The changes as ChatMD text. It loads, but as ordinary messages: only a snapshot can be restored.

    >>> print(export_overlay(Overlay(halt_reason="done")), end="")
    <msg role="developer" id="moderation-halt">
    Session ended by moderator: done
    </msg>
    """
    return overlay_text(overlay_entries(overlay))


def moderator_script(
    document: Document, *, surface: Surface = MODERATOR, cache: ArtifactCache | None = None
) -> ScriptArtifact | None:
    """The compiled moderator of a prompt; None for a prompt without one, whose conversations go unmoderated.

    `CompileError` as for `compile_script`, its diagnostics at the places in the script's file, or in the document.

    >>> import chatmd
    >>> text = '''<script language="chatml" kind="moderator">RAW|
    ... let initial_state = 0
    ... let on_event ctx st ev = Task.pure(st)
    ... |RAW</script>'''
    >>> moderator_script(chatmd.load(text, base_dir=".")).script_id
    'main'
    """
    script = document.moderator
    if script is None:
        return None
    return (ArtifactCache() if cache is None else cache).get(script.id, script_source(script), surface=surface)


def script_source(script: Script) -> EmbeddedSource:
    """The text of a prompt's script, with places in the file that it was written in."""
    return EmbeddedSource(script.place(0, 0).source, script.text, lambda offset: script.place(offset, offset).left)
