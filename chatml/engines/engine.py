"""What every engine offers to builtins and to hosts: the `Machine` of `chatml.values.model`, without the evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from chatml.values.limits import Budget, Left, Limits
from chatml.values.model import Ref, Value

ELEMENTS_PER_STEP = 64
"""Reading or building so many elements or characters costs a step: no loop of copies or searches outruns `steps`."""


class SinkError(BaseException):
    """On its way out through the script: the host's sink has raised `error`, which is not a failure of the script."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Journal(Protocol):
    """Told of every write to an array or a ref before it happens, so that a host can take the write back."""

    def record(self, container: list[Value] | Ref) -> None: ...


class Engine(ABC):
    """One running instance of a script: its sink, its budget and its journal. A subclass adds the evaluation."""

    def __init__(self, sink: Callable[[str], object], limits: Limits) -> None:
        self.sink = sink
        self.budget = Budget(limits)
        self.journal: Journal | None = None

    @property
    def limits(self) -> Limits:
        """The limits of the run in progress."""
        return self.budget.limits

    def renew(self) -> Left:
        """Begin another evaluation, under the same limits; returns what is left of them, for `restore` after it."""
        return self.budget.renew()

    def restore(self, left: Left) -> None:
        """Go on with what was left before `renew`."""
        self.budget.restore(left)

    @abstractmethod
    def run(self) -> None:
        """Run the top level of the script."""

    @abstractmethod
    def read(self, cell: int) -> Value:
        """The content of a cell."""

    @abstractmethod
    def protect(self, action: Callable[[], Value]) -> Value:
        """Carry out an action with room for recursion, and turn what fails in the script into `RuntimeFailure`."""

    def guard(self, action: Callable[[], Value]) -> Value:
        """Carry out an action of the host that uses `call`; what fails in the script is raised as `RuntimeFailure`.

        What the host's own sink raises comes out as it is.
        """
        try:
            return self.protect(action)
        except SinkError as escape:
            raise escape.error from None

    @abstractmethod
    def call(self, function: Value, args: list[Value]) -> Value:
        """Apply a function value to arguments, inside `guard` or on behalf of a builtin."""

    @abstractmethod
    def function(self, function: Value, arity: int) -> Callable[..., Value]:
        """A function value as a Python function of so many arguments, for the time of one builtin's call."""

    def apply(self, function: Value, args: list[Value]) -> Value:
        """Apply a function value to arguments on behalf of the host; raises `RuntimeFailure`."""
        return self.guard(lambda: self.call(function, args))

    def print(self, text: str) -> None:
        try:
            self.sink(text)
        except Exception as error:
            raise SinkError(error) from None

    def touch(self, container: list[Value] | Ref) -> None:
        if self.journal is not None:
            self.journal.record(container)

    def check_size(self, size: int) -> None:
        budget = self.budget
        if size > budget.text:
            raise budget.exceeded("text")
        self.charge(size)

    def charge(self, size: int) -> None:
        if size >= ELEMENTS_PER_STEP and not self.budget.charge(size // ELEMENTS_PER_STEP):
            raise self.budget.exceeded("steps")
