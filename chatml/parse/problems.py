"""What can be wrong with a text: facts, and their wording as diagnostics (codes `syntax.*`)."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from chatml.diagnostics import Diagnostic
from chatml.source import Span


@attrs.frozen
class UnknownCharacter:
    """A character that starts no token; its span."""

    span: Span


@attrs.frozen
class OpenString:
    """A string without its closing quote; the end of the text."""

    span: Span


@attrs.frozen
class OpenComment:
    """A comment without its end; its opener."""

    span: Span


@attrs.frozen
class IntOutOfRange:
    span: Span


@attrs.frozen
class TooDeep:
    """A token that opens a level too many."""

    span: Span
    limit: int


@attrs.frozen
class Unexpected:
    """A token (empty: the end of the text) that cannot continue what was read; the parser's states, outermost first."""

    span: Span
    kind: int
    states: list[int]


SyntaxProblem: TypeAlias = UnknownCharacter | OpenString | OpenComment | IntOutOfRange | TooDeep | Unexpected


class Rejected(Exception):
    """Stops the parser; carries what is wrong."""

    def __init__(self, problem: SyntaxProblem) -> None:
        self.problem = problem
        super().__init__(problem)


def word(problem: SyntaxProblem) -> Diagnostic:
    """The diagnostic for a problem."""
    match problem:
        case UnknownCharacter(span):
            return Diagnostic("syntax.unknown_character", f"`{span.text}` starts no token", span)
        case OpenString(span):
            return Diagnostic("syntax.unterminated_string", "the text ends inside a string", span)
        case OpenComment(span):
            return Diagnostic("syntax.unterminated_comment", "this comment is never closed", span)
        case IntOutOfRange(span):
            return Diagnostic(
                "syntax.int_out_of_range",
                "this integer is outside the range -4611686018427387904 to 4611686018427387903",
                span,
            )
        case TooDeep(span, limit):
            return Diagnostic("syntax.too_deep", f"nested deeper than {limit} levels", span)
        case Unexpected(span):
            if span.left == span.right:
                return Diagnostic("syntax.unexpected_end", "the text ends too early", span)
            return Diagnostic("syntax.unexpected_token", f"unexpected `{span.text}`", span)
