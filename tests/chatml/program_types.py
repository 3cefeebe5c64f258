"""The types that written programs use, and the builtins as schemes over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import attrs


@attrs.frozen
class Scalar:
    """`int`, `float`, `bool`, `string`, `unit`, and the opaque `json`."""

    name: str


@attrs.frozen
class Array:
    item: Type


@attrs.frozen
class Ref:
    content: Type


@attrs.frozen
class Record:
    """Fields in order of their labels."""

    fields: tuple[tuple[str, Type], ...]


@attrs.frozen
class Variant:
    cases: tuple[tuple[str, tuple[Type, ...]], ...]


@attrs.frozen
class Function:
    params: tuple[Type, ...]
    result: Type


@attrs.frozen
class Task:
    result: Type


@attrs.frozen
class Hole:
    """A type variable of a scheme."""

    name: str


Type: TypeAlias = Scalar | Array | Ref | Record | Variant | Function | Task | Hole


@attrs.frozen
class Scheme:
    """A polymorphic function: its name and its type with holes."""

    name: str
    params: tuple[Type, ...]
    result: Type


INT, FLOAT, BOOL, STRING, UNIT, JSON = map(Scalar, ("int", "float", "bool", "string", "unit", "json"))
COMPARABLE_SCALARS = (INT, STRING, BOOL, FLOAT, UNIT)


def is_comparable(kind: Type) -> bool:
    """Whether `==` accepts a type (language.md 3.5)."""
    match kind:
        case Scalar(name):
            return name != "json"
        case Record(fields):
            return all(is_comparable(part) for _, part in fields)
        case Variant(cases):
            return all(is_comparable(part) for _, parts in cases for part in parts)
    return False


def is_data(kind: Type) -> bool:
    """Whether a type holds no function and no task, so that a cell may hold it."""
    match kind:
        case Function() | Task():
            return False
        case Record(fields):
            return all(is_data(part) for _, part in fields)
        case Variant(cases):
            return all(is_data(part) for _, parts in cases for part in parts)
        case Array(part) | Ref(part):
            return is_data(part)
    return True


def annotation(kind: Type) -> str | None:
    """A type as text, or None when the language has no text for it (language.md 3.2)."""
    match kind:
        case Scalar(name):
            return name
        case Array(part):
            return _postfix(part, "array")
        case Task(part):
            return _postfix(part, "task")
        case Record(fields):
            written = [annotation(part) for _, part in fields]
            if None in written:
                return None
            named = zip(fields, written, strict=True)
            return "{ " + "; ".join(f"{label} : {text}" for (label, _), text in named) + " }"
        case Variant(cases):
            shown = [_case(tag, parts) for tag, parts in cases]
            return None if None in shown else "[ " + " | ".join(map(str, shown)) + " ]"
        case Function(params, result):
            if isinstance(result, Function) or UNIT in params:
                return None
            parts = [_parameter(part) for part in params or (UNIT,)] + [annotation(result)]
            return None if None in parts else " -> ".join(map(str, parts))
    return None


def _postfix(part: Type, constructor: str) -> str | None:
    inner = _parameter(part)
    return None if inner is None else f"{inner} {constructor}"


def _parameter(part: Type) -> str | None:
    inner = annotation(part)
    return f"({inner})" if inner is not None and isinstance(part, Function) else inner


def _case(tag: str, parts: tuple[Type, ...]) -> str | None:
    written = [annotation(part) for part in parts]
    if None in written:
        return None
    return f"`{tag}({', '.join(map(str, written))})" if parts else f"`{tag}"


def match_scheme(scheme: Type, kind: Type) -> dict[str, Type] | None:
    """What the holes of a scheme stand for when it is this type, or None when it cannot be."""
    found: dict[str, Type] = {}
    return found if _match(scheme, kind, found) else None


def _match(scheme: Type, kind: Type, found: dict[str, Type]) -> bool:
    match scheme, kind:
        case Hole(name), _:
            return found.setdefault(name, kind) == kind
        case (Array(left), Array(right)) | (Ref(left), Ref(right)) | (Task(left), Task(right)):
            return _match(left, right, found)
        case Record(left), Record(right):
            labels = [label for label, _ in left] == [label for label, _ in right]
            return labels and all(_match(a, b, found) for (_, a), (_, b) in zip(left, right, strict=True))
        case Variant(left), Variant(right):
            shapes = [[(tag, len(parts)) for tag, parts in cases] for cases in (left, right)]
            return shapes[0] == shapes[1] and all(
                _match(a, b, found)
                for (_, some), (_, others) in zip(left, right, strict=True)
                for a, b in zip(some, others, strict=True)
            )
    return scheme == kind


def fill(scheme: Type, found: dict[str, Type]) -> Type:
    """A scheme with its holes filled."""
    match scheme:
        case Hole(name):
            return found[name]
        case Array(part):
            return Array(fill(part, found))
        case Ref(part):
            return Ref(fill(part, found))
        case Task(part):
            return Task(fill(part, found))
        case Record(fields):
            return Record(tuple((label, fill(part, found)) for label, part in fields))
        case Variant(cases):
            return Variant(tuple((tag, tuple(fill(part, found) for part in parts)) for tag, parts in cases))
        case Function(params, result):
            return Function(tuple(fill(param, found) for param in params), fill(result, found))
    return scheme


def holes(scheme: Scheme) -> Iterator[str]:
    """The names of a scheme's holes, in order, possibly repeated."""
    rest: list[Type] = [scheme.result, *reversed(scheme.params)]
    while rest:
        match rest.pop():
            case Hole(name):
                yield name
            case Array(part) | Ref(part) | Task(part):
                rest.append(part)
            case Record(fields):
                rest += [part for _, part in fields]
            case Variant(cases):
                rest += [part for _, parts in cases for part in parts]
            case Function(params, result):
                rest += [result, *params]


