"""Sessions that are traced: what a script did, what it asked its host for, and what became of it.

Interpreter and session do what they always do; here they tell the tracer of their program of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from chatml.diagnostics.errors import RuntimeFailure
from chatml.trace import Bounds, Failure, Tracer
from chatml.trace.collect import Collector
from chatml.trace.tracer import TracedProgram
from chatml.values.model import Perform, Spawn, Value
from chatml_runtime.script.approvals import PendingRequest
from chatml_runtime.script.runs import Run
from chatml_runtime.script.scripts import CompiledScript
from chatml_runtime.script.session import RunResult, Session
from chatml_runtime.script.tasks import Call, CatchFrame, Interpreter, Wish, failure_text


def trace_script(script: CompiledScript, bounds: Bounds = Bounds()) -> tuple[CompiledScript, Tracer]:
    """A script that does the same, and the tracer that tells what its session does: one session at a time.

    >>> from chatml_runtime import OpRegistry, compile_script
    >>> from chatml.trace import draw
    >>> source = "let initial_state = 1 let on_event ctx st ev = let* n = Task.pure(st + 1) in Task.pure(n * 2)"
    >>> script, tracer = trace_script(compile_script(source))
    >>> session = script.instantiate(OpRegistry())
    >>> _ = session.handle_event({"phase": "turn_start"}, ("Turn_start",))
    >>> print(*draw(tracer.take(), width=80), sep="\\n")
    1:23   on_event({ phase = "turn_start" }, 1, `Turn_start) -> <task>
    1:48   let* n = 2
           commit: no effects
    """
    tracer = Tracer(script.program, bounds)
    return attrs.evolve(script, program=tracer.program, session_class=TracedSession), tracer


class TracedInterpreter(Interpreter):
    """Tells of operations, questions and answers, and of failures that were caught."""

    @property
    def collector(self) -> Collector:
        assert isinstance(self.session, TracedSession)
        return collector_of(self.session)

    def fail(self, error: BaseException) -> Wish:
        self.collector.end(0, "failed", Failure(failure_text(error), None))
        return super().fail(error)

    def _recover(self, frame: CatchFrame, failure: str) -> Value:
        dropped = len(self.run.effects) - frame.effects
        result = f"{effects(dropped)} dropped" if dropped else None
        self.collector.note("catch", args=[failure], result=result)
        return super()._recover(frame, failure)

    def _wish_of(self, node: Perform | Spawn) -> Wish:
        collector = self.collector
        collector.open("operation", node.op, node.args, node.site)
        try:
            wish = super()._wish_of(node)
        except Exception as error:
            collector.end(0, "failed", Failure(failure_text(error), None))
            raise
        if not isinstance(wish, Call):
            collector.end(0, "running")
        return wish

    def _accept(self, answer: Any) -> Value:
        value = super()._accept(answer)
        collector = self.collector
        if isinstance(self._wish, Call):
            collector.returned(0, value)
        else:
            collector.note("resume", result=collector.text(value))
        return value


class TracedSession(Session):
    """Tells of commits, rollbacks and suspensions."""

    _interpreter_class = TracedInterpreter

    def _suspend(self, run: Run, request: PendingRequest) -> RunResult:
        collector_of(self).note("suspend")
        return super()._suspend(run, request)

    def _roll_back(self, run: Run, error: BaseException) -> None:
        span = error.span if isinstance(error, RuntimeFailure) else None
        dropped, restored = len(run.effects), len(run.journal)
        result = f"{effects(dropped)} dropped, {count(restored, 'array or ref', 'arrays and refs')} restored"
        collector_of(self).note("rollback", result=result, failure=Failure(failure_text(error), span))
        super()._roll_back(run, error)

    def _commit(self, run: Run, state: Value, end_reason: str | None, install: Callable[[], None]) -> RunResult:
        collector_of(self).note("commit", result=effects(len(run.effects)))
        return super()._commit(run, state, end_reason, install)


def collector_of(session: Session) -> Collector:
    """What the program of a traced session tells."""
    program = session._instance.program
    assert isinstance(program, TracedProgram)
    return program.collector


def effects(number: int) -> str:
    return count(number, "effect", "effects")


def count(number: int, noun: str, nouns: str) -> str:
    return f"{number or 'no'} {noun if number == 1 else nouns}"
