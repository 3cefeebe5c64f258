"""What a host hands to the driver and the controller: a model, tools, a person, a screen (runtime.md section 22)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

from chatml_runtime.host.rows import Row
from chatml_runtime.moderation.identities import HistoryEntry, Json
from chatml_runtime.moderation.vocabulary import ToolCall, ToolDesc
from chatml_runtime.script.approvals import PendingRequest, Response


class ModelClient(Protocol):
    """Asks a model. Whatever class has this method is one."""

    def respond(self, inputs: Sequence[Json], tools: Sequence[ToolDesc]) -> Any:
        """The finished provider items of one response, in order.

        An async generator (to stream them as they are finished), a coroutine that returns them, or simply an iterable.
        `inputs` are the provider items of the request; they belong to the history, so do not change them in place.
        An exception fails the run.
        """


ToolRunner: TypeAlias = "Callable[[ToolCall], Json | Awaitable[Json]]"
"""Runs one call and gives its output: text, a list of `input_text` and `input_image` parts, or data, which is written
as JSON. A coroutine function runs in the event loop, any other callable in a thread. An exception fails the run; a
`Toolbox` turns exceptions into outputs."""


class Steering(Protocol):
    """What a user adds while a run is under way (section 13.5)."""

    def take_text(self) -> str | None:
        """Text for the next request only; it never joins the history."""

    def take_entries(self) -> Sequence[HistoryEntry]:
        """Entries, with identities of the conversation's allocator, that join the history after this turn's outputs."""


class ApprovalProvider(Protocol):
    """Asks a person what a script wants to know."""

    def answer(self, request: PendingRequest, problem: str | None) -> Response | Awaitable[Response]:
        """The answer: a text, or `Answered` with who gave it and when, or `Expired`. `problem` says why the last one
        was not taken, None the first time. A request with `within_ms` waits no longer than that.

        A coroutine function if the driver's coroutines are used. An exception fails the operation that needed it; the
        request stays pending.
        """


class View(Protocol):
    """What a person sees. The methods only show; they must not call the controller, except `submit`."""

    def show_entry(self, entry: HistoryEntry) -> None:
        """An entry that has just joined the history, as it is, while a run is under way."""

    def show_rows(self, rows: Sequence[Row]) -> None:
        """The whole history as the model sees it, after something has changed; at safe points only."""

    def show_notice(self, text: str) -> None:
        """A line for the person: from the script, or about the session."""

    def show_error(self, error: Exception) -> None:
        """Something has failed: a run, a drain, a compaction. The session goes on."""

    def ask(self, request: PendingRequest, problem: str | None) -> None:
        """A question of the script; the next `submit` answers it. `problem` says why the last answer was not taken."""


Compact: TypeAlias = Callable[[Sequence[HistoryEntry]], "Sequence[HistoryEntry] | Awaitable[Sequence[HistoryEntry]]"]
"""Makes a shorter history of a history. Entries that stay keep their identities."""
