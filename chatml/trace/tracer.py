"""A program that is traced while it runs."""

from __future__ import annotations

from chatml.engines.engine import Engine
from chatml.pipeline import EngineName, Program, Sink, builtin_cells
from chatml.records import frozen
from chatml.surfaces.model import Surface
from chatml.trace.collect import Collector
from chatml.trace.engine import TracingWalker, mark
from chatml.trace.model import Bounds, Trace
from chatml.values.limits import Limits


@frozen(eq=False)
class TracedProgram(Program):
    """A program whose instances tell a collector what they do. The evaluator runs it, whichever engine is asked for."""

    collector: Collector

    def start(self, surface: Surface, sink: Sink, limits: Limits, journaled: bool, engine: EngineName) -> Engine:
        return TracingWalker(self.core, builtin_cells(self.core, surface), sink, limits, self.collector)


class Tracer:
    """A program that does what it did, and the trace of what it does: for one instance at a time.

    >>> from chatml.pipeline import compile
    >>> from chatml.trace import draw
    >>> tracer = Tracer(compile("let rec sum n = if n == 0 then 0 else n + sum(n - 1)"))
    >>> tracer.program.run().call("sum", 1)
    1
    >>> print(*draw(tracer.take()), sep="\\n")
    1:9    sum(1) -> 1
    1:20     if n == 0: false
    1:43     sum(0) -> 0
    1:20       if n == 0: true
    """

    def __init__(self, program: Program, bounds: Bounds = Bounds()) -> None:
        self.collector = Collector(bounds)
        self.program = TracedProgram(
            program.source, program.surface, mark(program.core), program.checked, self.collector
        )

    def take(self) -> Trace:
        """What ran since the last time. What runs right now counts as running, and is not seen again."""
        return self.collector.take()
