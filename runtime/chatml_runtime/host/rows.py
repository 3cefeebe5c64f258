"""The history as a person sees it: one row per effective entry (runtime.md section 15.4)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from chatml_runtime.moderation.identities import EntryId, Json, same_json
from chatml_runtime.moderation.overlay import EffectiveEntry, Provenance


@attrs.frozen
class Row:
    """An entry on the screen. `revision` counts from 0 how often its content or its provenance has changed."""

    id: EntryId
    item: Json
    provenance: Provenance
    revision: int = 0


class VisibleHistory:
    """The rows as they were shown last; `refresh` makes them anew."""

    def __init__(self) -> None:
        self._rows: tuple[Row, ...] = ()
        self._by_id: dict[EntryId, Row] = {}

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, in order."""
        return self._rows

    def refresh(self, effective: Sequence[EffectiveEntry]) -> bool:
        """Take other entries; whether a row has come, gone, moved or changed."""
        before = self._rows
        self._rows = tuple(self._row(entry) for entry in effective)
        self._by_id = {row.id: row for row in self._rows}
        return len(before) != len(self._rows) or any(
            one is not two for one, two in zip(before, self._rows, strict=True)
        )

    def _row(self, effective: EffectiveEntry) -> Row:
        entry, provenance = effective.entry, effective.provenance
        old = self._by_id.get(entry.id)
        if old is None:
            return Row(entry.id, entry.item, provenance)
        if old.provenance == provenance and same_json(old.item, entry.item):
            return old
        return Row(entry.id, entry.item, provenance, old.revision + 1)
