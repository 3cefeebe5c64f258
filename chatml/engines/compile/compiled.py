"""The compiling engine: links generated code to an instance, and runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from chatml.engines.callers import caller
from chatml.engines.compile.bounce import Bounce, finish
from chatml.engines.compile.code import Code, cell_name, raw_name
from chatml.engines.compile.passing import as_function, as_value
from chatml.engines.engine import Engine, SinkError
from chatml.lazy import lazy
from chatml.stack import deep
from chatml.values.arithmetic import divide, remainder
from chatml.values.equality import equal
from chatml.values.limits import Budget, Left, Limits
from chatml.values.model import BuiltinFunction, ModuleValue, Ref, Value, wrap

if TYPE_CHECKING:
    from chatml.engines.compile import tracebacks
    from chatml.values import failures
else:
    tracebacks, failures = lazy("chatml.engines.compile.tracebacks"), lazy("chatml.values.failures")


class Compiled(Engine):
    """Runs generated code. The namespace of the code holds nothing of the host but what `link` puts there."""

    def __init__(
        self, code: Code, builtins: Mapping[int, Value], sink: Callable[[str], object], limits: Limits
    ) -> None:
        self.code = code
        self.namespace: dict[str, Any] = {}
        super().__init__(sink, limits)
        self.namespace |= link(self, code, builtins)
        self.mains: list[Callable[[], None]] = []
        for part in code.parts:
            exec(part, self.namespace)
            self.mains.append(self.namespace["main"])

    @property
    def budget(self) -> Budget:
        return self._budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        """The code finds the steps that are left, and the bound on sizes, in its namespace."""
        self._budget = budget
        self.namespace["T"] = budget.steps
        self.namespace["X"] = budget.text

    def renew(self) -> Left:
        left = self._budget.renew()
        self.namespace["T"] = self._budget.steps
        return left

    def restore(self, left: Left) -> None:
        self._budget.restore(left)
        self.namespace["T"] = self._budget.steps

    def run(self) -> None:
        self.guard(self.run_parts)

    def run_parts(self) -> None:
        for main in self.mains:
            main()

    def read(self, cell: int) -> Value:
        return self.namespace[cell_name(cell)]

    def protect(self, action: Callable[[], Value]) -> Value:
        try:
            if not self.code.basis.facts.recursive:
                return action()
            with deep(self.budget.depth * self.code.basis.facts.frames_per_call):
                return action()
        except Exception as error:
            failure = tracebacks.translate(error, self.code, self.namespace, self.budget)
        raise failure

    def apply(self, function: Value, args: list[Value]) -> Value:
        if self.code.basis.facts.recursive:
            return super().apply(function, args)
        try:  # What `guard` does, without its layers: a decision of a policy is often no more work than they are.
            return caller(len(args))(self.function(function, len(args)), args)
        except SinkError as escape:
            raise escape.error from None
        except Exception as error:
            failure = tracebacks.translate(error, self.code, self.namespace, self.budget)
        raise failure

    def function(self, function: Value, arity: int) -> Callable[..., Value]:
        if isinstance(function, FunctionType):
            if function.__code__.co_argcount == arity:
                return function
            raise failures.wrong_arity(function.__code__.co_argcount, arity, None)
        if isinstance(function, BuiltinFunction):  # A builtin made this one itself: the continuation of a task.
            return self.function(as_function(self, function), arity)
        raise failures.not_a_function(function, None)

    def call(self, function: Value, args: list[Value]) -> Value:
        try:
            return caller(len(args))(self.function(function, len(args)), args)
        except StopIteration as error:  # A generator of the host would turn it into something else.
            raise tracebacks.translate(error, self.code, self.namespace, self.budget) from None


def link(engine: Compiled, code: Code, builtins: Mapping[int, Value]) -> dict[str, Any]:
    """Everything that generated code names, and nothing else: it has no builtins of Python."""

    def set_index(items: list[Value], position: int, value: Value) -> None:
        if type(items) is not list or not 0 <= position < len(items):
            raise IndexError
        engine.touch(items)
        items[position] = value

    def set_ref(ref: Ref, value: Value) -> None:
        engine.touch(ref)
        ref.content = value

    def too_long() -> None:
        raise engine.budget.exceeded("text")

    def refuse_match() -> None:
        raise failures.no_match(None)

    namespace = NAMES | {
        "M": engine,
        "set_index": set_index,
        "set_ref": set_ref,
        "too_long": too_long,
        "no_match": refuse_match,
    }
    for cell in code.raw:
        namespace[raw_name(cell)] = builtins[cell].function
    for cell in code.values:
        namespace[cell_name(cell)] = as_value(engine, builtins[cell])
    return namespace


NAMES: dict[str, Any] = {
    "__builtins__": {},
    "len": len,
    "next": next,
    "range": range,
    "enumerate": enumerate,
    "list": list,
    "type": type,
    "tuple": tuple,
    "dict": dict,
    "int": int,
    "float": float,
    "wrap": wrap,
    "divide": divide,
    "remainder": remainder,
    "equal": equal,
    "absent": object(),
    "Ref": Ref,
    "Module": ModuleValue,
    "Bounce": Bounce,
    "finish": finish,
}
