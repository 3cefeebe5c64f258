"""Equality of values (language.md section 5.4)."""

from __future__ import annotations

from collections.abc import Callable

from chatml.values.model import Value

ATOMS = frozenset({int, float, bool, str, type(None)})
MANY = 4096


def equal(left: Value, right: Value, charge: Callable[[int], None] | None = None) -> bool:
    """Whether two values are equal: data by content, everything else by identity, different kinds never.

    Takes values of any depth, and time that sharing does not multiply. A running script passes its `Machine.charge`,
    which is told of the parts that were looked at.

    >>> equal(("Some", {"a": 1}), ("Some", {"a": 1})), equal(True, 1), equal([1], [1])
    (True, False, False)
    """
    kind = type(left)
    if kind is not type(right):
        return False
    if kind in ATOMS:
        return bool(left == right)
    if kind is tuple or kind is dict:
        return _equal_parts(left, right, charge)
    return left is right


def _equal_parts(left: Value, right: Value, charge: Callable[[int], None] | None) -> bool:
    """One unequal pair decides. So pairs are taken to be equal as soon as they are on the list, and of values that
    follow from each other, such as a and c when a and b, and b and c are on it, no more are put there."""
    todo = [(left, right)]
    classes: Classes | None = None
    parts = 0
    while todo:
        left, right = todo.pop()
        kind = type(left)
        if kind is not type(right):
            return False
        if kind in ATOMS:
            if left != right:
                return False
            continue
        if kind is not tuple and kind is not dict:
            if left is not right:
                return False
            continue
        if len(left) != len(right):
            return False
        if classes is not None and not classes.unite(left, right):
            continue
        parts += len(left)
        if parts > MANY:
            if charge is not None:
                charge(parts)
            parts, classes = 0, classes or Classes()
        if kind is tuple:
            todo.extend(zip(left, right, strict=True))
        else:
            for label, value in left.items():
                if label not in right:
                    return False
                todo.append((value, right[label]))
    if charge is not None:
        charge(parts)
    return True


class Classes:
    """Values that are taken to be equal, as a forest: each points to another of its class, a root to itself."""

    def __init__(self) -> None:
        self.parents: dict[int, int] = {}

    def unite(self, left: Value, right: Value) -> bool:
        """Take two values to be equal; whether that is news.

        A value that holds a NaN does not even equal itself. So that a value does is news until its parts were
        compared, with its own or with another's.
        """
        one, two = id(left), id(right)
        if one == two:
            known = one in self.parents
            self.parents.setdefault(one, one)
            return not known
        one, two = self.root(one), self.root(two)
        self.parents[one] = two
        return one != two

    def root(self, value: int) -> int:
        parents = self.parents
        parent = parents.setdefault(value, value)
        while parent != value:
            above = parents[parent]
            parents[value] = above
            value, parent = above, parents[above]
        return value
