"""Warnings for what only this implementation of ChatML has: `&&`, `||`, `%`, `not` (X-12) and further builtins (X-49).

A script that defines a `not` or a module `Path` of its own means that one from there on, and is told nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chatml.diagnostics.model import Diagnostic
from chatml.records import frozen
from chatml.source import Span
from chatml.syntax import ast

NOT = "not"

Part = ast.Expr | ast.Statement | ast.Arm | ast.Binding | ast.Field
Own = frozenset[str]
"""Those of `WATCHED` that are names of the script's own at a place."""

Scoped = tuple[Part, Own]


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
MODULES = frozenset({"Path", "Text", "Int", "Float"})
MEMBERS = {"Array": {"sort_by"}, "Json": {"canonical"}, "Tool_call": {"path", "arg_int"}}
APPROVAL = {"ask_choice_within": "ask_choice", "ask_text_within": "ask_text", "ask_about": "ask_choice"}
"""The questions with a time, and what others have in their place."""

WATCHED = MODULES.union(MEMBERS, [NOT, "Approval"])


def builtin(name: str) -> Addition:
    return Addition("portable.builtin", name, "write it yourself, as a function or a module of the script")


def question(name: str) -> Addition:
    return Addition("portable.builtin", f"Approval.{name}", f"use `Approval.{APPROVAL[name]}`, which waits for ever")


def find_additions(script: ast.Script) -> tuple[Diagnostic, ...]:
    """A warning for each use of an addition, in order of place.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> script = parse(Source("s", "print(not(7 % 2 == 0)) let not x = x print(not(true))"))
    >>> [(warning.code, warning.span.left) for warning in find_additions(script)]
    [('portable.not', 6), ('portable.remainder', 12)]
    """
    warnings = []
    todo = list(in_statements(script.statements, frozenset()))
    while todo:
        part, own = todo.pop()
        match part:
            case ast.Name(name=name, span=span) if name == NOT and name not in own:
                warnings.append(NEGATION.warning(span))
            case ast.Name(name=name, span=span) if name in MODULES and name not in own:
                warnings.append(builtin(name).warning(span))
            case ast.OpenStatement(name=ast.Ident(name=name, span=span)) if name in MODULES and name not in own:
                warnings.append(builtin(name).warning(span))
            case ast.FieldGet(record=ast.Name(name=name), label=label, span=span) if name not in own:
                if label.name in MEMBERS.get(name, ()):
                    warnings.append(builtin(f"{name}.{label.name}").warning(span))
                elif name == "Approval" and label.name in APPROVAL:
                    warnings.append(question(label.name).warning(span))
            case ast.And(op_span=span):
                warnings.append(AND.warning(span))
            case ast.Or(op_span=span):
                warnings.append(OR.warning(span))
            case ast.Binary(op="%", op_span=span):
                warnings.append(REMAINDER.warning(span))
        todo += inside(part, own)
    return tuple(sorted(warnings, key=lambda warning: warning.span.left if warning.span else 0))


def shadow(own: Own, names: Iterable[str]) -> Own:
    """The names of the script's own where it binds further ones."""
    more = WATCHED.intersection(names)
    return own | more if more else own


def inside(part: Part, own: Own) -> Iterator[Scoped]:
    """The direct parts of a part, each in its scope."""
    match part:
        case ast.ModuleStatement(items=items):
            yield from in_statements(items, own)
        case ast.LetRecStatement(bindings=bindings):
            own = shadow(own, [binding.name.name for binding in bindings])
            yield from ((binding, own) for binding in bindings)
        case ast.Let(name=name, value=value, body=body):
            yield value, own
            yield body, shadow(own, [name.name])
        case ast.LetRec(bindings=bindings, body=body):
            own = shadow(own, [binding.name.name for binding in bindings])
            yield from ((binding, own) for binding in bindings)
            yield body, own
        case ast.Lambda(params=params, body=body):
            yield body, shadow(own, [param.name for param in params])
        case ast.Arm(pattern=pattern, body=body):
            yield body, shadow(own, names_bound(pattern))
        case _:
            yield from ((child, own) for child in ast.children(part))


def in_statements(statements: Iterable[ast.Statement], own: Own) -> Iterator[Scoped]:
    """Statements in order, each in the scope that the ones before it leave."""
    for statement in statements:
        yield statement, own
        match statement:
            case ast.LetStatement(name=name) | ast.ModuleStatement(name=name):
                own = shadow(own, [name.name])
            case ast.LetRecStatement(bindings=bindings):
                own = shadow(own, [binding.name.name for binding in bindings])


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
