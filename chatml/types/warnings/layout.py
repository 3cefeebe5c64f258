"""What the layout of a script shows to be meant otherwise: arms, arguments and escapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.syntax import ast
from chatml.types.checked import Checked
from chatml.types.model import Fun
from chatml.types.report.words import breaks_line, column_of_bar, last_of, place_of
from chatml.types.variables import resolved
from chatml.types.warnings.tree import nodes_in

if TYPE_CHECKING:
    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
else:
    model = lazy("chatml.diagnostics.model")


def swallowed_arms(script: ast.Script) -> Iterator[Diagnostic]:
    """A warning for each inner match whose later arms stand where those of the outer one do."""
    for outer in nodes_in(script):
        if not isinstance(outer, ast.Match):
            continue
        column = column_of_bar(outer.arms[0].pattern.span)
        for inner in [] if column is None else inner_matches(outer):
            first = column_of_bar(inner.arms[0].pattern.span)
            taken = [arm.pattern for arm in inner.arms[1:] if column_of_bar(arm.pattern.span) == column]
            if taken and first != column:
                yield model.Diagnostic(
                    "type.swallowed_arm",
                    f"this arm belongs to the match of line {inner.span.start.line}, and it stands where the arms of "
                    f"the match of line {outer.span.start.line} do",
                    taken[0].span,
                    severity="warning",
                    labels=(model.Label(place_of(inner.scrutinee), "the match that it belongs to"),),
                    help=f"put the match of line {inner.span.start.line} in parentheses",
                )


def inner_matches(outer: ast.Match) -> Iterator[ast.Match]:
    """The matches that end the last arm, so that the arms below became theirs; one in parentheses has its own."""
    body: object = outer.arms[-1].body
    for _ in range(DEEPEST):
        match body:
            case ast.Match(arms=arms, span=span):
                if not span.source.text[span.right : span.right + 80].lstrip().startswith(")"):
                    yield body
                body = arms[-1].body
            case ast.Seq(second=last) | ast.Let(body=last) | ast.LetRec(body=last) | ast.If(otherwise=last):
                body = last
            case ast.Call(args=(_, ast.Lambda(body=last)), form=str()) | ast.Lambda(body=last):
                body = last
            case _:
                return


DEEPEST = 50
"""How many expressions deep the end of an arm is followed."""


def lone_arguments(checked: Checked) -> Iterator[Diagnostic]:
    """A warning for each call without parentheses, which is two statements: `String.length "abc"`."""
    waiting = [checked.script.statements]
    while waiting:
        statements = waiting.pop()
        waiting += [statement.items for statement in statements if isinstance(statement, ast.ModuleStatement)]
        for before, after in pairwise(statements):
            if not isinstance(before, ast.LetStatement | ast.ExprStatement) or not isinstance(after, ast.ExprStatement):
                continue
            function = last_of(before.value)
            if breaks_line(before.span, after.span) or not is_function(checked, function):
                continue
            called, argument = place_of(function).text, ", ".join(arguments_on_line(statements, after))
            yield model.Diagnostic(
                "syntax.lone_argument",
                "these are two statements: a function that is not called, and a value that is not used",
                place_of(function).to(after.span),
                severity="warning",
                help=f"a call has parentheses: `{called}({argument})`",
            )


def arguments_on_line(statements: Sequence[ast.Statement], first: ast.ExprStatement) -> list[str]:
    """The texts of the statements from one on that stand on its line: what was meant as arguments."""
    found = [first.span.text]
    last: ast.Statement = first
    for statement in statements[statements.index(first) + 1 :]:
        if not isinstance(statement, ast.ExprStatement) or breaks_line(last.span, statement.span):
            break
        found.append(statement.span.text)
        last = statement
    return found


def is_function(checked: Checked, expr: ast.Expr) -> bool:
    return expr in checked.types and isinstance(resolved(checked.types[expr]), Fun) and not isinstance(expr, ast.Lambda)


ESCAPES = {
    "u": "write the character itself: a script is UTF-8",
    "U": "write the character itself: a script is UTF-8",
    "x": "write the character itself: a script is UTF-8",
    "0": "a string has no escape for it: let the host pass it in",
    "r": "a line end is `\\n`; a carriage return has no escape",
}
"""What other languages write in strings, by the character after the backslash, and what to do here."""


def suspicious_escapes(script: ast.Script) -> Iterator[Diagnostic]:
    """A warning for each backslash in a string that is an escape in other languages and two characters here.

    Two kinds of strings are left alone, in which such escapes have a meaning: patterns, and JSON with its quotes.
    """
    patterns = patterns_in(script)
    for node in nodes_in(script):
        if not isinstance(node, ast.String | ast.StringPattern) or node in patterns or '\\"' in node.span.text:
            continue
        text, offset = node.span.text, 1
        while (offset := text.find("\\", offset)) >= 0:
            if text[offset + 1] in ESCAPES and is_escape(text[offset + 1 :]):
                written = text[offset : offset + 2]
                place = node.span.source.span(node.span.left + offset, node.span.left + offset + 2)
                yield model.Diagnostic(
                    "syntax.suspicious_escape",
                    f"`{written}` is not an escape: the string holds a backslash and `{written[1]}`",
                    place,
                    severity="warning",
                    help=f"{ESCAPES[written[1]]}; for a backslash write `\\\\`",
                )
            offset += 2


def patterns_in(script: ast.Script) -> frozenset[ast.Expr]:
    """The arguments of the functions of `Text`."""
    found = set[ast.Expr]()
    for node in nodes_in(script):
        match node:
            case ast.Call(function=ast.FieldGet(record=ast.Name(name="Text")), args=args):
                found.update(args)
    return frozenset(found)


def is_escape(text: str) -> bool:
    """Whether what follows a backslash is an escape elsewhere: `x41`, `u200b`, `u{1F600}`, `0`, `r`."""
    digits = {"x": 2, "u": 4, "U": 8}.get(text[0], 0)
    following = text[1 : 1 + digits]
    is_hex = len(following) == digits and all(each in "0123456789abcdefABCDEF" for each in following)
    return is_hex or text[1:2] == "{"
