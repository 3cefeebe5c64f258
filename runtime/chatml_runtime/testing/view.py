"""The screen and the person of a scripted host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatml_runtime.host.rows import Row
from chatml_runtime.moderation.identities import HistoryEntry
from chatml_runtime.script.approvals import PendingRequest


class RecordingView:
    """A view that keeps what it was told to show."""

    def __init__(self) -> None:
        self.entries: list[HistoryEntry] = []
        self.rows: tuple[Row, ...] = ()
        self.notices: list[str] = []
        self.errors: list[Exception] = []
        self.questions: list[PendingRequest] = []

    def show_entry(self, entry: HistoryEntry) -> None:
        """See `View`."""
        self.entries.append(entry)

    def show_rows(self, rows: Sequence[Row]) -> None:
        """See `View`."""
        self.rows = tuple(rows)

    def show_notice(self, text: str) -> None:
        """See `View`."""
        self.notices.append(text)

    def show_error(self, error: Exception) -> None:
        """See `View`."""
        self.errors.append(error)

    def ask(self, request: PendingRequest, problem: str | None) -> None:
        """See `View`."""
        self.questions.append(request)


class ScriptedAnswers:
    """Answers a script's questions from a list. `LookupError` when it is used up: nobody would be there to answer."""

    def __init__(self, answers: Iterable[str], view: RecordingView) -> None:
        self._answers = iter(answers)
        self._view = view

    async def answer(self, request: PendingRequest, problem: str | None) -> str:
        """See `ApprovalProvider`."""
        self._view.ask(request, problem)
        answer = next(self._answers, None)
        if answer is None:
            raise LookupError(f"no scripted answer is left for: {request}")
        return answer
