"""From productions to nodes: one action for each rule or alias of grammar/chatml.lark (language.md 2.4 and 2.5).

An action is given the source, the values and the left ends of all symbols on the parser's stack, those of its own
production last, and the right end of the production; a token's value is its text. A production begins where its first
symbol does: parentheses make no node, but belong to a node that begins or ends with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from chatml.records import frozen
from chatml.source import Source, Span
from chatml.syntax import ast

Values: TypeAlias = list[Any]
Lefts: TypeAlias = list[int]
Action: TypeAlias = Callable[[Source, Values, Lefts, int], Any]

INT_MAX = 2**62 - 1
INT_DIGITS = len(str(INT_MAX))

ESCAPE = re.compile(r'\\([nt\\"])|\r\n?')
ESCAPED = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', None: "\n"}

TASK_FUNCTIONS = {"let*": "bind", "let+": "map"}


class IntRangeError(ValueError):
    """An INT token beyond 63 bits (X-02)."""


def int_value(digits: str) -> int:
    """The value of an INT token; leading zeros mean nothing.

    >>> int_value("007")
    7
    """
    if len(digits) >= INT_DIGITS:
        digits = digits.lstrip("0") or "0"
        if len(digits) > INT_DIGITS or int(digits) > INT_MAX:
            raise IntRangeError
    return int(digits)


def string_value(token: str) -> str:
    """The text that a STRING token stands for (section 1.4).

    >>> string_value(r'"a\\tb \\d"')
    'a\\tb \\\\d'
    """
    body = token[1:-1]
    if "\\" in body or "\r" in body:
        return ESCAPE.sub(lambda match: ESCAPED[match[1]], body)
    return body


# Actions for lists


def empty(source: Source, values: Values, lefts: Lefts, right: int) -> list[Any]:
    return []


def first(source: Source, values: Values, lefts: Lefts, right: int) -> list[Any]:
    return [values[-1]]


def append(source: Source, values: Values, lefts: Lefts, right: int) -> list[Any]:
    items: list[Any] = values[-2]
    items.append(values[-1])
    return items


def append_separated(source: Source, values: Values, lefts: Lefts, right: int) -> list[Any]:
    items: list[Any] = values[-3]
    items.append(values[-1])
    return items


def inside(source: Source, values: Values, lefts: Lefts, right: int) -> Any:
    """What stands before the last token: in brackets, or before a trailing separator."""
    return values[-2]


# Actions that make one node


@frozen
class Many:
    """The place of a list of parts."""

    place: int


def node(make: Callable[..., Any], size: int, *parts: int | Many) -> Action:
    """Makes a node of a production of `size` symbols from the values at some places, and its span."""
    match parts:
        case ():
            return lambda source, values, lefts, right: make(Span(source, lefts[-size], right))
        case (int(a),):
            return lambda source, values, lefts, right: make(values[a], Span(source, lefts[-size], right))
        case (Many(a),):
            return lambda source, values, lefts, right: make(tuple(values[a]), Span(source, lefts[-size], right))
        case (int(a), int(b)):
            return lambda source, values, lefts, right: make(values[a], values[b], Span(source, lefts[-size], right))
        case (int(a), Many(b)):
            return lambda source, values, lefts, right: make(
                values[a], tuple(values[b]), Span(source, lefts[-size], right)
            )
        case (Many(a), int(b)):
            return lambda source, values, lefts, right: make(
                tuple(values[a]), values[b], Span(source, lefts[-size], right)
            )
        case (int(a), int(b), int(c)):
            return lambda source, values, lefts, right: make(
                values[a], values[b], values[c], Span(source, lefts[-size], right)
            )
    raise ValueError(parts)


def literal(make: Callable[..., Any], read: Callable[[str], Any]) -> Action:
    """Makes a node of one token from what its text means."""
    return lambda source, values, lefts, right: make(read(values[-1]), Span(source, lefts[-1], right))


def operation(make: Callable[..., Any]) -> Action:
    """Makes a node of two operands, with the span of the operator between them."""

    def action(source: Source, values: Values, lefts: Lefts, right: int) -> Any:
        return make(values[-3], values[-1], Span(source, lefts[-3], right), token_span(source, values, lefts, -2))

    return action


def token_span(source: Source, values: Values, lefts: Lefts, place: int) -> Span:
    left = lefts[place]
    return Span(source, left, left + len(values[place]))


def binary(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Binary:
    span = Span(source, lefts[-3], right)
    return ast.Binary(values[-2], values[-3], values[-1], span, token_span(source, values, lefts, -2))


def method_call(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Call:
    """`e.f(args)`: both the field access and the call have the span of the whole."""
    span = Span(source, lefts[-6], right)
    return ast.Call(ast.FieldGet(values[-6], values[-4], span), tuple(values[-2]), span, None)


def tag(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Variant:
    return ast.Variant(values[-1][1:], (), Span(source, lefts[-1], right))


def variant(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Variant:
    return ast.Variant(values[-4][1:], tuple(values[-2]), Span(source, lefts[-4], right))


def tag_pattern(source: Source, values: Values, lefts: Lefts, right: int) -> ast.VariantPattern:
    return ast.VariantPattern(values[-1][1:], (), Span(source, lefts[-1], right))


def variant_pattern(source: Source, values: Values, lefts: Lefts, right: int) -> ast.VariantPattern:
    return ast.VariantPattern(values[-4][1:], tuple(values[-2]), Span(source, lefts[-4], right))


def record_pattern(source: Source, values: Values, lefts: Lefts, right: int) -> ast.RecordPattern:
    return ast.RecordPattern(tuple(values[-2]), False, Span(source, lefts[-3], right))


def open_record_pattern(source: Source, values: Values, lefts: Lefts, right: int) -> ast.RecordPattern:
    return ast.RecordPattern(tuple(values[-4]), True, Span(source, lefts[-5], right))


def case_type(source: Source, values: Values, lefts: Lefts, right: int) -> ast.CaseType:
    span = Span(source, lefts[-1], right)
    return ast.CaseType(ast.Ident(values[-1][1:], span), (), span)


def case_type_with_args(source: Source, values: Values, lefts: Lefts, right: int) -> ast.CaseType:
    label = ast.Ident(values[-4][1:], token_span(source, values, lefts, -4))
    return ast.CaseType(label, tuple(values[-2]), Span(source, lefts[-4], right))


def script(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Script:
    """The whole text, blanks and comments at its ends included."""
    return ast.Script(tuple(values[-1]), Span(source, 0, len(source.text)))


# Actions for the forms of `let`


@frozen
class Bound:
    """What a `let` binds, before the span of the whole form is known; `params` is None for a plain value."""

    name: ast.Ident
    params: tuple[ast.Ident, ...] | None
    value: ast.Expr

    def expr(self, span: Span) -> ast.Expr:
        """The value; a function written short has the span of its whole form."""
        return self.value if self.params is None else ast.Lambda(self.params, self.value, span, True)


def plain_binding(source: Source, values: Values, lefts: Lefts, right: int) -> Bound:
    return Bound(values[-3], None, values[-1])


def annotated_binding(source: Source, values: Values, lefts: Lefts, right: int) -> Bound:
    value: ast.Expr = values[-1]
    return Bound(values[-5], None, ast.Annot(value, values[-3], value.span))


def short_binding(source: Source, values: Values, lefts: Lefts, right: int) -> Bound:
    return Bound(values[-4], tuple(values[-3]), values[-1])


def rec_binding(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Binding:
    bound: Bound = values[-1]
    span = Span(source, lefts[-1], right)
    return ast.Binding(bound.name, bound.expr(span), span)


def let_statement(source: Source, values: Values, lefts: Lefts, right: int) -> ast.LetStatement:
    bound: Bound = values[-1]
    span = Span(source, lefts[-2], right)
    return ast.LetStatement(bound.name, bound.expr(span), span)


def let(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Let:
    bound: Bound = values[-3]
    span = Span(source, lefts[-4], right)
    return ast.Let(bound.name, bound.expr(span), values[-1], span)


def task_let(source: Source, values: Values, lefts: Lefts, right: int) -> ast.Call:
    """`let* x = t in u` as `Task.bind(t, fun x -> u)`: all nodes that it makes have the span of the whole form."""
    form = values[-6]
    span = Span(source, lefts[-6], right)
    function = ast.FieldGet(ast.Name("Task", span), ast.Ident(TASK_FUNCTIONS[form], span), span)
    return ast.Call(function, (values[-3], ast.Lambda((values[-5],), values[-1], span, False)), span, form)


ACTIONS: dict[str, Action] = {
    "empty": empty,
    "first": first,
    "append": append,
    "append_separated": append_separated,
    "inside": inside,
    # statements
    "script": script,
    "type_statement": node(ast.TypeStatement, 4, -3, -1),
    "let_statement": let_statement,
    "let_rec_statement": node(ast.LetRecStatement, 3, Many(-1)),
    "module_statement": node(ast.ModuleStatement, 6, -5, Many(-2)),
    "open_statement": node(ast.OpenStatement, 2, -1),
    "expr_statement": node(ast.ExprStatement, 1, -1),
    # names and bindings
    "ident": node(ast.Ident, 1, -1),
    "unnamed": node(lambda span: ast.Ident(ast.UNNAMED, span), 2),
    "plain_binding": plain_binding,
    "annotated_binding": annotated_binding,
    "short_binding": short_binding,
    "rec_binding": rec_binding,
    # operators
    "seq": node(ast.Seq, 3, -3, -1),
    "or": operation(ast.Or),
    "and": operation(ast.And),
    "binary": binary,
    "neg": node(ast.Neg, 2, -2, -1),
    "deref": node(ast.Deref, 2, -1),
    "ref": node(ast.Ref, 2, -1),
    "set_ref": node(ast.SetRef, 3, -3, -1),
    "array_set": node(ast.ArraySet, 6, -6, -4, -1),
    # postfix forms
    "call": node(lambda function, args, span: ast.Call(function, args, span, None), 4, -4, Many(-2)),
    "method_call": method_call,
    "field_get": node(ast.FieldGet, 3, -3, -1),
    "array_get": node(ast.ArrayGet, 4, -4, -2),
    # atoms
    "int": literal(ast.Int, int_value),
    "float": literal(ast.Float, float),
    "bool": literal(ast.Bool, "true".__eq__),
    "string": literal(ast.String, string_value),
    "name": node(ast.Name, 1, -1),
    "tag": tag,
    "variant": variant,
    "unit": node(ast.Unit, 2),
    "array_lit": node(ast.ArrayLit, 3, Many(-2)),
    "empty_record": node(lambda span: ast.RecordLit((), span), 2),
    "record_lit": node(ast.RecordLit, 3, Many(-2)),
    "record_update": node(ast.RecordUpdate, 5, -4, Many(-2)),
    "field": node(ast.Field, 3, -3, -1),
    "if": node(ast.If, 6, -5, -3, -1),
    "while": node(ast.While, 5, -4, -2),
    "lambda": node(lambda params, body, span: ast.Lambda(params, body, span, False), 4, Many(-3), -1),
    "let": let,
    "let_rec": node(ast.LetRec, 5, Many(-3), -1),
    "task_let": task_let,
    "match": node(ast.Match, 4, -3, Many(-1)),
    "arm": node(ast.Arm, 4, -3, -1),
    # patterns
    "wildcard_pattern": node(ast.WildcardPattern, 1),
    "name_pattern": node(ast.NamePattern, 1, -1),
    "unit_pattern": node(ast.UnitPattern, 2),
    "int_pattern": literal(ast.IntPattern, int_value),
    "float_pattern": literal(ast.FloatPattern, float),
    "bool_pattern": literal(ast.BoolPattern, "true".__eq__),
    "string_pattern": literal(ast.StringPattern, string_value),
    "tag_pattern": tag_pattern,
    "variant_pattern": variant_pattern,
    "empty_record_pattern": node(lambda span: ast.RecordPattern((), False, span), 2),
    "record_pattern": record_pattern,
    "open_record_pattern": open_record_pattern,
    "field_pattern": node(ast.FieldPattern, 3, -3, -1),
    # type expressions
    "named_type": node(ast.NamedType, 1, -1),
    "arrow_type": node(ast.ArrowType, 3, -3, -1),
    "applied_type": node(ast.AppliedType, 2, -1, -2),
    "empty_record_type": node(lambda span: ast.RecordType((), span), 2),
    "record_type": node(ast.RecordType, 3, Many(-2)),
    "field_type": node(ast.FieldType, 3, -3, -1),
    "empty_variant_type": node(lambda span: ast.VariantType((), span), 2),
    "variant_type": node(ast.VariantType, 3, Many(-2)),
    "case_type": case_type,
    "case_type_with_args": case_type_with_args,
}
