"""Warnings for what only this implementation of ChatML has (decision X-12): `&&`, `||`, `%` and the builtin `not`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chatml.diagnostics.model import Diagnostic
from chatml.records import frozen
from chatml.source import Span
from chatml.syntax import ast

NOT = "not"

Part = ast.Expr | ast.Statement | ast.Arm | ast.Binding | ast.Field
Scoped = tuple[Part, bool]
"""A part of a script, and whether `not` is a name of the script's own there."""


@frozen
class Addition:
    """What a warning says about an addition."""

    code: str
    name: str
    help: str

    def warning(self, span: Span) -> Diagnostic:
        message = f"`{self.name}` is an addition of this implementation: others do not know it"
        return Diagnostic(self.code, message, span, severity="warning", help=self.help)


AND = Addition("portable.boolean_operator", "&&", "write `if a then b else false` for `a && b`")
OR = Addition("portable.boolean_operator", "||", "write `if a then true else b` for `a || b`")
REMAINDER = Addition("portable.remainder", "%", "write `a - a / b * b` for `a % b`")
NEGATION = Addition("portable.not", NOT, "write `if a then false else true` for `not(a)`, or define `not` yourself")


def find_additions(script: ast.Script) -> tuple[Diagnostic, ...]:
    """A warning for each use of an addition, in order of place.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> script = parse(Source("s", "print(not(7 % 2 == 0)) let not x = x print(not(true))"))
    >>> [(warning.code, warning.span.left) for warning in find_additions(script)]
    [('portable.not', 6), ('portable.remainder', 12)]
    """
    warnings = []
    todo = list(in_statements(script.statements, False))
    while todo:
        part, own = todo.pop()
        match part:
            case ast.Name(name=name, span=span) if name == NOT and not own:
                warnings.append(NEGATION.warning(span))
            case ast.And(op_span=span):
                warnings.append(AND.warning(span))
            case ast.Or(op_span=span):
                warnings.append(OR.warning(span))
            case ast.Binary(op="%", op_span=span):
                warnings.append(REMAINDER.warning(span))
        todo += inside(part, own)
    return tuple(sorted(warnings, key=lambda warning: warning.span.left if warning.span else 0))


def inside(part: Part, own: bool) -> Iterator[Scoped]:
    """The direct parts of a part, each in its scope."""
    match part:
        case ast.ModuleStatement(items=items):
            yield from in_statements(items, own)
        case ast.LetRecStatement(bindings=bindings):
            own = own or any(binding.name.name == NOT for binding in bindings)
            yield from ((binding, own) for binding in bindings)
        case ast.Let(name=name, value=value, body=body):
            yield value, own
            yield body, own or name.name == NOT
        case ast.LetRec(bindings=bindings, body=body):
            own = own or any(binding.name.name == NOT for binding in bindings)
            yield from ((binding, own) for binding in bindings)
            yield body, own
        case ast.Lambda(params=params, body=body):
            yield body, own or any(param.name == NOT for param in params)
        case ast.Arm(pattern=pattern, body=body):
            yield body, own or NOT in names_bound(pattern)
        case _:
            yield from ((child, own) for child in ast.children(part))


def in_statements(statements: Iterable[ast.Statement], own: bool) -> Iterator[Scoped]:
    """Statements in order, each in the scope that the ones before it leave."""
    for statement in statements:
        yield statement, own
        match statement:
            case ast.LetStatement(name=name):
                own = own or name.name == NOT
            case ast.LetRecStatement(bindings=bindings):
                own = own or any(binding.name.name == NOT for binding in bindings)


def names_bound(pattern: ast.Pattern) -> set[str]:
    """The names that a pattern binds."""
    names = set()
    todo = [pattern]
    while todo:
        match todo.pop():
            case ast.NamePattern(name=name):
                names.add(name)
            case ast.VariantPattern(args=args):
                todo += args
            case ast.RecordPattern(fields=fields):
                todo += (field.pattern for field in fields)
    return names
