"""Checks that builtins make of their arguments (builtins.md sections 1.3 and 2.5).

The type checker rules most of these failures out; host values and the payload of a variant may bypass it.
"""

from __future__ import annotations

from chatml.values.model import BuiltinFailure, Value

FIELD_TYPES: dict[type, str] = {str: "a string", list: "an array", tuple: "json"}
TAGS = frozenset({"Null", "Bool", "Number", "String", "Array", "Object"})


def expected(*kinds: str) -> BuiltinFailure:
    """The failure of arguments that are not of these types.

    >>> str(expected("string", "int"))
    'expected the arguments (string, int)'
    """
    return BuiltinFailure(f"expected the arguments ({', '.join(kinds)})")


def check_range(start: int, count: int, length: int) -> None:
    """Refuse a piece that does not lie within a string or an array."""
    if start < 0 or count < 0:
        raise BuiltinFailure(f"start and length must be non-negative, not {start} and {count}")
    if start > length or start + count > length:
        raise BuiltinFailure(f"{count} elements from {start} are out of bounds of a length of {length}")


def check_index(index: int, array: list[Value]) -> None:
    """Refuse an index that is not one of an array's."""
    if not 0 <= index < len(array):
        raise BuiltinFailure(f"index {index} is out of bounds of an array of length {len(array)}")


def is_json(value: Value) -> bool:
    """Whether a value has a tag of the type `json`. What it holds is looked at by those who use it."""
    return type(value) is tuple and bool(value) and value[0] in TAGS


def entry_key(entry: Value) -> str:
    """The key of an entry of a JSON object or of a table, after a look at the entry's shape."""
    if type(entry) is not dict or type(entry.get("key")) is not str or "value" not in entry:
        raise BuiltinFailure("expected an entry: a record { key : string; value }")
    key: str = entry["key"]
    return key


def is_some(option: Value) -> bool:
    """Whether an option is a `Some`; a variant of another shape is refused."""
    if type(option) is tuple:
        if len(option) == 2 and option[0] == "Some":
            return True
        if len(option) == 1 and option[0] == "None":
            return False
    raise BuiltinFailure("expected an option: `None, or `Some with one value")


def read_field(value: Value, owner: str, name: str, kind: type) -> Value:
    """A field of a record that a host built; `kind` is the Python type of the field, `tuple` for `json`."""
    if type(value) is not dict:
        raise BuiltinFailure(f"expected a record of type `{owner}`")
    if name not in value:
        raise BuiltinFailure(f"the {owner} has no field `{name}`")
    field = value[name]
    if type(field) is not kind or (kind is tuple and not is_json(field)):
        raise BuiltinFailure(f"the field `{name}` of the {owner} must be {FIELD_TYPES[kind]}")
    return field
