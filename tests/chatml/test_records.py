"""Records: what their classes can do, in either kind."""

from __future__ import annotations

import copy
import pickle
import weakref

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.records import contents, evolve, fields, frozen, mutable, node


@frozen
class Point:
    x: int
    y: int = 0

    def moved(self) -> Point:
        return evolve(self, x=self.x + 1)


@frozen
class Named(Point):
    name: str = "origin"


@attrs.frozen
class Model:
    x: int
    y: int = 0


@node
class Leaf:
    value: object


@mutable
class Counter:
    count: int = 0


@frozen
class Nothing:
    """No fields at all."""


def test_arguments_go_to_their_fields_by_place_or_name() -> None:
    assert [contents(point) for point in (Point(1), Point(1, 2), Point(y=2, x=1))] == [(1, 0), (1, 2), (1, 2)]
    assert contents(Named(1)) == (1, 0, "origin")
    assert fields(Named(1)) == Named.__match_args__ == ("x", "y", "name")


@pytest.mark.parametrize(("arguments", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"x": 1})])
def test_other_arguments_are_refused(arguments: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\)"):
        Point(*arguments, **named)


@given(st.tuples(st.integers(0, 2), st.integers(0, 2)), st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_values_compare_like_those_of_attrs(left: tuple[int, int], right: tuple[int, int]) -> None:
    """Records are equal, hash alike and look like the same records made by attrs."""
    assert (Point(*left) == Point(*right)) == (Model(*left) == Model(*right))
    assert len({Point(*left), Point(*right)}) == len({Model(*left), Model(*right)})
    assert repr(Point(*left)) == repr(Model(*left)).replace("Model", "Point")


def test_a_record_equals_none_of_another_class() -> None:
    assert Point(1) != Named(1)
    assert Point(1) != object()
    assert Nothing() == Nothing()


def test_nodes_and_mutable_records_compare_by_identity() -> None:
    for made in (Leaf(1), Counter(1)):
        same = copy.copy(made)
        assert (made == same, made == made, len({made, same}), contents(same)) == (False, True, 2, contents(made))


@pytest.mark.parametrize("record", [Point(1), Leaf(1), Named(1)], ids=lambda record: type(record).__name__)
def test_frozen_records_cannot_change(record: Point | Leaf) -> None:
    name = fields(record)[0]
    with pytest.raises(AttributeError, match=f"a {type(record).__name__} is frozen: its {name} cannot change"):
        setattr(record, name, 2)
    with pytest.raises(AttributeError, match="is frozen"):
        delattr(record, name)


def test_no_record_takes_other_attributes() -> None:
    counter = Counter()
    counter.count += 1
    assert counter.count == 1
    with pytest.raises(AttributeError):
        object.__setattr__(counter, "other", 1)
    assert not hasattr(Point(1), "__dict__")


def test_records_for_hosts_can_be_held_weakly() -> None:
    for point in (Point(1), Named(1)):
        assert weakref.ref(point)() is point
    with pytest.raises(TypeError):
        weakref.ref(Leaf(1))


def test_copies_and_pickles_hold_the_same() -> None:
    point = Named(1, 2, "here")
    assert point.moved() == Named(2, 2, "here")
    for made in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert made == point
        assert made is not point
