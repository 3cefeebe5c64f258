"""Patterns in RE2's language, matched in time that grows with the text and never explodes (builtins.md section 10).

A pattern comes in as text; out comes a `Matcher`, which finds its matches in other texts:

    text of the pattern ─parse→ operations in postfix order ─program→ instructions ─automaton→ ends of matches

A backtracking matcher tries one way after the other and may try exponentially many; whoever writes the text decides how
long a policy takes. Here all ways are followed at once, character by character: a state of the automaton is the list of
the instructions that are live, the one that the pattern prefers first, and there are no more of them than the pattern
has parts. So what cannot be followed in this way is refused when a pattern is compiled: back references, look-around.

A run forward finds where the first match ends, a run backward from there where it begins: `a+b|b` in `xaab` ends at 4,
and the longest match of `ba+|b` backward from 4 reaches 1. States are made when a text first needs them, and kept.

Nothing here knows of the language: the module `Text` and the rules of a shell both stand on this room. Whoever searches
hands in `charge`, which is told what the search costs as a number of characters read, and may raise to end it.
"""

from __future__ import annotations

from chatml.text_match.matcher import Matcher, compile
from chatml.text_match.parse import PatternError

__all__ = ["Matcher", "PatternError", "compile"]
