"""Snapshots: what has to be stored of a moderator, as versioned JSON bound to its script (runtime.md section 17).

Nothing damaged gets in: `ModeratorSnapshot.from_json` checks the document, `contents` that it belongs to the script,
that its values can be read, and that the state is of the script's type (X-56). The path of whatever is wrong is part of
the message. Version 2 is written; version 1 is read, and is version 2 from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from chatml.border.nested_snapshot import decode_nested
from chatml.border.snapshot import decode, encode
from chatml.diagnostics.errors import SnapshotError
from chatml.functions.fitting import misfit
from chatml.values.model import Value
from chatml_runtime.moderation.identities import EntryId, HistoryEntry, IdentityError, Json
from chatml_runtime.moderation.items import Item, decode_item
from chatml_runtime.moderation.overlay import Insertion, Overlay, ReplacementRecord, Tombstone
from chatml_runtime.script.errors import (
    ItemDecodeError,
    SnapshotFormatError,
    SnapshotMismatchError,
    UnserializableValueError,
)
from chatml_runtime.script.scripts import ScriptArtifact
from chatml_runtime.script.session import Session

FORMAT = "chatml-moderator-snapshot"
VERSION = 2
VERSIONS = (1, VERSION)


@attrs.frozen(eq=False)
class Contents:
    """What a session is restored from."""

    state: Value
    queue: tuple[Value, ...]
    halted: bool


@attrs.frozen
class ModeratorSnapshot:
    """Everything that is stored of a moderator. State and queue are encoded values (`chatml.border.snapshot`).

    However deep they are, a snapshot is flat: it compares, prints, pickles and goes through `json` like any small one.
    The host stores the canonical history, and the `next_sequence` of its allocator, beside it.
    """

    script_id: str
    script_source_hash: str
    current_state: Json
    queued_internal_events: tuple[Json, ...]
    halted: bool
    overlay: Overlay

    def to_json(self) -> Json:
        """The document as plain data, for `json.dumps`."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "script_id": self.script_id,
            "script_source_hash": self.script_source_hash,
            "current_state": self.current_state,
            "queued_internal_events": list(self.queued_internal_events),
            "halted": self.halted,
            "overlay": dump_overlay(self.overlay),
        }

    @classmethod
    def from_json(cls, data: Json) -> ModeratorSnapshot:
        """The snapshot that a document holds. `SnapshotFormatError` says what is wrong with one that is damaged."""
        document = Reader(data, "the snapshot")
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise SnapshotFormatError(f'the snapshot is not a moderator snapshot: its `format` must be "{FORMAT}"')
        version = data.get("version")
        if type(version) is not int or version not in VERSIONS:
            raise SnapshotFormatError(
                f"the snapshot has version {version!r}, and this program reads the versions 1 and {VERSION}"
                + ("; a newer one wrote it" if type(version) is int and version > VERSION else "")
            )
        snapshot = cls(
            document.get("script_id", str),
            document.get("script_source_hash", str),
            document.get("current_state", dict),
            tuple(document.get("queued_internal_events", list)),
            document.get("halted", bool),
            read_overlay(document.sub("overlay")),
        )
        return snapshot if version == VERSION else snapshot.rewritten()

    def rewritten(self) -> ModeratorSnapshot:
        """The same with state and queue in format 2, in place of format 1."""
        state, queue = self.values(decode_nested)
        return attrs.evolve(self, current_state=encode(state), queued_internal_events=tuple(map(encode, queue)))

    def values(self, read: Callable[[Json], Value]) -> tuple[Value, tuple[Value, ...]]:
        """State and queue. `SnapshotFormatError` if they are damaged."""
        events = enumerate(self.queued_internal_events)
        return (
            decoded("the state", self.current_state, read),
            tuple(decoded(f"queued event {index}", event, read) for index, event in events),
        )

    def contents(self, artifact: ScriptArtifact) -> Contents:
        """The values to restore a session of this script from; nothing has changed if this raises.

        `SnapshotMismatchError` if the snapshot is another script's, `SnapshotFormatError` if it is damaged or its state
        is not of the type that the script gives it.
        """
        if self.script_id != artifact.script_id:
            raise SnapshotMismatchError(
                f'the snapshot belongs to the script "{self.script_id}", not to "{artifact.script_id}"', "script_id"
            )
        if self.script_source_hash != artifact.source_hash:
            raise SnapshotMismatchError(
                f'the source of the script "{self.script_id}" has changed since the snapshot was taken: start a new '
                f"session, or go back to the source with {self.script_source_hash}",
                "source_hash",
            )
        state, queue = self.values(decode)
        problem = misfit(state, artifact.compiled.state_type)
        if problem is not None:
            raise SnapshotFormatError(
                f"the state of the snapshot is not of the type that the script gives it: {problem}"
            )
        return Contents(state, queue, self.halted)


def decoded(what: str, data: Json, read: Callable[[Json], Value]) -> Value:
    try:
        return read(data)
    except SnapshotError as error:
        raise SnapshotFormatError(f"the snapshot is damaged in {what}: {error}") from None


