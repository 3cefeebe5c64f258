"""Change records: what a commit did to the overlay, told to whoever subscribed (runtime.md section 11.6)."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from typing import TypeAlias

import attrs

from chatml_runtime.moderation.identities import EntryId
from chatml_runtime.moderation.vocabulary import Phase


class Position(enum.Enum):
    """Where an inserted entry stands: before the history or after it."""

    PREPENDED = "prepended"
    APPENDED = "appended"


@attrs.frozen
class InsertedEntry:
    """An entry was added under a new identity."""

    entry_id: EntryId
    change_id: int
    position: Position
    label: str | None


@attrs.frozen
class Replaced:
    """The payload of an entry was replaced."""

    target_id: EntryId
    change_id: int
    label: str | None


@attrs.frozen
class Deleted:
    """An entry was hidden from the model."""

    target_id: EntryId
    change_id: int


@attrs.frozen
class Halted:
    """The conversation was halted."""

    reason: str
    change_id: int


ChangeOperation: TypeAlias = InsertedEntry | Replaced | Deleted | Halted


@attrs.frozen
class OverlayChange:
    """One commit that changed the overlay. The phase is that of the event, also when the run was resumed."""

    revision: int
    operations: tuple[ChangeOperation, ...]
    script_id: str
    script_source_hash: str
    phase: Phase

    @property
    def affected_entry_ids(self) -> tuple[EntryId, ...]:
        """The identities of the inserted, replaced and deleted entries in order, repeats kept."""
        return tuple(
            fact.entry_id if isinstance(fact, InsertedEntry) else fact.target_id
            for fact in self.operations
            if not isinstance(fact, Halted)
        )

    @property
    def allocated_inserted_ids(self) -> tuple[EntryId, ...]:
        """The identities of the inserted entries in order."""
        return tuple(fact.entry_id for fact in self.operations if isinstance(fact, InsertedEntry))

    @property
    def visible_history_changed(self) -> bool:
        """Whether the model sees another history than before."""
        return any(not isinstance(fact, Halted) for fact in self.operations)


class Subscription:
    """A subscriber's own list of the changes it has not read yet. Safe to use from any thread."""

    __slots__ = ("_closed", "_lock", "_on_close", "_pending", "_wake")

    def __init__(self, wake: Callable[[], None], on_close: Callable[[Subscription], None]) -> None:
        self._wake = wake
        self._on_close = on_close
        self._lock = threading.Lock()
        self._pending: list[OverlayChange] = []
        self._closed = False

    def drain(self) -> tuple[OverlayChange, ...]:
        """The changes since the last call, oldest first."""
        with self._lock:
            changes = tuple(self._pending)
            self._pending.clear()
        return changes

    def close(self) -> None:
        """Stop the subscription and drop what was not read. Closing twice does nothing."""
        with self._lock:
            self._closed = True
            self._pending.clear()
        self._on_close(self)

    def add(self, change: OverlayChange) -> None:
        """Keep a change for the subscriber, unless it has stopped."""
        with self._lock:
            if not self._closed:
                self._pending.append(change)

    def wake(self) -> None:
        """Tell the subscriber that there is something to read; what its callback raises is its own affair."""
        if self._closed:
            return
        try:
            self._wake()
        except Exception:  # the commit stands, whatever a subscriber makes of it (section 11.6)
            return


class Publisher:
    """The subscriptions of one moderator, in the order in which they were made."""

    __slots__ = ("_subscriptions",)

    def __init__(self) -> None:
        self._subscriptions: tuple[Subscription, ...] = ()

    def subscribe(self, on_wakeup: Callable[[], None]) -> Subscription:
        """A new subscription; nothing that happened before is told to it."""
        subscription = Subscription(on_wakeup, self._remove)
        self._subscriptions += (subscription,)
        return subscription

    def publish(self, change: OverlayChange) -> None:
        """Hand a change to every subscription, and then wake each."""
        subscriptions = self._subscriptions
        for subscription in subscriptions:
            subscription.add(change)
        for subscription in subscriptions:
            subscription.wake()

    def close(self) -> None:
        """End all subscriptions."""
        for subscription in self._subscriptions:
            subscription.close()

    def _remove(self, closed: Subscription) -> None:
        self._subscriptions = tuple(one for one in self._subscriptions if one is not closed)
