"""Canonical JSON: one text for one value (section 9.4), and its digest.

Keys are sorted by code point, nothing is between the tokens, and characters stand for themselves except `"`, the
backslash and controls (E-36). The writer keeps its own stack, because matchers nest deeper than any call stack.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

SCALAR = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> str:
    """Plain data as canonical JSON. Raises `ValueError` for a number that JSON has not.

    >>> canonical({"b": [1, "é", None], "a": {}})
    '{"a":{},"b":[1,"é",null]}'
    """
    parts: list[str] = []
    stack: list[tuple[str, Iterator[tuple[str, Any]]]] = [("", iter([("", value)]))]
    while stack:
        end, entries = stack[-1]
        for lead, one in entries:
            parts.append(lead)
            if isinstance(one, dict):
                parts.append("{")
                stack.append(("}", _members(one)))
                break
            if isinstance(one, list):
                parts.append("[")
                stack.append(("]", _items(one)))
                break
            parts.append(SCALAR.encode(one))
        else:
            stack.pop()
            parts.append(end)
    return "".join(parts)


def digest(text: str) -> str:
    """The SHA-256 of a text in UTF-8: lower-case hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _members(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for index, key in enumerate(sorted(record)):
        yield f"{',' if index else ''}{SCALAR.encode(key)}:", record[key]


def _items(items: list[Any]) -> Iterator[tuple[str, Any]]:
    for index, item in enumerate(items):
        yield "," if index else "", item
