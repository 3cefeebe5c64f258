"""The overlay: planning a batch, and the history seen through it (runtime.md sections 11.4 and 11.5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_runtime.moderation.changes import Position
from chatml_runtime.moderation.identities import EntryId, EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.items import Item
from chatml_runtime.moderation.outcome import AppendItem, DeleteItem, OverlayOp, PrependInstruction, ReplaceItem
from chatml_runtime.moderation.overlay import CANONICAL, Inserted, Overlay, Replacement, plan
from chatml_runtime.script.effects import Halt
from chatml_runtime.script.errors import ItemDecodeError, UnknownTargetError


def message(text: str, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


HISTORY = tuple(HistoryEntry(EntryId("s1", n), message(f"m{n}")) for n in range(4))
IDS = {entry.id for entry in HISTORY}


def carry_out(overlay: Overlay, allocator: EntryIdAllocator, *operations: OverlayOp) -> Overlay:
    return plan(overlay, operations, is_known=IDS.__contains__, allocator=allocator).overlay


def shown(overlay: Overlay) -> list[tuple[int, str, Any]]:
    entries = []
    for effective in overlay.apply(HISTORY):
        content = effective.entry.item["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        entries.append((effective.entry.id.sequence, text, effective.provenance))
    return entries


def test_an_empty_overlay_shows_the_history_itself() -> None:
    assert [effective.entry for effective in Overlay().apply(HISTORY)] == list(HISTORY)
    assert {effective.provenance for effective in Overlay().apply(HISTORY)} == {CANONICAL}


def test_a_batch_is_numbered_in_order_and_a_halt_takes_a_number() -> None:
    ids = EntryIdAllocator("s1", 4)
    planned = plan(
        Overlay(revision=3, next_change_id=10),
        [PrependInstruction("p"), Halt("why"), DeleteItem("2:s1:1"), AppendItem(Item("lab", message("a")))],
        is_known=IDS.__contains__,
        allocator=ids,
    )
    assert [fact.change_id for fact in planned.operations] == [10, 11, 12, 13]
    assert (planned.overlay.revision, planned.overlay.next_change_id, planned.overlay.halt_reason) == (4, 14, "why")
    first, last = planned.operations[0], planned.operations[-1]
    assert (first.entry_id, first.position, first.label) == (EntryId("s1", 4), Position.PREPENDED, None)
    assert (last.entry_id, last.position, last.label) == (EntryId("s1", 5), Position.APPENDED, "lab")


@pytest.mark.parametrize(
    ("operation", "error", "fact"),
    [
        (DeleteItem("2:s1:99"), UnknownTargetError, '"2:s1:99"'),
        (DeleteItem("zzz"), UnknownTargetError, "length of its namespace is missing"),
        (ReplaceItem("2:s1:4", Item("x", message("m"))), UnknownTargetError, '"2:s1:4"'),
        (AppendItem(Item("x", None)), ItemDecodeError, '"x"'),
    ],
)
def test_a_refused_batch_reserves_nothing(operation: OverlayOp, error: type[Exception], fact: str) -> None:
    ids = EntryIdAllocator("s1", 4)
    with pytest.raises(error, match=fact):
        carry_out(Overlay(), ids, PrependInstruction("p"), operation)
    assert ids.next_sequence == 4


def test_an_entry_that_the_same_batch_inserts_is_no_target() -> None:
    ids = EntryIdAllocator("s1", 4)
    with pytest.raises(UnknownTargetError):
        carry_out(Overlay(), ids, PrependInstruction("p"), DeleteItem("2:s1:4"))
    overlay = carry_out(Overlay(), ids, PrependInstruction("p"))
    deleted = carry_out(overlay, ids, DeleteItem("2:s1:4"))
    assert shown(deleted) == shown(overlay)
    assert deleted.deleted == {EntryId("s1", 4)}


def test_what_targets_an_entry_that_is_gone_stays_stored() -> None:
    overlay = carry_out(Overlay(), EntryIdAllocator("s1", 4), ReplaceItem("2:s1:1", Item("x", message("new"))))
    assert [effective.provenance for effective in overlay.apply(HISTORY[2:])] == [CANONICAL, CANONICAL]
    assert overlay.apply(HISTORY)[1].provenance == Replacement(EntryId("s1", 1), 0)


OPERATIONS = st.one_of(
    st.builds(PrependInstruction, st.text(max_size=3)),
    st.builds(AppendItem, st.builds(Item, st.just("a"), st.builds(message, st.text(max_size=3)))),
    st.builds(
        ReplaceItem,
        st.sampled_from([entry.id.encode() for entry in HISTORY]),
        st.builds(Item, st.just("r"), st.builds(message, st.text(max_size=3))),
    ),
    st.builds(DeleteItem, st.sampled_from([entry.id.encode() for entry in HISTORY])),
    st.builds(Halt, st.text(max_size=3)),
)


@given(st.lists(st.lists(OPERATIONS, min_size=1, max_size=4), max_size=6))
def test_the_effective_history_follows_from_the_operations(batches: list[list[OverlayOp]]) -> None:
    """Prepended entries come first, then the history without the deleted and with the last replacements, then more."""
    ids, overlay = EntryIdAllocator("s1", 4), Overlay()
    prepended, appended, replaced = list[str](), list[str](), dict[int, str]()
    deleted = set[int]()
    for batch in batches:
        overlay = carry_out(overlay, ids, *batch)
        for operation in batch:
            match operation:
                case PrependInstruction(text=text):
                    prepended.append(text)
                case AppendItem(item=item):
                    appended.append(item.value["content"])
                case ReplaceItem(target_id=target, item=item):
                    replaced[int(target[-1])] = item.value["content"]
                case DeleteItem(target_id=target):
                    deleted.add(int(target[-1]))
    middle = [replaced.get(n, f"m{n}") for n in range(4) if n not in deleted]
    entries = shown(overlay)
    assert [text for _, text, _ in entries] == [*prepended, *middle, *appended]
    assert overlay.revision == len(batches)
    assert overlay.next_change_id == sum(len(batch) for batch in batches)
    assert ids.next_sequence == 4 + len(prepended) + len(appended)
    inserted = [sequence for sequence, _, provenance in entries if isinstance(provenance, Inserted)]
    assert sorted(inserted) == list(range(4, ids.next_sequence))
