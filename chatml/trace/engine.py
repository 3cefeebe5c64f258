"""The tree-walking evaluator, telling a collector what it does. What a script does stays the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chatml.builtins.globals import GLOBALS
from chatml.core import nodes
from chatml.core.branches import mark_branches
from chatml.diagnostics.errors import RuntimeFailure
from chatml.engines.walk import SIMPLE, Closure, Frame, Walker
from chatml.records import node
from chatml.source import Span
from chatml.trace.collect import BUILTIN, Collector
from chatml.trace.model import Kind
from chatml.values.limits import Limits
from chatml.values.model import BuiltinFunction, Value

OPERATORS = frozenset(builtin.name for builtin in GLOBALS if builtin.name != "print")
"""The globals of the language are operators by another name: a call is shown only if it fails."""


@node
class Taken:
    """Stands in a core tree at the head of a branch: says that it was taken."""

    kind: Kind
    name: str
    span: Span
    result: str | None


BRANCHES = {nodes.Arm: ("body",), nodes.If: ("then", "otherwise")}


def mark(script: nodes.Script) -> nodes.Script:
    """The script, with `Taken` at the head of each branch."""
    return mark_branches(script, BRANCHES, taken)


def taken(owner: Any, part: str) -> Any:
    if isinstance(owner, nodes.Arm):
        return Taken("arm", owner.span.text, owner.span, None)
    span = owner.condition.span
    return Taken("if", span.text, span, "true" if part == "then" else "false")


class TracingWalker(Walker):
    """Evaluates a script that was marked."""

    frames_per_call = 24

    def __init__(
        self,
        script: nodes.Script,
        builtins: Mapping[int, Value],
        sink: Callable[[str], object],
        limits: Limits,
        collector: Collector,
    ) -> None:
        super().__init__(script, builtins, sink, limits)
        self.collector = collector

    def run(self) -> None:
        try:
            super().run()
        except RuntimeFailure as failure:
            self.collector.failed(failure)
            raise

    def evaluate(self, node: nodes.Expr | Taken, frame: Frame, depth: int) -> Value:
        simple = SIMPLE.get(type(node))
        if simple is not None:
            return simple(self, node, frame, depth)
        collector = self.collector
        if isinstance(node, Taken):
            collector.note(node.kind, node.name, (), node.span, result=node.result)
            return None
        outer = len(collector.stack)
        try:
            value = Walker.evaluate(self, node, frame, depth)
        except BaseException as error:
            collector.ended(outer, error)
            raise
        if len(collector.stack) > outer:
            collector.returned(outer, value)
        return value

    def call(self, function: Value, args: list[Value]) -> Value:
        collector = self.collector
        outer = len(collector.stack)
        try:
            value = Walker.call(self, function, args)
        except BaseException as error:
            collector.ended(outer, error)
            raise
        collector.returned(outer, value)
        return value

    def enter(self, closure: Closure, args: list[Value], depth: int, span: Span | None) -> Frame:
        code, collector = closure.code, self.collector
        binds = None if span is not None or collector.stack else bound_by(code.span)
        if binds is None:
            collector.call(closure.name, args, span or code.span, depth, code)
        elif args[0] is not None:
            collector.note("bind", binds, args, code.span)
        return Walker.enter(self, closure, args, depth, span)

    def call_builtin(self, builtin: BuiltinFunction, args: list[Value], depth: int, span: Span | None) -> Value:
        """The call ends where the evaluation that it is part of ends: right after it, as builtins are tail calls."""
        if builtin.name not in OPERATORS:
            self.collector.open("call", builtin.name, args, span, key=BUILTIN)
            return Walker.call_builtin(self, builtin, args, depth, span)
        try:
            return Walker.call_builtin(self, builtin, args, depth, span)
        except RuntimeFailure:
            self.collector.open("call", builtin.name, args, span, key=BUILTIN)
            raise


def bound_by(span: Span) -> str | None:
    """What stands before the `=` of a `let*` or `let+`, which a function with such a span continues; else None."""
    text = span.source.text
    if not text.startswith(TASK_LETS, span.left):
        return None
    return text[span.left : text.index("=", span.left)].rstrip()


TASK_LETS = ("let*", "let+")
