"""The traps of the syntax (language.md 2.3), in the order in which they are tried."""

from __future__ import annotations

from chatml.parse.situation import Situation
from chatml.parse.traps.brackets import BRACKETS
from chatml.parse.traps.definitions import DEFINITIONS, STATEMENTS
from chatml.parse.traps.habits import HABITS
from chatml.parse.traps.records import RECORDS
from chatml.parse.traps.sequences import SEQUENCES
from chatml.parse.traps.signs import SIGNS
from chatml.parse.traps.trap import Trap, clip

__all__ = ["TRAPS", "Trap", "clip", "find_trap"]

TRAPS = HABITS + STATEMENTS + DEFINITIONS + RECORDS + SEQUENCES + SIGNS + BRACKETS


def find_trap(situation: Situation) -> Trap | None:
    """The trap that a situation is, if it is a known one."""
    return next((trap for trap in TRAPS if trap.fits(situation)), None)
