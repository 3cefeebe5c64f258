"""Sets of characters: ranges of code points in order that neither touch nor overlap, `((65, 90), (97, 122))`."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from itertools import chain

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
ANY: Ranges = ((0, LAST),)
NEWLINE: Ranges = ((10, 10),)

DIGIT: Ranges = ((48, 57),)
SPACE: Ranges = ((9, 10), (12, 13), (32, 32))
WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
PERL = {"d": DIGIT, "s": SPACE, "w": WORD}
POSIX: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": DIGIT,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}


def union(parts: Iterable[tuple[int, int]]) -> Ranges:
    """One set of any ranges.

    >>> union([(5, 9), (1, 2), (3, 4), (20, 20)])
    ((1, 9), (20, 20))
    """
    found: list[tuple[int, int]] = []
    for low, high in sorted(parts):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def negate(ranges: Ranges) -> Ranges:
    """All other characters.

    >>> negate(((0, 9), (11, 1114111)))
    ((10, 10),)
    """
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        found.append((start, LAST))
    return tuple(found)


def fold(ranges: Ranges) -> Ranges:
    """The set with all characters that differ from one of it in case only.

    >>> [chr(low) for low, high in fold(((ord("k"), ord("k")),))]
    ['K', 'k', '\u212a']
    """
    orbits = ASCII_ORBITS if not ranges or ranges[-1][1] < 128 else all_orbits()
    points = list(orbits)
    more: list[tuple[int, int]] = []
    for low, high in ranges:
        for point in points[bisect_left(points, low) : bisect_left(points, high + 1)]:
            more += orbits[point]
    return union(chain(ranges, more))


def single(point: int) -> Ranges:
    return ((point, point),)


Orbits = dict[int, Ranges]
"""Under each character that has a case the characters that differ from it in case only, by ascending code points."""

BEYOND_ASCII = {ord("K"): (0x212A,), ord("S"): (0x17F,)}
"""The sign for kelvin and the long s, which differ from letters of ASCII in case only."""
ASCII_ORBITS: Orbits = {
    point: union((other, other) for other in (point, point ^ 32, *BEYOND_ASCII.get(point & ~32, ())))
    for point in (*range(65, 91), *range(97, 123))
}
LAST_CASED = 0x1E943
SPECIAL = (0x130, 0x131)
"""The dotted and the dotless i fold in Turkish only."""
TWINS = ((0x390, 0x1FD3), (0x3B0, 0x1FE3), (0xFB05, 0xFB06))
"""Characters that fold to each other and have no single upper case."""


@cache
def all_orbits() -> Orbits:
    """The orbits of all of Unicode, by the simple mappings of single characters."""
    groups: dict[int, set[int]] = {}
    for point in range(LAST_CASED + 1):
        char = chr(point)
        for other in (char.lower(), char.upper()):
            if other != char and len(other) == 1 and point not in SPECIAL and ord(other) not in SPECIAL:
                joined = groups.get(point, {point}) | groups.get(ord(other), {ord(other)})
                groups.update(dict.fromkeys(joined, joined))
    groups |= {point: set(twins) for twins in TWINS for point in twins}
    return {point: union((other, other) for other in groups[point]) for point in sorted(groups)}


ASSIGNED = (range(0x323B0), range(0xE0000, 0xE0200), range(0xF0000, 0xF0001), range(0x100000, 0x100001))
"""Where categories are looked up one by one; the two planes for private use are of one category."""
PRIVATE = {0xF0000: 0xFFFFD, 0x100000: 0x10FFFD}


@cache
def categories() -> dict[str, Ranges]:
    """The general categories of Unicode, `Lu`, and their families, `L`."""
    found: dict[str, list[tuple[int, int]]] = {}
    for point in chain(*ASSIGNED):
        name = unicodedata.category(chr(point))
        if name != "Cn":
            runs = found.setdefault(name, [])
            if runs and runs[-1][1] == point - 1:
                runs[-1] = (runs[-1][0], point)
            else:
                runs.append((point, PRIVATE.get(point, point)))
    families: dict[str, list[tuple[int, int]]] = {}
    for name, runs in found.items():
        families.setdefault(name[0], []).extend(runs)
    return {"Any": ANY} | {name: union(runs) for name, runs in (found | families).items()}
