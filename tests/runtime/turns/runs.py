"""Runs for tests: a script, what the model says, functions as tools; what happened is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from chatml.surfaces.model import Surface
from chatml.surfaces.ui import UI_MODERATOR
from chatml.values.text import show
from chatml_runtime.host.conversation import Conversation, RunReport
from chatml_runtime.host.policy import RuntimePolicy
from chatml_runtime.host.turns import TurnDriver
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.outcome import RuntimeRequest
from chatml_runtime.moderation.results import RunRecord
from chatml_runtime.moderation.tool_calls import CALLS, OUTPUTS
from chatml_runtime.moderation.vocabulary import ToolCall
from chatml_runtime.testing import ScriptedModel, user
from tests.runtime.conversations import artifact

Result = TypeVar("Result")


def in_loop(work: Coroutine[Any, Any, Result], seconds: float = 30) -> Result:
    """Run a coroutine, and give up on one that hangs."""

    async def bounded() -> Result:
        async with asyncio.timeout(seconds):
            return await work

    return asyncio.run(bounded())


class Talk:
    """A conversation that begins with `hello` of the user, under a script (None: no moderator)."""

    def __init__(
        self,
        source: str | None,
        responses: Iterable[Any] = (),
        tools: Mapping[str, Callable[..., Any]] | None = None,
        *,
        policy: RuntimePolicy | None = None,
        surface: Surface = UI_MODERATOR,
        approval: Any = None,
        moderator: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.records: list[RunRecord] = []
        self.observed: list[RuntimeRequest] = []
        self.entries: list[HistoryEntry] = []
        self.called: list[tuple[str, Any]] = []
        self.model = responses if hasattr(responses, "respond") else ScriptedModel(responses)
        self.allocator = EntryIdAllocator("s1")
        self.moderator = (
            None
            if source is None
            else Moderator.create(
                artifact(source, surface=surface),
                allocator=self.allocator,
                observer=self.records.append,
                **(moderator or {}),
            )
        )
        self.tools = dict(tools or {})
        self.driver = TurnDriver(self.moderator, session_id="s1", policy=policy or RuntimePolicy(), approval=approval)
        self.conversation = Conversation(
            self.driver,
            history=[HistoryEntry(self.allocator.allocate(), user("hello"))],
            allocator=self.allocator,
            model=self.model,
            tools=options.pop("tools_told", ()),
            run_tool=options.pop("run_tool", self.run_tool),
            on_runtime_request=self.observed.append,
            on_entry=options.pop("on_entry", self.entries.append),
            **options,
        )

    async def run_tool(self, call: ToolCall) -> Any:
        self.called.append((call.name, call.args))
        answer = self.tools[call.name](call.args)
        return await answer if asyncio.iscoroutine(answer) else answer

    def run(self) -> RunReport:
        report = in_loop(self.conversation.run())
        assert report.history == self.conversation.history
        return report

    @property
    def phases(self) -> list[str]:
        return [record.phase.value for record in self.records]

    @property
    def events(self) -> list[str]:
        """The tags of the events, in order."""
        return [show(record.event).partition("(")[0] for record in self.records]

    @property
    def kinds(self) -> list[str]:
        return [kind_of(item) for item in self.items]

    @property
    def items(self) -> list[Any]:
        return [entry.item for entry in self.conversation.history]

    @property
    def outputs(self) -> list[Any]:
        return [item["output"] for item in self.items if item["type"] in OUTPUTS.values()]


def kind_of(item: Any) -> str:
    """Short: `user`, `assistant`, `call`, `output`, or the item's type."""
    kind = item["type"]
    return (
        item["role"]
        if kind == "message"
        else "call"
        if kind in CALLS
        else "output"
        if kind in OUTPUTS.values()
        else kind
    )


def check_pairs(history: Iterable[HistoryEntry]) -> None:
    """Every call has exactly one output, after it and after nothing of a later turn; no identity comes twice."""
    entries = list(history)
    assert len({entry.id for entry in entries}) == len(entries)
    waiting: list[str] = []
    for entry in entries:
        item = entry.item
        if item["type"] in CALLS:
            waiting.append(item["call_id"])
        elif item["type"] in OUTPUTS.values():
            assert item["call_id"] in waiting, f"an output without its call: {item}"
            waiting.remove(item["call_id"])
        elif item["type"] == "message" and item["role"] == "user":
            assert not waiting, f"{waiting} have no output before the user speaks again"
    assert not waiting, f"{waiting} have no output"
