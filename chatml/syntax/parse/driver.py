"""Runs the LALR table over the tokens of a text: shifts, reduces, and stops at the first token that fits nowhere.

Nothing here recurses: the depth of a text costs list entries, not frames. `table` explains the numbers.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from chatml.lazy import lazy
from chatml.source import Source, Span
from chatml.syntax.parse.build import ACTIONS as BUILD
from chatml.syntax.parse.build import IntRangeError
from chatml.syntax.parse.lexer import tokens
from chatml.syntax.parse.table import ACTIONS, CLOSING, GOTOS, PRODUCTIONS, SHIFTS, STARTS

if TYPE_CHECKING:
    from chatml.syntax.parse import problems
else:
    problems = lazy("chatml.syntax.parse.problems")

MAX_DEPTH = 1_000
"""How many brackets and bodies may be nested (X-04)."""

REJECT = len(SHIFTS)
STEPS = tuple((size, made, BUILD[action]) for size, made, action in PRODUCTIONS)


def run(source: Source, start: str, position: int = 0, end: int = sys.maxsize) -> Any:
    """The value of a start symbol of the grammar, read from an offset to the end of the text, or to an earlier one.

    Raises `Rejected`.
    """
    state = STARTS[start]
    states = [state]
    values: list[Any] = [None]
    lefts = [0]
    left = right = depth = 0
    last = ""
    try:
        for kind, left, word in tokens(source.text, position, end):
            shifted = False
            while not shifted:
                action = ACTIONS[state].get(kind, REJECT)
                if action < 0:
                    production = ~action
                elif action != REJECT:
                    state, change = SHIFTS[action]
                    states.append(state)
                    values.append(word)
                    lefts.append(left)
                    right = left + len(word)
                    last = word
                    depth += change
                    if depth > MAX_DEPTH:
                        raise problems.Rejected(problems.TooDeep(source.span(left, right), MAX_DEPTH))
                    if state >= 0:
                        break
                    production = ~state
                    shifted = True
                else:
                    span = source.span(left, left + len(word))
                    before = source.span(right - len(last), right)
                    raise problems.Rejected(problems.no_place(kind, span, states, lefts, before))
                while True:
                    size, made, build = STEPS[production]
                    value = build(source, values, lefts, right)
                    if size > 1:
                        del states[1 - size :], values[1 - size :], lefts[1 - size :]
                    elif size == 0:
                        states.append(0)
                        values.append(None)
                        lefts.append(left)
                    values[-1] = value
                    if production < CLOSING:
                        depth -= 1
                    state = states[-1] = GOTOS[states[-2]][made]
                    if state >= 0:
                        break
                    production = ~state
    except IntRangeError:
        raise problems.Rejected(problems.IntOutOfRange(Span(source, lefts[-1], right))) from None
    return values[1]
