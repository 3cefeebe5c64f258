"""Snapshots of format 1, which are only read: one object a value, inside each other (language.md section 5.10).

```text
int 3          {"int": 3}                        array     {"array": [v, ..]}
float 1.5      {"float": 1.5}, {"float": "nan"}  record    {"record": [["a", v], ..]}, ascending labels
bool, string   {"bool": true}, {"string": "x"}   variant   {"variant": ["Tag", [v, ..]]}
unit           {"unit": true}
```

Stored sessions are full of them. What is written is flat: `chatml.border.snapshot`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from chatml.diagnostics.errors import SnapshotError
from chatml.values.model import INT_MAX, INT_MIN, Value
from chatml.values.surrogates import surrogate_problem
from chatml.values.walk import MOST_PARTS, Rebuild

NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def decode_nested(snapshot: Any) -> Value:
    """The value of a snapshot of format 1, with fresh arrays.

    Raises `SnapshotError` with the path of the first part that is not a snapshot: another shape, a record with a label
    twice, an int beyond 63 bits, a string with a lone surrogate.

    >>> decode_nested({"variant": ["Some", [{"record": [["n", {"int": 3}]]}]]})
    ('Some', {'n': 3})
    """
    return _Decoder(snapshot).run()


def read_float(content: Any) -> float | None:
    """The float that a snapshot holds as a number or a name; None if it is none.

    Some stores rewrite `1.0` as `1`, so an integer is taken where a double is exactly it.

    >>> read_float("-inf"), read_float(1), read_float(2**60 + 1)
    (-inf, 1.0, None)
    """
    if type(content) is float and math.isfinite(content):
        return content
    if type(content) is str:
        return NON_FINITE.get(content)
    if type(content) is int and abs(content) <= 2**1000 and int(float(content)) == content:
        return float(content)
    return None


class _Decoder(Rebuild):
    most = 8 * MOST_PARTS  # A variant, the largest form, has eight parts for each of its value's.

    def error(self, message: str) -> Exception:
        return SnapshotError(message)

    def convert(self, value: Any) -> Value:
        if type(value) is not dict or len(value) != 1:
            raise self.failure("expected an object with exactly one key, the kind of the value, in ChatML snapshot")
        ((kind, content),) = value.items()
        read = READERS.get(kind)
        if read is None:
            raise self.failure(f"unknown kind `{kind}` in ChatML snapshot; the kinds are {', '.join(READERS)}")
        return read(self, content)

    def shape(self, kind: str, wanted: str) -> Exception:
        return self.failure(f"the content of `{kind}` must be {wanted} in ChatML snapshot")

    def integer(self, content: Any) -> Value:
        if type(content) is not int:
            raise self.shape("int", "an integer")
        if not INT_MIN <= content <= INT_MAX:
            raise self.shape("int", f"between {INT_MIN} and {INT_MAX}")
        return content

    def number(self, content: Any) -> Value:
        number = read_float(content)
        if number is None:
            raise self.shape("float", 'a number, "nan", "inf" or "-inf"')
        return number

    def boolean(self, content: Any) -> Value:
        if type(content) is not bool:
            raise self.shape("bool", "true or false")
        return content

    def string(self, content: Any) -> Value:
        return self.text("string", content)

    def text(self, kind: str, content: Any) -> str:
        if type(content) is not str:
            raise self.shape(kind, "a string")
        problem = surrogate_problem(content)
        if problem is not None:
            raise self.failure(f"{problem} in ChatML snapshot")
        return content

    def unit(self, content: Any) -> Value:
        if content is not True:
            raise self.shape("unit", "true")

    def array(self, content: Any) -> Value:
        if type(content) is not list:
            raise self.shape("array", "an array")
        return self.items(content)

    def record(self, content: Any) -> Value:
        if type(content) is not list:
            raise self.shape("record", "an array of pairs")
        seen = set()
        for pair in content:
            if type(pair) is not list or len(pair) != 2:
                raise self.shape("record", "an array of pairs")
            label = self.text("record", pair[0])
            if label in seen:
                raise self.failure(f'duplicate record field "{label}" in ChatML snapshot')
            seen.add(label)
        return self.fields(content)

    def tagged(self, content: Any) -> Value:
        match content:
            case [tag, list(args)] if type(content) is list:
                return self.variant(self.text("variant", tag), args)
        raise self.shape("variant", "a tag and an array of arguments")


READERS: dict[str, Callable[[_Decoder, Any], Value]] = {
    "int": _Decoder.integer,
    "float": _Decoder.number,
    "bool": _Decoder.boolean,
    "string": _Decoder.string,
    "unit": _Decoder.unit,
    "array": _Decoder.array,
    "record": _Decoder.record,
    "variant": _Decoder.tagged,
}
