"""The record of a question to a person, and what binds it to the exact call (live.md sections D.2 and D.3)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import attrs

from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.tool_calls import ReviewedCall, with_args
from chatml_runtime.moderation.vocabulary import ToolCall, ToolKind
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import AskChoice, PendingRequest, question_data
from chatml_runtime.script.digests import digest

LOGGER = logging.getLogger("chatml_runtime")

Kind: TypeAlias = Literal["script", "shell", "mcp"]
State: TypeAlias = Literal["open", "answered", "expired", "abandoned", "superseded"]
Via: TypeAlias = Literal["page", "api", "chat", "cli", "timeout"]
Refusal: TypeAlias = Literal["closed", "expired", "changed"]


def call_hash(session: str, entry: str, call: ToolCall) -> str:
    """What an approval of a call is bound to: equal for equal data, however their text is written.

    >>> first = ToolCall("c1", "rm", {}, payload='{"b": 1, "a": 2}')
    >>> second = ToolCall("c1", "rm", {}, payload='{"a":2,"b":1}')
    >>> call_hash("s", "s:1", first) == call_hash("s", "s:1", second)
    True
    """
    return digest(
        {
            "v": 1,
            "session": session,
            "entry": entry,
            "call_id": call.id,
            "name": call.name,
            "kind": call.kind.value,
            "payload": bound_payload(call),
        }
    )


def bound_payload(call: ToolCall) -> Any:
    """The data of a function call's arguments, a repeated key once (X-53) and none for none (X-60); else the text."""
    if call.kind is not ToolKind.FUNCTION:
        return call.payload
    try:
        return {"json": json.loads(call.payload or "{}", object_pairs_hook=first_of_each, parse_constant=no_json)}
    except (ValueError, RecursionError):
        return call.payload


def first_of_each(pairs: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    first: dict[str, Json] = {}
    for key, value in pairs:
        first.setdefault(key, value)
    return first


def no_json(constant: str) -> Json:
    raise ValueError(f"JSON has no {constant}")


def question_hash(request: PendingRequest) -> str:
    """What an answer to a question outside of a review is bound to: operation, prompt and choices."""
    data = question_data(request)
    return digest([data["op"], data["prompt"], data["choices"]])


def shown_call(request: PendingRequest, reviewed: ToolCall) -> ToolCall:
    """The call that a person sees with a question in the review of a call: that one, or the one it is about."""
    about = request.about if isinstance(request, AskChoice) else None
    return reviewed if about is None else with_args(reviewed, about.name, about.args)


def bound(
    session: str, entry: str, call: ToolCall, answered: Iterable[PendingRequest], reviewed: ReviewedCall
) -> ReviewedCall:
    """The review of a call after which a person has answered: what none of the questions has shown does not run."""
    shown = {call_hash(session, entry, shown_call(request, call)) for request in answered}
    if not shown or reviewed.synthetic_output is not None or call_hash(session, entry, reviewed.call) in shown:
        return reviewed
    LOGGER.warning("approval.mismatch: %s of %s is not the call that was approved", reviewed.call.name, entry)
    return attrs.evolve(reviewed, synthetic_output=problems.NOT_APPROVED)


@attrs.frozen
class Approval:
    """A question to a person and what became of it. Once it has left `open` only `used_by` changes.

    `id` is `session/step/n`, `root` the outermost session under which it is listed; times are milliseconds since the
    epoch. `call` holds the `name` and `arguments` as they were shown, `site` the place in the script, as `at` in JSON.
    """

    id: str
    root: str
    op: str
    prompt: str
    call_hash: str
    opened_at: int
    generation: int = 1
    kind: Kind = "script"
    choices: tuple[str, ...] | None = None
    call: Json = None
    script_hash: str = ""
    site: Json = None
    state: State = "open"
    answer: str | None = None
    answered_by: str | None = None
    via: Via | None = None
    answered_at: int | None = None
    expires_at: int | None = None
    used_by: str | None = None

    def refusal(self, call_hash: str, at_ms: int) -> Refusal | None:
        """Why an answer that was posted at a time, for a call with this hash, does not count; None if it does.

        It counts by when it was posted, however late it is handled.
        """
        if self.state == "expired" or (
            self.state == "open" and self.expires_at is not None and at_ms > self.expires_at
        ):
            return "expired"
        if self.state != "open":
            return "closed"
        return None if call_hash == self.call_hash else "changed"

    def answered(self, answer: str, *, by: str, via: Via, at_ms: int) -> Approval:
        """The record with its answer. `ValueError` if it is not open."""
        return self._closed("answered", answer=answer, answered_by=by, via=via, answered_at=at_ms)

    def expired(self) -> Approval:
        """The record of a question that nobody has answered in time."""
        return self._closed("expired", via="timeout")

    def abandoned(self) -> Approval:
        """The record of a question that nobody wants answered any more."""
        return self._closed("abandoned")

    def superseded(self) -> Approval:
        """The record of a question that is asked anew, since its step has diverged or its script was replaced."""
        return self._closed("superseded")

    def used(self, key: str) -> Approval:
        """The record of an answer that an effect has used; `ValueError` if there is none, or another effect has."""
        if self.state != "answered" or self.used_by not in (None, key):
            raise ValueError(f"the approval {self.id} cannot be used by {key}: it is {self.used_by or self.state}")
        return attrs.evolve(self, used_by=key)

    def to_json(self) -> Json:
        """The record as plain data."""
        data = attrs.asdict(self, recurse=False)
        return {**data, "choices": None if self.choices is None else list(self.choices)}

    @classmethod
    def from_json(cls, data: Json) -> Approval:
        """What `to_json` gave."""
        return cls(**{**data, "choices": None if data["choices"] is None else tuple(data["choices"])})

    def _closed(self, state: State, **facts: Any) -> Approval:
        if self.state != "open":
            raise ValueError(f"the approval {self.id} is {self.state} already")
        return attrs.evolve(self, state=state, **facts)
