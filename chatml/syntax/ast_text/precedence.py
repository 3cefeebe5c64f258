"""What asks for parentheses: how loose a form is, and what it would swallow (language.md 2.1 and 2.2)."""

from __future__ import annotations

from enum import IntEnum


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
