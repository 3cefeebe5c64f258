"""Questions to a person: what a suspended run asks, and which answers it takes (runtime.md section 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import attrs

from chatml.values.model import Value
from chatml.values.surrogates import surrogate_problem
from chatml_runtime.script import problems
from chatml_runtime.script.arguments import Kind, check_arguments
from chatml_runtime.script.errors import ApprovalResponseError, OperationFailed

ASK_TEXT = "Approval.ask_text"
ASK_CHOICE = "Approval.ask_choice"
BLANKS = " \t\n\v\f\r"
"""The characters that an answer loses at both ends."""


def check_is_text(response: object) -> None:
    """`TypeError` if a response is no string: that is a fault of the host, and asking again would not mend it."""
    if not isinstance(response, str):
        raise TypeError(problems.answer_no_text(type(response).__name__))


def trimmed(op: str, response: str) -> str:
    """A response without blanks at its ends; `ApprovalResponseError` if it is no Unicode text (X-01)."""
    check_is_text(response)
    problem = surrogate_problem(response)
    if problem is not None:
        raise ApprovalResponseError(problems.foreign_answer(op, problem))
    return response.strip(BLANKS)


@attrs.frozen
class AskText:
    """A request for a text of at least one character that is not blank."""

    prompt: str

    def accept(self, response: str) -> str:
        """The trimmed answer. `ApprovalResponseError` if nothing is left of it.

        >>> AskText("name?").accept("  Ada ")
        'Ada'
        """
        answer = trimmed(ASK_TEXT, response)
        if not answer:
            raise ApprovalResponseError(problems.empty_answer(ASK_TEXT))
        return answer


@attrs.frozen
class AskChoice:
    """A request for one of several choices, exactly as declared."""

    prompt: str
    choices: tuple[str, ...]

    def accept(self, response: str) -> str:
        """The choice that equals the trimmed answer. `ApprovalResponseError` if none does.

        >>> AskChoice("sure?", ("yes", "no")).accept("yes\\n")
        'yes'
        """
        answer = trimmed(ASK_CHOICE, response)
        if answer not in self.choices:
            raise ApprovalResponseError(problems.unknown_choice(ASK_CHOICE, self.choices))
        return answer


PendingRequest: TypeAlias = AskText | AskChoice
"""What a suspended session waits for."""


REQUESTS: Mapping[str, tuple[Sequence[Kind], Callable[..., PendingRequest]]] = {
    ASK_TEXT: ((Kind.STRING,), AskText),
    ASK_CHOICE: ((Kind.STRING, Kind.STRINGS), lambda prompt, choices: AskChoice(prompt, tuple(choices))),
}
"""The two operations that ask a person; the interpreter knows them by name (section 5.4)."""


def decode_request(op: str, args: Sequence[Value]) -> PendingRequest:
    """The request that one of `REQUESTS` makes. `OperationFailed` if its arguments are wrong."""
    kinds, record = REQUESTS[op]
    check_arguments(op, kinds, args)
    request = record(*args)
    if isinstance(request, AskChoice) and not request.choices:
        raise OperationFailed(problems.no_choices(op))
    return request
