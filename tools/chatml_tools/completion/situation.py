"""What is asked for at a cursor: the text before it, which need not parse, read token by token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from chatml.records import frozen
from chatml.syntax.parse.lexer import FIXED, OPEN_COMMENT, OPEN_STRING, UNKNOWN, Token, tokens

Wanted: TypeAlias = Literal["name", "module", "field", "tag", "type", "nothing"]

OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = {closer: opener for opener, closer in OPENERS.items()}


@frozen
class Situation:
    """What may stand at the cursor, and the part of it that is there already.

    `word` ends at the cursor. `base` is, for a field, where the expression that has it begins and ends: the one before
    the point, or the one that an update changes.
    """

    wanted: Wanted
    word: str = ""
    base: tuple[int, int] | None = None


def situation(text: str) -> Situation:
    """The situation at the end of a text.

    >>> situation("let x = Array.fo")
    Situation(wanted='field', word='fo', base=(8, 13))
    >>> situation("f(a, [1].").base, situation('"in a string').wanted, situation("match x with `A").word
    ((5, 8), 'nothing', '`A')
    >>> situation("{ user with na").base, situation("let x : (int -> str").wanted, situation("open Arr").wanted
    ((2, 6), 'type', 'module')
    """
    read = list(tokens(text))
    kind, left, word = read.pop()
    if kind in (OPEN_STRING, OPEN_COMMENT):
        return Situation("nothing")
    if kind == UNKNOWN:
        return Situation("tag", word) if word == "`" and left == len(text) - 1 else Situation("nothing")
    last = ""
    if read and is_word(read[-1][2]) and read[-1][1] + len(read[-1][2]) == len(text):
        last = read.pop()[2]
    if last[:1] == "`":
        return Situation("tag", last)
    if last[:1].isdigit():
        return Situation("nothing")
    before = read[-1][2] if read else ""
    if before == ".":
        start = start_of_postfix(read, len(read) - 2)
        if start is None:
            return Situation("nothing")
        return Situation("field", last, (read[start][1], read[-2][1] + len(read[-2][2])))
    is_ended = ends_expression(before) and "\n" in text[read[-1][1] : len(text) - len(last)]
    if not is_ended and is_in_type(read):
        return Situation("nothing" if before in ("{", ";", "[", "|") else "type", last)
    if before == "open":
        return Situation("module", last)
    changed = changed_by_update(read) if before in ("with", ";") else None
    if changed is not None:
        return Situation("field", last, changed)
    if before in ("let", "rec", "and", "type", "module", "struct", "fun"):
        return Situation("nothing") if before != "struct" else Situation("name", last)
    return Situation("name", last)


def is_word(word: str) -> bool:
    return word[:1].isalnum() or word[:1] in ("_", "`")


def is_in_type(read: Sequence[Token]) -> bool:
    """Whether a text breaks off inside of a type: of an annotation, or of a declaration.

    >>> [is_in_type(list(tokens(text))[:-1]) for text in ("let x : int -> ", "type t = [ `A(", "type t = int print(")]
    [True, True, False]
    """
    for index in range(len(read) - 1, -1, -1):
        word = read[index][2]
        before = read[index - 1][2] if index else ""
        if word == ":":
            return True
        if word == "=":
            return index > 1 and read[index - 2][2] == "type"
        if word == "(" and ends_expression(before) and before[0] != "`":
            return False
        if not (word in IN_TYPES or is_word(word)) or word in INSIDE:
            return False
    return False


IN_TYPES = frozenset(("->", ",", ";", "|", *OPENERS, *CLOSERS))
"""The punctuation of types, besides the colon that a type follows."""


def changed_by_update(read: Sequence[Token]) -> tuple[int, int] | None:
    """Where the record stands that is changed by the update in which a text breaks off; None if it is in none.

    >>> changed_by_update(list(tokens("{ user with a = (1; 2);"))[:-1]), changed_by_update(list(tokens("(a;"))[:-1])
    ((2, 6), None)
    """
    level = 0
    base_end = None
    for index in range(len(read) - 1, -1, -1):
        _, _, word = read[index]
        level += (word in CLOSERS) - (word in OPENERS)
        if level < 0:
            if word != "{" or base_end is None or base_end == index + 1:
                return None
            _, last, text = read[base_end - 1]
            return read[index + 1][1], last + len(text)
        if level == 0 and word == "with":
            base_end = index
    return None


def start_of_postfix(read: Sequence[Token], index: int) -> int | None:
    """Where the expression begins that ends at a token: a name or brackets, with fields, calls and indices after it."""
    while index >= 0:
        word = read[index][2]
        if word in CLOSERS:
            opener = opener_of(read, index)
            if opener is None:
                return None
            before = read[opener - 1][2] if opener else ""
            if word != "}" and ends_expression(before):
                index = opener - 1
                continue
            return opener
        if not is_word(word):
            return None
        if index >= 2 and read[index - 1][2] == ".":
            index -= 2
            continue
        return index
    return None


def ends_expression(word: str) -> bool:
    """Whether an expression can end with a word; brackets after it are then those of a call or an index.

    >>> [ends_expression(word) for word in ("x", ")", "end", '"text"', "then", "+")]
    [True, True, True, True, False, False]
    """
    return word in CLOSERS or ((word[:1].isalnum() or word[:1] in ('"', "`", "_")) and word not in INSIDE)


INSIDE = frozenset(word for word in FIXED if word[0].islower()) - {"true", "false", "end", "done"}
"""The keywords after which an expression begins or goes on."""


def opener_of(read: Sequence[Token], index: int) -> int | None:
    """The bracket that the one at an index closes."""
    level = 0
    for position in range(index, -1, -1):
        word = read[position][2]
        level += (word in CLOSERS) - (word in OPENERS)
        if level == 0:
            return position
    return None
