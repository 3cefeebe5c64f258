"""The overlay: what a moderator changed about the history, and how the history looks through it (11.4, 11.5).

The canonical history is never rewritten. An overlay is an immutable record; `plan` makes the next one from a batch
of operations, or refuses the batch as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import attrs

from chatml_runtime.moderation.changes import ChangeOperation, Deleted, Halted, InsertedEntry, Position, Replaced
from chatml_runtime.moderation.identities import (
    EntryId,
    EntryIdAllocator,
    HistoryEntry,
    IdentityError,
    Json,
    reserve_unused,
)
from chatml_runtime.moderation.items import decode_item, instruction
from chatml_runtime.moderation.outcome import AppendItem, DeleteItem, OverlayOp, PrependInstruction, ReplaceItem
from chatml_runtime.script.effects import Halt
from chatml_runtime.script.errors import UnknownTargetError


@attrs.frozen
class Canonical:
    """The provenance of an entry that is as the host stored it."""


@attrs.frozen
class Inserted:
    """The provenance of an entry that the moderator added."""

    change_id: int


@attrs.frozen
class Replacement:
    """The provenance of an entry whose payload the moderator replaced."""

    target_id: EntryId
    change_id: int


Provenance: TypeAlias = Canonical | Inserted | Replacement

CANONICAL = Canonical()


@attrs.frozen
class EffectiveEntry:
    """An entry as the model sees it, and where it comes from."""

    entry: HistoryEntry
    provenance: Provenance


@attrs.frozen
class Insertion:
    """An entry that the moderator added; `script_label` is the id that the script gave its item."""

    entry: HistoryEntry
    change_id: int
    script_label: str | None = None


@attrs.frozen
class ReplacementRecord:
    """The payload that stands in place of an entry's own."""

    target_id: EntryId
    item: Json
    change_id: int
    script_label: str | None = None


@attrs.frozen
class Tombstone:
    """An entry that the model no longer sees."""

    target_id: EntryId
    change_id: int


