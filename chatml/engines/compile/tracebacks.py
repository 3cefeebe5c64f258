"""From what Python raises back to a failure of the script.

The generated code has no handlers of its own. Each of its lines stands for one operation (`Spot`), so that a traceback
tells which operation failed, and through which calls it was reached.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import FrameType, TracebackType
from typing import Any

from chatml.diagnostics.errors import Call, RuntimeFailure
from chatml.engines.compile.bounce import finish
from chatml.engines.compile.code import Code, Kind, Spot
from chatml.engines.compile.passing import carried_out
from chatml.records import frozen
from chatml.source import Span
from chatml.values.failures import (
    TOO_LARGE,
    builtin_failed,
    confused,
    division_by_zero,
    host_failed,
    no_field,
    not_a_record,
    out_of_bounds,
)
from chatml.values.limits import Budget
from chatml.values.model import BuiltinFailure


@frozen
class Step:
    """A frame on the way to the failure, at the operation that it was carrying out for the script."""

    spot: Spot
    frame: FrameType
    function: str | None = None
    """The function of the script that the frame runs, if it is one's."""
    last: bool = False
    """Whether the operation itself raised, and nothing that it called."""


def translate(error: Exception, code: Code, namespace: Mapping[str, Any], budget: Budget) -> Exception:
    """The failure that an exception stands for; the exception itself when no line of the script can explain it."""
    steps = list(trace(error.__traceback__, code, namespace))
    if not steps:
        return budget.exceeded("depth") if isinstance(error, RecursionError) else error
    failure = interpret(error, steps, budget)
    if failure is None:
        return error
    failure.trace += calls(steps)
    outermost = next((step.spot for step in steps if step.spot.builtin or step.spot.within is not None), None)
    if outermost is not None:
        span = outermost.within or outermost.span
        if span != failure.span:
            failure.at(span)
    return failure


def trace(traceback: TracebackType | None, code: Code, namespace: Mapping[str, Any]) -> Iterator[Step]:
    """The operations in a traceback, outermost first.

    A frame of the code is at one of its lines. The entry of a bouncing function is at none: its step follows, or
    `finish`, which is at the last call that it carries out. A builtin that the code called as a value was called where
    the frame before it is.
    """
    span: Span | None = None
    ours = False
    while traceback is not None:
        frame, following = traceback.tb_frame, traceback.tb_next
        step = None
        if frame.f_globals is namespace:
            ours = True
            spot, defined = code.spots[traceback.tb_lineno], code.spots[frame.f_code.co_firstlineno]
            if spot is not None and (spot.kind is not Kind.FUNCTION or following is None):
                step = Step(spot, frame, None if defined is None else defined.name, following is None)
        elif ours and frame.f_code is finish.__code__:
            spot = code.spots[frame.f_locals["result"].line]
            step = None if spot is None else Step(spot, frame)
        else:
            ours = False
            builtin = carried_out(frame, namespace["M"])
            step = None if builtin is None else Step(Spot(Kind.CALL, span, builtin, builtin=True), frame)
        if step is not None:
            span = step.spot.span
            yield step
        traceback = following


def calls(steps: list[Step]) -> Iterator[Call]:
    """The calls of script functions that were running, innermost first."""
    for outer, inner in zip(reversed(steps[:-1]), reversed(steps[1:]), strict=True):
        if inner.function is not None and not outer.spot.builtin and outer.spot.span is not None:
            yield Call(inner.function, outer.spot.span)


def interpret(error: Exception, steps: list[Step], budget: Budget) -> RuntimeFailure | None:
    """What the innermost operation failed of."""
    step = steps[-1]
    spot, span = step.spot, step.spot.span
    match error, spot.kind:
        case RuntimeFailure(), _:
            if error.span is None:
                error.span = span
            return error
        case StopIteration(), Kind.FUNCTION | Kind.LOOP:
            return budget.exceeded("steps", entered_from(steps))
        case RecursionError(), _:
            return budget.exceeded("depth", entered_from(steps))
        case BuiltinFailure(), _:
            return builtin_failed(spot.name, error.message, span)
        case ((MemoryError() | OverflowError()), Kind.CALL | Kind.IN_PLACE | Kind.CONCAT):
            return builtin_failed(spot.name or "++", TOO_LARGE, span)
        case ZeroDivisionError(), Kind.ARITHMETIC:
            return division_by_zero(span)
        case _, Kind.CALL if spot.builtin:
            return host_failed(spot.name, error, span)
        case _, Kind.IN_PLACE if not step.last:
            return host_failed(spot.name, error, span)
        case ((IndexError() | TypeError()), Kind.ACCESS):
            return failed_access(step)
        case KeyError(), Kind.GET:
            return no_field(spot.name, span)
        case ((AttributeError() | TypeError()), Kind.UPDATE):
            return not_a_record(value_of(spot.operands[0], step.frame), span)
        case ((TypeError() | AttributeError() | KeyError() | IndexError()), _):
            return confused(span)
    return None


def entered_from(steps: list[Step]) -> Span | None:
    """The place of the call that entered the innermost function, or of the loop that took another turn."""
    inner = steps[-1].spot
    if inner.kind is not Kind.FUNCTION:
        return inner.span
    return steps[-2].spot.span if len(steps) > 1 else None


def failed_access(step: Step) -> RuntimeFailure:
    """An access to an array, from what the frame still knows of its operands."""
    items, position = [value_of(operand, step.frame) for operand in step.spot.operands]
    if type(items) is list and type(position) is int:
        return out_of_bounds(position, len(items), step.spot.span)
    return confused(step.spot.span)


def value_of(operand: ast.expr, frame: FrameType) -> Any:
    """The value of a variable or a constant of the generated code."""
    if isinstance(operand, ast.Name):
        return frame.f_locals[operand.id] if operand.id in frame.f_locals else frame.f_globals[operand.id]
    return operand.value if isinstance(operand, ast.Constant) else None
