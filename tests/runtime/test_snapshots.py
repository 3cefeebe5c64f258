"""Snapshots: the round trip, and everything that is refused (runtime.md section 17; R-032, R-067 to R-069)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmd import load
from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.moderation.documents import export_overlay, overlay_entries
from chatml_runtime.moderation.identities import EntryId, EntryIdAllocator, IdentityError
from chatml_runtime.moderation.snapshots import ModeratorSnapshot
from chatml_runtime.script.approvals import AskText
from chatml_runtime.script.errors import (
    CommitRejectedError,
    SessionEndedError,
    SnapshotFormatError,
    SnapshotMismatchError,
    SnapshotSuspendedError,
    UnserializableValueError,
)
from tests.runtime.conversations import H2, Conversation, artifact
from tests.runtime.test_moderator import R_039

STATEFUL = (
    'let initial_state = { n = 2; f = 1.5; t = ["a"]; u = (); v = `Some(3) }\nlet on_event ctx st ev = match ev with'
    + R_039
    + '| `Later -> let* () = Turn.append_notice("again") in Task.pure({ st with n = st.n + 1 })'
    '| `End -> let* () = Runtime.end_session("over") in Task.pure(st)'
    "| _ -> Task.pure(st)"
)


def stored(talk: Conversation) -> Any:
    """A snapshot that has been to a file and back."""
    return json.loads(json.dumps(talk.moderator.snapshot().to_json()))


def restored(talk: Conversation, document: Any = None) -> Conversation:
    """Another conversation that goes on where one has stopped."""
    snapshot = ModeratorSnapshot.from_json(stored(talk) if document is None else document)
    again = Conversation(
        talk.artifact,
        snapshot=snapshot,
        allocator=EntryIdAllocator("s1", talk.allocator.next_sequence),
    )
    again.history = list(talk.history)
    return again


def storable() -> Conversation:
    talk = Conversation(STATEFUL, items=H2, replay_after_events=False)
    talk.send()
    talk.moderator.enqueue(("Later",))
    return talk


def test_r_067_round_trip() -> None:
    talk = storable()
    again = restored(talk)
    assert again.state == talk.state == {"n": 2, "f": 1.5, "t": ["a"], "u": None, "v": ("Some", 3)}
    assert again.queue == ["`Later"]
    assert again.shown() == talk.shown()
    assert again.moderator.overlay == talk.moderator.overlay
    assert again.published() == ()
    again.replay()
    assert again.state["n"] == 3
    (insertion,) = again.moderator.overlay.appended[1:]
    assert (insertion.change_id, insertion.entry.id) == (5, EntryId("s1", 5))


def test_r_067_the_document() -> None:
    document = stored(storable())
    assert list(document) == [
        "format",
        "version",
        "script_id",
        "script_source_hash",
        "current_state",
        "queued_internal_events",
        "halted",
        "overlay",
    ]
    assert (document["format"], document["version"]) == ("chatml-moderator-snapshot", 2)
    assert document["current_state"] == {
        "parts": [
            ["array", "a"],
            ["variant", "Some", 3],
            ["record", "f", {"float": 1.5}, "n", 2, "t", [0], "u", None, "v", [1]],
        ],
        "value": [2],
    }
    assert document["queued_internal_events"] == [{"parts": [["variant", "Later"]], "value": [0]}]
    overlay = document["overlay"]
    assert overlay["prepended_items"][0] == {
        "entry_id": "2:s1:2",
        "change_id": 0,
        "script_label": None,
        "value": {
            "type": "message",
            "role": "developer",
            "content": [{"type": "input_text", "text": "P1"}],
        },
    }
    (replacement,) = overlay["replacements"]
    assert (replacement["target_id"], replacement["script_label"]) == ("2:s1:1", "lab")
    assert overlay["tombstones"] == [{"target_id": "2:s1:0", "change_id": 3}]
    assert (overlay["revision"], overlay["next_change_id"], overlay["halt_reason"]) == (1, 5, None)


STATE_1 = {
    "record": [
        ["f", {"float": 1.5}],
        ["n", {"int": 2}],
        ["t", {"array": [{"string": "a"}]}],
        ["u", {"unit": True}],
        ["v", {"variant": ["Some", [{"int": 3}]]}],
    ]
}
QUEUE_1 = [{"variant": ["Later", []]}]


def format_1(document: Any, state: Any = STATE_1, queue: Any = QUEUE_1) -> Any:
    """A document of version 1, as earlier releases stored it."""
    return {**document, "version": 1, "current_state": state, "queued_internal_events": queue}


def test_a_document_of_version_1_is_read() -> None:
    talk = storable()
    document = format_1(stored(talk))
    again = restored(talk, document)
    assert (again.state, again.queue, again.shown()) == (talk.state, talk.queue, talk.shown())
    assert ModeratorSnapshot.from_json(document) == talk.moderator.snapshot()
    assert stored(again) == stored(talk)


@pytest.mark.parametrize(
    ("state", "queue", "fact"),
    [
        ({"int": 2**70}, [], "the state: root: .*int"),
        ({"int": 1, "bool": True}, [], "the state: root: "),
        ({"record": [["x", {"int": 1}], ["x", {"int": 2}]]}, [], 'duplicate record field "x"'),
        (STATE_1, [{"variant": ["Later"]}], "queued event 0: root: "),
    ],
)
def test_a_damaged_document_of_version_1_is_refused(state: Any, queue: Any, fact: str) -> None:
    with pytest.raises(SnapshotFormatError, match=fact):
        ModeratorSnapshot.from_json(format_1(stored(storable()), state, queue))


@pytest.mark.parametrize(
    ("state", "fact"),
    [
        ("{ k = fun x -> x }", "root.k: closures"),
        ("{ k = ref(1) }", "root.k: refs"),
        ("{ k = Task.pure(1) }", "root.k: tasks"),
        ("{ k = [`Evt(1, print)] }", r"root.k\[0\]<Evt>\[1\]: builtins"),
    ],
)
def test_r_068_what_is_not_data_is_named_with_its_path(state: str, fact: str) -> None:
    talk = Conversation(f"let initial_state = {state}\nlet on_event ctx st ev = Task.pure(st)")
    with pytest.raises(UnserializableValueError, match=fact):
        talk.moderator.snapshot()
    talk.tick()


def test_r_068_another_script_is_refused() -> None:
    talk = storable()
    snapshot = ModeratorSnapshot.from_json(stored(talk))
    with pytest.raises(SnapshotMismatchError) as caught:
        Conversation(artifact(STATEFUL + " "), snapshot=snapshot)
    assert caught.value.field == "source_hash"
    with pytest.raises(SnapshotMismatchError, match='"main", not to "other"') as caught:
        Conversation(artifact(STATEFUL, script_id="other"), snapshot=snapshot)
    assert caught.value.field == "script_id"


def test_r_068_a_repeated_label_is_refused() -> None:
    talk = storable()
    document = stored(talk)
    document["current_state"] = {"parts": [["record", "x", 1, "x", 2]], "value": [0]}
    with pytest.raises(SnapshotFormatError, match=r'parts\[0\]: duplicate record field "x"'):
        restored(talk, document)


def test_r_069_a_halted_session_stays_halted() -> None:
    talk = storable()
    talk.tick(("End",))
    again = restored(talk)
    assert again.moderator.is_halted
    assert again.moderator.end_reason is None
    with pytest.raises(SessionEndedError):
        again.send()
    assert again.replay().outcomes == ()


def test_the_reason_of_a_halt_is_stored() -> None:
    talk = Conversation('| `Tick -> let* () = Turn.halt("enough") in Task.pure(st)')
    talk.tick()
    assert restored(talk).moderator.end_reason == "enough"


def test_r_032_nothing_is_stored_while_an_answer_is_pending() -> None:
    talk = Conversation(
        '| `Tick -> let* () = Turn.prepend_system("a") in let* a = Approval.ask_text("continue?") in Task.pure(st + 1)',
        surface=UI_MODERATOR,
    )
    before = stored(talk)
    talk.tick()
    with pytest.raises(SnapshotSuspendedError):
        talk.moderator.snapshot()
    assert talk.moderator.abandon_pending() == AskText("continue?")
    assert talk.moderator.abandon_pending() is None
    assert stored(talk) == before
    talk.tick()
    assert talk.moderator.pending == AskText("continue?")


DAMAGES: list[tuple[str, Any, str]] = [
    ("format", "other", "is not a moderator snapshot"),
    ("version", 3, "version 3.*a newer one wrote it"),
    ("version", 1, "the state: root: "),
    ("version", "1", "version '1'"),
    ("version", True, "version True"),
    ("script_id", 3, "`script_id` must be a string"),
    ("current_state", [], "`current_state` must be an object"),
    ("current_state", {"int": 1}, "the state: expected an object with an array `parts`"),
    ("current_state.parts.2.4", 2**70, r"the state: parts\[2\]\[4\]: an int must be between"),
    ("current_state.parts.2.6.0", 2, r"the state: parts\[2\]\[6\]: part 2 does not stand before this one"),
    ("current_state.parts.2.4", "2", r"the type that the script gives it: root.n: expected an int, not a string: '2'"),
    ("current_state.parts.2.3", "m", r"the type that the script gives it: root: expected a record with .*`n`"),
    ("current_state.parts.0.1", True, r"the type that the script gives it: root.t\[0\]: expected a string"),
    ("current_state.parts.1.2", None, r"the type that the script gives it: root.v<Some>\[0\]: expected an int"),
    ("queued_internal_events", {}, "`queued_internal_events` must be an array"),
    ("queued_internal_events", [{"variant": ["Later"]}], "queued event 0: expected an object"),
    ("halted", None, "`halted` must be true or false"),
    ("overlay", None, "`overlay` must be an object"),
    ("overlay.revision", -1, "`revision` must not be negative"),
    ("overlay.revision", 1.0, "`revision` must be an integer"),
    ("overlay.halt_reason", 1, "`halt_reason` must be a string or null"),
    ("overlay.next_change_id", 2, "change id is not below"),
    ("overlay.prepended_items.1.change_id", 0, "change id occurs twice"),
    ("overlay.prepended_items.0", "x", r"prepended_items\[0\]: expected an object"),
    ("overlay.prepended_items.0.entry_id", "02:s1:2", r"prepended_items\[0\]: `entry_id`"),
    ("overlay.prepended_items.0.entry_id", "2:s1:3", "identity occurs twice as inserted entry"),
    ("overlay.appended_items.0.value", {"type": "poem"}, 'unknown type "poem"'),
    ("overlay.replacements.0.target_id", "", "`target_id`"),
    ("overlay.tombstones.0.change_id", None, "`change_id` must be an integer"),
]


@pytest.mark.parametrize(("path", "value", "fact"), DAMAGES, ids=[f"{path}={value}"[:60] for path, value, _ in DAMAGES])
def test_a_damaged_snapshot_is_refused_with_the_place(path: str, value: Any, fact: str) -> None:
    talk = storable()
    document = stored(talk)
    *way, last = path.split(".")
    target = document
    for step in way:
        target = target[int(step) if step.isdigit() else step]
    target[int(last) if last.isdigit() else last] = value
    with pytest.raises(SnapshotFormatError, match=fact):
        restored(talk, document)


@pytest.mark.parametrize("field", ["script_id", "script_source_hash", "current_state", "halted", "overlay"])
def test_a_missing_field_is_named(field: str) -> None:
    document = stored(storable())
    del document[field]
    with pytest.raises(SnapshotFormatError, match=f"`{field}` is missing"):
        ModeratorSnapshot.from_json(document)


def test_an_allocator_that_is_behind_the_snapshot_is_refused() -> None:
    """No identity is handed out twice because `next_sequence` was lost."""
    talk = storable()
    held = max(one.sequence for one in talk.moderator.overlay.identities)
    document = ModeratorSnapshot.from_json(stored(talk))
    for sequence in (0, held):
        with pytest.raises(IdentityError, match=rf"the snapshot holds .*2:s1:{held}.* is {sequence}: .*next_sequence"):
            Conversation(talk.artifact, snapshot=document, allocator=EntryIdAllocator("s1", sequence))
    for allocator in (EntryIdAllocator("s1", held + 1), EntryIdAllocator("another")):
        assert Conversation(talk.artifact, snapshot=document, allocator=allocator).moderator.overlay == document.overlay


def test_an_allocator_that_is_behind_the_history_inserts_nothing() -> None:
    talk = Conversation('| `Tick -> let* () = Turn.append_notice("x") in Task.pure(1)', items=H2)
    again = Conversation(talk.artifact, allocator=EntryIdAllocator("s1", 1))
    again.history = talk.history
    with pytest.raises(CommitRejectedError, match=r"2:s1:1.* is used already: .*next_sequence"):
        again.tick()
    assert (again.state, again.moderator.overlay.identities) == (0, frozenset())


@pytest.mark.parametrize("document", [None, [], "text", 3, {}, {"format": "chatml-moderator-snapshot"}])
def test_other_documents_are_refused(document: Any) -> None:
    with pytest.raises(SnapshotFormatError):
        ModeratorSnapshot.from_json(document)


@given(st.data())
@settings(max_examples=150)
def test_a_document_with_a_part_replaced_is_refused_or_restores(data: st.DataObject) -> None:
    """Whatever a part of a snapshot is replaced by, restoring raises a snapshot error or gives a working session."""
    talk = storable()
    document = stored(talk)
    places = list(parts(document))
    container, key = data.draw(st.sampled_from(places))
    junk = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([]) | st.just({})
    container[key] = data.draw(junk)
    try:
        again = restored(talk, copy.deepcopy(document))
    except (SnapshotFormatError, SnapshotMismatchError):
        return
    again.moderator.snapshot()
    again.moderator.effective_entries(again.history)


def parts(data: Any) -> Any:
    """Every place in some data, as a container and a key."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in list(keys):
        yield data, key
        yield from parts(data[key])