def option(part: Type) -> Variant:
    """`None` or `Some` of a type."""
    return Variant((("None", ()), ("Some", (part,))))


def table(part: Type) -> Type:
    """A hash table, which is a ref to its entries."""
    return Ref(Array(Record((("key", STRING), ("value", part)))))


A, B = Hole("a"), Hole("b")
ITEMS, JSONS, STRINGS = Array(A), Array(JSON), Array(STRING)
ENTRIES = Array(Record((("key", STRING), ("value", JSON))))

BUILTINS = [
    Scheme("print", (A,), UNIT),
    Scheme("to_string", (A,), STRING),
    Scheme("length", (ITEMS,), INT),
    Scheme("string_length", (STRING,), INT),
    Scheme("string_is_empty", (STRING,), BOOL),
    Scheme("not", (BOOL,), BOOL),
    Scheme("array_copy", (ITEMS,), ITEMS),
    Scheme("record_keys", (Record((("a", A), ("b", B))),), STRINGS),
    Scheme("variant_tag", (option(A),), STRING),
    Scheme("swap_ref", (Ref(A), A), A),
    Scheme("hash_md5", (STRING,), STRING),
    Scheme("String.length", (STRING,), INT),
    Scheme("String.is_empty", (STRING,), BOOL),
    Scheme("String.concat", (STRING, STRING), STRING),
    Scheme("String.equal", (STRING, STRING), BOOL),
    Scheme("String.contains", (STRING, STRING), BOOL),
    Scheme("String.starts_with", (STRING, STRING), BOOL),
    Scheme("String.ends_with", (STRING, STRING), BOOL),
    Scheme("String.trim", (STRING,), STRING),
    Scheme("String.find", (STRING, STRING), option(INT)),
    Scheme("String.to_upper", (STRING,), STRING),
    Scheme("String.to_lower", (STRING,), STRING),
    Scheme("Array.length", (ITEMS,), INT),
    Scheme("Array.copy", (ITEMS,), ITEMS),
    Scheme("Array.append", (ITEMS, ITEMS), ITEMS),
    Scheme("Array.reverse", (ITEMS,), ITEMS),
    Scheme("Array.reverse_in_place", (ITEMS,), UNIT),
    Scheme("Array.fill", (ITEMS, A), UNIT),
    Scheme("Array.map", (Array(B), Function((B,), A)), ITEMS),
    Scheme("Array.mapi", (Array(B), Function((INT, B), A)), ITEMS),
    Scheme("Array.iter", (ITEMS, Function((A,), UNIT)), UNIT),
    Scheme("Array.iteri", (ITEMS, Function((INT, A), UNIT)), UNIT),
    Scheme("Array.fold", (Array(B), A, Function((A, B), A)), A),
    Scheme("Array.filter", (ITEMS, Function((A,), BOOL)), ITEMS),
    Scheme("Array.exists", (ITEMS, Function((A,), BOOL)), BOOL),
    Scheme("Array.for_all", (ITEMS, Function((A,), BOOL)), BOOL),
    Scheme("Array.find", (ITEMS, Function((A,), BOOL)), option(A)),
    Scheme("Array.find_map", (Array(B), Function((B,), option(A))), option(A)),
    Scheme("Option.none", (), option(A)),
    Scheme("Option.some", (A,), option(A)),
    Scheme("Option.is_none", (option(A),), BOOL),
    Scheme("Option.is_some", (option(A),), BOOL),
    Scheme("Option.get_or", (option(A), A), A),
    Scheme("Hashtbl.create", (), table(A)),
    Scheme("Hashtbl.set", (table(A), STRING, A), UNIT),
    Scheme("Hashtbl.get", (table(A), STRING), option(A)),
    Scheme("Hashtbl.mem", (table(A), STRING), BOOL),
    Scheme("Hashtbl.remove", (table(A), STRING), UNIT),
    Scheme("Json.parse_opt", (STRING,), option(JSON)),
    Scheme("Json.validate", (STRING,), BOOL),
    Scheme("Json.tag", (JSON,), STRING),
    Scheme("Json.as_bool", (JSON,), option(BOOL)),
    Scheme("Json.as_number", (JSON,), option(FLOAT)),
    Scheme("Json.as_string", (JSON,), option(STRING)),
    Scheme("Json.as_array", (JSON,), option(JSONS)),
    Scheme("Json.as_object", (JSON,), option(ENTRIES)),
    Scheme("Json.object_keys", (JSON,), STRINGS),
    Scheme("Json.get_field", (JSON, STRING), option(JSON)),
    Scheme("Json.get_path", (JSON, STRINGS), option(JSON)),
    Scheme("Task.pure", (A,), Task(A)),
    Scheme("Task.bind", (Task(B), Function((B,), Task(A))), Task(A)),
    Scheme("Task.map", (Task(B), Function((B,), A)), Task(A)),
    Scheme("Task.fail", (STRING,), Task(A)),
    Scheme("Task.catch", (Task(A), Function((STRING,), Task(A))), Task(A)),
]
