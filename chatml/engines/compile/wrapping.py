"""The test that every result of `+`, `-` and `*` has to pass that may leave the range of an int."""

from __future__ import annotations

import ast

from chatml.engines.compile.python import both, compare, const, either, keep, name
from chatml.engines.compile.ranges import Range
from chatml.values.model import INT_MAX, INT_MIN

SMALL = 2**30 - 1
"""CPython compares ints up to this in half the time: most results are recognized as fine by it alone."""


def outside(variable: str, range: Range, value: ast.expr | None = None) -> ast.expr:
    """Whether an int of a range lies beyond an int's; `value`, if given, is put into the variable first."""
    low, high = range
    checks: list[tuple[ast.cmpop, int, int]] = []
    if high > INT_MAX:
        checks.append((ast.Gt(), SMALL, INT_MAX))
    if low < INT_MIN:
        checks.append((ast.Lt(), -SMALL, INT_MIN))
    unusual = [compare(name(variable), op, const(end)) for op, end, _ in checks]
    beyond = [compare(name(variable), op, const(end)) for op, _, end in checks]
    if value is not None:
        unusual[0].left = keep(variable, value)
    return both([either(unusual), either(beyond)])
