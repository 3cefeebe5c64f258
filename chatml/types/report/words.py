"""How messages speak of types."""

from __future__ import annotations

from chatml.source import Span
from chatml.syntax import ast
from chatml.types.model import Array, Con, Fun, Mu, Record, Ref, Scalar, Tuple, Type, Variant
from chatml.types.names import NO_NAMES, TypeNames
from chatml.types.show import Shower
from chatml.types.variables import resolved

MOST_PARTS, FEW_PARTS, LONG = 40, 12, 120
"""How many parts of a type a sentence shows, and how many when the text would otherwise be long."""

SCALARS = {"int": "an int", "float": "a float", "bool": "a bool", "string": "a string", "unit": "unit"}
KINDS: dict[type, str] = {
    Record: "a record",
    Variant: "a variant",
    Fun: "a function",
    Tuple: "a payload",
    Mu: "a recursive type",
    Array: "an array of type",
    Con: "a task of type",
}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
SUFFIXES = {1: "st", 2: "nd", 3: "rd"}
STEPS = {
    "parameter": "the {} parameter",
    "result": "the result",
    "field": "the field `{}`",
    "tag": "the tag `{}",
    "payload": "the {} argument",
    "element": "the elements",
    "content": "the content",
    "argument": "what the task gives",
}


class Words:
    """Words the types of one report; a variable has the same name in all of them."""

    def __init__(self, names: TypeNames = NO_NAMES) -> None:
        self.names = names
        self.shower = Shower(MOST_PARTS, names)

    def show(self, type: Type) -> str:
        """The type as it prints, shortened."""
        self.shower.most = MOST_PARTS
        shown = self.shower.show(type)
        if len(shown) <= LONG:
            return shown
        self.shower.most = FEW_PARTS
        return self.shower.show(type)

    def spelled(self, type: Type) -> str:
        """What a type is, though it has a name."""
        self.shower.most = MOST_PARTS
        return self.shower.declaration(type)

    def a(self, type: Type) -> str:
        """The type with its kind or an article.

        >>> from chatml.types.model import Array, Fun, Int
        >>> Words().a(Int), Words().a(Fun([Int], Int)), Words().a(Array(Int))
        ('an int', 'a function (int -> int)', 'an int array')
        """
        known = resolved(type)
        if isinstance(known, Scalar):
            return SCALARS[known.name]
        shown = self.show(known)
        if shown == self.names.name_of(known):
            return f"{'an' if shown[0] in 'aeiou' else 'a'} {shown}"
        if isinstance(known, Array | Ref | Con) and shown[0].isalpha():
            return f"{'an' if shown[0] in 'aeiou' else 'a'} {shown}"
        return f"{KINDS[known.__class__]} {shown}" if known.__class__ in KINDS else shown

    def path(self, path: tuple[tuple[str, str | int], ...]) -> str:
        """Where in whole types two parts are, innermost first: `the elements of the field `a``."""
        steps = [STEPS[kind].format(ordinal(part) if isinstance(part, int) else part) for kind, part in reversed(path)]
        return " of ".join(steps)


def ordinal(index: int) -> str:
    """An ordinal number for an index from zero.

    >>> ordinal(1), ordinal(20)
    ('second', '21st')
    """
    if index < len(ORDINALS):
        return ORDINALS[index]
    number = index + 1
    last = 0 if 10 < number % 100 < 20 else number % 10
    return f"{number}{SUFFIXES.get(last, 'th')}"


def place_of(expr: ast.Expr) -> Span:
    """Where an expression is written; a field that is called has the span of the whole call (section 2.5)."""
    return expr.record.span.to(expr.label.span) if isinstance(expr, ast.FieldGet) else expr.span


def name_of(expr: ast.Expr) -> str | None:
    """The text of an expression that is short enough to speak of."""
    text = place_of(expr).text
    return text if len(text) <= LONGEST_NAME and "\n" not in text else None


LONGEST_NAME = 30


def quoted(text: str) -> str:
    """Code in a sentence; a tag brings its own backtick."""
    return text if text.startswith("`") else f"`{text}`"


def plural(count: int, noun: str) -> str:
    """`1 argument`, `2 arguments`, `no arguments`."""
    return f"{count or 'no'} {noun}{'s' * (count != 1)}"


def column_of_bar(pattern: Span) -> int | None:
    """The column of the `|` that begins an arm, if it begins its line as well."""
    line = pattern.source.line(pattern.start.line)
    before = line[: pattern.start.column].rstrip()
    return len(before) - 1 if before.endswith("|") and not before[:-1].strip() else None


def breaks_line(left: Span, right: Span) -> bool:
    """Whether a line ends between two places."""
    between = left.source.text[left.right : right.left]
    return "\n" in between or "\r" in between


def last_of(expr: ast.Expr) -> ast.Expr:
    """The expression that ends another one, where a call without parentheses would have begun."""
    while True:
        match expr:
            case ast.Seq(second=expr) | ast.Let(body=expr) | ast.Binary(right=expr) | ast.Annot(value=expr):
                pass
            case ast.Lambda(body=expr):
                pass
            case _:
                return expr
