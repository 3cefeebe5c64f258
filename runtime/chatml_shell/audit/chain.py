"""Lines of an audit file: written, read, and held to the chain that they form."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from chatml_shell.audit.events import SCHEMA_VERSION
from chatml_shell.errors import StorageError

SEAL = re.compile(rb',"event_sha256":"([0-9a-f]{64})"\}\Z')
NEEDED = {"sequence": int, "timestamp": str, "event": str}


@attrs.frozen
class Link:
    """The place in a chain behind a record: its sequence and its digest. The beginning of a chain has neither."""

    sequence: int = 0
    sha256: str | None = None


ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
START = Link()
RECOVERED = "recovered"
"""The event that tells of a torn line before it."""


@attrs.frozen
class Record:
    """A line of an audit file that is sound in itself: its fields, and the link that it is."""

    fields: Mapping[str, Any]
    link: Link
    previous: str | None


def seal(fields: Mapping[str, Any], after: Link, timestamp: str) -> tuple[bytes, Link]:
    """The line for a record that follows a link, and the link that it is.

    >>> line, link = seal({"event": "resolved"}, START, "1970-01-01T00:00:00.000000Z")
    >>> link.sequence, read(line).link == link
    (1, True)
    """
    sequence = after.sequence + 1
    text = encode(
        {"schema_version": SCHEMA_VERSION, "sequence": sequence, "timestamp": timestamp}
        | dict(fields)
        | {"previous_event_sha256": after.sha256}
    )
    sha256 = hashlib.sha256(text).hexdigest()
    return text[:-1] + f',"event_sha256":"{sha256}"}}\n'.encode(), Link(sequence, sha256)


def encode(fields: Mapping[str, Any]) -> bytes:
    """Fields as one line of JSON in ASCII, without its end."""
    return ENCODER.encode(fields).encode()


def read(line: bytes) -> Record:
    """The record of a line. Raises `StorageError` unless the line is sound in itself: JSON, fields, schema, digest."""
    found = SEAL.search(line := line.removesuffix(b"\n"))
    try:
        fields = json.loads(line, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise StorageError("shell.audit_json", f"a line is not a JSON object: {error}") from error
    if not isinstance(fields, dict):
        raise StorageError("shell.audit_json", "a line is not a JSON object")
    if fields.get("schema_version") != SCHEMA_VERSION:
        raise StorageError("shell.audit_schema_version", f"a record is not of the schema {SCHEMA_VERSION}")
    for name, kind in NEEDED.items():
        if type(fields.get(name)) is not kind:
            raise StorageError("shell.audit_field", f"a record has no field `{name}`, or one of another type")
    if found is None or hashlib.sha256(line[: found.start()] + b"}").hexdigest() != found[1].decode():
        raise StorageError(
            "shell.audit_chain_digest",
            f"record {fields['sequence']} is not what it was when it was written: its digest differs",
        )
    return Record(fields, Link(fields["sequence"], found[1].decode()), fields.get("previous_event_sha256"))


def follow(record: Record, after: Link) -> None:
    """Raise `StorageError` unless a record is the next one behind a link."""
    if record.link.sequence != after.sequence + 1:
        raise StorageError(
            "shell.audit_sequence_gap", f"record {record.link.sequence} comes after record {after.sequence}"
        )
    if record.previous != after.sha256:
        raise StorageError(
            "shell.audit_chain_previous", f"record {record.link.sequence} does not belong behind the record before it"
        )


def is_object(line: bytes) -> bool:
    """Whether a line is a JSON object at all. A part of a record never is."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


@attrs.define
class Chain:
    """Records in their order, each held to the one before. `after` None takes any record as the first."""

    after: Link | None = START
    torn: bytes = b""
    recovered: list[int] = attrs.field(factory=list)

    def add(self, line: bytes) -> Record | None:
        """The record of the next line; None for one that is torn, which the next record has to know of."""
        try:
            record = read(line)
        except StorageError as error:
            if error.code != "shell.audit_json":
                raise
            self.torn += line
            return None
        if self.after is not None:
            follow(record, self.after)
        self.after = record.link
        torn, self.torn = self.torn.removesuffix(b"\n"), b""
        if record.fields["event"] == RECOVERED and torn:
            self.recovered.append(record.link.sequence)
        if torn and record.fields.get("torn_sha256") != hashlib.sha256(torn).hexdigest():
            raise StorageError("shell.audit_json", f"the line before record {record.link.sequence} is not a record")
        return record


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields
