"""Moderated conversations for tests: a script's cases in, a moderator with its history out."""

from __future__ import annotations

from typing import Any

from chatml.surfaces.model import Surface
from chatml.surfaces.moderator import MODERATOR
from chatml.values.model import Value
from chatml.values.text import show
from chatml_runtime.moderation.changes import OverlayChange
from chatml_runtime.moderation.identities import EntryId, EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.results import DrainResult, EventInput, ModerationResult
from chatml_runtime.moderation.vocabulary import Event, InternalEvent, TurnStart
from chatml_runtime.script.scripts import ScriptArtifact, compile_script

H2 = (
    {"type": "message", "role": "user", "content": "Hello"},
    {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
    },
)
"""The history of two entries that the scenarios of runtime.md call H2."""

TICK = ("Tick",)


def cases(text: str) -> str:
    """The standard script of runtime.md appendix A around some cases."""
    return (
        f"let initial_state = 0\nlet on_event = fun ctx st ev ->\n  match ev with\n  {text}\n  | _ -> Task.pure(st)\n"
    )


def artifact(source: str, *, surface: Surface = MODERATOR, script_id: str = "main") -> ScriptArtifact:
    """A compiled moderator script; what begins with a case is put into the standard script."""
    text = cases(source) if source.lstrip().startswith("|") else source
    return ScriptArtifact(script_id, compile_script(text, name="test.chatml", surface=surface))


class Conversation:
    """A moderator, the history that it is shown, and the changes that it published."""

    def __init__(
        self, source: str | ScriptArtifact, *, items: tuple[Any, ...] = (), surface: Surface = MODERATOR, **options: Any
    ) -> None:
        self.artifact = source if isinstance(source, ScriptArtifact) else artifact(source, surface=surface)
        self.history = [HistoryEntry(EntryId("s1", n), item) for n, item in enumerate(items)]
        self.allocator = options.pop("allocator", None) or EntryIdAllocator("s1", len(items))
        self.moderator = Moderator.create(self.artifact, allocator=self.allocator, **options)
        self.changes = self.moderator.subscribe(lambda: None)
        self.now_ms = 0

    @property
    def given(self) -> EventInput:
        return EventInput("s1", self.now_ms, tuple(self.history))

    def send(self, event: Event | None = None) -> ModerationResult:
        """Deliver an event, by default the start of a turn."""
        return self.moderator.handle_event(TurnStart() if event is None else event, self.given)

    def tick(self, value: Value = TICK) -> ModerationResult:
        """Deliver a value as an internal event."""
        return self.send(InternalEvent(value))

    def replay(self, max_events: int = 100) -> DrainResult:
        return self.moderator.replay(self.given, max_events=max_events)

    def append(self, item: Any) -> HistoryEntry:
        entry = HistoryEntry(self.allocator.allocate(), item)
        self.history.append(entry)
        return entry

    @property
    def state(self) -> Value:
        return self.moderator.state

    @property
    def queue(self) -> list[str]:
        """The queue as value text."""
        return [show(event) for event in self.moderator.queued_events]

    def published(self) -> tuple[OverlayChange, ...]:
        return self.changes.drain()

    def shown(self) -> list[tuple[str, str, str, Any]]:
        """The effective entries: identity, role or type, text, provenance."""
        rows = []
        for effective in self.moderator.effective_entries(self.history):
            item = effective.entry.item
            content = item.get("content", "")
            text = content if isinstance(content, str) else content[0]["text"]
            rows.append((effective.entry.id.encode(), item.get("role", item["type"]), text, effective.provenance))
        return rows
