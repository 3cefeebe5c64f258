"""The white space of nr-chat and of JSON5: 25 characters, and not Python's set (nrchat.md Appendix B).

`str.strip()`, `str.isspace()` and `\\s` know U+001C to U+001F and U+0085, which count as text here, and do
not know U+FEFF, which is white space here.
"""

from __future__ import annotations

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""Every white-space character, fit for `str.strip` and for a character class of a regular expression."""
