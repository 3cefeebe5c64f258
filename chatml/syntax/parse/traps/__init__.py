"""The traps of the syntax (language.md 2.3), in the order in which they are tried."""

from __future__ import annotations

from chatml.syntax.parse.situation import Situation
from chatml.syntax.parse.traps.brackets import BRACKETS
from chatml.syntax.parse.traps.definitions import DEFINITIONS, STATEMENTS
from chatml.syntax.parse.traps.forms import FORMS
from chatml.syntax.parse.traps.habits import HABITS
from chatml.syntax.parse.traps.records import RECORDS
from chatml.syntax.parse.traps.sequences import SEQUENCES
from chatml.syntax.parse.traps.signs import SIGNS
from chatml.syntax.parse.traps.trap import Trap, clip

__all__ = ["TRAPS", "Trap", "clip", "find_trap"]

TRAPS = HABITS + FORMS + STATEMENTS + DEFINITIONS + RECORDS + SEQUENCES + SIGNS + BRACKETS


def find_trap(situation: Situation) -> Trap | None:
    """The trap that a situation is, if it is a known one."""
    return next((trap for trap in TRAPS if trap.fits(situation)), None)
