"""Feeding a scenario to a moderator: what `chatml run SCRIPT --events FILE` does."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, TextIO

from chatml.builtins.json_data import write_data
from chatml.diagnostics.errors import CompileError, RuntimeFailure
from chatml.pipeline import EngineName, warnings_of
from chatml_runtime.scenario import Ending, Record, Stage, read_scenario
from chatml_runtime.scenario.model import Scenario
from chatml_runtime.script.scripts import ScriptArtifact, compile_script
from chatml_tools.console import UsageError, heed, json_line, report, wants_colour, write
from chatml_tools.scripts import SURFACES, read_data, read_source
from chatml_tools.timeline.draw import Timeline

if TYPE_CHECKING:
    from chatml_tools.timeline.tracing import Tracing


def feed(
    script: str,
    surface: str | None,
    events: str,
    *,
    as_json: bool,
    engine: EngineName = "compiled",
    traced: bool = False,
    strict: bool = False,
    authorize: str | None = None,
) -> int:
    """Play the scenario in one file to the script in another, and print JSON Lines or a timeline.

    `-` is standard input, for one of the two. The exit status is 1 if the script or the scenario is at fault, or if
    any event failed. `traced` shows with each event what ran; `strict` takes warnings for errors. With `authorize` the
    processes of a prompt's moderator really run, under that manifest.
    """
    if script == events == "-":
        raise UsageError("the script and the events cannot both be on standard input")
    tracing = import_module("chatml_tools.timeline.tracing").Tracing(as_json=as_json) if traced else Untraced()
    printed: list[str] = []
    try:
        source = read_source(script)
        compiled = compile_script(source, surface=SURFACES[surface or "ui"](), engine=engine, sites=True)
        scenario = read_scenario(read_data(events))
        heed(warnings_of(compiled.program), strict)
        heed(scenario.warnings, strict)
        stage: Stage = tracing.stage(ScriptArtifact("main", compiled), scenario, printed)
    except CompileError as error:
        report(error.diagnostics)
        return 1
    except RuntimeFailure as failure:
        report([failure.diagnostic])
        return 1
    finally:
        show(printed, sys.stderr if as_json else sys.stdout)
        printed.clear()
        show(tracing.lines(), sys.stdout)
    if authorize is None:
        return played(stage, scenario, tracing, as_json=as_json)
    try:
        with import_module("chatml_tools.shell.processes").moderator_processes(script, authorize) as run_process:
            stage.host.run_process = run_process
            return played(stage, scenario, tracing, as_json=as_json)
    except CompileError as error:
        report(error.diagnostics)
        return 1


def played(stage: Stage, scenario: Scenario, tracing: Tracing | Untraced, *, as_json: bool) -> int:
    """Play a scenario to its end, and show each record; the exit status."""
    failed = False
    draw = (
        JsonLines() if as_json else Timeline(colour=wants_colour(sys.stdout), width=None if sys.stdout.isatty() else 0)
    )
    try:
        for event in scenario.events:
            for record in stage.play(event):
                failed = failed or record.status == "failed"
                show(draw.draw(record, tracing.lines()), sys.stdout)
    finally:
        show(tracing.lines(), sys.stdout)
    show(draw.close(stage.ending()), sys.stdout)
    return 1 if failed else 0


def show(lines: Iterable[str], stream: TextIO) -> None:
    for line in lines:
        write(stream, line)


class Untraced:
    """What `chatml_tools.timeline.tracing.Tracing` is without `--trace`: nothing more is shown."""

    stage = Stage

    def lines(self) -> list[str]:
        return []


class JsonLines:
    """Draws each record as one JSON object, and what ran after it."""

    def draw(self, record: Record, ran: Iterable[str] = ()) -> list[str]:
        return [json_line(write_data(record.to_json())), *ran]

    def close(self, ending: Ending) -> list[str]:
        return [json_line(write_data(ending.to_json()))]