EVENTS = st.one_of(
    st.builds(lambda n: ("Add", n), st.integers(0, 9)),
    st.builds(lambda text: ("Note", text), st.text(st.characters(exclude_categories=["Cs"]), max_size=4)),
    st.builds(lambda n: ("Emit", n), st.integers(0, 3)),
    st.just(("Drop",)),
    st.just(("Fail",)),
)
ANY = """
| `Add(n) -> Array.set(st.seen, 0, st.seen[0] + n); Task.pure({ st with n = st.n + n })
| `Note(text) -> let* () = Turn.append_notice(text) in Task.pure({ st with notes = Array.append(st.notes, [text]) })
| `Emit(k) -> if k == 0 then Task.pure(st) else
              let* () = Runtime.emit(`Emit(k - 1)) in let* () = Runtime.emit(`Add(k)) in Task.pure(st)
| `Drop -> let* () = Turn.delete_item("2:s1:0") in Task.pure(st)
| `Fail -> Array.set(st.seen, 0, 99); Task.fail("no")
| _ -> Task.pure(st)
"""
ANY_SCRIPT = artifact(
    'let initial_state = { n = 0; seen = [0]; notes = Array.make(0, "") }\nlet on_event ctx st ev = match ev with' + ANY
)


def deliver(talk: Conversation, events: list[Any]) -> list[str]:
    """What comes of some events, failures included."""
    told = []
    for event in events:
        try:
            told.append(repr(talk.tick(event)))
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    return told


