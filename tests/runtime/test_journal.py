"""The journal: what a run has overwritten can be put back (X-20)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatml.values.journal import Journal
from chatml.values.model import Ref

WRITES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers()), max_size=30)


def containers() -> list[list[int] | Ref]:
    return [[1, 2, 3], [4, 5, 6], [7, 8, 9], Ref(1), Ref(2), Ref(3)]


def contents(of: list[list[int] | Ref]) -> list[object]:
    return [c.content if isinstance(c, Ref) else list(c) for c in of]


def write(journal: Journal, to: list[list[int] | Ref], writes: list[tuple[int, int, int]]) -> None:
    for which, index, value in writes:
        container = to[which]
        journal.record(container)
        if isinstance(container, Ref):
            container.content = value
        else:
            container[index] = value


@given(WRITES)
def test_undo_restores_everything(writes: list[tuple[int, int, int]]) -> None:
    """After any writes, undo gives every container its content from before the first of them."""
    all_of_them, journal = containers(), Journal()
    write(journal, all_of_them, writes)
    journal.undo()
    assert contents(all_of_them) == contents(containers())


@given(WRITES, WRITES)
def test_put_away_and_bring_back(first: list[tuple[int, int, int]], second: list[tuple[int, int, int]]) -> None:
    """Between put_away and bring_back the old contents show; after it the new ones, and undo works as ever."""
    all_of_them, plain, journal = containers(), containers(), Journal()
    write(journal, all_of_them, first)
    journal.put_away()
    assert contents(all_of_them) == contents(containers())
    journal.bring_back()
    write(Journal(), plain, first)
    assert contents(all_of_them) == contents(plain)
    write(journal, all_of_them, second)
    journal.undo()
    assert contents(all_of_them) == contents(containers())


def test_cost_is_one_copy_per_container() -> None:
    """However often a container is written, it is saved once; what is not written is not saved."""
    numbers, journal = list(range(1000)), Journal()
    for value in range(5000):
        journal.record(numbers)
        numbers[value % 1000] = value
    assert len(journal) == 1
    assert len(Journal()) == 0
