"""Arguments of a host that are of another kind than asked for: a `TypeError` that says what to hand in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

import chatml
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.results import EventInput
from chatml_runtime.moderation.vocabulary import TurnEnd
from tests.runtime.conversations import artifact

SCRIPT = artifact("| `Tick -> Task.pure(st + 1)")
MESSAGE = {"type": "message", "role": "user", "content": "x"}


def moderator(**options: Any) -> Moderator:
    return Moderator.create(SCRIPT, **{"allocator": EntryIdAllocator("s1"), **options})


def deliver(event: Any, given: Any) -> object:
    return moderator().handle_event(event, given)


FAULTS: dict[str, Callable[[], object]] = {
    "`ScriptArtifact`.*`str`.*ArtifactCache": lambda: Moderator.create(
        cast("Any", "let x = 1"), allocator=EntryIdAllocator("s1")
    ),
    "`EntryIdAllocator`.*`str`": lambda: moderator(allocator="s1"),
    "`ModeratorSnapshot`.*`dict`.*from_json": lambda: moderator(snapshot=moderator().snapshot().to_json()),
    "such as `TurnStart.*TurnEnd": lambda: deliver(TurnEnd, EventInput("s1", 0, ())),
    "such as `TurnStart.*turn_end": lambda: deliver("turn_end", EventInput("s1", 0, ())),
    "`EventInput`.*`dict`": lambda: deliver(TurnEnd(), {"session_id": "s1"}),
    "`HistoryEntry`.*`dict`.*identity": lambda: deliver(
        TurnEnd(), EventInput("s1", 0, cast("tuple[HistoryEntry, ...]", (MESSAGE,)))
    ),
    "namespace.*`str`.*`int`": lambda: EntryIdAllocator(cast("Any", 5)),
    "next number.*`int`.*`NoneType`": lambda: EntryIdAllocator("s1", cast("Any", None)),
    "script is a `str` or a `Source`.*`bytes`": lambda: chatml.compile(cast("Any", b"let x = 1")),
}


@pytest.mark.parametrize("said", FAULTS)
def test_another_kind_is_refused_by_name(said: str) -> None:
    with pytest.raises(TypeError, match=said):
        FAULTS[said]()
