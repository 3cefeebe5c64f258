"""An event on its way to a script, and the context that goes with it (runtime.md section 9.2)."""

from __future__ import annotations

import attrs

from chatml.border.python import from_json
from chatml.values.model import Value
from chatml_runtime.moderation.fields import int_field, text_field
from chatml_runtime.moderation.history import SeenHistory
from chatml_runtime.moderation.results import EventInput
from chatml_runtime.moderation.vocabulary import Phase, ToolCall


@attrs.frozen(eq=False)
class Delivery:
    """An event, its phase, and what the host knew when it happened."""

    phase: Phase
    event: Value
    given: EventInput
    call: ToolCall | None = None
    """The call that is under review."""

    def context(self, history: SeenHistory) -> Value:
        """The record `context` of the script; `history` has seen that of the event."""
        given = self.given
        return {
            "session_id": text_field("context.session_id", given.session_id),
            "now_ms": int_field("context.now_ms", given.now_ms),
            "phase": self.phase.value,
            "items": history.items(),
            "available_tools": history.tools(given.available_tools),
            "session_meta": from_json(given.session_meta),
        }
