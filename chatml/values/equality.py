"""Equality of values (language.md section 5.4)."""

from __future__ import annotations

from chatml.values.model import Value

ATOMS = frozenset({int, float, bool, str, type(None)})
MANY = 4096


def equal(left: Value, right: Value) -> bool:
    """Whether two values are equal: data by content, everything else by identity, different kinds never.

    Takes values of any depth, and time that sharing does not multiply.

    >>> equal(("Some", {"a": 1}), ("Some", {"a": 1})), equal(True, 1), equal([1], [1])
    (True, False, False)
    """
    kind = type(left)
    if kind is not type(right):
        return False
    if kind in ATOMS:
        return bool(left == right)
    if kind is tuple or kind is dict:
        return _equal_parts(left, right)
    return left is right


def _equal_parts(left: Value, right: Value) -> bool:
    todo = [(left, right)]
    compared: set[tuple[int, int]] = set()
    count = 0
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
        count += 1
        if count > MANY:
            # One unequal pair decides, so a pair that was already put on the list need not be compared again.
            pair = (id(left), id(right))
            if pair in compared:
                continue
            compared.add(pair)
        if len(left) != len(right):
            return False
        if kind is tuple:
            todo.extend(zip(left, right, strict=True))
        else:
            for label, value in left.items():
                if label not in right:
                    return False
                todo.append((value, right[label]))
    return True
