"""The session of a REPL: what was entered and delivered so far, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from chatml.records import evolve, frozen, mutable
from chatml.source import Source
from chatml_runtime.scenario.model import Line, Scenario
from chatml_tools.console import UsageError
from chatml_tools.repl.conversation import Conversation
from chatml_tools.scripts import SURFACES, fitting_surface
from chatml_tools.workspace import Answer, Workspace


@frozen(eq=False)
class Enter:
    """An input was entered."""

    source: Source


@frozen(eq=False)
class Begin:
    """A conversation began."""

    scenario: Scenario


@frozen(eq=False)
class Deliver:
    """An event was delivered, the next one of the scenario if `waited`."""

    line: Line
    waited: bool


Inside: TypeAlias = Callable[[], AbstractContextManager[object]]
Step: TypeAlias = Enter | Begin | Deliver

LONGEST_LINE = 60
MOST_WORLDS = 20
"""How many worlds are kept for the way back."""

NO_SCENARIO = Scenario(events=())


@mutable
class World:
    """A workspace and its conversation, and the steps that led to them; the first `given` of them cannot be undone.

    `origin` tells how it came to be, `asked` is the surface that a person chose, `scenario` the one that a conversation
    begins with. `shares`: the workspace is that of the world before, too.
    """

    workspace: Workspace
    surface: str
    origin: str
    asked: str | None
    steps: list[Step]
    file: str | None = None
    scenario: Scenario = NO_SCENARIO
    conversation: Conversation | None = None
    given: int = 0
    shares: bool = False


class Session:
    """Worlds, the last one in use: loading a file, or beginning a conversation anew, makes a new one.

    What changes a world happens whole or not at all, also when it is interrupted. `print` gets what scripts print;
    `inside` is the context in which scripts run.
    """

    def __init__(
        self,
        surface: str | None,
        *,
        print: Callable[[str], object],
        inside: Inside = nullcontext,
        colour: bool = False,
        width: int | None = 0,
    ) -> None:
        self.sink = print
        self.inside = inside
        self.colour = colour
        self.width = width
        self.is_silent = False
        name = surface or "core"
        self.worlds = [World(self.new_workspace(name), name, "", surface, [])]

    @property
    def world(self) -> World:
        return self.worlds[-1]

    @property
    def workspace(self) -> Workspace:
        return self.world.workspace

    def new_workspace(self, surface: str, inside: Inside | None = None) -> Workspace:
        return Workspace(SURFACES[surface](), print=self.print, inside=inside or self.inside)

    def print(self, line: str) -> None:
        if not self.is_silent:
            self.sink(line)

    # Inputs and files

    def enter(self, source: Source) -> Answer:
        """Check and run an input. `CompileError`, `RuntimeFailure`."""
        answer = self.workspace.enter(source)
        if self.workspace.inputs[-1].script.statements:
            self.world.steps.append(Enter(source))
        else:
            self.workspace.undo()
        return answer

    def load(self, source: Source, file: str) -> World:
        """Begin a new world with the script of a file. `CompileError`, `RuntimeFailure`: then the old one stays."""
        asked = self.world.asked
        surface = asked or fitting_surface(source)
        scenario = self.world.scenario if file == self.world.file else NO_SCENARIO
        workspace = self.new_workspace(surface)
        workspace.enter(source)
        return self.move(World(workspace, surface, f"loading {file}", asked, [Enter(source)], file, scenario, given=1))

    def choose_surface(self, name: str) -> None:
        """Begin a new, empty world on a surface; it is that of later loads, too."""
        self.move(World(self.new_workspace(name), name, f"surface {name}", name, []))

    def move(self, world: World) -> World:
        """Go on in another world."""
        self.worlds.append(world)
        del self.worlds[:-MOST_WORLDS]
        return world

    # Conversations

    def begin(self, scenario: Scenario) -> Conversation:
        """Begin a conversation, in a new world in which inputs are all that happened. `CompileError`."""
        old = self.world
        steps: list[Step] = [step for step in old.steps if isinstance(step, Enter)]
        fresh = old if old.conversation is None else self.rebuilt(old, steps)
        conversation = self.converse(fresh.workspace, scenario)
        steps.append(Begin(scenario))
        world = evolve(fresh, origin="the beginning of the conversation", steps=steps, given=len(steps))
        world.scenario, world.conversation, world.shares = scenario, conversation, fresh is old
        self.move(world)
        return conversation

    def conversation(self) -> Conversation:
        """The conversation; it begins if there is none, and anew if the script has other entry points by now."""
        conversation = self.world.conversation
        if conversation is not None and conversation.is_of(self.workspace):
            return conversation
        return self.begin(self.world.scenario)

    def converse(self, workspace: Workspace, scenario: Scenario) -> Conversation:
        return Conversation(workspace, scenario, colour=self.colour, width=self.width)

    def deliver(self, line: Line, *, waited: bool = False) -> tuple[list[str], bool]:
        """Deliver an event to the conversation: what came of it, and whether it is well.

        If it is interrupted, what it did is taken back.
        """
        conversation, world = self.conversation(), self.world
        try:
            with self.inside():
                told = conversation.play(line)
        except BaseException:
            self.worlds[-1] = self.rebuilt(world, world.steps)
            raise
        world.steps.append(Deliver(line, waited))
        if waited:
            conversation.waiting.popleft()
        return told

    # The way back

    def undo(self) -> str:
        """Take back the last step, or the last change of worlds; tells what it was. `UsageError` if there is none."""
        world = self.world
        if len(world.steps) > world.given:
            last = world.steps.pop()
            if isinstance(last, Enter) and world.workspace.can_undo:
                world.workspace.undo()
            else:
                self.worlds[-1] = self.rebuilt(world, world.steps)
            return brief(last.source.text) if isinstance(last, Enter) else "the last event"
        if len(self.worlds) == 1:
            raise UsageError("there is nothing to take back")
        self.worlds.pop()
        if world.shares:
            self.worlds[-1] = self.rebuilt(self.world, self.world.steps)
        return world.origin

    def rebuilt(self, old: World, steps: Sequence[Step]) -> World:
        """A world that has come about by these steps, which happen again without a word. No interrupt is raised."""
        workspace = self.new_workspace(old.surface, nullcontext)
        world = evolve(old, workspace=workspace, conversation=None, steps=list(steps))
        self.is_silent = True
        try:
            for step in steps:
                self.repeat(world, step)
        finally:
            self.is_silent = False
        workspace.inside = self.inside
        return world

    def repeat(self, world: World, step: Step) -> None:
        match step:
            case Enter(source):
                world.workspace.enter(source)
            case Begin(scenario):
                world.conversation = self.converse(world.workspace, scenario)
            case Deliver(line, waited) if world.conversation is not None:
                world.conversation.play(line)
                if waited:
                    world.conversation.waiting.popleft()


def brief(text: str) -> str:
    """The first line of a text, cut."""
    line = text.strip().partition("\n")[0].rstrip()
    return line if len(line) <= LONGEST_LINE and line == text.strip() else f"{line[:LONGEST_LINE]} …"
