"""What `chatml run --trace` shows: the trace of a program, or of each event that a moderator was given."""

from __future__ import annotations

import shutil
import sys
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any, TextIO

from chatml.pipeline import Program
from chatml.trace import Trace, Tracer, draw
from chatml.trace.draw import plain
from chatml_runtime.scenario import Record, Stage
from chatml_runtime.scenario.model import Line, Scenario
from chatml_runtime.script.scripts import ScriptArtifact
from chatml_runtime.script.tracing import trace_script
from chatml_tools.console import dump_json, wants_colour, write
from chatml_tools.palette import paint
from chatml_tools.timeline.draw import INDENT

WIDTH = 120
"""Columns of a line that does not go to a terminal."""


def run(program: Program, *, as_json: bool) -> None:
    """Run a program, and show its trace however it ends. Raises `RuntimeFailure`.

    The trace stands on standard error, or as JSON on standard output: what the script prints on the other one.
    """
    tracer = Tracer(program)
    try:
        tracer.program.run(print=partial(write, sys.stderr if as_json else sys.stdout))
    finally:
        trace = tracer.take()
        if as_json:
            write(sys.stdout, encode(trace, None))
        else:
            for line in lines(trace, sys.stderr):
                write(sys.stderr, line)


def lines(trace: Trace, stream: TextIO, margin: int = 0) -> Iterator[str]:
    """The lines of a trace for a stream, which has so many columns fewer."""
    width = shutil.get_terminal_size((WIDTH, 24)).columns if stream.isatty() else WIDTH
    return draw(trace, width=width - margin, paint=paint if wants_colour(stream) else plain)


def encode(trace: Trace, event: int | None) -> str:
    """A trace as a line of JSON: of the event of that number, counted from 1, or of the top level."""
    return dump_json({"trace": {"event": event, "entries": trace.to_json()}})


class Tracing:
    """The traces of a scenario that is played: one of the top level, then one for each record.

    One more is there if the playing was interrupted.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.traces: deque[Trace] = deque()
        self.shown = 0

    def stage(self, artifact: ScriptArtifact, scenario: Scenario, printed: list[str]) -> Stage:
        """The stage on which it is played."""
        return TracedStage(artifact, scenario, printed, self.traces)

    def lines(self) -> list[str]:
        """The lines of the next trace; none if there is none."""
        if not self.traces:
            return []
        trace, event = self.traces.popleft(), self.shown or None
        self.shown += 1
        if self.as_json:
            return [encode(trace, event)]
        margin = " " * INDENT
        head = [f"{margin}top level"] if event is None and trace.entries else []
        return head + [f"{margin}{line}" for line in lines(trace, sys.stdout, INDENT)]


class TracedStage(Stage):
    """A stage that puts a trace on a list for its start, and for each record."""

    def __init__(self, artifact: ScriptArtifact, scenario: Scenario, printed: list[str], traces: deque[Trace]) -> None:
        compiled, self.tracer = trace_script(artifact.compiled)
        self.traces = traces
        try:
            super().__init__(ScriptArtifact(artifact.script_id, compiled), scenario, printed)
        finally:
            self.take()

    def take(self) -> None:
        self.traces.append(self.tracer.take())

    def play(self, line: Line) -> list[Record]:
        try:
            return super().play(line)
        except KeyboardInterrupt:
            self.take()
            raise

    def record(self, *args: Any, **facts: Any) -> Record:
        record = super().record(*args, **facts)
        self.take()
        return record
