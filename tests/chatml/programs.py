"""Well-typed programs at random: a type is chosen first, then an expression of it is written.

Every program is accepted by the checker and ends; it may fail on the way (a zero divisor, an index, `fail`), but
never because a value has the wrong kind. It stays out of the corners where the language's own definition lets a
checked program miss at run time (language.md 3.7 and 3.8): a closed record pattern is always followed by a
catch-all, a payload pattern has the arity of its tag, modules are only read.

`programs()` is the Hypothesis strategy; `write_program(chooser)` takes any source of choices.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from tests.chatml.program_choices import LABELS, Chooser, DrawnChooser, Scope
from tests.chatml.program_expressions import ExpressionWriter
from tests.chatml.program_types import (
    UNIT,
    Array,
    Function,
    Hole,
    Scheme,
    annotation,
    option,
)

NODES = 40
"""How many nodes a statement may have, before only leaves are written."""

DEPTH = 4


@st.composite
def programs(draw: Callable[[st.SearchStrategy[int]], int]) -> str:
    """The text of a well-typed program on the core surface."""
    return write_program(DrawnChooser(draw))


def write_program(chooser: Chooser) -> str:
    """The text of a well-typed program, from a source of choices."""
    return ProgramWriter(chooser).program()


class ProgramWriter(ExpressionWriter):
    """Writes statements, and the whole program."""

    def program(self) -> str:
        scope: Scope = {}
        statements: list[str] = []
        for _ in range(1 + self.chooser.below(6)):
            self.nodes = NODES
            statements.append(self.pick(STATEMENTS)(self, scope))
        statements += [f"print({name})" for name in list(scope)[-5:]]
        return self.pick(("\n", "\n\n", " (* and (* then *) *)\n", "\r\n")).join(statements)

    def value_statement(self, scope: Scope) -> str:
        kind = self.type(3)
        name = self.fresh(scope)
        written = annotation(kind) if self.flip(3) else None
        value = self.expression(kind, scope, DEPTH).text
        scope[name] = kind
        return f"let {name}{f' : {written}' if written else ''} = {value}"

    def function_statement(self, scope: Scope) -> str:
        made = Function(tuple(self.type(2) for _ in range(self.chooser.below(3))), self.type(2))
        name = self.fresh(scope)
        names, inner = self.parameters(made.params, scope)
        body = self.expression(made.result, inner, DEPTH).text
        scope[name] = made
        return f"let {name} {names} = {body}"

    def recursive_statement(self, scope: Scope) -> str:
        names = [self.fresh({}) for _ in range(1 + self.chooser.below(2))]
        kinds = [self.type(2) for _ in names]
        defined = [self.countdown(name, kind, scope, 2) for name, kind in zip(names, kinds, strict=True)]
        for name, kind in zip(names, kinds, strict=True):
            scope[f"{name}(2)"] = kind
        return "let rec " + " and ".join(defined)

    def print_statement(self, scope: Scope) -> str:
        return f"print({self.expression(self.type(3), scope, DEPTH).text})"

    def effect_statement(self, scope: Scope) -> str:
        return f"let {self.fresh({})} = {self.expression(UNIT, scope, DEPTH).text}"

    def alias_statement(self, scope: Scope) -> str:
        kind = self.type(2, data=True)
        written = annotation(kind)
        if written is None:
            return self.value_statement(scope)
        name, value = self.fresh({}), self.fresh({})
        text = f"type t{name} = {written} let {value} : t{name} = {self.expression(kind, scope, 2).text}"
        scope[value] = kind
        return text

    def module_statement(self, scope: Scope) -> str:
        """A module with a value and a function; afterwards it may be opened."""
        module, value, function = "M" + self.fresh({}), self.fresh({}), self.fresh({})
        kind, result = self.type(2), self.type(2)
        body = self.expression(kind, scope, 2).text
        inner = {**scope, value: kind}
        text = f"let {value} = {body} let {function} () = {self.expression(result, inner, 2).text}"
        text = f"module {module} = struct {text} end"
        prefix = f"{module}."
        if self.flip(2):
            prefix, text = "", f"{text} open {module}"
        scope[prefix + value] = kind
        scope[prefix + function] = Function((), result)
        return text

    def polymorphic_statement(self, scope: Scope) -> str:
        """A helper that is used at several types."""
        name = self.fresh({})
        first, second = Hole("first"), Hole("second")
        text, params, result = self.pick(
            (
                (f"let {name} x = x", (first,), first),
                (f"let {name} x y = x", (first, second), first),
                (f"let {name} f x = f(x)", (Function((first,), second), first), second),
                (f"let {name} x = [x, x]", (first,), Array(first)),
                (f"let {name} x = `Some(x)", (first,), option(first)),
            )
        )
        self.helpers.append(Scheme(name, params, result))
        return text

    def reader_statement(self, scope: Scope) -> str:
        """A helper that reads one field of any record which has it."""
        name, label = self.fresh({}), self.pick(LABELS)
        self.readers[label] = name
        return f"let {name} r = r.{label}"


STATEMENTS: tuple[Callable[[ProgramWriter, Scope], str], ...] = (
    ProgramWriter.value_statement,
    ProgramWriter.function_statement,
    ProgramWriter.print_statement,
    ProgramWriter.recursive_statement,
    ProgramWriter.effect_statement,
    ProgramWriter.polymorphic_statement,
    ProgramWriter.module_statement,
    ProgramWriter.alias_statement,
    ProgramWriter.reader_statement,
)
