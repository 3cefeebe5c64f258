"""What a scenario expects, held against what its run gave: partial matches (docs/policy-tests.md).

An object matches one that has at least its keys; a list matches one of its length, element by element; anything else
matches what equals it.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

import attrs

from chatml_runtime.moderation.identities import Json
from chatml_runtime.scenario.locate import Path
from chatml_runtime.scenario.records import Ending, Record


class Absent(enum.Enum):
    """Nothing stands there: the key or the element is missing."""

    ABSENT = enum.auto()


ABSENT: Final = Absent.ABSENT


@attrs.frozen(eq=False)
class Mismatch:
    """A difference: what was expected at a path, and what was received.

    The path begins with the place in the list of expectations. `event` is the index of the record, None of the ending.
    """

    event: int | None
    path: Path
    expected: Json | Absent
    received: Json | Absent


def check_expectations(expect: Sequence[Json], records: Sequence[Record], ending: Ending) -> list[Mismatch]:
    """Where a run is not what a scenario expects: an expectation per record, and one of the ending if it is last."""
    of_records, of_ending = split_ending(expect)
    found: list[Mismatch] = []
    for index in range(max(len(of_records), len(records))):
        told = records[index].to_json() if index < len(records) else ABSENT
        found += compare(element(of_records, index), told, (index,), event=index)
    for expected in of_ending:
        found += compare(expected, ending.to_json(), (len(of_records),))
    return found


def split_ending(expect: Sequence[Json]) -> tuple[Sequence[Json], Sequence[Json]]:
    """The expectations of records, and those of the ending, of which there is one or none."""
    records = len(expect) - (len(expect) > 0 and "final" in expect[-1])
    return expect[:records], expect[records:]


def compare(
    expected: Json | Absent, received: Json | Absent, path: Path = (), *, event: int | None = None
) -> list[Mismatch]:
    """Where data is not what was expected, in the order of the expectation.

    >>> [mismatch.path for mismatch in compare([{"a": 1}, {}], [{"a": 2, "b": 3}])]
    [(0, 'a'), (1,)]
    """
    found: list[Mismatch] = []
    waiting = [(path, expected, received)]
    while waiting:
        place, wanted, given = waiting.pop()
        if isinstance(wanted, dict) and isinstance(given, dict):
            waiting += [((*place, key), part, given.get(key, ABSENT)) for key, part in reversed(wanted.items())]
        elif isinstance(wanted, list) and isinstance(given, list):
            for index in reversed(range(max(len(wanted), len(given)))):
                waiting.append(((*place, index), element(wanted, index), element(given, index)))
        elif not equal(wanted, given):
            found.append(Mismatch(event, place, wanted, given))
    return found


def element(elements: Sequence[Json], index: int) -> Json | Absent:
    return elements[index] if index < len(elements) else ABSENT


def equal(wanted: Json | Absent, given: Json | Absent) -> bool:
    """Whether two pieces are the same, of which at most one is a list or an object; `true` is not 1."""
    return isinstance(wanted, bool) == isinstance(given, bool) and bool(wanted == given)
