"""Questions in the order in which they came, for a host that answers them in its own time (section 16.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import attrs

from chatml.diagnostics.errors import ChatmlError
from chatml_shell.approvals.answers import Answer, Deny
from chatml_shell.approvals.question import Question, Unanswered


class UnknownQuestionError(ChatmlError):
    """An answer to a question that is not pending: it has been answered, cancelled, or never was."""


@attrs.define
class ApprovalBroker:
    """A queue of questions. Pass it as a host's provider; answer what `pending` lists, by the question's id.

    `notify` is called with each new question, in the event loop. A question whose request ends before it is answered is
    taken back; closing the broker denies what is pending and all that will come.

    >>> async def main():
    ...     broker = ApprovalBroker()
    ...     return broker.pending
    >>> asyncio.run(main())
    ()
    """

    notify: Callable[[Question], None] | None = None
    _waiting: dict[str, tuple[Question, asyncio.Future[Answer]]] = attrs.field(factory=dict, init=False)
    _closed: bool = attrs.field(default=False, init=False)

    async def __call__(self, question: Question) -> Answer:
        """Ask; returns when somebody has answered."""
        if self._closed:
            return Deny("the host answers no more questions")
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = question, future
        try:
            if self.notify is not None:
                self.notify(question)
            return await future
        finally:
            self._waiting.pop(question.id, None)

    @property
    def pending(self) -> tuple[Question, ...]:
        """The questions that wait for an answer, oldest first."""
        return tuple(question for question, future in self._waiting.values() if not future.done())

    def answer(self, question_id: str, answer: Answer) -> None:
        """Answer a question. Raises `UnknownQuestionError`."""
        _, future = self._waiting.get(question_id, (None, None))
        if future is None or future.done():
            raise UnknownQuestionError(f"no question {question_id} is pending")
        future.set_result(answer)

    def cancel(self, question_id: str) -> None:
        """Answer a question with no. Raises `UnknownQuestionError`."""
        self.answer(question_id, Deny("the question was cancelled"))

    def close(self) -> None:
        """Deny what is pending, and everything from now on."""
        self._closed = True
        for _, future in self._waiting.values():
            if not future.done():
                future.set_result(Deny("the host has closed"))


class GivenAnswers:
    """A provider whose answers were given in advance, in order; when they are used up nobody can be asked (E-33)."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self.answers = list(answers)

    async def __call__(self, question: Question) -> Answer:
        if not self.answers:
            raise Unanswered("no answer is left")
        return self.answers.pop(0)
