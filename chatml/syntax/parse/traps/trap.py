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
    and `$partner` the keyword that the token belongs to. `label` is shown at the innermost of the symbols `at`, at the
    token before (`before`) or at the open bracket (`open`).
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
        }
        places = {"before": situation.before, "open": bracket}
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


# Conditions that no pattern can say


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
