"""What an input comes to: the definitions and values in it, each with its type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from chatml.records import frozen
from chatml.stack import deep
from chatml.syntax import ast
from chatml.types.checked import Checked, type_of_entry
from chatml.types.model import Type, Unit
from chatml.types.show import Shower
from chatml.types.variables import resolved
from chatml.values.model import ModuleValue, Value, is_function
from chatml_tools.workspace.literal import literal

LONGEST_TYPE = 600
"""Characters of a type in an answer; whole contexts take thousands."""


@frozen(eq=False)
class Result:
    """A definition or the value of an expression. `name` is `-` for the latter, `module M` and `type t` for these.

    `value` is its text, None where there is nothing to show: of functions and modules, and of what has not run.
    """

    name: str
    type: str
    value: str | None = None

    def lines(self, width: int = 0) -> list[str]:
        """The result in one line, or in two if a width is given and one is not enough.

        >>> Result("total", "int", "3").lines()
        ['total : int = 3']
        """
        sign = " = " if self.name.startswith("type ") else " : "
        shown = self.type if len(self.type) <= LONGEST_TYPE else f"{self.type[:LONGEST_TYPE]}…"
        head = f"{self.name}{sign}{shown}"
        if self.value is None:
            return [head]
        whole = f"{head} = {self.value}"
        return [whole] if not width or len(whole) <= width else [head, f"  = {self.value}"]


@frozen(eq=False)
class Answer:
    """The results of an input, in order. What it defines twice is there once, as it was last."""

    results: tuple[Result, ...]

    def lines(self, width: int = 0) -> list[str]:
        """All results as text."""
        return [line for result in self.results for line in result.lines(width)]


def answer_of(
    script: ast.Script,
    checked: Checked,
    aliases: Mapping[str, Type | None],
    values: Sequence[Value] | None = None,
    read: Callable[[str], Value] = lambda name: None,
) -> Answer:
    """The answer to a checked input. Without `values`, those of its expressions, the input has not run."""
    ran = values is not None
    coming = iter(values or ())
    results: dict[object, Result] = {}
    with deep():
        for statement in script.statements:
            match statement:
                case ast.ExprStatement(value=expr):
                    type = checked.type_of(expr)
                    value = next(coming, None)
                    if not ran:
                        results[statement] = Result("-", shown(checked, type))
                    elif resolved(type) is not Unit:
                        results[statement] = Result("-", shown(checked, type), text_of(value))
                case ast.TypeStatement(name=ident):
                    declared = aliases[ident.name]
                    results[statement] = Result(
                        f"type {ident.name}",
                        "" if declared is None else Shower(naming=checked.names).declaration(declared),
                    )
                case _:
                    for name in names_of(statement):
                        results.pop(name, None)
                        value = text_of(read(name)) if ran else None
                        label = f"module {name}" if isinstance(statement, ast.ModuleStatement) else name
                        results[name] = Result(label, shown(checked, type_of_entry(checked.entries[name])), value)
    return Answer(tuple(results.values()))


def shown(checked: Checked, type: Type) -> str:
    """The text of a type, by the names that the inputs have for it."""
    return Shower(naming=checked.names).show(type)


def text_of(value: Value) -> str | None:
    """The text of a value; None where its type says all there is."""
    return None if is_function(value) or isinstance(value, ModuleValue) else literal(value)


def names_of(statement: ast.Statement) -> Iterator[str]:
    """What a statement defines."""
    match statement:
        case ast.LetStatement(name=ident) | ast.ModuleStatement(name=ident):
            yield ident.name
        case ast.LetRecStatement(bindings=bindings):
            yield from (binding.name.name for binding in bindings)
