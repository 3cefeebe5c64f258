"""Random values of the language."""

from __future__ import annotations

from hypothesis import strategies as st

from chatml.values.model import INT_MAX, INT_MIN, Value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LABELS = st.from_regex(r"[a-z_][A-Za-z0-9_]{0,4}", fullmatch=True)
TAGS = st.from_regex(r"[A-Za-z0-9_]{1,4}", fullmatch=True)
INTS = st.integers(INT_MIN, INT_MAX)
SCALARS = st.none() | st.booleans() | INTS | st.floats() | TEXTS


def _variants(args: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.tuples(TAGS, st.lists(args, max_size=3)).map(lambda pair: (pair[0], *pair[1]))


def _containers(parts: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.lists(parts, max_size=4) | st.dictionaries(LABELS, parts, max_size=4) | _variants(parts)


DATA = st.recursive(SCALARS, _containers, max_leaves=20)
"""Values that are nothing but data."""

JSON_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.just(("Null",))
    | st.booleans().map(lambda truth: ("Bool", truth))
    | JSON_NUMBERS.map(lambda number: ("Number", number))
    | TEXTS.map(lambda text: ("String", text)),
    lambda parts: (
        st.lists(parts, max_size=4).map(lambda items: ("Array", items))
        | st.lists(st.builds(lambda key, value: {"key": key, "value": value}, TEXTS, parts), max_size=4).map(
            lambda entries: ("Object", entries)
        )
    ),
    max_leaves=20,
)
"""Values of the type `json`, repeated keys included."""

JSON_DATA = st.recursive(
    st.none() | st.booleans() | JSON_NUMBERS | st.integers(-(2**53), 2**53) | TEXTS,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(TEXTS, parts, max_size=4),
    max_leaves=20,
)
"""JSON data as Python's `json` module reads it."""
