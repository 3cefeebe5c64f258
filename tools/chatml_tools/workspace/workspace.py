"""A workspace: inputs that are checked together like one script, and run one after the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from chatml.core import nodes
from chatml.core.resolve import Mark as Names
from chatml.core.resolve import Resolver
from chatml.diagnostics.errors import CompileError
from chatml.pipeline import Program, builtin_values, environment, names, print_line
from chatml.records import frozen, mutable
from chatml.source import Source
from chatml.stack import deep
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Surface
from chatml.syntax import ast
from chatml.syntax.parse import parse
from chatml.types import Checked, Statements
from chatml.types.checked import type_of_entry
from chatml.types.names import TypeNames
from chatml.types.show import Shower
from chatml.types.statements import Mark as Types
from chatml.values.journal import Journal
from chatml.values.limits import Limits
from chatml_tools.workspace.answer import Answer, Result, answer_of
from chatml_tools.workspace.engine import NOTHING, GrowingWalker

MOST_UNDONE = 100
"""How many inputs can be taken back: what it takes to take one back may be as large as all that is defined."""


@frozen(eq=False)
class Before:
    """How things stood before an input."""

    types: Types
    names: Names
    core: nodes.Script


@mutable
class Input:
    """An accepted input: its text and tree, what runs and in how many slots, and the way back, while that is kept."""

    source: Source
    script: ast.Script
    statements: tuple[nodes.Statement, ...]
    size: int
    way_back: tuple[Before, Journal] | None


class Workspace:
    """A script in the making. An input has the meaning that it would have at the end of the script so far.

    An input that does not check, fails or is interrupted changes nothing: no definition, no type, no array and no ref.
    `inside` gives the context in which inputs run, for a host that interrupts them.

    >>> workspace = Workspace()
    >>> workspace.enter(Source("one", "let total = ref(1)")).lines()
    ['total : ref(int) = ref(1)']
    >>> workspace.enter(Source("two", "total := !total + 1  !total")).lines()
    ['- : int = 2']
    >>> workspace.undo().source.name, workspace.enter(Source("three", "!total")).lines()
    ('two', ['- : int = 1'])
    """

    def __init__(
        self,
        surface: Surface = CORE,
        *,
        print: Callable[[str], object] = print_line,
        limits: Limits = Limits(),
        inside: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self.surface = surface
        self.inside = inside
        self.inputs: list[Input] = []
        self.types = Statements(environment(surface))
        self.resolver = Resolver(names(surface))
        self.engine = GrowingWalker(builtin_values(surface), print, limits)
        self.core = NOTHING

    def enter(self, source: Source) -> Answer:
        """Check an input and run it. `CompileError` or `RuntimeFailure` if it is at fault; then nothing has changed."""
        before = Before(self.types.mark(), self.resolver.mark(), self.core)
        journal = Journal()
        try:
            with deep():
                script = parse(source)
                checked = self.checked(script)
                added = self.resolver.extend(script, checked.is_scalar, checked.absent)
            values = self.engine.extend(added, journal, self.inside())
        except BaseException:
            self.forget(before)
            raise
        self.core = added
        self.inputs.append(Input(source, script, added.statements, added.size, (before, journal)))
        if len(self.inputs) > MOST_UNDONE:
            self.inputs[-MOST_UNDONE - 1].way_back = None
        return answer_of(script, checked, self.types.inference.elaborator.aliases, values, self.read)

    def undo(self) -> Input:
        """Take the last input back: definitions, news about types, and writes. Only if `can_undo`."""
        last = self.inputs.pop()
        assert last.way_back is not None
        before, journal = last.way_back
        journal.undo()
        self.forget(before)
        return last

    @property
    def texts(self) -> list[str]:
        """The texts of the inputs."""
        return [entered.source.text for entered in self.inputs]

    @property
    def can_undo(self) -> bool:
        """Whether there is a last input, and the way back from it."""
        return bool(self.inputs) and self.inputs[-1].way_back is not None

    def type_of(self, source: Source) -> Answer:
        """What an input would define and compute, without values; runs and changes nothing. `CompileError`."""
        before = self.types.mark()
        try:
            with deep():
                script = parse(source)
                return answer_of(script, self.checked(script), self.types.inference.elaborator.aliases)
        finally:
            self.types.back(before)

    def definitions(self) -> Answer:
        """What is defined now, with its types."""
        entries = self.types.definitions
        with deep():
            shown = [(name, self.shower().show(type_of_entry(entry))) for name, entry in entries.items()]
            return Answer(tuple(Result(name, type) for name, type in shown))

    def declared_types(self) -> Answer:
        """The types that the inputs declared."""
        elaborator = self.types.inference.elaborator
        known = [(name, elaborator.aliases[name]) for name in elaborator.declared]
        with deep():
            shown = [(name, self.shower().declaration(type)) for name, type in known if type is not None]
            return Answer(tuple(Result(f"type {name}", type) for name, type in shown))

    def shower(self) -> Shower:
        """What shows a type by the names that are declared."""
        return Shower(naming=TypeNames(self.types.inference.elaborator.aliases))

    def checked(self, script: ast.Script) -> Checked:
        checked = self.types.extend(script)
        if checked.problems:
            raise CompileError(checked.diagnostics)
        return checked

    def read(self, name: str) -> object:
        """The value of a definition; the last one of that name. Raises `KeyError`."""
        return self.engine.read(self.engine.script.definitions[name])

    def forget(self, before: Before) -> None:
        self.core = before.core
        self.types.back(before.types)
        self.resolver.back(before.names)
        self.engine.shrink(self.core)

    def program(self) -> Program:
        """Everything entered so far as one program, for what looks at programs: its text, core and types."""
        text = "\n".join(self.texts)
        source = Source("<session>", text)
        statements = tuple(statement for entered in self.inputs for statement in entered.script.statements)
        run = tuple(statement for entered in self.inputs for statement in entered.statements)
        whole = ast.Script(statements, source.span(0, len(text)))
        size = max((entered.size for entered in self.inputs), default=0)
        script = nodes.Script(run, self.core.cells, size, self.core.builtins, self.core.definitions)
        checked = Checked(whole, (), self.types.definitions.copy(), {}, {}, frozenset())
        return Program(source, self.surface, script, checked)