def take_snapshot(artifact: ScriptArtifact, session: Session, overlay: Overlay) -> ModeratorSnapshot:
    """The snapshot of a session that is idle or has ended; `UnserializableValueError` if something is not data."""
    try:
        return ModeratorSnapshot(
            artifact.script_id,
            artifact.source_hash,
            encode(session.state),
            tuple(encode(event) for event in session.queued_events),
            session.is_halted,
            overlay,
        )
    except SnapshotError as error:
        raise UnserializableValueError(str(error)) from None


# -- the overlay


def dump_overlay(overlay: Overlay) -> Json:
    return {
        "revision": overlay.revision,
        "next_change_id": overlay.next_change_id,
        "prepended_items": [dump_insertion(one) for one in overlay.prepended],
        "appended_items": [dump_insertion(one) for one in overlay.appended],
        "replacements": [
            {
                "target_id": one.target_id.encode(),
                "change_id": one.change_id,
                "script_label": one.script_label,
                "value": one.item,
            }
            for one in overlay.replacements
        ],
        "tombstones": [{"target_id": one.target_id.encode(), "change_id": one.change_id} for one in overlay.tombstones],
        "halt_reason": overlay.halt_reason,
    }


def dump_insertion(insertion: Insertion) -> Json:
    return {
        "entry_id": insertion.entry.id.encode(),
        "change_id": insertion.change_id,
        "script_label": insertion.script_label,
        "value": insertion.entry.item,
    }


def read_overlay(overlay: Reader) -> Overlay:
    read = Overlay(
        revision=overlay.count("revision"),
        next_change_id=overlay.count("next_change_id"),
        prepended=overlay.each("prepended_items", read_insertion),
        appended=overlay.each("appended_items", read_insertion),
        replacements=overlay.each("replacements", read_replacement),
        tombstones=overlay.each("tombstones", read_tombstone),
        halt_reason=overlay.get("halt_reason", str, optional=True),
    )
    entries: Sequence[Insertion | ReplacementRecord | Tombstone] = (
        *read.prepended,
        *read.appended,
        *read.replacements,
        *read.tombstones,
    )
    ids = [entry.change_id for entry in entries]
    if len(set(ids)) != len(ids):
        raise overlay.damaged("a change id occurs twice")
    if ids and max(ids) >= read.next_change_id:
        raise overlay.damaged("a change id is not below `next_change_id`")
    for what, targets, known in (
        ("inserted entry", len(read.prepended) + len(read.appended), read.inserted_ids),
        ("replaced entry", len(read.replacements), read.replaced),
        ("deleted entry", len(read.tombstones), read.deleted),
    ):
        if targets != len(known):
            raise overlay.damaged(f"an identity occurs twice as {what}")
    return read


def read_insertion(record: Reader) -> Insertion:
    entry = HistoryEntry(record.identity("entry_id"), record.item("value"))
    return Insertion(entry, record.count("change_id"), record.get("script_label", str, optional=True))


def read_replacement(record: Reader) -> ReplacementRecord:
    label = record.get("script_label", str, optional=True)
    return ReplacementRecord(record.identity("target_id"), record.item("value"), record.count("change_id"), label)


def read_tombstone(record: Reader) -> Tombstone:
    return Tombstone(record.identity("target_id"), record.count("change_id"))


Record = TypeVar("Record")

KINDS: Mapping[type, str] = {
    str: "a string",
    dict: "an object",
    list: "an array",
    bool: "true or false",
    int: "an integer",
}


class Reader:
    """One object of the document, and its path for messages."""

    def __init__(self, data: Json, path: str) -> None:
        self.data = data
        self.path = path

    def damaged(self, problem: str) -> SnapshotFormatError:
        return SnapshotFormatError(f"the snapshot is damaged: {self.path}: {problem}")

    def get(self, field: str, kind: type, *, optional: bool = False) -> Any:
        """A field of a certain kind; null only if it is optional."""
        if not isinstance(self.data, dict):
            raise self.damaged("expected an object")
        if field not in self.data:
            raise self.damaged(f"the field `{field}` is missing")
        value = self.data[field]
        if value is None and optional:
            return None
        if type(value) is not kind:
            raise self.damaged(f"`{field}` must be {KINDS[kind]}{' or null' if optional else ''}")
        return value

    def sub(self, field: str) -> Reader:
        """An object in a field."""
        return Reader(self.get(field, dict), f"{self.path}.{field}")

    def each(self, field: str, read: Callable[[Reader], Record]) -> tuple[Record, ...]:
        """The records in an array of objects."""
        return tuple(
            read(Reader(element, f"{self.path}.{field}[{index}]"))
            for index, element in enumerate(self.get(field, list))
        )

    def count(self, field: str) -> int:
        """An integer of at least 0."""
        number: int = self.get(field, int)
        if number < 0:
            raise self.damaged(f"`{field}` must not be negative")
        return number

    def identity(self, field: str) -> EntryId:
        """An identity in its text form."""
        try:
            return EntryId.decode(self.get(field, str))
        except IdentityError as error:
            raise self.damaged(f"`{field}`: {error}") from None

    def item(self, field: str) -> Json:
        """A complete provider item."""
        value = self.get(field, dict)
        try:
            decode_item(Item("", value))
        except ItemDecodeError as error:
            raise self.damaged(f"`{field}`: {error}") from None
        return value
