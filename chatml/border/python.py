"""Crossing between Python and the language, as data and as JSON (runtime.md section 2.1, X-01, X-02).

| Python | value |
| --- | --- |
| `None`, `bool`, `int`, `float`, `str` | unit, bool, int, float, string |
| `list` | array |
| `dict` from label to item | record |
| `tuple` of a tag and arguments, `("Some", 1)` | variant |

JSON data has its own form in the language, the type `json`: `from_json` and `to_json` convert that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from chatml.diagnostics.errors import BoundaryError
from chatml.values.failures import describe
from chatml.values.model import INT_MAX, INT_MIN, ModuleValue, Ref, Task, Value, is_function
from chatml.values.surrogates import surrogate_problem
from chatml.values.walk import MANY_PARTS, Rebuild, Watch

TAG = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
LABEL = re.compile(r"[a-z_][A-Za-z0-9_]*", re.ASCII)
SCALARS = frozenset((type(None), bool, int, float, str))
"""What is the same in the language and in Python."""
OPAQUE = (Ref, ModuleValue, Task)
WHOLE = 1e16
"""Below this magnitude `repr` writes a float with an integral value without exponent."""

EXPECTED_JSON = "expected Json.t (`Null/`Bool/`Number/`String/`Array/`Object)"
NULL, TRUE, FALSE = ("Null",), ("Bool", True), ("Bool", False)


def from_python(data: Any) -> Value:
    """The value that Python data stands for; lists and dicts are copied. Values that have no Python counterpart
    (refs, functions, modules, tasks) pass as they are.

    Raises `BoundaryError` with the path of the first part that the language cannot hold: an integer beyond 63 bits,
    a string with a lone surrogate, a label or tag that no script could write, an object of another type.

    >>> from_python({"name": "x", "state": ("Waiting", 3)})
    {'name': 'x', 'state': ('Waiting', 3)}
    """
    return FromPython(data).run()


def to_python(value: Value) -> Any:
    """The Python data that a value stands for; arrays and records are copied, so the script and its host share nothing.

    Raises `BoundaryError` with the path of the first part that is not data: a ref, a function, a module, a task.

    >>> to_python({"xs": [1, 2], "on": ("Some", True)})
    {'xs': [1, 2], 'on': ('Some', True)}
    """
    if type(value) in SCALARS or (type(value) is tuple and all(type(part) in SCALARS for part in value)):
        return value
    return ToPython(value).run()


class FromPython(Rebuild):
    kept = frozenset((type(None), bool, float))

    def error(self, message: str) -> Exception:
        return BoundaryError(message)

    def convert(self, value: Any) -> Value:
        if value is None or value is True or value is False or type(value) is float:
            return value
        if isinstance(value, OPAQUE) or is_function(value):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int):
            if not INT_MIN <= value <= INT_MAX:
                raise self.failure(f"integers lie between {INT_MIN} and {INT_MAX}, so they cannot hold {short(value)}")
            return int(value)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, list):
            return self.items(value)
        if isinstance(value, dict):
            return self.fields([(self.label(key), field) for key, field in value.items()])
        if isinstance(value, tuple):
            return self.tuple(value)
        raise self.failure(
            f"a Python `{type(value).__name__}` has no counterpart in the language; "
            "it takes None, bool, int, float, str, lists, dicts and (tag, argument ...) tuples"
        )

    def later(self, value: Any, target: Any, key: Any, pattern: str, name: object) -> None:
        kind = type(value)
        if (kind is str and value.isascii()) or (kind is int and INT_MIN <= value <= INT_MAX):
            target[key] = value
        else:
            super().later(value, target, key, pattern, name)

    def is_kept(self, values: Sequence[Any]) -> bool:
        kinds = set(map(type, values))
        if kinds == {int}:
            return all(INT_MIN <= bound <= INT_MAX for bound in (min(values), max(values)))
        return kinds <= self.kept or (kinds == {str} and all(map(str.isascii, values)))

    def text(self, text: str) -> str:
        problem = surrogate_problem(text)
        if problem is not None:
            raise self.failure(problem)
        return str.__str__(text)

    def label(self, key: Any) -> str:
        if not isinstance(key, str) or not LABEL.fullmatch(key):
            raise self.failure(
                f"{short(key)} cannot be the label of a record; "
                "a label is a lower-case letter or `_`, then letters, digits and `_` (or use `from_json` for JSON data)"
            )
        return str.__str__(key)

    def tuple(self, items: tuple[Any, ...]) -> None:
        if not items or not isinstance(items[0], str) or not TAG.fullmatch(items[0]):
            raise self.failure("a tuple is a variant, so its first item must be a tag of letters, digits and `_`")
        self.variant(str.__str__(items[0]), items[1:])


class ToPython(Rebuild):
    kept = SCALARS

    def error(self, message: str) -> Exception:
        return BoundaryError(message)

    def convert(self, value: Value) -> Any:
        kind = type(value)
        if kind is list:
            return self.items(value)
        if kind is dict:
            return self.fields(value.items())
        if kind is tuple:
            return self.variant(value[0], value[1:])
        if value is None or kind in (bool, int, float, str):
            return value
        raise self.failure(f"{describe(value)} is not data, so it has no Python counterpart")


def short(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 64:  # Python refuses to write out a really large one
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value)
    except Exception:  # a host's own, or one of too deep a tuple
        text = f"a Python `{type(value).__name__}`"
    return text if len(text) <= 40 else f"{text[:37]}..."


def from_json(data: Any) -> Value:
    """The value of type `json` for JSON data as Python's `json` module reads it: all numbers become floats.

    Raises `BoundaryError` for a number beyond the range of a double, NaN, a lone surrogate, a key that is not a string,
    an object of another type, and data that contains itself.

    >>> from_json({"n": [1, None]})
    ('Object', [{'key': 'n', 'value': ('Array', [('Number', 1.0), ('Null',)])}])
    """
    todo: Todo = []
    result = _json_value(data, todo)
    count, watch = 0, None
    while todo:
        source, target = todo.pop()
        count += 1 + len(source)
        if count > MANY_PARTS:
            watch = watch or Watch(data, BoundaryError)
            watch.enter(source, len(todo), count)
        if isinstance(source, dict):
            for key, item in source.items():
                if not isinstance(key, str):
                    raise BoundaryError(f"JSON keys are strings, not {short(key)}")
                if type(key) is not str or not key.isascii():
                    key = _json_text(key)
                target.append({"key": key, "value": _json_value(item, todo)})
        else:
            for item in source:
                target.append(_json_value(item, todo))
    return result


def is_plain_json(data: Any) -> bool:
    """Whether data are JSON of Python's own types, as `json.loads` makes them: not all that `from_json` takes, but
    nothing that it refuses, and not too much to look at twice.

    >>> is_plain_json({"n": [1, None]}), is_plain_json({"n": (1,)})
    (True, False)
    """
    if type(data) is not dict:
        return are_plain_json([data])
    for key in data:  # In a dict of a few entries this is faster than its `items`.
        if type(key) is not str or not (key.isascii() or surrogate_problem(key) is None):
            return False
        item = data[key]
        kind = type(item)
        if kind is str:
            if not (item.isascii() or surrogate_problem(item) is None):
                return False
        elif kind is int:
            if not INT_MIN <= item <= INT_MAX:
                return False
        elif not (kind is bool or item is None or are_plain_json([item])):
            return False
    return True


def are_plain_json(todo: list[Any]) -> bool:
    """The same for several data, of any depth."""
    for data in todo:
        kind = type(data)
        if kind is dict or kind is list:
            if len(todo) > MOST_ITEMS:
                return False
            todo += data
            if kind is dict:
                todo += data.values()
                if any(type(key) is not str for key in data):
                    return False
        elif kind is str:
            if surrogate_problem(data) is not None:
                return False
        elif kind is int:
            if not INT_MIN <= data <= INT_MAX:
                return False
        elif not (kind is bool or data is None or (kind is float and math.isfinite(data))):
            return False
    return True


MOST_ITEMS = 10_000
"""So much is looked at before a look shows that data do not fit."""

Todo = list[tuple[Any, Any]]
"""Containers whose parts are still to be converted, each with the container that takes them."""


def _json_value(data: Any, todo: Todo) -> Value:
    kind = type(data)
    if kind is str and data.isascii():
        return ("String", data)
    if kind is int and INT_MIN <= data <= INT_MAX:
        return ("Number", float(data))
    if data is None:
        return NULL
    if isinstance(data, str):
        return ("String", _json_text(data))
    if isinstance(data, bool):
        return TRUE if data else FALSE
    if isinstance(data, int | float):
        return ("Number", _json_number(data))
    target: list[Value] = []
    if isinstance(data, dict):
        todo.append((data, target))
        return ("Object", target)
    if isinstance(data, list | tuple):
        todo.append((data, target))
        return ("Array", target)
    raise BoundaryError(f"a Python `{type(data).__name__}` is not JSON data")


def _json_text(text: str) -> str:
    problem = surrogate_problem(text)
    if problem is not None:
        raise BoundaryError(problem)
    return str.__str__(text)


def _json_number(number: int | float) -> float:
    try:
        result = float(number)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise BoundaryError(f"{short(number)} is not the number of a JSON value: those are finite doubles")
    return result


def to_json(value: Value) -> Any:
    """The JSON data, as Python's `json` module takes it, of a value of type `json`.

    A number with an integral value becomes an `int` where JSON text shows it as one. Of entries with the same key the
    first counts, as it does for `Json.get_field`.

    Raises `BoundaryError` for a value that is not of type `json`, NaN, infinities, and a value that contains itself.

    >>> to_json(("Array", [("Number", 1.0), ("Number", 2.5), ("String", "x")]))
    [1, 2.5, 'x']
    """
    todo: Todo = []
    result = _plain(value, todo)
    count, watch = 0, None
    while todo:
        source, target = todo.pop()
        count += 1 + len(source)
        if count > MANY_PARTS:
            watch = watch or Watch(value, BoundaryError)
            watch.enter(source, len(todo), count)
        if type(target) is list:
            for item in source:
                target.append(_plain(item, todo))
        else:
            for entry in source:
                key, item = _read_entry(entry)
                if key not in target:
                    target[key] = _plain(item, todo)
    return result


def _plain(value: Value, todo: Todo) -> Any:
    if type(value) is tuple and len(value) == 2:
        tag, content = value
        kind = type(content)
        if tag == "String" and kind is str:
            return content
        if tag == "Number" and kind is float:
            return _plain_number(content)
        if tag == "Bool" and kind is bool:
            return content
        if kind is list and (tag == "Array" or tag == "Object"):
            target: Any = [] if tag == "Array" else {}
            todo.append((content, target))
            return target
    elif type(value) is tuple and len(value) == 1 and value[0] == "Null":
        return None
    raise BoundaryError(EXPECTED_JSON)


def _plain_number(number: float) -> int | float:
    """A JSON number as the Python number that `json.dumps` writes the same way as `Json.stringify`."""
    if not math.isfinite(number):
        raise BoundaryError(f"JSON has no number {number}")
    return int(number) if number.is_integer() and abs(number) < WHOLE else number


def _read_entry(entry: Value) -> tuple[str, Value]:
    """The key and the value of an entry of a JSON object."""
    if type(entry) is not dict:
        raise BoundaryError("JSON object entry: expected record")
    if "key" not in entry:
        raise BoundaryError("JSON object entry: missing field 'key'")
    if type(entry["key"]) is not str:
        raise BoundaryError("JSON object entry field 'key': expected string")
    if "value" not in entry:
        raise BoundaryError("JSON object entry: missing field 'value'")
    return entry["key"], entry["value"]
