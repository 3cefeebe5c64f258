"""Statements and expressions as documents: what is written, where lines may end, and where parentheses must stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from chatml.records import frozen
from chatml.syntax import ast
from chatml.syntax.ast_text.document import Item, Mark
from chatml.syntax.ast_text.parts import (
    ALIGN,
    CLOSE,
    DEDENT,
    FILL,
    INDENT,
    LAST_LINE,
    LAST_SOFT,
    LINE,
    OPEN,
    SOFT,
    SPACE,
    PartWriter,
)
from chatml.syntax.ast_text.precedence import EXPR, OPERATOR_LEVELS, Level, Next
from chatml.syntax.ast_text.shapes import begins_with_a_name, breaks_well, is_task_let, let_body, operator

HEAD, HARD, KEEP = Mark.HEAD, Mark.HARD, Mark.KEEP
BODY = (OPEN, INDENT, LINE)
END_BODY = (DEDENT, CLOSE)


class Writer(PartWriter):
    """Collects the document of a syntax tree."""

    # Statements and bindings

    def statements(self, statements: Iterable[ast.Statement]) -> None:
        """Statements, a line for each."""
        before: ast.Statement | None = None
        for statement in statements:
            if before is not None:
                self.put(HARD, KEEP)
            self.statement(statement, before)
            before = statement

    def statement(self, statement: ast.Statement, before: ast.Statement | None = None) -> None:
        """A statement that follows another: after a type, a name would be a type constructor (language.md 2.3)."""
        match statement:
            case ast.LetStatement(name=name, value=value):
                self.put(OPEN, "let", SPACE)
                self.binding(name, value)
                self.put(CLOSE)
            case ast.LetRecStatement(bindings=bindings):
                self.put("let", SPACE, "rec", SPACE)
                self.bindings(bindings)
            case ast.TypeStatement(name=name, type=declared):
                self.put(OPEN, "type", SPACE, name.name, SPACE, "=", INDENT, LINE)
                self.put(*([HEAD] if isinstance(declared, ast.RecordType) else []))
                self.type(declared)
                self.put(DEDENT, CLOSE)
            case ast.ModuleStatement(name=name, items=items):
                self.put(OPEN, "module", SPACE, name.name, SPACE, "=", SPACE, "struct", INDENT)
                self.put(HARD if items else LINE)
                self.statements(items)
                self.put(DEDENT, *([HARD] if items else []), "end", CLOSE)
            case ast.OpenStatement(name=name):
                self.put("open", SPACE, name.name)
            case ast.ExprStatement(value=value):
                if isinstance(before, ast.TypeStatement) and begins_with_a_name(value):
                    self.put("(", ALIGN)
                    self.expr(value, EXPR)
                    self.put(DEDENT, ")")
                else:
                    self.expr(value, EXPR)

    def bindings(self, bindings: Iterable[ast.Binding]) -> None:
        """The members of a `let rec`, each a group."""

        def write(binding: ast.Binding) -> None:
            self.put(OPEN)
            self.binding(binding.name, binding.value)
            self.put(CLOSE)

        self.separated((HARD, KEEP, "and", SPACE), bindings, write)

    def binding(self, name: ast.Ident, value: ast.Expr) -> None:
        self.put(name.name, SPACE)
        match value:
            case ast.Lambda(params=params, body=body, short=True):
                self.params(params)
                self.put(SPACE)
                value = body
            case ast.Annot(value=inner, type=declared):
                self.put(":", SPACE)
                self.type(declared)
                self.put(SPACE)
                value = inner
        self.assigned("=", value, Level.SEQ)

    def assigned(self, sign: str, value: ast.Expr, place: Level, then: Next = Next.CLOSED) -> None:
        """A sign and the value after it, in the group of the whole: on that line, or indented on the next one."""
        self.put(sign, INDENT, LINE, *([HEAD] if breaks_well(value) else []))
        self.expr(value, place, then)
        self.put(DEDENT)

    def params(self, params: tuple[ast.Ident, ...]) -> None:
        if params:
            self.separated((SPACE,), params, lambda param: self.put(param.name))
        else:
            self.put("(", ")")

    # Expressions

    def expr(self, expr: ast.Expr, place: Level, then: Next = Next.CLOSED) -> None:
        """Writes an expression for a place that takes what is as tight as `place`, before `then`."""
        form = TASK_LET if is_task_let(expr) else FORMS[type(expr)]
        if is_bare(expr, form, place, then):
            form.write(self, expr, then)
        else:
            self.put("(", ALIGN)
            form.write(self, expr, Next.CLOSED)
            self.put(DEDENT, ")")

    def sequence(self, expr: ast.Expr) -> None:
        """An expression between brackets and commas."""
        self.expr(expr, Level.SEQ)

    def arguments(self, left: str, right: str, args: tuple[ast.Expr, ...]) -> None:
        """Arguments in brackets; the last one keeps the others on the line if it is the only one that breaks well."""
        if not args:
            self.put(left, right)
            return
        *others, last = args
        self.put(OPEN, left, INDENT, SOFT)
        for arg in others:
            self.sequence(arg)
            self.put(",", LINE)
        self.put(*([HEAD] if breaks_well(last) and not any(map(breaks_well, others)) else []))
        self.sequence(last)
        self.put(DEDENT, LAST_SOFT, right, CLOSE)

    def field(self, field: ast.Field, then: Next) -> None:
        self.put(OPEN, field.label.name, SPACE)
        self.assigned("=", field.value, EXPR, then)
        self.put(CLOSE)

    def field_list(self, fields: tuple[ast.Field, ...]) -> None:
        for field in fields[:-1]:
            self.field(field, Next.SEMICOLON)
            self.put(";", LINE)
        self.field(fields[-1], Next.CLOSED)


Write: TypeAlias = Callable[[Writer, Any, Next], None]


@frozen
class Form:
    """How a kind of expression is written: the rule that makes it, the first of `Next` that it swallows."""

    level: Level
    write: Write
    swallows: Next = Next.NEVER


def is_bare(expr: ast.Expr, form: Form, place: Level, then: Next) -> bool:
    """Whether an expression needs no parentheses in a place."""
    level = OPERATOR_LEVELS[expr.op] if isinstance(expr, ast.Binary) else form.level
    return level >= place and then < form.swallows


def sequence_of(*pieces: Item | Write) -> Write:
    """Writes pieces in order."""

    def write(writer: Writer, expr: Any, then: Next) -> None:
        for piece in pieces:
            if callable(piece):
                piece(writer, expr, then)
            else:
                writer.put(piece)

    return write


def inner(field: str, place: Level, then: Next = Next.CLOSED) -> Write:
    """A part that something of the form itself follows."""
    return lambda writer, expr, _: writer.expr(getattr(expr, field), place, then)


def last(field: str, place: Level) -> Write:
    """The part at the end of a form: what follows the form follows it."""
    return lambda writer, expr, then: writer.expr(getattr(expr, field), place, then)


def literal(writer: Writer, expr: Any, then: Next) -> None:
    writer.literal(expr)


def callee(writer: Writer, call: ast.Call, then: Next) -> None:
    """The function of a call; a bare tag would take the arguments for its own."""
    bare_tag = isinstance(call.function, ast.Variant) and not call.function.args
    writer.put(*("(" if bare_tag else ""))
    writer.expr(call.function, Level.POSTFIX, Next.POSTFIX)
    writer.put(*(")" if bare_tag else ""))


def call(writer: Writer, expr: ast.Call, then: Next) -> None:
    callee(writer, expr, then)
    writer.arguments("(", ")", expr.args)


def variant(writer: Writer, expr: ast.Variant, then: Next) -> None:
    writer.put(f"`{expr.tag}")
    if expr.args:
        writer.arguments("(", ")", expr.args)


def operands(writer: Writer, expr: ast.Or | ast.And | ast.Binary, then: Next) -> None:
    """Operators of one level with their operands, as one group; `&&` and `||` break everywhere or nowhere."""
    level = OPERATOR_LEVELS[operator(expr) or ""]
    before = Next.FACTOR if level is Level.PRODUCT else Next.OPERATOR
    links: list[tuple[str, ast.Expr]] = []
    first: ast.Expr = expr
    while (op := operator(first)) is not None and OPERATOR_LEVELS[op] is level:
        assert isinstance(first, (ast.Or, ast.And, ast.Binary))
        links.append((op, first.right))
        first = first.left
    writer.put(OPEN if level <= Level.AND else FILL)
    writer.expr(first, level, before)
    writer.put(INDENT)
    for number, (op, right) in enumerate(reversed(links), 1):
        writer.put(LINE, op, SPACE)
        writer.expr(right, Level(level + 1), then if number == len(links) else before)
    writer.put(DEDENT, CLOSE)


def record(writer: Writer, expr: ast.RecordLit, then: Next) -> None:
    if not expr.fields:
        writer.put("{", "}")
        return
    writer.put(OPEN, "{", INDENT, LINE)
    writer.field_list(expr.fields)
    writer.put(DEDENT, LAST_LINE, "}", CLOSE)


def conditional(writer: Writer, expr: ast.If, then: Next) -> None:
    """`if` with all its `else if`, as one group."""
    writer.put(OPEN)
    rest: ast.Expr = expr
    while isinstance(rest, ast.If):
        writer.put(OPEN, "if", SPACE)
        writer.expr(rest.condition, Level.SEQ)
        writer.put(LINE, "then", CLOSE, *BODY)
        writer.expr(rest.then, Level.SEQ)
        writer.put(*END_BODY, LINE, "else")
        rest = rest.otherwise
        writer.put(*([SPACE] if isinstance(rest, ast.If) else BODY))
    writer.expr(rest, Level.SEQ, then)
    writer.put(*END_BODY, CLOSE)


def function(writer: Writer, expr: ast.Lambda, then: Next) -> None:
    writer.put("fun", SPACE)
    writer.params(expr.params)
    writer.put(SPACE, "->", *BODY)
    writer.expr(expr.body, Level.SEQ, then)
    writer.put(*END_BODY)


def lets(writer: Writer, expr: ast.Expr, then: Next) -> None:
    """A `let` and those right below it, one below the other; a single one with a small body may stand on one line."""
    writer.put(OPEN)
    links = 0
    rest = expr
    while (body := let_body(rest)) is not None:
        links += 1
        writer.put(OPEN)
        LETS[type(rest)](writer, rest)
        apart = links > 1 or let_body(body) is not None or isinstance(body, STANDS_APART)
        writer.put(LAST_LINE, "in", CLOSE, HARD if apart else LINE, KEEP)
        rest = body
    writer.expr(rest, Level.SEQ, then)
    writer.put(CLOSE)


def let(writer: Writer, expr: ast.Let) -> None:
    writer.put("let", SPACE)
    writer.binding(expr.name, expr.value)


def let_rec(writer: Writer, expr: ast.LetRec) -> None:
    writer.put("let", SPACE, "rec", SPACE)
    writer.bindings(expr.bindings)


def task_let(writer: Writer, expr: ast.Call) -> None:
    task, bound = expr.args
    assert isinstance(bound, ast.Lambda)
    writer.put(expr.form or "", SPACE)
    writer.params(tuple(param for param in bound.params if param.name != ast.UNNAMED))
    writer.put(SPACE)
    writer.assigned("=", task, Level.SEQ)


LETS: dict[type, Callable[[Writer, Any], None]] = {ast.Let: let, ast.LetRec: let_rec, ast.Call: task_let}

STANDS_APART = (ast.Seq, ast.Match, ast.If, ast.While)
"""What begins a line of its own below a `let` in any case."""


def match(writer: Writer, expr: ast.Match, then: Next) -> None:
    """A `match`; several arms stand on lines of their own."""
    writer.put(OPEN, "match", SPACE)
    writer.expr(expr.scrutinee, Level.SEQ)
    writer.put(SPACE, "with")
    line = HARD if len(expr.arms) > 1 else LINE
    for arm in expr.arms:
        writer.put(line, KEEP, "|", SPACE)
        writer.pattern(arm.pattern)
        writer.put(SPACE, "->", *BODY)
        writer.expr(arm.body, Level.SEQ, then if arm is expr.arms[-1] else Next.BAR)
        writer.put(*END_BODY)
    writer.put(CLOSE)


def chain(writer: Writer, expr: ast.Seq, then: Next) -> None:
    """A sequence, a line for each expression."""
    writer.put(OPEN)
    rest: ast.Expr = expr
    while isinstance(rest, ast.Seq):
        writer.expr(rest.first, EXPR, Next.SEMICOLON)
        writer.put(";", HARD, KEEP)
        rest = rest.second
    writer.expr(rest, Level.SEQ, then)
    writer.put(CLOSE)


SEQ, ATOM, POSTFIX = Level.SEQ, Level.ATOM, Level.POSTFIX

FORMS: dict[type, Form] = {
    ast.Unit: Form(ATOM, sequence_of("(", ")")),
    **dict.fromkeys((ast.Int, ast.Float, ast.Bool, ast.String), Form(ATOM, literal)),
    ast.Name: Form(ATOM, lambda writer, expr, _: writer.put(expr.name)),
    ast.Variant: Form(ATOM, variant),
    ast.ArrayLit: Form(ATOM, lambda writer, expr, _: writer.arguments("[", "]", expr.items)),
    ast.RecordLit: Form(ATOM, record),
    ast.RecordUpdate: Form(
        ATOM,
        sequence_of(
            *(OPEN, "{", SPACE, inner("record", SEQ), SPACE, "with", INDENT, LINE),
            *(lambda writer, expr, _: writer.field_list(expr.fields), DEDENT, LAST_LINE, "}", CLOSE),
        ),
    ),
    ast.While: Form(
        ATOM,
        sequence_of(
            *(OPEN, OPEN, "while", SPACE, inner("condition", SEQ), LINE, "do", CLOSE),
            *(INDENT, LINE, inner("body", SEQ), DEDENT, LINE, "done", CLOSE),
        ),
    ),
    ast.If: Form(ATOM, conditional, swallows=Next.SEMICOLON),
    ast.Lambda: Form(ATOM, function, swallows=Next.SEMICOLON),
    ast.Let: Form(ATOM, lets, swallows=Next.SEMICOLON),
    ast.LetRec: Form(ATOM, lets, swallows=Next.SEMICOLON),
    ast.Match: Form(ATOM, match, swallows=Next.BAR),
    ast.Call: Form(POSTFIX, call),
    ast.FieldGet: Form(
        POSTFIX,
        sequence_of(inner("record", POSTFIX, Next.POSTFIX), ".", lambda writer, expr, _: writer.put(expr.label.name)),
    ),
    ast.ArrayGet: Form(
        POSTFIX, sequence_of(inner("array", POSTFIX, Next.POSTFIX), "[", ALIGN, inner("index", EXPR), DEDENT, "]")
    ),
    ast.ArraySet: Form(
        Level.ASSIGN,
        sequence_of(
            *(inner("array", POSTFIX, Next.POSTFIX), "[", ALIGN, inner("index", EXPR), DEDENT, "]"),
            *(SPACE, "<-", *BODY, last("value", EXPR), *END_BODY),
        ),
        swallows=Next.OPERATOR,
    ),
    ast.SetRef: Form(
        Level.ASSIGN,
        sequence_of(inner("ref", POSTFIX, Next.POSTFIX), SPACE, ":=", *BODY, last("value", EXPR), *END_BODY),
        swallows=Next.OPERATOR,
    ),
    ast.Ref: Form(Level.UNARY, sequence_of("ref", SPACE, last("value", EXPR)), swallows=Next.OPERATOR),
    ast.Deref: Form(Level.UNARY, sequence_of("!", last("ref", Level.UNARY))),
    ast.Neg: Form(
        Level.UNARY,
        sequence_of(lambda writer, expr, _: writer.put(expr.op), last("operand", Level.PRODUCT)),
        swallows=Next.FACTOR,
    ),
    ast.Binary: Form(Level.COMPARISON, operands),
    ast.And: Form(Level.AND, operands),
    ast.Or: Form(Level.OR, operands),
    ast.Seq: Form(SEQ, chain),
}
"""How each kind of expression is written. (The level of a `Binary` is that of its operator.)"""

TASK_LET = Form(ATOM, lets, swallows=Next.SEMICOLON)