@attrs.frozen
class Overlay:
    """Everything that a moderator changed, in force at one revision."""

    revision: int = 0
    next_change_id: int = 0
    prepended: tuple[Insertion, ...] = ()
    appended: tuple[Insertion, ...] = ()
    replacements: tuple[ReplacementRecord, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()
    halt_reason: str | None = None

    @cached_property
    def inserted_ids(self) -> frozenset[EntryId]:
        """The identities of the entries that the moderator added."""
        return frozenset(insertion.entry.id for insertion in self.prepended + self.appended)

    @cached_property
    def replaced(self) -> dict[EntryId, ReplacementRecord]:
        """The replacements by target."""
        return {record.target_id: record for record in self.replacements}

    @cached_property
    def deleted(self) -> frozenset[EntryId]:
        """The targets of the tombstones."""
        return frozenset(tombstone.target_id for tombstone in self.tombstones)

    @property
    def identities(self) -> frozenset[EntryId]:
        """The identities of all entries that it adds or changes."""
        return self.inserted_ids | self.replaced.keys() | self.deleted

    def apply(self, history: Sequence[HistoryEntry]) -> tuple[EffectiveEntry, ...]:
        """The history as the model sees it. A tombstone beats a replacement, whichever came first."""
        entries = [EffectiveEntry(one.entry, Inserted(one.change_id)) for one in self.prepended]
        replaced, deleted = self.replaced, self.deleted
        for entry in history:
            if entry.id in deleted:
                continue
            record = replaced.get(entry.id)
            if record is None:
                entries.append(EffectiveEntry(entry, CANONICAL))
            else:
                provenance = Replacement(record.target_id, record.change_id)
                entries.append(EffectiveEntry(HistoryEntry(entry.id, record.item), provenance))
        entries += [EffectiveEntry(one.entry, Inserted(one.change_id)) for one in self.appended]
        return tuple(entries)

    def items(self, history: Sequence[HistoryEntry]) -> tuple[Json, ...]:
        """The provider items of the history as the model sees it: what a request sends."""
        if self.replacements or self.tombstones:
            return tuple(effective.entry.item for effective in self.apply(history))
        before, after = ([one.entry.item for one in inserted] for inserted in (self.prepended, self.appended))
        return (*before, *[entry.item for entry in history], *after)


@attrs.frozen
class Plan:
    """The overlay after a batch, and the facts of the batch in order."""

    overlay: Overlay
    operations: tuple[ChangeOperation, ...]


def plan(
    overlay: Overlay,
    operations: Sequence[OverlayOp],
    *,
    is_known: Callable[[EntryId], bool],
    allocator: EntryIdAllocator,
) -> Plan:
    """Carry out a batch of at least one operation on a copy of an overlay.

    Everything is validated first: `UnknownTargetError` for a target that is neither known nor an entry inserted by
    an earlier batch, `ItemDecodeError` for an item that no provider takes. Only then identities are reserved.
    """
    checked = [check(overlay, operation, is_known) for operation in operations]
    inserting = sum(isinstance(step, Insert) for step in checked)
    used = overlay.inserted_ids
    fresh = iter(reserve_unused(allocator, inserting, lambda entry_id: entry_id in used or is_known(entry_id)))
    prepended, appended = list(overlay.prepended), list(overlay.appended)
    replacements, tombstones = dict(overlay.replaced), {one.target_id: one for one in overlay.tombstones}
    halt_reason = overlay.halt_reason
    facts: list[ChangeOperation] = []
    for change_id, step in enumerate(checked, start=overlay.next_change_id):
        match step:
            case Insert(position=position, item=item, label=label):
                entry = HistoryEntry(next(fresh), item)
                place = prepended if position is Position.PREPENDED else appended
                place.append(Insertion(entry, change_id, label))
                facts.append(InsertedEntry(entry.id, change_id, position, label))
            case Replace(target=target, item=item, label=label):
                replacements.pop(target, None)
                replacements[target] = ReplacementRecord(target, item, change_id, label)
                facts.append(Replaced(target, change_id, label))
            case Delete(target=target):
                tombstones.pop(target, None)
                tombstones[target] = Tombstone(target, change_id)
                facts.append(Deleted(target, change_id))
            case Halt(reason=reason):
                halt_reason = reason
                facts.append(Halted(reason, change_id))
    changed = Overlay(
        revision=overlay.revision + 1,
        next_change_id=overlay.next_change_id + len(checked),
        prepended=tuple(prepended),
        appended=tuple(appended),
        replacements=tuple(replacements.values()),
        tombstones=tuple(tombstones.values()),
        halt_reason=halt_reason,
    )
    return Plan(changed, tuple(facts))


@attrs.frozen
class Insert:
    """A checked insertion."""

    position: Position
    item: Json
    label: str | None


@attrs.frozen
class Replace:
    """A checked replacement."""

    target: EntryId
    item: Json
    label: str


@attrs.frozen
class Delete:
    """A checked deletion."""

    target: EntryId


def check(
    overlay: Overlay, operation: OverlayOp, is_known: Callable[[EntryId], bool]
) -> Insert | Replace | Delete | Halt:
    """An operation whose target exists and whose item a provider takes."""
    match operation:
        case PrependInstruction(text=text):
            return Insert(Position.PREPENDED, instruction(text), None)
        case AppendItem(item=item):
            return Insert(Position.APPENDED, decode_item(item), item.id)
        case ReplaceItem(target_id=target_id, item=item):
            return Replace(check_target(overlay, target_id, is_known), decode_item(item), item.id)
        case DeleteItem(target_id=target_id):
            return Delete(check_target(overlay, target_id, is_known))
        case Halt():
            return operation


def check_target(overlay: Overlay, text: str, is_known: Callable[[EntryId], bool]) -> EntryId:
    """The identity of an entry that can be replaced or deleted."""
    try:
        target = EntryId.decode(text)
    except IdentityError as error:
        raise UnknownTargetError(f"unknown moderation target: {error}") from None
    if not is_known(target) and target not in overlay.inserted_ids:
        raise UnknownTargetError(
            f'unknown moderation target "{text}": no entry of the history and no inserted entry has this identity'
        )
    return target
