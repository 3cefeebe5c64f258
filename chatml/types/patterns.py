"""Patterns by themselves: their parts, how messages show them, which ones repeat each other."""

from __future__ import annotations

from collections.abc import Iterator

from chatml.syntax import ast
from chatml.values.text import show_float

ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})


def is_catch_all(pattern: ast.Pattern) -> bool:
    """Whether a pattern matches anything: `_` or a name."""
    return isinstance(pattern, ast.WildcardPattern | ast.NamePattern)


def parts_of(pattern: ast.Pattern) -> Iterator[ast.Pattern]:
    """A pattern and everything in it, from left to right."""
    todo = [pattern]
    while todo:
        part = todo.pop()
        yield part
        if isinstance(part, ast.RecordPattern):
            todo.extend([field.pattern for field in reversed(part.fields)])
        elif isinstance(part, ast.VariantPattern):
            todo.extend(reversed(part.args))


def key_of(pattern: ast.Pattern) -> tuple[type, object] | None:
    """What two arms share that match the same single value; None for a pattern that is not a literal or a bare tag."""
    match pattern:
        case ast.UnitPattern():
            return ast.UnitPattern, None
        case ast.IntPattern(value) | ast.FloatPattern(value) | ast.BoolPattern(value) | ast.StringPattern(value):
            return pattern.__class__, value
        case ast.VariantPattern(tag, ()):
            return ast.VariantPattern, tag
    return None


def show_pattern(pattern: ast.Pattern) -> str:
    """A pattern as messages name it (section 3.10); what a tag or a record holds is left out."""
    match pattern:
        case ast.UnitPattern():
            return "()"
        case ast.WildcardPattern():
            return "_"
        case ast.NamePattern(name):
            return name
        case ast.IntPattern(number):
            return str(number)
        case ast.FloatPattern(number):
            return show_float(number)
        case ast.BoolPattern(truth):
            return show_bool(truth)
        case ast.StringPattern(text):
            return f'"{text.translate(ESCAPES)}"'
        case ast.VariantPattern(tag, args):
            return f"`{tag}(...)" if args else f"`{tag}"
        case ast.RecordPattern():
            return "{...}"


def show_bool(truth: bool) -> str:
    """A boolean as it is written."""
    return "true" if truth else "false"


def show_case(tag: str, arguments: int) -> str:
    """A pattern for every value of a tag: `` `Some(_) ``."""
    return f"`{tag}({', '.join(['_'] * arguments)})" if arguments else f"`{tag}"
