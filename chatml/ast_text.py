"""Syntax trees as text that parses to the same tree, with the fewest parentheses that the grammar allows.

Two things ask for parentheses: a form that is looser than its place wants (a sum as a factor), and a form that would go
on and swallow what follows it ("keep going", language.md 2.1): `(fun x -> x)(1)`, `(ref a) + b`, `(-a) * b`. So each
expression is written for a place, the loosest level that may stand there bare, and with what comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import IntEnum
from typing import Any, TypeAlias

import attrs

from chatml import ast
from chatml.ast_dump import dump, show_string
from chatml.stack import deep

__all__ = ["dump", "show", "show_expression"]


class Level(IntEnum):
    """The rules for expressions in the grammar, loosest first (section 2.2)."""

    SEQ = 0
    OR = 1
    AND = 2
    COMPARISON = 3
    SUM = 4
    PRODUCT = 5
    UNARY = 6
    ASSIGN = 7
    POSTFIX = 8
    ATOM = 9


EXPR = Level.OR


class Next(IntEnum):
    """What may come after an expression; a form that would swallow one of these would also swallow the later ones."""

    CLOSED = 0
    """A closing bracket, a comma, a keyword, a statement: no form swallows it."""
    BAR = 1
    """Another arm, which an open `match` swallows."""
    SEMICOLON = 2
    """The rest of a sequence, which an open body swallows."""
    OPERATOR = 3
    """An operator, which a form that ends in a whole `expr` swallows."""
    FACTOR = 4
    """An operator of products, which a prefix minus swallows."""
    POSTFIX = 5
    """A call, an index, a field or an assignment: only postfix forms may stand before it."""
    NEVER = 6


OPERATOR_LEVELS: dict[str, Level] = {
    "||": Level.OR,
    "&&": Level.AND,
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">=", "<.", ">.", "<=.", ">=."), Level.COMPARISON),
    **dict.fromkeys(("+", "++", "+.", "-", "-."), Level.SUM),
    **dict.fromkeys(("*", "/", "%", "*.", "/."), Level.PRODUCT),
}


def show(script: ast.Script) -> str:
    """A script as canonical text, a line for each statement. If any text parses to the tree, this one does.

    >>> from chatml.parse import parse
    >>> from chatml.source import Source
    >>> show(parse(Source("s", "let f x=((x)+(1*2))  print((fun y->y)(f((3))))")))
    'let f x = x + 1 * 2\\nprint((fun y -> y)(f(3)))\\n'
    """
    with deep():
        writer = Writer()
        for statement in script.statements:
            writer.statement(statement)
            writer.put("\n")
        return "".join(writer.out)


def show_expression(expr: ast.Expr) -> str:
    """An expression as canonical text."""
    with deep():
        writer = Writer()
        writer.expr(expr, EXPR)
        return "".join(writer.out)


def show_float(number: float) -> str:
    """A FLOAT token for a number that is not negative; for infinity, one that is too large."""
    digits = format(Decimal(repr(number)), "f") if number < float("inf") else "1" + "0" * 309
    return digits if "." in digits else digits + ".0"


class Writer:
    """Collects the pieces of a text."""

    def __init__(self) -> None:
        self.out: list[str] = []

    def put(self, *pieces: str) -> None:
        self.out += pieces

    def separated(self, separator: str, items: Iterable[Any], write: Callable[[Any], None]) -> None:
        for number, item in enumerate(items):
            if number:
                self.put(separator)
            write(item)

    # Statements and bindings

    def statement(self, statement: ast.Statement) -> None:
        match statement:
            case ast.LetStatement(name=name, value=value):
                self.put("let ")
                self.binding(name, value)
            case ast.LetRecStatement(bindings=bindings):
                self.put("let rec ")
                self.bindings(bindings)
            case ast.TypeStatement(name=name, type=declared):
                self.put("type ", name.name, " = ")
                self.type(declared)
            case ast.ModuleStatement(name=name, items=items):
                self.put("module ", name.name, " = struct ")
                for item in items:
                    self.statement(item)
                    self.put(" ")
                self.put("end")
            case ast.OpenStatement(name=name):
                self.put("open ", name.name)
            case ast.ExprStatement(value=value):
                self.expr(value, EXPR)

    def bindings(self, bindings: Iterable[ast.Binding]) -> None:
        self.separated(" and ", bindings, lambda binding: self.binding(binding.name, binding.value))

    def binding(self, name: ast.Ident, value: ast.Expr) -> None:
        self.put(name.name)
        match value:
            case ast.Lambda(params=params, body=body, short=True):
                self.put(" ")
                self.params(params)
                value = body
            case ast.Annot(value=inner, type=declared):
                self.put(" : ")
                self.type(declared)
                value = inner
        self.put(" = ")
        self.expr(value, Level.SEQ)

    def params(self, params: tuple[ast.Ident, ...]) -> None:
        self.put(" ".join(param.name for param in params) if params else "()")

    # Expressions

    def expr(self, expr: ast.Expr, place: Level, then: Next = Next.CLOSED) -> None:
        """Writes an expression for a place that takes what is as tight as `place`, before `then`."""
        form = TASK_LET if isinstance(expr, ast.Call) and expr.form else FORMS[type(expr)]
        level = OPERATOR_LEVELS[expr.op] if isinstance(expr, ast.Binary) else form.level
        bare = level >= place and then < form.swallows
        if not bare:
            self.put("(")
        for piece in form.pieces:
            if isinstance(piece, str):
                self.put(piece)
            else:
                piece(self, expr, then if bare else Next.CLOSED)
        if not bare:
            self.put(")")

    def sequences(self, exprs: Iterable[ast.Expr]) -> None:
        self.separated(", ", exprs, lambda expr: self.expr(expr, Level.SEQ))

    def fields(self, fields: tuple[ast.Field, ...]) -> None:
        for field in fields:
            self.put(field.label.name, " = ")
            if field is fields[-1]:
                self.expr(field.value, EXPR)
            else:
                self.expr(field.value, EXPR, Next.SEMICOLON)
                self.put("; ")

    def arms(self, arms: tuple[ast.Arm, ...], then: Next) -> None:
        for arm in arms:
            self.put(" | ")
            self.pattern(arm.pattern)
            self.put(" -> ")
            self.expr(arm.body, Level.SEQ, then if arm is arms[-1] else Next.BAR)

    # Patterns

    def pattern(self, pattern: ast.Pattern) -> None:
        match pattern:
            case ast.WildcardPattern():
                self.put("_")
            case ast.UnitPattern():
                self.put("()")
            case ast.NamePattern(name=name):
                self.put(name)
            case ast.IntPattern(value=number):
                self.put(str(number))
            case ast.FloatPattern(value=number):
                self.put(show_float(number))
            case ast.BoolPattern(value=value):
                self.put("true" if value else "false")
            case ast.StringPattern(value=text):
                self.put(show_string(text))
            case ast.VariantPattern(tag=tag, args=args):
                self.put("`", tag)
                if args:
                    self.put("(")
                    self.separated(", ", args, self.pattern)
                    self.put(")")
            case ast.RecordPattern(fields=fields, open=more):
                self.put("{ " if fields else "{")
                self.separated("; ", fields, self.field_pattern)
                self.put("; _ }" if more else " }" if fields else "}")

    def field_pattern(self, field: ast.FieldPattern) -> None:
        self.put(field.label.name, " = ")
        self.pattern(field.pattern)

    # Type expressions

    def type(self, type: ast.TypeExpr, *, tight: bool = False) -> None:
        """Writes a type expression; `tight` where an arrow needs parentheses."""
        match type:
            case ast.NamedType(name=name):
                self.put(name)
            case ast.AppliedType(constructor=constructor, argument=argument):
                self.type(argument, tight=True)
                self.put(" ", constructor.name)
            case ast.ArrowType(parameter=parameter, result=result):
                self.put("(" if tight else "")
                self.type(parameter, tight=True)
                self.put(" -> ")
                self.type(result)
                self.put(")" if tight else "")
            case ast.RecordType(fields=fields):
                self.put("{ " if fields else "{")
                self.separated("; ", fields, self.field_type)
                self.put(" }" if fields else "}")
            case ast.VariantType(cases=cases):
                self.put("[ " if cases else "[")
                self.separated(" | ", cases, self.case_type)
                self.put(" ]" if cases else "]")

    def field_type(self, field: ast.FieldType) -> None:
        self.put(field.label.name, " : ")
        self.type(field.type)

    def case_type(self, case: ast.CaseType) -> None:
        self.put("`", case.label.name)
        if case.args:
            self.put("(")
            self.separated(", ", case.args, self.type)
            self.put(")")


Piece: TypeAlias = str | Callable[[Writer, Any, Next], None]


@attrs.frozen
class Form:
    """How a kind of expression is written: the rule that makes it, the first of `Next` that it swallows, its pieces."""

    level: Level
    swallows: Next
    pieces: tuple[Piece, ...]


def form(level: Level, *pieces: Piece, swallows: Next = Next.NEVER) -> Form:
    return Form(level, swallows, pieces)


def inner(field: str, place: Level, then: Next = Next.CLOSED) -> Piece:
    """A part that something of the form itself follows."""
    return lambda writer, expr, _: writer.expr(getattr(expr, field), place, then)


def last(field: str, place: Level) -> Piece:
    """The part at the end of a form: what follows the form follows it."""
    return lambda writer, expr, then: writer.expr(getattr(expr, field), place, then)


def text(show: Callable[[Any], str]) -> Piece:
    return lambda writer, expr, _: writer.put(show(expr))


def callee(writer: Writer, call: ast.Call, then: Next) -> None:
    """The function of a call; a bare tag would take the arguments for its own."""
    bare_tag = isinstance(call.function, ast.Variant) and not call.function.args
    writer.put("(" if bare_tag else "")
    writer.expr(call.function, Level.POSTFIX, Next.POSTFIX)
    writer.put(")" if bare_tag else "")


def operands(writer: Writer, expr: ast.Or | ast.And | ast.Binary, then: Next) -> None:
    op = expr.op if isinstance(expr, ast.Binary) else "&&" if isinstance(expr, ast.And) else "||"
    level = OPERATOR_LEVELS[op]
    writer.expr(expr.left, level, Next.FACTOR if level is Level.PRODUCT else Next.OPERATOR)
    writer.put(" ", op, " ")
    writer.expr(expr.right, Level(level + 1), then)


def payload(writer: Writer, variant: ast.Variant, then: Next) -> None:
    if variant.args:
        writer.put("(")
        writer.sequences(variant.args)
        writer.put(")")


def task_let(writer: Writer, call: ast.Call, then: Next) -> None:
    task, function = call.args
    assert isinstance(function, ast.Lambda)
    writer.put(call.form or "", " ", function.params[0].name, " = ")
    writer.expr(task, Level.SEQ)
    writer.put(" in ")
    writer.expr(function.body, Level.SEQ, then)


SEQ = Level.SEQ
ATOM = Level.ATOM
POSTFIX = Level.POSTFIX

FORMS: dict[type, Form] = {
    ast.Unit: form(ATOM, "()"),
    ast.Int: form(ATOM, text(lambda expr: str(expr.value))),
    ast.Float: form(ATOM, text(lambda expr: show_float(expr.value))),
    ast.Bool: form(ATOM, text(lambda expr: "true" if expr.value else "false")),
    ast.String: form(ATOM, text(lambda expr: show_string(expr.value))),
    ast.Name: form(ATOM, text(lambda expr: expr.name)),
    ast.Variant: form(ATOM, "`", text(lambda expr: expr.tag), payload),
    ast.ArrayLit: form(ATOM, "[", lambda writer, expr, _: writer.sequences(expr.items), "]"),
    ast.RecordLit: form(
        ATOM,
        text(lambda expr: "{ " if expr.fields else "{"),
        lambda writer, expr, _: writer.fields(expr.fields),
        text(lambda expr: " }" if expr.fields else "}"),
    ),
    ast.RecordUpdate: form(
        ATOM, "{ ", inner("record", SEQ), " with ", lambda writer, expr, _: writer.fields(expr.fields), " }"
    ),
    ast.While: form(ATOM, "while ", inner("condition", SEQ), " do ", inner("body", SEQ), " done"),
    ast.If: form(
        ATOM,
        *("if ", inner("condition", SEQ), " then ", inner("then", SEQ), " else ", last("otherwise", SEQ)),
        swallows=Next.SEMICOLON,
    ),
    ast.Lambda: form(
        ATOM,
        *("fun ", lambda writer, expr, _: writer.params(expr.params), " -> ", last("body", SEQ)),
        swallows=Next.SEMICOLON,
    ),
    ast.Let: form(
        ATOM,
        *("let ", lambda writer, expr, _: writer.binding(expr.name, expr.value), " in ", last("body", SEQ)),
        swallows=Next.SEMICOLON,
    ),
    ast.LetRec: form(
        ATOM,
        *("let rec ", lambda writer, expr, _: writer.bindings(expr.bindings), " in ", last("body", SEQ)),
        swallows=Next.SEMICOLON,
    ),
    ast.Match: form(
        ATOM,
        *("match ", inner("scrutinee", SEQ), " with", lambda writer, expr, then: writer.arms(expr.arms, then)),
        swallows=Next.BAR,
    ),
    ast.Call: form(POSTFIX, callee, "(", lambda writer, expr, _: writer.sequences(expr.args), ")"),
    ast.FieldGet: form(POSTFIX, inner("record", POSTFIX, Next.POSTFIX), ".", text(lambda expr: expr.label.name)),
    ast.ArrayGet: form(POSTFIX, inner("array", POSTFIX, Next.POSTFIX), "[", inner("index", EXPR), "]"),
    ast.ArraySet: form(
        Level.ASSIGN,
        *(inner("array", POSTFIX, Next.POSTFIX), "[", inner("index", EXPR), "] <- ", last("value", EXPR)),
        swallows=Next.OPERATOR,
    ),
    ast.SetRef: form(
        Level.ASSIGN, inner("ref", POSTFIX, Next.POSTFIX), " := ", last("value", EXPR), swallows=Next.OPERATOR
    ),
    ast.Ref: form(Level.UNARY, "ref ", last("value", EXPR), swallows=Next.OPERATOR),
    ast.Deref: form(Level.UNARY, "!", last("ref", Level.UNARY)),
    ast.Neg: form(Level.UNARY, text(lambda expr: expr.op), last("operand", Level.PRODUCT), swallows=Next.FACTOR),
    ast.Binary: form(Level.COMPARISON, operands),
    ast.And: form(Level.AND, operands),
    ast.Or: form(Level.OR, operands),
    ast.Seq: form(SEQ, inner("first", EXPR, Next.SEMICOLON), "; ", last("second", SEQ)),
}
"""How each kind of expression is written. (The level of a `Binary` is that of its operator.)"""

TASK_LET = form(ATOM, task_let, swallows=Next.SEMICOLON)
