"""Which characters may stand in a bare key (nrchat.md J4 and Appendix B).

This is ECMAScript's ID_Start and ID_Continue, spelled with general categories. `str.isidentifier` is another
set.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"})
MARKS_AND_DIGITS = frozenset({"Mn", "Mc", "Nd", "Pc"})

STARTS = frozenset("$_\u1885\u1886\u2118\u212e\u309b\u309c")
"""Characters that may begin a key although their category does not say so."""

PARTS = STARTS | frozenset("\u200c\u200d\u00b7\u0387\u19da\u30fb\uff65") | frozenset(map(chr, range(0x1369, 0x1372)))
"""Characters that may continue a key although their category does not say so."""

NEITHER = "\u2e2f"
"""A letter by category that Unicode keeps out of identifiers."""


@lru_cache(maxsize=4096)
def is_start(character: str) -> bool:
    """Whether a bare key may begin with the character.

    >>> is_start("é"), is_start("1")
    (True, False)
    """
    return character in STARTS or (unicodedata.category(character) in LETTERS and character != NEITHER)


@lru_cache(maxsize=4096)
def is_part(character: str) -> bool:
    """Whether a bare key may go on with the character.

    >>> is_part("1"), is_part("-")
    (True, False)
    """
    return character in PARTS or is_start(character) or unicodedata.category(character) in MARKS_AND_DIGITS
