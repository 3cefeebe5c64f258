"""Where records go that are not chained: nowhere, or to standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import attrs

from chatml_shell.audit.chain import encode
from chatml_shell.audit.events import SCHEMA_VERSION, instant
from chatml_shell.errors import StorageError

Clock = Callable[[], float]
"""Seconds since the epoch."""


class Sink(Protocol):
    """Takes the fields of records. `append` raises `StorageError` when a record cannot be kept."""

    def append(self, fields: Mapping[str, Any]) -> None: ...

    def next_sequence(self) -> int:
        """The sequence that the next record will have, unless another process writes before."""

    def close(self) -> None: ...


@attrs.define
class Nowhere:
    """Keeps nothing."""

    def append(self, fields: Mapping[str, Any]) -> None:
        pass

    def next_sequence(self) -> int:
        return 1

    def close(self) -> None:
        pass


@attrs.define
class StandardError:
    """Writes lines without a chain to the standard error of the host."""

    clock: Clock
    sequence: int = 0

    def append(self, fields: Mapping[str, Any]) -> None:
        place = {
            "schema_version": SCHEMA_VERSION,
            "sequence": self.next_sequence(),
            "timestamp": instant(self.clock()),
        }
        try:
            sys.stderr.write(encode(place | dict(fields)).decode() + "\n")
            sys.stderr.flush()
        except (OSError, ValueError) as error:
            raise StorageError("shell.audit_write_failed", f"standard error takes no record: {error}") from error
        self.sequence += 1

    def next_sequence(self) -> int:
        return self.sequence + 1

    def close(self) -> None:
        pass
