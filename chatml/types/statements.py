"""The types of statements: definitions, modules, `open`, declarations (language.md sections 3.2, 3.3, 3.9, 3.11).

A statement at fault is reported, its bindings are taken back, and the names that it would have defined fit everywhere
from there on: so the next statements are checked, and what they report does not follow from the first fault.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chatml.records import frozen
from chatml.source import Span
from chatml.stack import deep
from chatml.syntax import ast
from chatml.types.checked import Checked, binders
from chatml.types.environment import Body, Entry, Environment, ModuleType
from chatml.types.facts import Fault, NotAModule, OpenShadows, TooDeep, TooLarge
from chatml.types.freeze import Freezer
from chatml.types.infer import MOST_PROBLEMS, Inference
from chatml.types.model import Type, Unknown
from chatml.types.scheme import ANYTHING
from chatml.types.variables import TooMuch

WORK, WORK_PER_CHARACTER = 500_000, 20
"""How many parts of types a check may copy and search: hardly one for each character in a usual script."""


@frozen(eq=False)
class Mark:
    """How far a check had come."""

    bindings: int
    names: int
    definitions: Mapping[str, Entry]
    aliases: Mapping[str, Type | None]
    declared: Mapping[str, Span]


class Statements:
    """Checks the statements of a script in order, all at once or some at a time, which comes to the same.

    A later statement may find out more of the types of earlier ones; `back` takes that back, too.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> statements = Statements(Environment({}))
    >>> first = statements.extend(parse(Source("one", "let cell = ref([])")))
    >>> mark = statements.mark()
    >>> statements.extend(parse(Source("two", "cell := [1]"))).show("cell"), first.show("cell")
    ('ref(int array)', 'ref(int array)')
    >>> statements.back(mark)
    >>> first.show("cell")
    "ref('a array)"
    """

    def __init__(self, environment: Environment, inference: Inference | None = None) -> None:
        self.environment = environment
        self.inference = Inference(environment) if inference is None else inference
        self.scope = self.inference.scope
        self.exhausted = False
        """Whether a statement needed more work than a script may."""
        self.definitions: dict[str, Entry] = {}
        """What the script defines, or the module that is being checked; a repeated name at its last place."""
        self.handlers: dict[type, Callable[[Any], None]] = {
            ast.LetStatement: self.let,
            ast.LetRecStatement: self.let_rec,
            ast.TypeStatement: self.inference.elaborator.declare,
            ast.ModuleStatement: self.module,
            ast.OpenStatement: self.open,
            ast.ExprStatement: self.expression,
        }

    def extend(self, script: ast.Script, work: float | None = None) -> Checked:
        """Check further statements. The result tells of their problems and expressions, and of all definitions.

        Statements with a problem stay until they are taken back. `work` is how many parts of types may be looked at;
        without it the text decides.
        """
        inference = self.inference
        inference.problems, inference.types, inference.operands, inference.projections = [], {}, {}, set()
        inference.binders, inference.absent = {}, set()
        if work is None:
            work = WORK + WORK_PER_CHARACTER * (script.span.right - script.span.left)
        inference.unifier.work = work
        self.exhausted = False
        with deep():
            if not self.environment.problems:
                self.check(script.statements)
        return Checked(
            script=script,
            problems=self.environment.problems + tuple(inference.problems),
            entries=self.definitions.copy(),
            types=inference.types,
            operands=inference.operands,
            projections=frozenset(inference.projections),
            binders=inference.binders,
            absent=frozenset(inference.absent),
            aliases=inference.elaborator.aliases.copy(),
        )

    def mark(self) -> Mark:
        """Where the check stands, for `back`."""
        elaborator = self.inference.elaborator
        return Mark(
            len(self.inference.unifier.trail),
            self.scope.mark(),
            self.definitions.copy(),
            elaborator.aliases.copy(),
            elaborator.declared.copy(),
        )

    def back(self, mark: Mark) -> None:
        """Forget every statement since the mark."""
        unifier, elaborator = self.inference.unifier, self.inference.elaborator
        unifier.roll_back(mark.bindings)
        unifier.level = 0
        self.scope.leave(mark.names)
        self.scope.incomplete = False
        self.definitions = dict(mark.definitions)
        elaborator.aliases, elaborator.declared = dict(mark.aliases), dict(mark.declared)

    def check(self, statements: Sequence[ast.Statement]) -> None:
        """Check statements one after the other; faults are added to the problems."""
        inference, unifier = self.inference, self.inference.unifier
        for statement in statements:
            if len(inference.problems) >= MOST_PROBLEMS or self.exhausted:
                return
            level, names, bindings = unifier.level, self.scope.mark(), len(unifier.trail)
            try:
                self.handlers[statement.__class__](statement)
            except Fault as fault:
                inference.problems.append(fault.problem)
            except RecursionError:
                inference.problems.append(TooDeep(statement.span))
            except TooMuch:
                inference.problems.append(TooLarge(statement.span))
                self.exhausted = True
                unifier.work = math.inf
            else:
                continue
            unifier.level = level
            unifier.roll_back(bindings)
            self.scope.leave(names)
            self.give_up(statement)

    def define(self, binder: ast.Ident, entry: Entry) -> None:
        """Define a name of the script or of the module being checked."""
        name = binder.name
        self.inference.define(binder, entry)
        self.definitions.pop(name, None)
        self.definitions[name] = entry

    def give_up(self, statement: ast.Statement) -> None:
        """Let what a statement at fault would have defined fit everywhere."""
        for binder in binders(statement):
            self.define(binder, ANYTHING)
        if isinstance(statement, ast.OpenStatement):
            self.open_in_part(statement.name.name)

    def let(self, statement: ast.LetStatement) -> None:
        self.define(statement.name, self.inference.bind(statement.value))

    def let_rec(self, statement: ast.LetRecStatement) -> None:
        for name, entry in self.inference.bind_group(statement.bindings):
            self.define(name, entry)

    def expression(self, statement: ast.ExprStatement) -> None:
        self.inference.infer(statement.value)

    def module(self, statement: ast.ModuleStatement) -> None:
        inference, name = self.inference, statement.name.name
        outside, self.definitions = self.definitions, {}
        mark = self.scope.mark()
        own = inference.fresh()
        self.scope.define(name, own)
        inference.bodies[own] = Body(self.definitions, defined_once(statement.items))
        self.check(statement.items)
        exports, self.definitions = self.definitions, outside
        del inference.bodies[own]
        self.scope.leave(mark)
        finished = ModuleType(exports)
        if own.link is not None:
            inference.equate(own, inference.use(finished), "module", statement)
        self.define(statement.name, finished)

    def open(self, statement: ast.OpenStatement) -> None:
        name, place = statement.name.name, statement.name.span
        entry = self.scope.entries.get(name)
        if entry is None:
            raise Fault(self.inference.unknown_variable(name, place, opened=True))
        if entry is ANYTHING:
            self.scope.incomplete = True
            return
        if not isinstance(entry, ModuleType):
            type = Freezer().freeze(entry) if isinstance(entry, Type) else None
            raise Fault(NotAModule(place, name, type, isinstance(entry, Unknown)))
        self.inference.unifier.charge(len(entry.exports))
        hidden = self.hidden_by(entry)
        if hidden:
            raise Fault(OpenShadows(place, name, tuple(hidden)))
        for label, export in entry.exports.items():
            self.scope.define(label, export)

    def hidden_by(self, module: ModuleType) -> list[str]:
        """The names in scope that opening a module would hide, in order; the added globals do not count (X-12)."""
        entries = self.scope.entries
        added = {name for name in self.environment.added if entries.get(name) is self.environment.values.get(name)}
        return sorted((module.exports.keys() & entries.keys()) - added)

    def open_in_part(self, name: str) -> None:
        """After an `open` at fault: bring in what can be, and let the names in question fit everywhere."""
        entry = self.scope.entries.get(name)
        if not isinstance(entry, ModuleType):
            self.scope.incomplete = True
            return
        hidden = self.hidden_by(entry)
        for label, export in entry.exports.items():
            self.scope.define(label, ANYTHING if label in hidden else export)


def defined_once(statements: Sequence[ast.Statement]) -> frozenset[str]:
    """The names that exactly one of the statements defines."""
    counts = Counter(binder.name for statement in statements for binder in binders(statement))
    return frozenset(name for name, count in counts.items() if count == 1)
