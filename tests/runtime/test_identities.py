"""Identities of entries, the allocator, and the check of a history (runtime.md section 11.2)."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.values.model import INT_MAX
from chatml_runtime.moderation.identities import (
    EntryId,
    EntryIdAllocator,
    HistoryEntry,
    IdentityError,
    same_json,
    validate_history,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_r_048_identity_text() -> None:
    assert EntryId("a:b", 42).encode() == "3:a:b:42"
    assert EntryId.decode("3:a:b:42") == EntryId("a:b", 42)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "length of its namespace is missing"),
        ("zzz", "length of its namespace is missing"),
        ("0::0", "namespace is empty"),
        ("1:a:-1", "negative"),
        ("01:a:0", "it is written '1:a:0'"),
        ("1:a:00", "it is written '1:a:0'"),
        ("1:a:0:x", "not an integer"),
        ("x:a:0", "not an integer"),
        ("9:a:0", "has not the length"),
        ("-1:a:0", "has not the length"),
        ("1:ab:0", "no `:`"),
        ("1:é:0", "has not the length"),
        ("1:a:" + "9" * 5000, "not an integer"),
        ("1:\ud800:0", "has not the length"),
    ],
)
def test_r_048_identities_that_are_refused(text: str, fact: str) -> None:
    with pytest.raises(IdentityError, match=fact):
        EntryId.decode(text)


@given(TEXT.filter(bool), st.integers(0, INT_MAX))
def test_identities_round_trip(namespace: str, sequence: int) -> None:
    """Decoding what `encode` wrote gives the same identity."""
    entry_id = EntryId(namespace, sequence)
    assert EntryId.decode(entry_id.encode()) == entry_id


@given(st.text())
def test_decoding_accepts_only_canonical_text(text: str) -> None:
    """A text that decodes is the very text that the identity encodes to."""
    try:
        entry_id = EntryId.decode(text)
    except IdentityError:
        return
    assert entry_id.encode() == text


def test_r_048_a_failed_reservation_does_not_advance() -> None:
    ids = EntryIdAllocator("s1", INT_MAX)
    with pytest.raises(IdentityError, match="no entry identity left"):
        ids.reserve(2)
    with pytest.raises(IdentityError, match="cannot reserve -1"):
        ids.reserve(-1)
    assert ids.allocate() == EntryId("s1", INT_MAX)
    with pytest.raises(IdentityError, match="no entry identity left"):
        ids.allocate()


def test_an_allocator_hands_each_identity_out_once() -> None:
    ids, taken = EntryIdAllocator("s1"), list[EntryId]()

    def take() -> None:
        for _ in range(200):
            taken.extend(ids.reserve(3))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == 2400
    assert ids.next_sequence == 2400


@pytest.mark.parametrize(
    ("namespace", "start", "fact"), [("", 0, "empty"), ("s", -1, "negative"), ("\ud800", 0, "surrogate")]
)
def test_an_allocator_needs_a_namespace_and_a_start(namespace: str, start: int, fact: str) -> None:
    with pytest.raises(IdentityError, match=fact):
        EntryIdAllocator(namespace, start)


def test_a_history_is_checked() -> None:
    ids = EntryIdAllocator("s1", 2)
    entries = [HistoryEntry(EntryId("s1", n), {}) for n in range(2)]
    validate_history(ids, [*entries, HistoryEntry(EntryId("elsewhere", 99), {})])
    with pytest.raises(IdentityError, match='"2:s1:0" twice'):
        validate_history(ids, [*entries, entries[0]])
    with pytest.raises(IdentityError, match=r'"2:s1:2".*next number of its namespace is 2'):
        validate_history(ids, [HistoryEntry(EntryId("s1", 2), {})])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=1), inner, max_size=3),
)


@given(JSON, JSON)
def test_same_json_is_equality_that_tells_true_from_one(left: object, right: object) -> None:
    """Two pieces of data are the same exactly when they are equal, booleans being no numbers."""
    assert same_json(left, left)
    assert same_json(left, right) == (left == right and repr(left).count("True") == repr(right).count("True"))


def test_same_json_takes_any_depth() -> None:
    one: object = 0
    two: object = 0
    for _ in range(100_000):
        one, two = [one], [two]
    assert same_json(one, two)
    assert not same_json(one, [two])
