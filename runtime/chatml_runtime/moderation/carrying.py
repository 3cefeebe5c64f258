"""Integers of the host that a script carries over are still the same afterwards (X-53).

Scripts see JSON numbers as doubles. A script that rewrites a call mostly takes over what it does not change, and an id
such as 1234567890123456789 comes back as the double 1234567890123456768. What a script can have meant by such a number
is known: the integer of the call that it saw as that double. Where two of the call's integers look the same, the one in
the same place is meant; failing that, nobody knows, and the event fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs

from chatml_runtime.moderation.identities import Json
from chatml_runtime.script.errors import CommitRejectedError

EXACT = 2**53
"""Every integer up to here is a double of its own."""

Path: TypeAlias = tuple["Path", Any] | None
"""The keys and indexes that lead to a place, the last one first."""


def carry_integers(built: Json, given: Json, op: str) -> Json:
    """What a script has built, with the integers of what it was given in place of their doubles. Changes `built`.

    Raises `CommitRejectedError`, with the operation and the place, where several integers can be meant.

    >>> carry_integers({"id": 1234567890123456768.0, "n": 1}, {"id": 1234567890123456789}, "Tool.rewrite_args")
    {'id': 1234567890123456789, 'n': 1}
    """
    root = [built]
    large = [place for place in numbers(root, [given]) if abs(place.number) >= EXACT]
    if not large:
        return built
    meant: dict[float, set[int]] = {}
    for place in numbers([given], None):
        if type(place.number) is int and abs(place.number) >= EXACT:
            meant.setdefault(float(place.number), set()).add(place.number)
    for place in large:
        candidates = meant.get(float(place.number), set())
        if type(place.beside) is int and place.beside in candidates:
            place.container[place.key] = place.beside
        elif len(candidates) > 1:
            several = ", ".join(map(str, sorted(candidates)))
            raise CommitRejectedError(
                f"{op}: the number at {shown(place.path)} can be any of {several}, which the script cannot tell apart: "
                "leave the number where it is in the call"
            )
        elif candidates:
            (place.container[place.key],) = candidates
    return root[0]


@attrs.frozen(eq=False)
class Place:
    """A number in some data: what holds it, its key there, and what is in the same place of other data."""

    container: Any
    key: Any
    number: int | float
    beside: Json
    path: Path


def numbers(root: list[Json], other: Json) -> Iterator[Place]:
    """Every number of some data, at any depth."""
    waiting: list[tuple[Any, Json, Path]] = [(root, other, None)]
    while waiting:
        container, other, path = waiting.pop()
        is_object = isinstance(container, dict)
        for key, value in container.items() if is_object else enumerate(container):
            beside = None
            if isinstance(other, dict if is_object else list) and (key in other if is_object else key < len(other)):
                beside = other[key]
            if isinstance(value, dict | list):
                waiting.append((value, beside, (path, key)))
            elif isinstance(value, int | float) and not isinstance(value, bool):
                yield Place(container, key, value, beside, (path, key))


def shown(path: Path) -> str:
    """A path as text: `args.ids[0]`."""
    steps: list[Any] = []
    while path is not None:
        path, key = path
        steps.append(f"[{key}]" if isinstance(key, int) else f".{key}")
    return "args" + "".join(reversed(steps[:-1]))
