"""The commands of a REPL, one function each, and the table of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from chatml.diagnostics.suggest import did_you_mean
from chatml.records import frozen
from chatml.source import Source
from chatml.types.guided import STANDARD
from chatml_runtime.scenario import read_scenario
from chatml_runtime.scenario.model import Advance, Line, Respond
from chatml_tools.console import UsageError, count
from chatml_tools.repl.conversation import Conversation
from chatml_tools.repl.events import read_event
from chatml_tools.repl.screen import Screen
from chatml_tools.repl.session import Session, World
from chatml_tools.scripts import SURFACES, read_data, read_source


class Quit(Exception):
    """The person wants to leave."""


# Scripts


def show_types(session: Session, screen: Screen, argument: str) -> bool:
    results = session.workspace.type_of(Source("<type>", argument)).results
    screen.show([result.type if result.name == "-" else f"{result.name} : {result.type}" for result in results])
    return True


def list_names(session: Session, screen: Screen, argument: str) -> bool:
    screen.show([*session.workspace.declared_types().lines(), *session.workspace.definitions().lines()])
    return True


def load(session: Session, screen: Screen, argument: str) -> bool:
    return load_file(session, screen, path_of(argument))


def reload(session: Session, screen: Screen, argument: str) -> bool:
    if session.world.file is None:
        raise UsageError("no file is loaded yet: `:load FILE`")
    return load_file(session, screen, session.world.file)


def load_file(session: Session, screen: Screen, path: str) -> bool:
    """Begin anew with the script of a file, and say what it is."""
    if path == "-":
        raise UsageError("standard input has the inputs, so no script can be read from it")
    screen.show(describe(session.load(read_source(path), path)))
    return True


def describe(world: World) -> list[str]:
    """What a loaded file is."""
    defined = world.workspace.core.definitions
    lines = [f"{world.file}: {count(len(defined), 'definition')}, surface {world.surface}"]
    if {STANDARD.initial_state, STANDARD.on_event} <= defined.keys():
        lines.append("it is a moderator: `:event turn_start` delivers an event")
    return lines


def choose_surface(session: Session, screen: Screen, argument: str) -> bool:
    if not argument:
        screen.show([session.world.surface])
        return True
    if argument not in SURFACES:
        hint = did_you_mean(argument, SURFACES) or f"the surfaces are {', '.join(SURFACES)}"
        raise UsageError(f"unknown surface {argument}: {hint}")
    file = session.world.file
    session.choose_surface(argument)
    screen.show([f"surface {argument}, nothing defined" + (f" (`:load {file}` loads it again)" if file else "")])
    return True


def undo(session: Session, screen: Screen, argument: str) -> bool:
    screen.show([f"taken back: {session.undo()}"])
    return True


# Conversations


def begin(session: Session, screen: Screen, argument: str) -> bool:
    scenario = read_scenario(read_data(path_of(argument)))
    conversation = session.begin(scenario)
    screen.report(conversation.warnings)
    screen.show(
        [f"{count(len(conversation.waiting), 'event')} to come: `:step` delivers the next, `:step all` the rest"]
    )
    return True


def step(session: Session, screen: Screen, argument: str) -> bool:
    conversation = current(session, screen)
    waiting = len(conversation.waiting)
    if argument not in ("", "all") and not is_number(argument):
        raise UsageError("`:step` takes a number or all")
    if not waiting:
        raise UsageError("no event is to come: `:events FILE` reads some, `:event …` delivers one")
    number = waiting if argument == "all" else min(int(argument or 1), waiting)
    told = [deliver(session, screen, session.conversation().waiting[0], waited=True) for _ in range(number)]
    return all(told)


def deliver_event(session: Session, screen: Screen, argument: str) -> bool:
    told = [deliver(session, screen, line) for line in read_event(argument)]
    return all(told)


def answer(session: Session, screen: Screen, argument: str) -> bool:
    return deliver(session, screen, Respond(argument))


def advance(session: Session, screen: Screen, argument: str) -> bool:
    if not is_number(argument):
        raise UsageError("`:advance` takes a number of milliseconds")
    return deliver(session, screen, Advance(int(argument)))


def is_number(text: str) -> bool:
    """Whether a text is a number that is not beyond all measure."""
    return text.isascii() and text.isdigit() and len(text) < 16


def deliver(session: Session, screen: Screen, line: Line, *, waited: bool = False) -> bool:
    current(session, screen)
    told, is_well = session.deliver(line, waited=waited)
    screen.show(told or ["nothing arrived"])
    return is_well


def current(session: Session, screen: Screen) -> Conversation:
    """The conversation. If it begins just now, its warnings are shown."""
    before = session.world.conversation
    conversation = session.conversation()
    if conversation is not before:
        screen.report(conversation.warnings)
        if before is not None:
            screen.show(["the script has other entry points now: the conversation begins anew"])
    return conversation


def look(read: Callable[[Conversation], Iterable[str]], nothing: str) -> Run:
    """A command that shows something of the conversation."""

    def show(session: Session, screen: Screen, argument: str) -> bool:
        conversation = session.world.conversation
        if conversation is None:
            raise UsageError("no conversation has begun: `:event turn_start` begins one, so does `:events FILE`")
        screen.show(list(read(conversation)) or [nothing])
        return True

    return show


# The rest


def show_help(session: Session, screen: Screen, argument: str) -> bool:
    if argument:
        command = find_command(argument.removeprefix(":"))
        screen.show([f"{command.usage}  {command.summary}"])
        return True
    width = max(len(command.usage) for command in COMMANDS)
    screen.show(
        [
            "An input is one or more statements, as in a script; its value and type are shown.",
            "",
            *[f"  {command.usage:<{width}}  {command.summary}" for command in COMMANDS],
            "",
            "Commands may be shortened. Several lines end with an empty one; Alt-Enter breaks a line anywhere.",
            "Tab completes, Ctrl-C stops what runs or clears the input, Ctrl-D leaves.",
        ]
    )
    return True


def leave(session: Session, screen: Screen, argument: str) -> bool:
    raise Quit


Run = Callable[[Session, Screen, str], bool]
"""Carries out a command, given what follows its name; whether all is well."""


@frozen(eq=False)
class Command:
    """A command: its name, its argument in help (in brackets if it may be left out), and what it is for."""

    name: str
    argument: str
    summary: str
    run: Run

    @property
    def usage(self) -> str:
        return f":{self.name} {self.argument}".rstrip()


COMMANDS = (
    Command("type", "EXPR", "the type of an expression, without running it", show_types),
    Command("names", "", "everything that is defined, with its type", list_names),
    Command("load", "FILE", "begin anew with a script, or the moderator of a prompt document", load),
    Command("reload", "", "the same, with the file that was loaded last", reload),
    Command("surface", "[NAME]", "begin anew with what a surface can name: core, moderator or ui", choose_surface),
    Command("undo", "", "take back the last input, event or load", undo),
    Command("event", "EVENT", "deliver an event: turn_start, { phase: …, … } or `Tag(…)", deliver_event),
    Command("events", "FILE", "begin a conversation with a scenario, whose events wait", begin),
    Command("step", "[N]", "deliver the next event that waits, or N of them, or all", step),
    Command("answer", "TEXT", "answer what the moderator asks", answer),
    Command("advance", "MS", "let time pass", advance),
    Command("state", "", "the state of the conversation", look(Conversation.state, "no state")),
    Command("effects", "", "what was committed so far", look(Conversation.effects, "nothing was committed yet")),
    Command("queue", "", "the internal events that wait", look(Conversation.queue, "no internal event waits")),
    Command("overlay", "", "what the script changed about the history", look(Conversation.overlay, "no change")),
    Command("history", "", "the history as the model sees it", look(Conversation.history, "no history")),
    Command("help", "[COMMAND]", "this text", show_help),
    Command("quit", "", "leave", leave),
)
SHORT = {"?": "help", "h": "help", "q": "quit", "e": "event", "s": "step", "a": "answer"}
"""Letters with which several commands begin, and the one that they stand for."""


def find_command(name: str) -> Command:
    """The command of that name, or the one that it is the beginning of. `UsageError` offers near names."""
    by_name = {command.name: command for command in COMMANDS}
    name = SHORT.get(name, name)
    if name in by_name:
        return by_name[name]
    begun = [command for command in COMMANDS if name and command.name.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UsageError(f"`:{name}` may be {' or '.join(f':{command.name}' for command in begun)}")
    hint = did_you_mean(f":{name}", [f":{known}" for known in by_name]) or "`:help` lists the commands"
    raise UsageError(f"unknown command `:{name}`: {hint}")


def command_meant(text: str) -> Command | None:
    """The command that an input without a colon may stand for.

    >>> [command.name for text in ("exit", "help()", "1") if (command := command_meant(text))]
    ['quit', 'help']
    """
    name = text.strip().removesuffix("()")
    name = "quit" if name == "exit" else name
    return next((command for command in COMMANDS if command.name == name), None)


def path_of(argument: str) -> str:
    """The path that a person wrote."""
    if not argument:
        raise UsageError("which file?")
    if len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "\"'":
        argument = argument[1:-1]
    return os.path.expanduser(argument)


def carry_out(session: Session, screen: Screen, line: str) -> bool:
    """Carry out a command line; whether all is well."""
    name, _, argument = line.strip()[1:].partition(" ")
    command, argument = find_command(name.strip()), argument.strip()
    if not command.argument and argument:
        raise UsageError(f"`:{command.name}` takes nothing after it")
    if command.argument[:1].isalpha() and not argument:
        raise UsageError(f"`{command.usage}`: {command.summary}")
    return command.run(session, screen, argument)
