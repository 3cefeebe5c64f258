"""Digests of data: equal data have equal ones, whoever wrote the text (live.md sections D.1 and D.2)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

PART, TEXT = True, False


def canonical_json(data: Any) -> str:
    """JSON data as the one text that all equal data have: sorted keys, no blanks, integers as they stand.

    Data may be as deep as they like; numbers that JSON does not have are a `ValueError`.

    >>> canonical_json({"b": [1, 2.5, None], "a": "ä"})
    '{"a":"ä","b":[1,2.5,null]}'
    """
    written: list[str] = []
    waiting: list[tuple[bool, Any]] = [(PART, data)]
    while waiting:
        is_part, part = waiting.pop()
        if is_part is TEXT:
            written.append(part)
        elif isinstance(part, dict):
            waiting.append((TEXT, "}"))
            for index, key in reversed(list(enumerate(sorted(part)))):
                waiting += [(PART, part[key]), (TEXT, f"{',' if index else ''}{scalar(key)}:")]
            written.append("{")
        elif isinstance(part, (list, tuple)):
            waiting.append((TEXT, "]"))
            for index in range(len(part) - 1, -1, -1):
                waiting += [(PART, part[index]), (TEXT, "," if index else "")]
            written.append("[")
        else:
            written.append(scalar(part))
    return "".join(written)


def scalar(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False, allow_nan=False)


def digest(data: Any) -> str:
    """The SHA-256 of data as lower-case hexadecimal digits.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical_json(data).encode("utf-8", "surrogatepass")).hexdigest()
