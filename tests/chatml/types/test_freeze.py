"""Copies for reports and contracts: each type its own, whatever became of the types before it."""

from __future__ import annotations

from chatml.types.freeze import Freezer
from chatml.types.model import Extend, Record, Unknown
from chatml.types.show import show


def test_a_copy_is_of_its_own_type() -> None:
    """A freezer that outlives what it has copied never takes a new type for an old one."""
    freezer = Freezer()
    labels = [f"x{number}" for number in range(200)]
    copies = [freezer.freeze(Record(Extend({label: Unknown(1)}, Unknown(1)))) for label in labels]
    assert [label for label, copy in zip(labels, copies, strict=True) if label not in show(copy)] == []
