"""The task interpreter: a machine that does no I/O and says what it wants (runtime.md section 5, X-24).

It applies the script's functions itself, since they wait for nothing. For an operation it hands out a `Call`, for a
question a `PendingRequest`, and it is told the answer. The continuations of a task are a list, so that no chain or
nest of tasks uses the host's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from chatml.border.python import from_python
from chatml.diagnostics.errors import BoundaryError, RuntimeFailure
from chatml.source import Span
from chatml.values.model import Bind, Catch, Fail, Map, Perform, Pure, Spawn, Value
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import REQUESTS, PendingRequest, decode_request
from chatml_runtime.script.arguments import FITS, Kind
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.errors import HandlerContractError, OperationFailed, TaskFailedError
from chatml_runtime.script.operations import OpContext, OpDef, OpKind, SessionView
from chatml_runtime.script.runs import Run

Apply: TypeAlias = Callable[[Value, list[Value]], Value]
"""Applies a function of the script; raises `RuntimeFailure`."""


@attrs.frozen(eq=False)
class Call:
    """The wish to have an operation carried out. `start` gives its value, or an awaitable of it."""

    op: OpDef
    context: OpContext
    args: tuple[Value, ...]
    site: Span | None = None

    def start(self) -> Any:
        """Call the host's callable."""
        return self.op.call(self.context, *self.args)


@attrs.frozen(eq=False)
class Finished:
    """The end of a run that did not fail, with the value of its task. Nothing comes after it."""

    value: Value


Wish: TypeAlias = Call | PendingRequest | Finished


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


DELIVER = object()
"""Stands for a node when there is none to run, but a value or a failure to deliver."""


@attrs.define(eq=False)
class Interpreter:
    """Interprets the task of one run; holds what the run may reach, and where it has got to.

    `start`, then `succeed` or `fail` for each `Call` and request, until `Finished`. Each raises `HandlerError` or
    `RuntimeFailure` if the run fails, and is to be called under the guard of the engine that `apply` belongs to.
    """

    run: Run
    session: SessionView
    operations: Mapping[str, OpDef]
    apply: Apply
    _frames: list[Bind | Map | CatchFrame] = attrs.Factory(list)
    _wish: Wish | None = None

    def start(self, handler: Value, args: list[Value]) -> Wish:
        """Apply the handler, and go on with the task that it returns."""
        return self._go_on(self.apply(handler, args), "the handler")

    def succeed(self, answer: Any) -> Wish:
        """Go on with the answer to the wish."""
        try:
            value = self._accept(answer)
        except Exception as error:
            return self.fail(error)
        return self._go_on(DELIVER, value=value)

    def fail(self, error: BaseException) -> Wish:
        """Go on after the wish failed. What is not a failure of an operation ends the run: interrupts, limits."""
        exceeds = isinstance(error, RuntimeFailure) and error.limit is not None
        if exceeds or not isinstance(error, Exception):
            raise error
        return self._go_on(DELIVER, failure=failure_text(error))

    def _go_on(self, node: Any, returned_by: str = "", *, value: Value = None, failure: str | None = None) -> Wish:
        """Run a node, or deliver a value or a failure, until something is wanted (section 5.2)."""
        run, apply, frames = self.run, self.apply, self._frames
        budget = run.budget
        while True:
            if node is not DELIVER:
                if budget.tasks <= 0:
                    raise budget.exceeded("tasks")
                budget.tasks -= 1
                kind = type(node)
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
                        self._wish = self._wish_of(node)
                    except Exception as error:
                        failure = failure_text(error)
                    else:
                        return self._wish
                else:
                    raise HandlerContractError(problems.not_a_task(returned_by))
            while frames:
                frame = frames.pop()
                if type(frame) is CatchFrame:
                    if failure is not None:
                        node, returned_by = self._recover(frame, failure), "a Task.catch handler"
                        failure = None
                        break
                elif failure is None:
                    if type(frame) is Bind:
                        node, returned_by = apply(frame.function, [value]), "a Task.bind continuation"
                        break
                    value = apply(frame.function, [value])
            else:
                if failure is not None:
                    raise TaskFailedError(failure)
                return Finished(value)

    def _recover(self, frame: CatchFrame, failure: str) -> Value:
        """The task of a `Task.catch` handler, after what was buffered inside is dropped."""
        frame.restore(self.run)
        return self.apply(frame.function, [failure])

    def _wish_of(self, node: Perform | Spawn) -> Wish:
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
        return Call(op, OpContext(self.session, name, run.phase, spawns, run), node.args, node.site)

    def _accept(self, answer: Any) -> Value:
        """The value of the node whose wish was answered; what a commit has to know is buffered here."""
        wish = self._wish
        if not isinstance(wish, Call):
            return answer
        op = wish.op
        value = None if op.result is Kind.UNIT else result_of(op, answer)
        if op.on_success is not None:
            op.on_success(wish.context, *wish.args)
        if op.kind is OpKind.LOCAL_TRANSACTIONAL:
            self.run.effects.append(Effect(op.name, wish.args, wish.site))
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
    try:
        text = str(error)
    except Exception:  # a host's exception class may itself be at fault
        text = ""
    text = text or type(error).__name__
    return text.encode("utf-8", "replace").decode("utf-8")  # a path in it may hold lone surrogates
