"""The tours show what every phase makes of a program; `--update` makes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chatml.tours import TOURS, remake

PATHS = sorted(TOURS.glob("*.md"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_tour(path: Path, update: bool) -> None:
    made = remake(path)
    if update:
        path.write_text(made, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made


def test_there_are_tours() -> None:
    assert len(PATHS) >= 30
