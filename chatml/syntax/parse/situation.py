"""Where the parser stood when a token fitted nowhere: what was open, what stood before, what could have followed.

Only an error asks for this, so nothing here costs a text that parses.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from chatml.source import Span
from chatml.syntax.parse.table import ACTIONS, GOTOS, PRODUCTIONS, SYMBOLS, TERMINALS

NAMES = {number: name for name, number in TERMINALS.items()}

SHORTER = {
    "": "START",
    **dict.fromkeys(("LIDENT", "atom", "postfix", "assign", "unary", "product", "sum"), "E"),
    **dict.fromkeys(("comparison", "and_expr", "or_expr", "expr", "seq"), "E"),
    **dict.fromkeys(("type_atom", "type_postfix", "type_expr"), "T"),
    **dict.fromkeys(("ident", "idents", "binder"), "names"),
    "pattern": "P",
    "some_args": "args",
    "some_fields": "fields",
    "some_field_patterns": "field_patterns",
    "some_field_types": "field_types",
}
"""How a context calls symbols: `E` is an expression, `T` a type, `P` a pattern, `names` a name or parameters."""

OPERATORS = frozenset(("ADDOP", "BINCMP", "MULOP", "-", "-.", "&&", "||", ":="))
PREFIXES = frozenset(("-", "-.", "!", "ref"))
CLOSERS = {"(": ")", "[": "]", "{": "}", "struct": "end", "while": "done"}
"""What closes each kind of bracket."""

PARTNERS = {"then": "if", "else": "if", "do": "while", "done": "while", "in": "let", "with": "match"}
"""The keyword that a keyword belongs to."""

STARTS_EXPRESSION = frozenset(
    ("LIDENT", "UIDENT", "INT", "FLOAT", "STRING", "BOOL", "TAG", "TASKLET", "(", "[", "{", "if", "while", "match")
) | {"fun", "let", "-", "-.", "!", "ref"}
CLASSES = (
    ("a statement", STARTS_EXPRESSION | {"type", "module", "open", "$END"}, frozenset(("module", "fun"))),
    ("an operator", frozenset((*OPERATORS, "(", "[", ".", "<-")), frozenset(("BINCMP",))),
    ("an expression", STARTS_EXPRESSION, frozenset(("fun", "INT"))),
    (
        "a pattern",
        frozenset(("_", "LIDENT", "INT", "FLOAT", "STRING", "BOOL", "TAG", "(", "{")),
        frozenset(("_", "TAG", "INT")),
    ),
    ("a type", frozenset(("LIDENT", "(", "[", "{")), frozenset(("LIDENT", "(", "[", "{"))),
)
"""Classes of tokens: what they are called, all of their kinds, and the kinds that tell that the class is expected."""
TOKEN_NAMES = {"LIDENT": "a name", "UIDENT": "the name of a module", "TAG": "a tag", "$END": "the end of the text"}

CONTEXT_LENGTH = 40
TEXT_LENGTH = 80


class Situation:
    """A token that cannot continue what was read, and what was read."""

    def __init__(self, span: Span, kind: int, states: list[int], lefts: list[int], before: Span) -> None:
        self.span = span
        self.kind = NAMES[kind]
        """The kind of the token: its name in the grammar, for a keyword or sign its text."""
        self.text = span.text
        self.before = before
        """The token before it; empty at the start of the text."""
        self.states = states
        self.symbols = [SHORTER.get(SYMBOLS[state], SYMBOLS[state]) for state in states]
        """What was read and not yet put together, outermost first."""
        self.lefts = list(lefts)
        self.join_operands()

    def join_operands(self) -> None:
        """Takes a chain of operators at the end for the expression that it is.

        The parser itself has not done so if the token follows no expression anywhere.
        """
        symbols = self.symbols
        while len(symbols) > 2:
            match symbols[-3:]:
                case ["E", ".", "names"] if self.kind != "<-":
                    size = 3
                case ["E", op, "E"] if op in OPERATORS:
                    size = 3
                case [_, op, "E"] if op in PREFIXES:
                    size = 2
                case ["]", "<-", "E"]:
                    size = 6
                case _:
                    return
            del symbols[-size:], self.lefts[1 - size :]
            symbols.append("E")

    @cached_property
    def context(self) -> str:
        """The last symbols as text, for a trap to look at."""
        return " ".join(self.symbols[-CONTEXT_LENGTH:])

    @cached_property
    def expected(self) -> frozenset[str]:
        """Every kind of token that could have followed."""
        accepted: set[int] = set()
        todo: list[tuple[int, list[int], set[int]]] = [(len(self.states), [], set(TERMINALS.values()))]
        while todo:
            base, pushed, kinds = todo.pop()
            row = ACTIONS[pushed[-1] if pushed else self.states[base - 1]]
            reductions: dict[int, set[int]] = {}
            for kind in kinds & row.keys():
                if row[kind] < 0:
                    reductions.setdefault(~row[kind], set()).add(kind)
                else:
                    accepted.add(kind)
            todo += ((*self.reduce(production, base, pushed), kinds) for production, kinds in reductions.items())
        return frozenset(NAMES[kind] for kind in accepted)

    def reduce(self, production: int, base: int, pushed: list[int]) -> tuple[int, list[int]]:
        """The stack after a reduction: the first `base` states of the parser's own, and others above them."""
        pushed = list(pushed)
        while True:
            size, made, _ = PRODUCTIONS[production]
            own = min(size, len(pushed))
            del pushed[len(pushed) - own :]
            base -= size - own
            target = GOTOS[pushed[-1] if pushed else self.states[base - 1]][made]
            pushed.append(target)
            if target >= 0:
                return base, pushed
            production = ~target

    @cached_property
    def place(self) -> str:
        """What kind of place it is: `pattern`, `operand`, `after` an operand, `type`, `name` or `other`."""
        expected = self.expected
        if {"_", "TAG"} <= expected:
            return "pattern"
        if "BINCMP" in expected:
            return "after"
        if "fun" in expected:
            return "operand"
        if {"LIDENT", "[", "{", "("} <= expected:
            return "type"
        return "name" if "LIDENT" in expected else "other"

    @cached_property
    def wanted(self) -> list[str]:
        """What could have followed, in words; a class of tokens is one item."""
        rest = set(self.expected)
        words = []
        for name, kinds, signs in CLASSES:
            if signs <= rest:
                words.append(name)
                rest -= kinds
        return words + sorted(TOKEN_NAMES.get(kind, f"`{kind}`") for kind in rest)

    @property
    def ahead(self) -> str:
        """Some text from the token on."""
        return self.span.source.text[self.span.left : self.span.left + TEXT_LENGTH]

    @property
    def back(self) -> str:
        """Some text before the token."""
        return self.span.source.text[max(0, self.span.left - TEXT_LENGTH) : self.span.left]

    @property
    def last(self) -> Span | None:
        """The expression right before the token, if there is one."""
        if not self.symbols or self.symbols[-1] != "E":
            return None
        return Span(self.span.source, self.lefts[-1], self.before.right)

    @property
    def starts_line(self) -> bool:
        """Whether the token is the first on its line."""
        start = self.span.start
        return self.span.source.line(start.line)[: start.column].isspace() or start.column == 0

    @property
    def open_bracket(self) -> Span | None:
        """The innermost bracket that is open, keywords that are brackets included."""
        closed = 0
        for index in range(len(self.symbols) - 1, -1, -1):
            symbol = self.symbols[index]
            if symbol == "]":
                closed += 1
            elif symbol in CLOSERS:
                if not closed:
                    return self.terminal(index)
                closed -= 1
        return None

    def nearest(self, symbols: Iterable[str]) -> Span | None:
        """The innermost of some keywords or signs that have been read."""
        wanted = frozenset(symbols)
        for index in range(len(self.symbols) - 1, -1, -1):
            if self.symbols[index] in wanted:
                return self.terminal(index)
        return None

    def terminal(self, index: int) -> Span:
        """The span of a keyword or sign on the stack."""
        left = self.lefts[index]
        return Span(self.span.source, left, left + len(self.symbols[index].replace("TASKLET", "let*")))
