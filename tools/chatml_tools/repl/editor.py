"""The line editor of the REPL: prompt_toolkit with our completion, highlighting, and a history that lasts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer

from chatml_tools.completion.complete import Completion as Suggestion
from chatml_tools.completion.complete import complete
from chatml_tools.console import UsageError
from chatml_tools.highlight import ChatmlLexer
from chatml_tools.repl.commands import COMMANDS, find_command
from chatml_tools.repl.dialogue import Dialogue
from chatml_tools.repl.inputs import is_command, is_ready
from chatml_tools.repl.screen import continuation, prompt
from chatml_tools.repl.session import Session
from chatml_tools.scripts import SURFACES

LONGEST_DETAIL = 70
INDENT = "  "


def editor(dialogue: Dialogue) -> Callable[[int], str]:
    """What reads an input."""
    session: PromptSession[str] = PromptSession(
        history=LastingHistory(history_file()),
        lexer=PygmentsLexer(ChatmlLexer),
        completer=ReplCompleter(dialogue.session),
        complete_while_typing=True,
        auto_suggest=AutoSuggestFromHistory(),
        multiline=True,
        key_bindings=bindings(),
        enable_open_in_editor=True,
        enable_suspend=True,
    )

    def read_input(number: int) -> str:
        text = session.prompt(
            prompt(number), prompt_continuation=lambda width, line, wrapped: "" if wrapped else continuation(number)
        )
        return text.rstrip()

    return read_input


def bindings() -> KeyBindings:
    """Enter answers what is ready, and breaks the line of what is not; Alt-Enter always breaks it."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif is_ready(buffer.text):
            buffer.validate_and_handle()
        else:
            break_line(event)

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        break_line(event)

    return keys


def break_line(event: KeyPressEvent) -> None:
    """Break the line, and indent the new one like it, or more after what a body follows."""
    buffer = event.current_buffer
    line = buffer.document.current_line_before_cursor
    deeper = INDENT if line.rstrip().endswith(OPENING) else ""
    buffer.insert_text("\n" + line[: len(line) - len(line.lstrip())] + deeper)


OPENING = ("=", "->", "(", "[", "{", "then", "else", "do", "struct")
"""What is followed by a body."""


class ReplCompleter(Completer):
    """Completes commands and their arguments, and the text of inputs."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if not is_command(text):
            return self.of_input(text, complete_event.completion_requested)
        name, space, argument = text.lstrip()[1:].partition(" ")
        if not space:
            return [
                Completion(command.name, -len(name), display=f":{command.name}", display_meta=command.summary)
                for command in COMMANDS
                if command.name.startswith(name)
            ]
        return self.of_argument(name, argument.lstrip(), complete_event)

    def of_argument(self, name: str, argument: str, complete_event: CompleteEvent) -> Iterable[Completion]:
        try:
            command = find_command(name)
        except UsageError:
            return ()
        if command.name == "type":
            return self.of_input(argument, complete_event.completion_requested)
        if command.name == "surface":
            return [Completion(known, -len(argument)) for known in SURFACES if known.startswith(argument)]
        if command.name in ("load", "events"):
            return self.paths.get_completions(Document(argument), complete_event)
        return ()

    def of_input(self, text: str, is_asked: bool) -> Iterable[Completion]:
        """Completions of an input; where nothing is begun, only if they are asked for."""
        for found in complete(self.session.workspace, text):
            if found.size or is_asked or found.kind == "field":
                yield Completion(found.text, -found.size, display_meta=lambda found=found: describe(found))


def describe(found: Suggestion) -> str:
    """The type of what is suggested, or its kind."""
    text = found.detail() or found.kind
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL]}…"


class LastingHistory(FileHistory):
    """A history in a file. One that cannot be read or written is not an error: then it lasts as long as the session."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            super().store_string(string)
        except (OSError, UnicodeError):
            return


def history_file() -> Path:
    """Where the history is kept: in the user's directory of state (XDG)."""
    state = os.environ.get("XDG_STATE_HOME", "")
    directory = Path(state) if os.path.isabs(state) else Path(os.path.expanduser("~"), ".local", "state")
    return directory / "chatml" / "history"
