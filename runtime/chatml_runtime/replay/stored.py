"""A stored conversation, cut into the turns in which it was had (runtime.md section 13.3)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from chatml.border.python import from_json
from chatml.diagnostics.errors import BoundaryError
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.items import INPUT_ROLES, Item, decode_item
from chatml_runtime.moderation.tool_calls import CALLS, OUTPUTS
from chatml_runtime.scenario.brief import parts_text
from chatml_runtime.script.errors import ItemDecodeError


@attrs.frozen(eq=False)
class StoredItem:
    """A provider item, and its index in the conversation."""

    index: int
    item: Json


@attrs.define(eq=False)
class StoredTurn:
    """What was submitted, what the model answered, what its calls gave, and what was submitted before it went on."""

    submitted: list[StoredItem] = attrs.field(factory=list)
    response: list[StoredItem] = attrs.field(factory=list)
    outputs: list[StoredItem] = attrs.field(factory=list)
    deferred: list[StoredItem] = attrs.field(factory=list)

    @property
    def is_requested(self) -> bool:
        """Whether the model was asked: it has answered, or something was submitted that has words."""
        return bool(self.response or self.outputs) or any(has_words(stored.item) for stored in self.submitted)


def has_words(item: Json) -> bool:
    return bool(parts_text(item.get("content")).strip())


def turns_of(items: Sequence[Json]) -> list[StoredTurn]:
    """The turns of a conversation. `ItemDecodeError` for an item that no conversation can hold.

    A response ends where its outputs begin. What is submitted right after outputs belongs to their turn, since the
    model is asked anyway (step 9 of section 13.3); after an answer it begins a turn.

    >>> user, call = {"role": "user", "content": "Hi"}, {"type": "reasoning", "id": "r", "summary": []}
    >>> [(len(turn.submitted), len(turn.response)) for turn in turns_of([user, user, call, user])]
    [(2, 1), (1, 0)]
    """
    turns = [StoredTurn()]
    for index, item in enumerate(items):
        check(index, item)
        stored, turn = StoredItem(index, item), turns[-1]
        if is_submitted(item):
            if turn.outputs:
                turn.deferred.append(stored)
                continue
            if turn.response:
                turns.append(StoredTurn())
            turns[-1].submitted.append(stored)
        elif item.get("type") in OUTPUT_TYPES:
            turn.outputs.append(stored)
        else:
            if turn.outputs:
                turns.append(StoredTurn())
            turns[-1].response.append(stored)
    return turns


OUTPUT_TYPES = tuple(OUTPUTS.values())


def is_submitted(item: Json) -> bool:
    return item.get("type", "message") == "message" and item.get("role") in INPUT_ROLES


def check(index: int, item: Json) -> None:
    """Refuse what scripts cannot hold, and calls and outputs without what they need."""
    try:
        from_json(item)
        if not isinstance(item, dict):
            raise ItemDecodeError("expected an object")
        if item.get("type") in (*CALLS, *OUTPUT_TYPES):
            decode_item(Item(str(item.get("call_id")), item))
    except (BoundaryError, ItemDecodeError) as error:
        raise ItemDecodeError(f"item {index}: {error}") from None
