"""A conversation under the script of a session: events are delivered one at a time, and what they did can be read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic
from chatml.engines.engine import Engine
from chatml.pipeline import EngineName, Instance, Program, environment
from chatml.records import evolve, frozen
from chatml.surfaces.model import Surface
from chatml.types.contract import check_contract
from chatml.types.guided import STANDARD
from chatml.values.limits import Limits
from chatml_runtime.moderation.overlay import Canonical, Inserted
from chatml_runtime.scenario import Record, Stage
from chatml_runtime.scenario.brief import item_line
from chatml_runtime.scenario.model import Line, Scenario
from chatml_runtime.script.scripts import CompiledScript, ScriptArtifact, hosted
from chatml_tools.timeline.draw import Timeline
from chatml_tools.workspace import Workspace
from chatml_tools.workspace.literal import literal


@frozen(eq=False)
class RunningProgram(Program):
    """A program whose top level has run already, in an engine that goes on."""

    running: Engine

    def run(
        self,
        *,
        surface: Surface | None = None,
        print: Callable[[str], object] | None = None,
        limits: Limits = Limits(),
        journaled: bool = False,
        engine: EngineName = "walk",
    ) -> Instance:
        """The instance that runs."""
        return Instance(self, self.running)


class Conversation:
    """A moderated conversation whose script is a workspace, as it runs: the same globals, the same arrays and refs.

    `warnings` are those of the entry points. `CompileError` if the workspace defines no moderator.
    """

    def __init__(self, workspace: Workspace, scenario: Scenario, *, colour: bool, width: int | None) -> None:
        program = workspace.program()
        self.warnings = check_moderator(program)
        self.engine = workspace.engine
        self.waiting = deque(scenario.events)
        self.handled_by = handler_cells(workspace)
        self.records: list[Record] = []
        self.timeline = Timeline(colour=colour, width=width)
        self.printed: list[str] = []
        running = RunningProgram(
            program.source, program.surface, program.core, program.checked, running=workspace.engine
        )
        artifact = ScriptArtifact("main", CompiledScript(running, self.warnings, "walk"))
        self.stage = Stage(artifact, scenario, self.printed)

    def is_of(self, workspace: Workspace) -> bool:
        """Whether the workspace still defines the same entry points."""
        return self.handled_by == handler_cells(workspace)

    def play(self, line: Line) -> tuple[list[str], bool]:
        """Deliver an event: the lines that tell what came of it, and whether nothing failed."""
        sink, self.engine.sink = self.engine.sink, self.printed.append
        try:
            records = self.stage.play(line)
        finally:
            self.engine.sink = sink
        self.records += records
        lines = [line for record in records for line in self.timeline.draw(record)]
        return lines, all(record.status != "failed" for record in records)

    # What can be looked at

    def state(self) -> list[str]:
        return [literal(self.stage.moderator.state)]

    def queue(self) -> list[str]:
        return [literal(event) for event in self.stage.moderator.queued_events]

    def effects(self) -> list[str]:
        """What was committed so far, with the number of the event in the timeline."""
        return [
            f"{number:>3} {effect.brief}" for number, record in enumerate(self.records, 1) for effect in record.effects
        ]

    def history(self) -> list[str]:
        """The history as the model sees it, and which of it the script has made."""
        lines = []
        for entry in self.stage.moderator.effective_entries(self.stage.history):
            mark = " " if isinstance(entry.provenance, Canonical) else "+" if is_insertion(entry.provenance) else "~"
            lines.append(f"{mark} {item_line(entry.entry.item)}")
        return lines

    def overlay(self) -> Iterator[str]:
        """What the script has changed about the history."""
        overlay = self.stage.moderator.overlay
        for kind, insertions in (("prepended", overlay.prepended), ("appended", overlay.appended)):
            for insertion in insertions:
                yield f"{kind:<9} {item_line(insertion.entry.item)}"
        for record in overlay.replacements:
            yield f"replaced  {record.target_id.encode()} by {item_line(record.item)}"
        for tombstone in overlay.tombstones:
            yield f"deleted   {tombstone.target_id.encode()}"
        if overlay.halt_reason is not None:
            yield f"halted    {overlay.halt_reason}"


def check_moderator(program: Program) -> tuple[Diagnostic, ...]:
    """The warnings about the entry points of a session's script. `CompileError`; what is missing has no place."""
    found = check_contract(program.checked, environment(hosted(program.surface)))
    if found.problems:
        raise CompileError(
            [
                evolve(each, span=None) if each.span is not None and each.span.source is program.source else each
                for each in found.problems
            ]
        )
    return found.warnings


def is_insertion(provenance: object) -> bool:
    return isinstance(provenance, Inserted)


def handler_cells(workspace: Workspace) -> tuple[int | None, int | None]:
    """Which definitions are the entry points now."""
    defined = workspace.core.definitions
    return defined.get(STANDARD.initial_state), defined.get(STANDARD.on_event)
