"""The screen and the person of a scripted host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from chatml_runtime.host.rows import Row
from chatml_runtime.moderation.identities import HistoryEntry
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import Answered, Expired, PendingRequest, Response
from chatml_runtime.script.errors import NotSuspendedError


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
    """Answers a script's questions from a list.

    When it is used up, a question that has a time stays open, until `give` answers it or its time is over; for one that
    has none, `LookupError`: nobody would be there to answer.
    """

    def __init__(self, answers: Iterable[str], view: RecordingView, now_ms: Callable[[], float]) -> None:
        self._answers = iter(answers)
        self._view = view
        self._now_ms = now_ms
        self._waiting: asyncio.Future[Response] | None = None
        self._within_ms = 0
        self.expires_ms = 0.0
        self.asked = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether a question waits."""
        return self._waiting is not None

    async def answer(self, request: PendingRequest, problem: str | None) -> Response:
        """See `ApprovalProvider`."""
        self._view.ask(request, problem)
        answer = next(self._answers, None)
        if answer is not None:
            return answer
        if request.within_ms is None:
            raise LookupError(f"no scripted answer is left for: {request}")
        if problem is None:
            self._within_ms = request.within_ms
            self.expires_ms = self._now_ms() + request.within_ms
        self._waiting = asyncio.get_running_loop().create_future()
        self.asked.set()
        try:
            return await self._waiting
        finally:
            self._waiting = None
            self.asked.clear()

    def give(self, text: str, by: str) -> None:
        """Answer the open question; `NotSuspendedError` if none is."""
        self._settle(Answered(text, by, int(self._now_ms())))

    def expire(self) -> None:
        """Let the time of the open question be over."""
        self._settle(Expired(self._within_ms))

    def _settle(self, response: Response) -> None:
        if self._waiting is None:
            raise NotSuspendedError(problems.NOT_SUSPENDED)
        self._waiting.set_result(response)
        self.asked.clear()
