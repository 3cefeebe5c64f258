"""What a step has asked of the outside, numbered, digested, and answered from a record (live.md section D.1).

A *step* is a message for a session and all handler runs that it causes. It may have to wait for a person for days. Then
nothing of the interpreter is kept: the step is *parked* as what it was given, the answers of operations so far, and the
question. It goes on by running again, in any process, from the snapshot before it: what is recorded is answered from
the record, so nothing happens twice, and the script, which reads no clock and no chance, comes to the same place.

A `Recording` is the record of one run; `steps` runs a step, once or again. That the script does come to the same place
is not assumed: each operation and question is held against its recorded digest, and a run in which one differs has
*diverged*.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Literal, NoReturn, Protocol, TypeAlias

import attrs

from chatml.border.python import from_python
from chatml.border.snapshot import decode, encode
from chatml.diagnostics.errors import BoundaryError, RuntimeFailure, SnapshotError
from chatml.values.model import Value
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import REQUESTS, Answered, Expired, PendingRequest, question_data, read_response
from chatml_runtime.script.arguments import Kind
from chatml_runtime.script.digests import digest
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.script.operations import OpContext, OpDef, OpKind
from chatml_runtime.script.tasks import failure_text

Retry: TypeAlias = Literal["safe", "keyed", "once"]
"""What may be done with an operation that had begun when its process ended: repeat it, repeat it under its key, or
neither, since nobody knows whether it took effect."""

RECORDED = (OpKind.EXTERNAL_SYNC, OpKind.EXTERNAL_ASYNC)

LOGGER = logging.getLogger("chatml_runtime")


@attrs.frozen
class Recorded:
    """One operation or question of a step, as plain data. `digest` is that of the operation with its arguments.

    `answer` is the snapshot of a value, or what a person answered (`response_data`). While an operation is under way,
    `is_over` is false, and there is neither an answer nor a `failure`.
    """

    n: int
    op: str
    digest: str
    key: str
    is_over: bool = False
    answer: Any = None
    failure: str | None = None

    def to_json(self) -> Any:
        """It as plain data."""
        return attrs.asdict(self, recurse=False)

    @classmethod
    def from_json(cls, data: Any) -> Recorded:
        """What `to_json` gave."""
        return cls(**data)


@attrs.frozen
class Question:
    """What a parked step asks: the number and digest of the question, and the request."""

    n: int
    digest: str
    request: PendingRequest


class Parked(BaseException):
    """Ends a run that waits: a handler of a script takes an `Exception` only."""

    def __init__(self, question: Question) -> None:
        self.question = question
        super().__init__("the step waits for a person")


class Diverged(BaseException):
    """Ends a run that does something else than its record says; `problem` tells what."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class Recorder(Protocol):
    """Who keeps the record of a step durably, while it runs."""

    def begins(self, operation: Recorded) -> None:
        """An operation that is not recorded is about to be carried out. What is raised here ends the run: so a host
        that carries operations out itself gives them out, and runs the step again when it has the answer."""

    def is_over(self, operation: Recorded) -> None:
        """It has been carried out, and has its answer or failure."""


class NoRecorder:
    """Keeps nothing: for a host in whose process operations and questions live or die together."""

    def begins(self, operation: Recorded) -> None:
        """See `Recorder`."""

    def is_over(self, operation: Recorded) -> None:
        """See `Recorder`."""


def careful(op: str, args: Sequence[Value]) -> Retry:
    """What may be done again if a host says nothing else: asking a model, and cancelling a timer."""
    return "safe" if op in ("Model.call", "Schedule.cancel") else "once"


