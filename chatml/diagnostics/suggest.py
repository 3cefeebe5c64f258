"""Near names: what a misspelt one may have been meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near(name: str, known: Iterable[str], *, most: int = 2) -> list[str]:
    """The known names that are close to a name, closest first.

    >>> near("lenght", ["length", "print", "fail"])
    ['length']
    """
    by_lower: dict[str, str] = {}
    for candidate in known:
        by_lower.setdefault(candidate.lower(), candidate)
    close = difflib.get_close_matches(name.lower(), by_lower, n=most, cutoff=0.7)
    return [by_lower[lower] for lower in close if by_lower[lower] != name]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A sentence that offers the near names, or None.

    >>> did_you_mean("pritn", ["print", "fail"])
    'did you mean `print`?'
    """
    names = near(name, known)
    return f"did you mean {' or '.join(f'`{candidate}`' for candidate in names)}?" if names else None