@given(st.lists(EVENTS, max_size=6), st.lists(EVENTS, max_size=6), st.integers(0, 4))
def test_a_restored_session_behaves_the_same(before: list[Any], after: list[Any], limit: int) -> None:
    """After a snapshot and a restore, any later events have the same results, state, queue, overlay and identities."""
    talk = Conversation(ANY_SCRIPT, items=H2, max_internal_event_drain=limit)
    deliver(talk, before)
    snapshot = ModeratorSnapshot.from_json(stored(talk))
    again = Conversation(
        ANY_SCRIPT,
        snapshot=snapshot,
        allocator=EntryIdAllocator("s1", talk.allocator.next_sequence),
        max_internal_event_drain=limit,
    )
    again.history = list(talk.history)
    assert deliver(again, after) == deliver(talk, after)
    assert (again.state, again.queue, again.shown()) == (talk.state, talk.queue, talk.shown())
    assert stored(again) == stored(talk)
    assert again.allocator.next_sequence == talk.allocator.next_sequence


@given(st.lists(st.tuples(st.booleans(), EVENTS), max_size=12))
def test_two_sessions_of_one_script_never_see_each_other(events: list[tuple[bool, Any]]) -> None:
    """Two sessions of one compiled script that are fed in turn end as each would alone."""
    both = {side: Conversation(ANY_SCRIPT, items=H2) for side in (False, True)}
    for side, event in events:
        deliver(both[side], [event])
    for side, talk in both.items():
        alone = Conversation(ANY_SCRIPT, items=H2)
        deliver(alone, [event for at, event in events if at is side])
        assert (talk.state, talk.queue, talk.shown()) == (alone.state, alone.queue, alone.shown())


def test_r_072_export() -> None:
    talk = Conversation(
        '| `Tick -> let* () = Turn.append_item(Item.assistant_text("m1", "synthetic")) in '
        'let* () = Turn.delete_item("2:s1:0") in let* () = Turn.halt("done") in Task.pure(st)',
        items=H2,
    )
    talk.tick()
    assert export_overlay(talk.moderator.overlay) == (
        '<msg role="assistant" id="m1">\nsynthetic\n</msg>\n'
        '<msg role="developer" id="moderation-deletion-2:s1:0">\n'
        'Moderator deleted message "2:s1:0" from the effective transcript.\n</msg>\n'
        '<msg role="developer" id="moderation-halt">\nSession ended by moderator: done\n</msg>\n'
    )
    assert talk.moderator.overlay.halt_reason == "done"


def test_an_export_loads_and_keeps_the_order() -> None:
    talk = storable()
    overlay = talk.moderator.overlay
    kinds = [type(entry).__name__ for entry in overlay_entries(overlay)]
    assert kinds == ["Inserted", "Inserted", "Inserted", "Replaced", "Deleted"]
    assert load(export_overlay(overlay), base_dir=".") is not None
