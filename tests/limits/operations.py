"""Counting what a computation does: figures that no busy machine changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

Data = TypeVar("Data")


def operations(action: Callable[[], object]) -> int:
    """How many lines an action runs and how many functions of C it calls."""
    count = 0

    def on_line(frame: FrameType, event: str, argument: object) -> object:
        nonlocal count
        count += 1
        return on_line

    def on_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "c_call"

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(on_line)  # type: ignore[arg-type]
    sys.setprofile(on_call)
    try:
        action()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return count


def growth(make: Callable[[int], Data], act: Callable[[Data], object], size: int) -> float:
    """How many times the operations of an action grow when its data become ten times as large: 10 is linear."""
    small, large = make(size), make(10 * size)
    return operations(lambda: act(large)) / operations(lambda: act(small))


def test_operations_are_counted() -> None:
    def act(data: list[int]) -> list[int]:
        return [one for one in data if max(data)]

    assert 9 < growth(lambda size: list(range(size)), lambda data: [one for one in data if one.bit_length()], 50) < 11
    assert operations(lambda: None) < 10 < operations(lambda: act([1] * 10))
