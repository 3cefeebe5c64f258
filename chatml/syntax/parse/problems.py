"""What can be wrong with a text: facts, and their wording as diagnostics (codes `syntax.*`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from chatml.diagnostics.model import Diagnostic, Label
from chatml.lazy import lazy
from chatml.records import frozen
from chatml.source import Span
from chatml.syntax.parse.lexer import OPEN_COMMENT, OPEN_STRING, UNKNOWN
from chatml.syntax.parse.situation import Situation

if TYPE_CHECKING:
    from chatml.syntax.parse import traps
else:
    traps = lazy("chatml.syntax.parse.traps")


@frozen
class UnknownCharacter:
    """A character that starts no token."""

    span: Span


@frozen
class OpenString:
    """A string without its closing quote: the empty span at the end of the text."""

    span: Span


@frozen
class OpenComment:
    """A comment that never ends: the span of its opener."""

    span: Span


@frozen
class IntOutOfRange:
    """An INT token beyond 63 bits (X-02)."""

    span: Span


@frozen
class TooDeep:
    """A token that opens one level of nesting too many (X-04)."""

    span: Span
    limit: int


@frozen
class Surrogate:
    """A lone surrogate in a text that a host has handed in (X-01)."""

    span: Span


@frozen
class Unexpected:
    """A token, or the end of the text, that cannot continue what was read."""

    span: Span
    situation: Situation


SyntaxProblem: TypeAlias = (
    UnknownCharacter | OpenString | OpenComment | IntOutOfRange | TooDeep | Surrogate | Unexpected
)


class Rejected(Exception):
    """Stops the parser; carries what is wrong."""

    def __init__(self, problem: SyntaxProblem) -> None:
        self.problem = problem
        super().__init__(problem)


NO_TOKENS: dict[int, Callable[[Span], SyntaxProblem]] = {
    UNKNOWN: UnknownCharacter,
    OPEN_STRING: OpenString,
    OPEN_COMMENT: OpenComment,
}


def no_place(kind: int, span: Span, states: list[int], lefts: list[int], before: Span) -> SyntaxProblem:
    """The problem of a token, by its kind, that fits nowhere in a state of the parser."""
    if kind in NO_TOKENS:
        return NO_TOKENS[kind](span)
    return Unexpected(span, Situation(span, kind, states, lefts, before))


UNKNOWN_CHARACTERS = {
    "&": "`&&` joins two conditions",
    "'": "strings stand in double quotes; there are no characters and no type variables in declarations",
    "^": "strings are joined with `++`",
    "#": "comments are written `(* ... *)`",
    "@@": "write the call: `f(x)` for `f @@ x`",
    "@": "arrays are joined with `Array.append`",
    "??": "an option has a default in `Option.get_or(x, default)`",
    "?.": "what may be missing is an option: take it out with `match`",
    "?": "a choice is written `if c then a else b`",
    "~": "there are no labelled arguments; a negative number is written with `-`",
    "\\": "a function is written `fun x -> e`",
    "\N{LEFT DOUBLE QUOTATION MARK}": 'strings stand in straight quotes: `"`',
    "\N{RIGHT DOUBLE QUOTATION MARK}": 'strings stand in straight quotes: `"`',
    "\N{LEFT SINGLE QUOTATION MARK}": 'strings stand in straight double quotes: `"`',
    "\N{RIGHT SINGLE QUOTATION MARK}": 'strings stand in straight double quotes: `"`',
    "\N{EN DASH}": "the minus sign is `-`",
    "\N{EM DASH}": "the minus sign is `-`",
    "\N{MINUS SIGN}": "the minus sign is `-`",
    "\N{NO-BREAK SPACE}": "this is a no-break space: use a plain one",
    "\N{ZERO WIDTH NO-BREAK SPACE}": "a byte-order mark may stand only at the very start of a file: delete it",
    "\N{ZERO WIDTH SPACE}": "this is an invisible space: delete it",
    "\f": "this is a form feed: blanks are spaces, tabs and line ends",
    "\v": "this is a vertical tab: blanks are spaces, tabs and line ends",
    "\0": "is this a text file?",
}
"""What may help with a character that starts no token, or with it and the next one."""


def word(problem: SyntaxProblem) -> Diagnostic:
    """The diagnostic for a problem."""
    span = problem.span
    match problem:
        case UnknownCharacter():
            letter, pair = span.text, span.source.text[span.left : span.left + 2]
            return Diagnostic(
                "syntax.unknown_character",
                f"{show_character(letter)} means nothing here",
                span,
                help=UNKNOWN_CHARACTERS.get(pair) or UNKNOWN_CHARACTERS.get(letter) or outside_strings(letter),
            )
        case OpenString():
            return Diagnostic(
                "syntax.unterminated_string",
                "the text ends inside a string",
                span,
                help='close the string with `"`; a `"` inside it is written `\\"`',
            )
        case OpenComment():
            return Diagnostic(
                "syntax.unterminated_comment",
                "this comment never ends",
                span,
                help="close it with `*)`; comments nest, so each `(*` in it needs a `*)` of its own",
            )
        case IntOutOfRange():
            return Diagnostic(
                "syntax.int_out_of_range",
                f"the integer {traps.clip(span.text)} is outside the range -4611686018427387904 to 4611686018427387903",
                span,
                help="a number this large can be a float: write `.0` after it, with the operators of floats",
            )
        case TooDeep(limit=limit):
            return Diagnostic(
                "syntax.too_deep",
                f"brackets and bodies are nested deeper than {limit:,} levels",
                span,
                help="take inner parts out and bind them with `let`",
            )
        case Surrogate():
            return Diagnostic(
                "syntax.lone_surrogate",
                f"the lone surrogate U+{ord(span.text):04X} is not a character",
                span,
                help="the host that made this text should decode it as UTF-8",
            )
        case Unexpected(situation=situation):
            trap = traps.find_trap(situation)
            return say_unexpected(situation) if trap is None else trap.say(situation)


def show_character(letter: str) -> str:
    """A character for a message, by its number if it cannot be seen."""
    return f"`{letter}`" if letter.isprintable() and not letter.isspace() else f"the character U+{ord(letter):04X}"


def outside_strings(letter: str) -> str | None:
    if letter == "$":
        return "strings stand in double quotes and have nothing inside to fill in: join them with `++`"
    return None if letter.isascii() else "outside strings and comments a script is plain ASCII"


def say_unexpected(situation: Situation) -> Diagnostic:
    """What there is to say about a token that is in no trap: what could stand in its place."""
    wanted = " or ".join(filter(None, [", ".join(situation.wanted[:-1]), *situation.wanted[-1:]]))
    labels = () if situation.open_bracket is None else (Label(situation.open_bracket, "inside this"),)
    if situation.text:
        return Diagnostic(
            "syntax.unexpected_token",
            f"`{traps.clip(situation.text)}` cannot stand here: {wanted} can",
            situation.span,
            labels=labels,
        )
    return Diagnostic(
        "syntax.unexpected_end", f"the text ends where {wanted} should follow", situation.span, labels=labels
    )