class Recording:
    """The record of one run of a step, and where the run has come to.

    Hand `operations` to the moderator as its `extra_ops`, and the recording to the turn driver as its `approval`.
    Diagnostics (`Log.*`) are put aside and carried out by `finish`, so that they happen once.
    """

    def __init__(
        self,
        recorded: Iterable[Recorded] = (),
        *,
        prefix: str = "",
        kept: Iterable[Recorded] = (),
        recorder: Recorder | None = None,
        retry: Callable[[str, Sequence[Value]], Retry] = careful,
    ) -> None:
        """`prefix` begins the keys of operations: `session/step`. `kept` are those of a run that has diverged: an
        operation that has the digest of one of them gets its answer, and is not carried out again."""
        self.recorded = list(recorded)
        self._given = len(self.recorded)
        self._prefix = prefix
        self.kept = [operation for operation in kept if operation.op not in REQUESTS]
        self._recorder = NoRecorder() if recorder is None else recorder
        self._retry = retry
        self._next = 0
        self._question: Question | None = None
        self._aside: list[Callable[[], Any]] = []

    def operations(self, operations: Iterable[OpDef]) -> tuple[OpDef, ...]:
        """Those of a host's operations that reach outside, each recorded, and its diagnostics, each put aside."""
        wrap = dict.fromkeys(RECORDED, self._recording) | {OpKind.DIAGNOSTIC: self._put_aside}
        return tuple(wrap[op.kind](op) for op in operations if op.kind in wrap)

    def answer(self, request: PendingRequest, problem: str | None) -> Answered | Expired:
        """See `ApprovalProvider`: the recorded answer, or the run ends here with `Parked`."""
        if problem is not None and self._question is not None:
            raise Diverged(problems.answer_refused_in_replay(problem))  # it was accepted when it was recorded
        data = question_data(request)
        question = self._question = Question(self._next, digest(data), request)
        self._next += 1
        if question.n >= len(self.recorded):
            raise Parked(question)
        known = self.recorded[question.n]
        self._compare(known, request.op, question.digest)
        return read_response(known.answer)

    def finish(self) -> None:
        """The step is about to commit: `Diverged` if it has done less than recorded; diagnostics are carried out."""
        if self._next < self._given:
            raise Diverged(problems.fewer_operations(self._next, self._given))
        aside, self._aside = self._aside, []
        for diagnostic in aside:
            try:
                diagnostic()
            except Exception:
                LOGGER.exception("a diagnostic of a step failed")

    # Operations

    def _recording(self, op: OpDef) -> OpDef:
        def call(context: OpContext, *args: Value) -> Any:
            return self._perform(op, context, args)

        return attrs.evolve(op, call=call)

    def _put_aside(self, op: OpDef) -> OpDef:
        def call(context: OpContext, *args: Value) -> None:
            self._aside.append(lambda: op.call(context, *args))

        return attrs.evolve(op, call=call)

    def _perform(self, op: OpDef, context: OpContext, args: tuple[Value, ...]) -> Any:
        try:
            identity = digest([op.name, [encode(arg) for arg in args]])
        except SnapshotError as error:
            raise OperationFailed(problems.not_recordable(op.name, str(error))) from error
        n, self._next = self._next, self._next + 1
        known = self.recorded[n] if n < len(self.recorded) else self._take_kept(n, op.name, identity)
        if known is None:
            known = Recorded(n, op.name, identity, f"{self._prefix}/{n}")
            self.recorded.append(known)
            self._recorder.begins(known)
        else:
            self._compare(known, op.name, identity)
            if known.is_over:
                return played(known)
            if self._retry(op.name, args) == "once":
                self._settle(n, failure=problems.INTERRUPTED)
                raise OperationFailed(problems.INTERRUPTED)
        return self._carry_out(n, op, attrs.evolve(context, key=known.key), args)

    def _carry_out(self, n: int, op: OpDef, context: OpContext, args: tuple[Value, ...]) -> Any:
        try:
            answer = op.call(context, *args)
        except Exception as error:
            self._fail(n, error)
        return self._awaited(n, op, answer) if inspect.isawaitable(answer) else self._answered(n, op, answer)

    async def _awaited(self, n: int, op: OpDef, answer: Awaitable[Any]) -> Value:
        try:
            value = await answer
        except Exception as error:
            self._fail(n, error)
        return self._answered(n, op, value)

    def _answered(self, n: int, op: OpDef, answer: Any) -> Value:
        try:
            value = None if op.result is Kind.UNIT else from_python(answer)
            self._settle(n, answer=encode(value))
        except (BoundaryError, SnapshotError) as error:
            self._fail(n, OperationFailed(problems.foreign_result(op.name, str(error))))
        return value

    def _fail(self, n: int, error: Exception) -> NoReturn:
        if isinstance(error, RuntimeFailure) and error.limit is not None:
            raise error  # a limit ends the run, and is met again when it is repeated
        self._settle(n, failure=failure_text(error))
        raise error

    def _settle(self, n: int, **facts: Any) -> None:
        self.recorded[n] = attrs.evolve(self.recorded[n], is_over=True, **facts)
        self._recorder.is_over(self.recorded[n])

    def _take_kept(self, n: int, op: str, identity: str) -> Recorded | None:
        """The answer of an operation that was carried out before the step diverged, each once."""
        for kept in self.kept:
            if (kept.op, kept.digest) == (op, identity):
                self.kept.remove(kept)
                known = attrs.evolve(kept, n=n)
                self.recorded.append(known)
                (self._recorder.is_over if known.is_over else self._recorder.begins)(known)
                return known
        return None

    def _compare(self, known: Recorded, op: str, identity: str) -> None:
        if (known.op, known.digest) != (op, identity):
            raise Diverged(problems.diverged(known.n, known.op, op))


def played(known: Recorded) -> Value:
    """The answer of a recorded operation; `OperationFailed` with its failure, `Diverged` if it cannot be read."""
    if known.failure is not None:
        raise OperationFailed(known.failure)
    try:
        return decode(known.answer)
    except SnapshotError as error:
        raise Diverged(problems.damaged_record(known.n, str(error))) from error
