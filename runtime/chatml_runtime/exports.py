"""The overlay in an audit document: what the moderator added, replaced and deleted (runtime.md section 18)."""

from __future__ import annotations

from chatmd.export import Deleted, Halted, Inserted, OverlayEntry, Replaced, overlay_text
from chatml_runtime.overlay import Overlay


def overlay_entries(overlay: Overlay) -> tuple[OverlayEntry, ...]:
    """The changes in the order of the document: prepended, appended, replaced, deleted, halted.

    For `chatmd.export.Session(overlay=…)`, which writes them after the canonical history.
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
