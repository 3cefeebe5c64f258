"""Files of JSON that decide about trust, read strictly: every field known, of its type, and there once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LARGEST = 1 << 20
OPTIONAL = "?"
"""Ends the name of a field that may be missing or null."""

Fields = Mapping[str, Any]
"""The type of each field, or several types that it may have."""


def read_json(path: str) -> Any:
    """The JSON value of a file. Raises `OSError`, or `ValueError` with the reason."""
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def check_fields(record: Any, fields: Fields, what: str) -> dict[str, Any]:
    """A record whose fields are exactly these; what is optional and missing is None. Raises `ValueError`.

    >>> check_fields({"id": "a"}, {"id": str, "note?": str}, "an entry")
    {'id': 'a', 'note': None}
    """
    if not isinstance(record, dict):
        raise ValueError(f"{what} is not an object")
    known = {name.removesuffix(OPTIONAL): kind for name, kind in fields.items()}
    strange = record.keys() - known.keys()
    if strange:
        raise ValueError(f"{what} has no field `{min(strange)}`")
    checked = {}
    for name, kind in fields.items():
        plain = name.removesuffix(OPTIONAL)
        value = record.get(plain)
        if not (value is None and plain != name) and (
            not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
        ):
            raise ValueError(f"`{plain}` of {what} is missing or of the wrong type")
        checked[plain] = value
    return checked


def check_texts(value: Any, what: str) -> tuple[str, ...]:
    """A list of texts; none for None. Raises `ValueError`."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{what} is not an array of texts")
    return tuple(value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once each: of two, a reader and a writer might mean different ones."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key is there twice")
    return record
