"""Identities of the entries of a conversation, and the entries themselves (runtime.md section 11.2)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import attrs

from chatml.diagnostics.errors import ChatmlError
from chatml.values.model import INT_MAX
from chatml.values.surrogates import surrogate_problem
from chatml_runtime.moderation.fields import check_kind

Json: TypeAlias = Any
"""Plain Python data that JSON can hold."""

INTEGER = re.compile(r"[+-]?[0-9]{1,30}", re.ASCII)


class IdentityError(ChatmlError, ValueError):
    """A text that is not an identity, a history whose identities clash, or a namespace that has no identity left."""


@attrs.frozen(order=True, cache_hash=True)
class EntryId:
    """The identity of one entry: a namespace, usually the session's id, and a number from 0.

    >>> EntryId("a:b", 42).encode()
    '3:a:b:42'
    >>> EntryId.decode("2:s1:0")
    EntryId(namespace='s1', sequence=0)
    """

    namespace: str
    sequence: int

    def encode(self) -> str:
        """The text form: the namespace's length in bytes, the namespace, the number."""
        return f"{len(self.namespace.encode())}:{self.namespace}:{self.sequence}"

    @classmethod
    def decode(cls, text: str) -> EntryId:
        """The identity that a text spells, which must be spelt exactly as `encode` does; else `IdentityError`."""
        length, colon, rest = text.partition(":")
        if not colon:
            raise IdentityError(f"{_quoted(text)} is not an entry identity: the length of its namespace is missing")
        size = _integer(length, text)
        octets = rest.encode(errors="surrogatepass")
        if not 0 <= size <= len(octets):
            raise IdentityError(f"{_quoted(text)} is not an entry identity: its namespace has not the length it says")
        try:
            namespace, tail = octets[:size].decode(), octets[size:].decode()
        except UnicodeDecodeError:
            raise IdentityError(
                f"{_quoted(text)} is not an entry identity: its namespace has not the length it says"
            ) from None
        if not tail.startswith(":"):
            raise IdentityError(f"{_quoted(text)} is not an entry identity: no `:` separates its number")
        sequence = _integer(tail[1:], text)
        if not namespace:
            raise IdentityError(f"{_quoted(text)} is not an entry identity: its namespace is empty")
        if sequence < 0:
            raise IdentityError(f"{_quoted(text)} is not an entry identity: its number is negative")
        decoded = cls(namespace, sequence)
        if decoded.encode() != text:
            raise IdentityError(f"{_quoted(text)} is not an entry identity: it is written {decoded.encode()!r}")
        return decoded


def _integer(text: str, whole: str) -> int:
    number = int(text) if INTEGER.fullmatch(text) else None
    if number is None or abs(number) > INT_MAX:
        raise IdentityError(f"{_quoted(whole)} is not an entry identity: {_quoted(text)} is not an integer")
    return number


def _quoted(text: str, most: int = 80) -> str:
    return f'"{text}"' if len(text) <= most else f'"{text[:most]}…"'


class EntryIdAllocator:
    """Hands out the identities of one namespace, in order, from any thread; it never moves backwards.

    A host stores `next_sequence` beside its history: with a smaller one an identity would be used twice.

    >>> ids = EntryIdAllocator("s1", next_sequence=2)
    >>> ids.allocate().encode(), [entry_id.sequence for entry_id in ids.reserve(2)], ids.next_sequence
    ('2:s1:2', [3, 4], 5)
    """

    __slots__ = ("_lock", "_next", "namespace")

    def __init__(self, namespace: str, next_sequence: int = 0) -> None:
        check_kind("the namespace of entry identities", namespace, str)
        check_kind("the next number of a namespace", next_sequence, int)
        if not namespace:
            raise IdentityError("the namespace of entry identities is empty; use the id of the session")
        problem = surrogate_problem(namespace)
        if problem is not None:
            raise IdentityError(f"the namespace of entry identities cannot be written: {problem}")
        if next_sequence < 0:
            raise IdentityError(f"the next number of the namespace {_quoted(namespace)} is negative")
        self.namespace = namespace
        self._next = next_sequence
        self._lock = threading.Lock()

    @property
    def next_sequence(self) -> int:
        """The number of the identity that comes next."""
        return self._next

    def allocate(self) -> EntryId:
        """One identity; `IdentityError` when the namespace has none left."""
        return self.reserve(1)[0]

    def reserve(self, count: int) -> tuple[EntryId, ...]:
        """`count` identities that follow each other. All or none: on `IdentityError` nothing has moved."""
        if count < 0:
            raise IdentityError(f"cannot reserve {count} entry identities")
        with self._lock:
            first = self._next
            if first + count > INT_MAX + 1:
                raise IdentityError(f"the namespace {_quoted(self.namespace)} has no entry identity left")
            self._next = first + count
        return tuple(EntryId(self.namespace, sequence) for sequence in range(first, first + count))


@attrs.frozen(eq=False)
class HistoryEntry:
    """One entry of the canonical history: a provider item under its identity. Replacing the payload keeps the id.

    The item is not to be changed in place: moderators keep what they made of an entry as long as it is the same.
    """

    id: EntryId
    item: Json

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, HistoryEntry):
            return NotImplemented
        return self.id == other.id and same_json(self.item, other.item)

    def __hash__(self) -> int:
        return hash(self.id)


def same_json(left: Json, right: Json) -> bool:
    """Whether two pieces of plain data are equal, at any depth."""
    pending = [(left, right)]
    while pending:
        one, two = pending.pop()
        if one is two:
            continue
        if isinstance(one, dict) and isinstance(two, dict):
            if one.keys() != two.keys():
                return False
            pending += [(one[key], two[key]) for key in one]
        elif isinstance(one, list) and isinstance(two, list):
            if len(one) != len(two):
                return False
            pending += zip(one, two, strict=True)
        elif isinstance(one, bool) is not isinstance(two, bool) or one != two:
            return False
    return True


def validate_history(allocator: EntryIdAllocator, entries: Sequence[HistoryEntry]) -> None:
    """Refuse, with `IdentityError`, a history that holds an identity twice or one that is yet to be handed out."""
    seen: set[EntryId] = set()
    for entry in entries:
        if entry.id in seen:
            raise IdentityError(f"the history holds the entry identity {_quoted(entry.id.encode())} twice")
        seen.add(entry.id)
    check_handed_out(allocator, seen, "the history")


def check_handed_out(allocator: EntryIdAllocator, ids: Iterable[EntryId], holder: str) -> None:
    """Refuse, with `IdentityError`, identities that an allocator is yet to hand out: they would be used twice."""
    ahead = [one for one in ids if one.namespace == allocator.namespace and one.sequence >= allocator.next_sequence]
    if ahead:
        raise IdentityError(
            f"{holder} holds the entry identity {_quoted(max(ahead).encode())}, but the next number of its "
            f"namespace is {allocator.next_sequence}: was `next_sequence` stored with the history?"
        )


def reserve_unused(allocator: EntryIdAllocator, count: int, is_used: Callable[[EntryId], bool]) -> tuple[EntryId, ...]:
    """Identities from an allocator, which refuses with `IdentityError` when it hands out one that is used already."""
    reserved = allocator.reserve(count) if count else ()
    for entry_id in filter(is_used, reserved):
        raise IdentityError(
            f"the next entry identity, {_quoted(entry_id.encode())}, is used already: was `next_sequence` stored with "
            "the history?"
        )
    return reserved
