"""Patterns and type expressions as documents, and what all writers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from chatml.syntax import ast
from chatml.syntax.ast_dump import show_string
from chatml.syntax.ast_text.document import Document, Item, Mark

OPEN, FILL, CLOSE, INDENT, ALIGN, DEDENT = Mark.OPEN, Mark.FILL, Mark.CLOSE, Mark.INDENT, Mark.ALIGN, Mark.DEDENT
SPACE, SOFT, LINE, LAST_SOFT, LAST_LINE = Mark.SPACE, Mark.SOFT, Mark.LINE, Mark.LAST_SOFT, Mark.LAST_LINE


def show_float(number: float) -> str:
    """A FLOAT token for a number that is not negative; for infinity, one that is too large."""
    digits = format(Decimal(repr(number)), "f") if number < float("inf") else "1" + "0" * 309
    return digits if "." in digits else digits + ".0"


def show_bool(value: bool) -> str:
    """A BOOL token."""
    return "true" if value else "false"


LITERALS: dict[type, Callable[[Any], str]] = {
    ast.Int: str,
    ast.IntPattern: str,
    ast.Float: show_float,
    ast.FloatPattern: show_float,
    ast.Bool: show_bool,
    ast.BoolPattern: show_bool,
    ast.String: show_string,
    ast.StringPattern: show_string,
}
"""The token for the value of a literal."""


class PartWriter:
    """Collects a document. Literals are written as they stand in the source, or from their values alone."""

    def __init__(self, *, as_written: bool = False) -> None:
        self.out: Document = []
        self.as_written = as_written

    def put(self, *items: Item) -> None:
        self.out += items

    def literal(self, node: Any) -> None:
        self.put(node.span.text if self.as_written else LITERALS[type(node)](node.value))

    def separated(self, separator: tuple[Item, ...], items: Iterable[Any], write: Callable[[Any], None]) -> None:
        for number, item in enumerate(items):
            if number:
                self.put(*separator)
            write(item)

    def enclosed(self, left: str, right: str, items: tuple[Any, ...], write: Callable[[Any], None]) -> None:
        """Items between brackets, with commas."""
        self.put(OPEN, left, INDENT, SOFT)
        self.separated((",", LINE), items, write)
        self.put(DEDENT, LAST_SOFT, right, CLOSE)

    def fields(self, fields: tuple[Any, ...], write: Callable[[Any], None], *more: Item) -> None:
        """Fields between braces, with semicolons."""
        if not fields:
            self.put("{", "}")
            return
        self.put(OPEN, "{", INDENT, LINE)
        self.separated((";", LINE), fields, write)
        self.put(*more, DEDENT, LAST_LINE, "}", CLOSE)

    # Patterns

    def pattern(self, pattern: ast.Pattern) -> None:
        match pattern:
            case ast.WildcardPattern():
                self.put("_")
            case ast.UnitPattern():
                self.put("(", ")")
            case ast.NamePattern(name=name):
                self.put(name)
            case ast.VariantPattern(tag=tag, args=args):
                self.put(f"`{tag}")
                if args:
                    self.enclosed("(", ")", args, self.pattern)
            case ast.RecordPattern(fields=fields, open=more):
                self.fields(fields, self.field_pattern, *((";", LINE, "_") if more else ()))
            case _:
                self.literal(pattern)

    def field_pattern(self, field: ast.FieldPattern) -> None:
        self.put(field.label.name, SPACE, "=", SPACE)
        self.pattern(field.pattern)

    # Type expressions

    def type(self, type: ast.TypeExpr, *, tight: bool = False) -> None:
        """Writes a type expression; `tight` where an arrow needs parentheses."""
        match type:
            case ast.NamedType(name=name):
                self.put(name)
            case ast.AppliedType(constructor=constructor, argument=argument):
                self.type(argument, tight=True)
                self.put(SPACE, constructor.name)
            case ast.ArrowType():
                self.put(*("(" if tight else ""), FILL)
                self.type(type.parameter, tight=True)
                self.put(INDENT)
                while isinstance(type.result, ast.ArrowType):
                    type = type.result
                    self.put(SPACE, "->", LINE)
                    self.type(type.parameter, tight=True)
                self.put(SPACE, "->", LINE)
                self.type(type.result)
                self.put(DEDENT, CLOSE, *(")" if tight else ""))
            case ast.RecordType(fields=fields):
                self.fields(fields, self.field_type)
            case ast.VariantType(cases=cases):
                self.put(ALIGN, OPEN, "[", *([SPACE] if cases else []))
                self.separated((LINE, "|", SPACE), cases, self.case_type)
                self.put(*([SPACE] if cases else []), "]", CLOSE, DEDENT)

    def field_type(self, field: ast.FieldType) -> None:
        self.put(field.label.name, SPACE, ":", SPACE)
        self.type(field.type)

    def case_type(self, case: ast.CaseType) -> None:
        self.put(f"`{case.label.name}")
        if case.args:
            self.enclosed("(", ")", case.args, self.type)
