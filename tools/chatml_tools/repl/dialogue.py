"""The dialogue: an input or a command goes in, lines come out. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable

from chatml.diagnostics.errors import CompileError, RuntimeFailure
from chatml.records import evolve, mutable
from chatml.source import Source
from chatml.syntax.decode import decode
from chatml_tools.console import UsageError
from chatml_tools.repl.commands import carry_out, command_meant, load_file
from chatml_tools.repl.inputs import is_command
from chatml_tools.repl.screen import Screen
from chatml_tools.repl.session import Session
from chatml_tools.workspace import Answer


@mutable
class Dialogue:
    """Answers inputs. `number` counts them, for their names in reports."""

    session: Session
    screen: Screen
    number: int = 1

    def answer(self, data: bytes) -> bool:
        """Answer one input or command; whether all is well. Raises nothing but `Quit` and interrupts."""
        return self.attempt(lambda: self.respond(data))

    def load(self, path: str) -> bool:
        """Begin with the script of a file."""
        return self.attempt(lambda: load_file(self.session, self.screen, path))

    def respond(self, data: bytes) -> bool:
        name = f"<input {self.number}>"
        source = decode(name, data.rstrip(b"\r\n"))
        if is_command(source.text):
            return carry_out(self.session, self.screen, source.text)
        if source.text.strip():
            self.number += 1
            self.screen.show(self.enter(source).lines(self.screen.width))
        return True

    def enter(self, source: Source) -> Answer:
        """Enter an input. If it is the name of a command, and of nothing else, the report says so."""
        try:
            return self.session.enter(source)
        except CompileError as error:
            meant = command_meant(source.text)
            if meant is None:
                raise
            help = f"commands begin with a colon: `{meant.usage}`, {meant.summary}"
            raise CompileError([evolve(each, help=help) for each in error.diagnostics]) from None

    def attempt(self, action: Callable[[], bool]) -> bool:
        try:
            return action()
        except CompileError as error:
            self.screen.report(error.diagnostics)
        except RuntimeFailure as failure:
            self.screen.report([failure.diagnostic])
        except UsageError as failure:
            self.screen.complain(str(failure))
        except MemoryError:
            self.screen.complain("that is more than the memory holds")
        return False
