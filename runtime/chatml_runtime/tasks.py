"""The task interpreter: a machine that does no I/O and says what it wants (runtime.md section 5, X-24).

`interpret` is a generator. It applies the script's functions itself, since they cannot wait for anything; it yields
a `Call` for an operation, and a `PendingRequest` to be suspended, and is sent the value or thrown the exception.
The continuations of the task are a list, so that no chain or nest of tasks uses the host's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from chatml.boundary import from_python
from chatml.errors import BoundaryError, RuntimeFailure
from chatml.values import Bind, Catch, Fail, Map, Perform, Pure, Spawn, Value
from chatml_runtime import problems
from chatml_runtime.approvals import REQUESTS, PendingRequest, decode_request
from chatml_runtime.arguments import FITS, Kind
from chatml_runtime.effects import Effect
from chatml_runtime.errors import (
    HandlerContractError,
    OperationFailed,
    TaskFailedError,
)
from chatml_runtime.operations import OpContext, OpDef, OpKind
from chatml_runtime.runs import Run

if TYPE_CHECKING:
    from chatml_runtime.session import Session

Apply: TypeAlias = Callable[[Value, list[Value]], Value]
"""Applies a function of the script; raises `RuntimeFailure`."""


@attrs.frozen(eq=False)
class Call:
    """The wish to have an operation carried out. `start` gives its value, or an awaitable of it."""

    op: OpDef
    context: OpContext
    args: tuple[Value, ...]

    def start(self) -> Any:
        """Call the host's callable."""
        return self.op.call(self.context, *self.args)


@attrs.frozen(eq=False)
class Finished:
    """The end of a run that did not fail, with the value of its task. Nothing comes after it."""

    value: Value


Wish: TypeAlias = Call | PendingRequest | Finished
Steps: TypeAlias = Generator[Wish, Any, None]


class CatchFrame:
    """A `Task.catch` that was entered, and how far the buffers had come then; they only grow inside it."""

    __slots__ = ("effects", "emitted", "end_reason", "function")

    def __init__(self, function: Value, run: Run) -> None:
        self.function = function
        self.effects = len(run.effects)
        self.emitted = len(run.emitted)
        self.end_reason = run.end_reason

    def restore(self, run: Run) -> None:
        """Drop what was buffered since."""
        del run.effects[self.effects :]
        del run.emitted[self.emitted :]
        run.end_reason = self.end_reason


@attrs.frozen(eq=False)
class Interpreter:
    """Interprets the tasks of one run; holds what the run may reach."""

    run: Run
    session: Session
    operations: Mapping[str, OpDef]
    apply: Apply

    def interpret(self, handler: Value, args: list[Value]) -> Steps:
        """Apply the handler and interpret the task that it returns; the last wish is `Finished`.

        `HandlerError` or `RuntimeFailure` if the run fails. What is thrown in and no `Exception` (cancellation,
        interrupts) leaves it as it is.
        """
        run, apply = self.run, self.apply
        fuel = run.budget.tasks
        frames: list[Bind | Map | CatchFrame] = []
        node = apply(handler, args)
        returned_by = "the handler"
        while True:
            if fuel <= 0:
                raise run.budget.exceeded("tasks")
            fuel -= 1
            kind = type(node)
            value: Value = None
            failure: str | None = None
            if kind is Pure:
                value = node.value
            elif kind is Bind or kind is Map:
                frames.append(node)
                node = node.task
                continue
            elif kind is Catch:
                frames.append(CatchFrame(node.function, run))
                node = node.task
                continue
            elif kind is Fail:
                failure = node.message
            elif kind is Perform or kind is Spawn:
                try:
                    wish = self.wish(node)
                    value = self.accept(wish, (yield wish))
                except RuntimeFailure as error:
                    if error.limit is not None:
                        raise
                    failure = failure_text(error)
                except Exception as error:
                    failure = failure_text(error)
            else:
                raise HandlerContractError(problems.not_a_task(returned_by))
            while frames:
                frame = frames.pop()
                if type(frame) is CatchFrame:
                    if failure is not None:
                        frame.restore(run)
                        node, returned_by = apply(frame.function, [failure]), "a Task.catch handler"
                        break
                elif failure is None:
                    if type(frame) is Bind:
                        node, returned_by = apply(frame.function, [value]), "a Task.bind continuation"
                        break
                    value = apply(frame.function, [value])
            else:
                if failure is not None:
                    raise TaskFailedError(failure)
                yield Finished(value)
                return

    def wish(self, node: Perform | Spawn) -> Wish:
        """What a node asks for; `OperationFailed` if it may not ask for that (section 5.4)."""
        run, name, spawns = self.run, node.op, type(node) is Spawn
        if spawns:
            if run.max_spawns is not None and run.spawned >= run.max_spawns:
                raise OperationFailed(problems.too_many_spawns(run.max_spawns))
            run.spawned += 1
        if name in REQUESTS:
            if spawns:
                raise OperationFailed(problems.not_spawnable(name))
            return decode_request(name, node.args)
        op = self.operations.get(name)
        if op is None:
            raise OperationFailed(problems.unknown_operation(name))
        reason = op.phase_check(run.phase)
        if reason is not None:
            raise OperationFailed(problems.wrong_phase(name, run.phase, reason))
        if spawns != (op.kind is OpKind.EXTERNAL_ASYNC):
            raise OperationFailed(problems.not_spawnable(name) if spawns else problems.must_be_spawned(name))
        return Call(op, OpContext(self.session, name, run.phase, spawns, run), node.args)

    def accept(self, wish: Wish, answer: Any) -> Value:
        """The value of a node whose wish was answered; what a commit has to know is buffered here."""
        if not isinstance(wish, Call):
            return answer
        op = wish.op
        value = None if op.result is Kind.UNIT else result_of(op, answer)
        if op.on_success is not None:
            op.on_success(wish.context, *wish.args)
        if op.kind is OpKind.LOCAL_TRANSACTIONAL:
            self.run.effects.append(Effect(op.name, wish.args))
        return value


def result_of(op: OpDef, answer: Any) -> Value:
    """The answer of a host as a value of its own, which the host no longer shares; `OperationFailed` if it is none."""
    try:
        value = from_python(answer)
    except BoundaryError as error:
        raise OperationFailed(problems.foreign_result(op.name, str(error))) from error
    if not FITS[op.result](value):
        raise OperationFailed(problems.wrong_result(op.name, op.result.value, type(answer).__name__))
    return value


def failure_text(error: BaseException) -> str:
    """The text that a script sees of an exception: its own, or the name of its class if it has none."""
    text = str(error) or type(error).__name__
    return text.encode("utf-8", "replace").decode("utf-8")  # a path in it may hold lone surrogates
