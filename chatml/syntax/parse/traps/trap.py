"""What a trap of the syntax is: how to know it, and what to say about it.

The traps themselves are rows of the modules beside this one. The first row that fits a situation words the error; where
none fits, `problems` says what could have followed. Every code has its entry in catalogue/syntax.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from string import Template

from chatml.diagnostics.model import Diagnostic, Label
from chatml.records import frozen
from chatml.syntax.parse.situation import CLOSERS, PARTNERS, Situation

ATOMS = "LIDENT UIDENT INT FLOAT STRING BOOL TAG { fun if while match ref ! let TASKLET"
"""What may begin an expression and cannot continue one."""
KEYWORDS = "fun if then else while do done let in match with module struct end open ref rec and type BOOL TASKLET"
STATEMENT = r"(START|statements|items)"
PARAMETERS = r"(fun|(let|rec|and) names)( names)?"
FUNCTION = r"(let|rec|and) names (names|params)"
FIELD_NAME = r"(\{|;|with) names"

SHOWN = 24
"""How much of a token a message repeats."""


@cache
def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def ends(pattern: str, text: str) -> bool:
    """Whether a text ends in what a pattern matches."""
    return not pattern or re.search(rf"(?:{pattern})\Z", text) is not None


@frozen
class Trap:
    """One trap. Of its conditions those that are given must hold.

    `found` lists kinds or texts of tokens, `place` values of `Situation.place`; `context` is a pattern for the end of
    `Situation.context`, `ahead` one for the text from the token on, `back` one for the text that ends before it; `line`
    says whether the token starts a line; `when` is any other condition.

    In the texts `$found` is the token, `$before` the one before it, `$open` the open bracket, `$close` what closes it,
    `$partner` the keyword that the token belongs to, and `$lower` the token with a small letter; `$callee` is the path
    before it, `$args` what follows it on the line as arguments. `label` is shown at the innermost of the symbols `at`,
    at the token before (`before`), at the open bracket (`open`) or at the expression before (`last`).
    """

    code: str
    message: str
    help: str | None = None
    found: str = ""
    context: str = ""
    place: str = ""
    ahead: str = ""
    back: str = ""
    line: bool | None = None
    when: Callable[[Situation], bool] | None = None
    at: str = ""
    label: str = ""

    def fits(self, situation: Situation) -> bool:
        """Whether this is the trap; what costs least is asked first."""
        return (
            (not self.found or not words(self.found).isdisjoint((situation.kind, situation.text)))
            and ends(self.context, situation.context)
            and re.match(self.ahead, situation.ahead) is not None
            and ends(self.back, situation.back)
            and (self.line is None or self.line == situation.starts_line)
            and (not self.place or situation.place in self.place.split())
            and (self.when is None or self.when(situation))
        )

    def say(self, situation: Situation) -> Diagnostic:
        """The diagnostic for a situation that it fits."""
        bracket = situation.open_bracket
        names = {
            "found": clip(situation.text),
            "before": clip(situation.before.text),
            "open": "" if bracket is None else bracket.text,
            "close": "" if bracket is None else CLOSERS[bracket.text],
            "partner": PARTNERS.get(situation.text, ""),
            "lower": clip(situation.text[:1].lower() + situation.text[1:]),
            "callee": callee(situation),
            "args": arguments(situation),
        }
        places = {"before": situation.before, "open": bracket, "last": situation.last}
        place = places[self.at] if self.at in places else situation.nearest(self.at.split())
        return Diagnostic(
            self.code,
            Template(self.message).substitute(names),
            situation.span,
            labels=(Label(place, self.label),) if self.label and place is not None else (),
            help=None if self.help is None else Template(self.help).substitute(names),
        )


def clip(text: str) -> str:
    """The start of a text, on one line.

    >>> clip("a rather long name of a variable")
    'a rather long name of a ...'
    """
    line = text.partition("\n")[0]
    return text if len(text) <= SHOWN and line == text else line[:SHOWN] + "..."


def callee(situation: Situation) -> str:
    """The name before the token, with the module that it is of."""
    found = re.search(r"[A-Za-z_][\w.]*(?=\s*\Z)", situation.back)
    return clip(situation.before.text if found is None else found[0])


def arguments(situation: Situation) -> str:
    """The names and literals from the token on, as the arguments of a call.

    `f 1 "two"` gives `1, "two"` where the token is `1`.
    """
    found = re.match(r'(?:(?:"[^"\n]*"|[\w.`]+)[ \t]*)+', situation.ahead)
    parts = re.findall(r'"[^"\n]*"|[\w.`]+', situation.text if found is None else found[0])
    ended = next((index for index, part in enumerate(parts) if part in words(KEYWORDS)), len(parts))
    return clip(", ".join(parts[: max(ended, 1)]))


# Conditions that no pattern can say


def arm_has_ended(situation: Situation) -> bool:
    """Whether a `|` begins an arm of a match that a statement of its own has ended."""
    text = situation.span.source.text[max(0, situation.span.left - FAR) : situation.span.left]
    return (
        situation.starts_line
        and situation.nearest(["match"]) is None
        and situation.last is not None
        and "match" in text
        and re.search(r"^[ \t]*\|[^\n]*->", text, re.MULTILINE) is not None
    )


FAR = 4_000
"""How many characters before a token are looked through for a match."""


def word_before_last(word: str) -> Callable[[Situation], bool]:
    """Whether the last expression follows a word, which was taken for a statement."""

    def follows(situation: Situation) -> bool:
        last = situation.last
        if last is None or not arm_has_ended(situation):
            return False
        return re.search(rf"\b{word}\s+\Z", last.source.text[max(0, last.left - TEXT_BEFORE) : last.left]) is not None

    return follows


TEXT_BEFORE = 40


def is_spaced_index(situation: Situation) -> bool:
    """Whether the open bracket follows an expression after a blank, as an argument would."""
    bracket = situation.open_bracket
    return bracket is not None and bracket.left > 0 and bracket.source.text[bracket.left - 1].isspace()


def nothing_is_open(situation: Situation) -> bool:
    return situation.open_bracket is None


def something_is_open(situation: Situation) -> bool:
    return situation.open_bracket is not None


def another_is_open(situation: Situation) -> bool:
    """Whether the token closes another bracket than the one that is open."""
    bracket = situation.open_bracket
    return bracket is not None and CLOSERS[bracket.text] != situation.text


def struct_is_open(situation: Situation) -> bool:
    bracket = situation.open_bracket
    return bracket is not None and bracket.text == "struct"


def partner_is_outside(situation: Situation) -> bool:
    """Whether the keyword that the token belongs to stands before the bracket that is open."""
    bracket = situation.open_bracket
    partner = situation.nearest((PARTNERS[situation.text], "TASKLET" if situation.text == "in" else ""))
    return bracket is not None and partner is not None and partner.left < bracket.left


def partner_is_missing(situation: Situation) -> bool:
    return situation.nearest((PARTNERS[situation.text], "TASKLET" if situation.text == "in" else "")) is None


def let_starts_line(situation: Situation) -> bool:
    """Whether the innermost `let` looks like a statement: it is the very first thing on its line."""
    let = situation.nearest(["let"])
    return let is not None and let.start.column == 0
