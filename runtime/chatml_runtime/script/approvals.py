"""Questions to a person: what a suspended run asks, and which answers it takes (runtime.md section 7, live.md D.4).

A question may have a time: then its reply is a value of the script's, `Answered` or `Expired`, and the type checker
sees to it that the script thinks of both. One without waits as long as its host lets it; if the host gives it up, the
operation fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from chatml.border.python import to_json
from chatml.diagnostics.errors import BoundaryError
from chatml.values.model import Value
from chatml.values.surrogates import surrogate_problem
from chatml_runtime.script import problems
from chatml_runtime.script.arguments import Kind, check_arguments
from chatml_runtime.script.errors import ApprovalResponseError, OperationFailed

ASK_TEXT = "Approval.ask_text"
ASK_CHOICE = "Approval.ask_choice"
ASK_TEXT_WITHIN = "Approval.ask_text_within"
ASK_CHOICE_WITHIN = "Approval.ask_choice_within"
ASK_ABOUT = "Approval.ask_about"
BLANKS = " \t\n\v\f\r"
"""The characters that an answer loses at both ends."""


@attrs.frozen
class Answered:
    """An answer, who gave it (empty: the host does not know), and when, in milliseconds since the epoch."""

    answer: str
    by: str = ""
    at_ms: int = 0


@attrs.frozen
class Expired:
    """Nobody has answered in time: after `waited_ms` milliseconds, None where the host does not say."""

    waited_ms: int | None = None


Response: TypeAlias = str | Answered | Expired
"""What a host hands to a run that waits: a text alone, or all that it knows."""


@attrs.frozen
class CallShown:
    """The call that a person sees with a question, and that alone may run: `args` are JSON data."""

    id: str
    name: str
    args: Any


def check_is_response(response: object) -> None:
    """`TypeError` if a response is none: that is a fault of the host, and asking again would not mend it."""
    if not isinstance(response, (str, Answered, Expired)):
        raise TypeError(problems.answer_no_text(type(response).__name__))


def trimmed(op: str, response: str) -> str:
    """A text without blanks at its ends; `ApprovalResponseError` if it is not Unicode text (X-01)."""
    problem = surrogate_problem(response)
    if problem is not None:
        raise ApprovalResponseError(problems.foreign_answer(op, problem))
    return response.strip(BLANKS)


def replied(response: Response, op: str, within_ms: int | None, check: Callable[[str], str]) -> Value:
    """The value with which a run goes on. `OperationFailed` if it does not wait any longer and has no word for that."""
    check_is_response(response)
    if isinstance(response, Expired):
        if within_ms is None:
            raise OperationFailed(problems.nobody_answered(op, response.waited_ms))
        return ("Expired",)
    given = Answered(response) if isinstance(response, str) else response
    answer = check(trimmed(op, given.answer))
    if within_ms is None:
        return answer
    return ("Answered", {"answer": answer, "at_ms": given.at_ms, "by": trimmed(op, given.by)})


@attrs.frozen
class AskText:
    """A request for a text of at least one character that is not blank. `within_ms` is how long it waits."""

    prompt: str
    within_ms: int | None = None

    @property
    def op(self) -> str:
        """The operation that asks so."""
        return ASK_TEXT if self.within_ms is None else ASK_TEXT_WITHIN

    def accept(self, response: Response) -> Value:
        """The trimmed answer, or a reply. `ApprovalResponseError` if nothing is left of it.

        >>> AskText("name?").accept("  Ada "), AskText("name?", 1000).accept(Expired())
        ('Ada', ('Expired',))
        """
        return replied(response, self.op, self.within_ms, self._check)

    def _check(self, answer: str) -> str:
        if not answer:
            raise ApprovalResponseError(problems.empty_answer(self.op))
        return answer


@attrs.frozen
class AskChoice:
    """A request for one of several choices, exactly as declared; `about` a call, which the person sees."""

    prompt: str
    choices: tuple[str, ...]
    within_ms: int | None = None
    about: CallShown | None = None

    @property
    def op(self) -> str:
        """The operation that asks so."""
        if self.about is not None:
            return ASK_ABOUT
        return ASK_CHOICE if self.within_ms is None else ASK_CHOICE_WITHIN

    def accept(self, response: Response) -> Value:
        """The choice that equals the trimmed answer, or a reply. `ApprovalResponseError` if none does.

        >>> AskChoice("sure?", ("yes", "no")).accept("yes\\n")
        'yes'
        """
        return replied(response, self.op, self.within_ms, self._check)

    def _check(self, answer: str) -> str:
        if answer not in self.choices:
            raise ApprovalResponseError(problems.unknown_choice(self.op, self.choices))
        return answer


PendingRequest: TypeAlias = AskText | AskChoice
"""What a suspended session waits for."""


def ask_about(call: Value, prompt: str, choices: Sequence[str], within_ms: int) -> AskChoice:
    """The request of `Approval.ask_about`; `OperationFailed` if the call is none."""
    try:
        match call:
            case {"id": str(id_), "name": str(name), "args": args}:
                return AskChoice(prompt, tuple(choices), within_ms, CallShown(id_, name, to_json(args)))
    except BoundaryError as error:
        raise OperationFailed(f"{ASK_ABOUT}: {error}") from None
    raise OperationFailed(problems.wrong_argument(ASK_ABOUT, 1, "tool call"))


INT, STRING, STRINGS, VALUE = Kind.INT, Kind.STRING, Kind.STRINGS, Kind.VALUE

REQUESTS: Mapping[str, tuple[Sequence[Kind], Callable[..., PendingRequest]]] = {
    ASK_TEXT: ((STRING,), AskText),
    ASK_CHOICE: ((STRING, STRINGS), lambda prompt, choices: AskChoice(prompt, tuple(choices))),
    ASK_TEXT_WITHIN: ((STRING, INT), AskText),
    ASK_CHOICE_WITHIN: ((STRING, STRINGS, INT), lambda prompt, choices, ms: AskChoice(prompt, tuple(choices), ms)),
    ASK_ABOUT: ((VALUE, STRING, STRINGS, INT), ask_about),
}
"""The operations that ask a person; the interpreter knows them by name (section 5.4)."""


def decode_request(op: str, args: Sequence[Value]) -> PendingRequest:
    """The request that one of `REQUESTS` makes. `OperationFailed` if its arguments are wrong."""
    kinds, record = REQUESTS[op]
    check_arguments(op, kinds, args)
    request = record(*args)
    if isinstance(request, AskChoice) and not request.choices:
        raise OperationFailed(problems.no_choices(op))
    if request.within_ms is not None and request.within_ms <= 0:
        raise OperationFailed(problems.no_time(op, request.within_ms))
    return request


# -- as data


def question_data(request: PendingRequest) -> Any:
    """A request as plain data: what its digest is of, and what is stored of it.

    >>> question_data(AskChoice("sure?", ("yes", "no"), 500))["within_ms"]
    500
    """
    about = request.about if isinstance(request, AskChoice) else None
    return {
        "op": request.op,
        "prompt": request.prompt,
        "choices": list(request.choices) if isinstance(request, AskChoice) else None,
        "within_ms": request.within_ms,
        "call": None if about is None else attrs.asdict(about, recurse=False),
    }


def read_question(data: Any) -> PendingRequest:
    """The request that `question_data` describes."""
    if data["choices"] is None:
        return AskText(data["prompt"], data["within_ms"])
    about = None if data["call"] is None else CallShown(**data["call"])
    return AskChoice(data["prompt"], tuple(data["choices"]), data["within_ms"], about)


def response_data(response: Answered | Expired) -> Any:
    """A response as plain data, to be stored."""
    if isinstance(response, Expired):
        return {"expired": True, "waited_ms": response.waited_ms}
    return attrs.asdict(response)


def read_response(data: Any) -> Answered | Expired:
    """The response that `response_data` describes."""
    return Expired(data["waited_ms"]) if "expired" in data else Answered(**data)
