"""The shapes of shell declarations: what an element may hold, told by the class of its record.

A record class is at once the type that a host works with and the row of the table that the reader, the writer and
the merge interpret: each of its fields is an attribute or a slot for child elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

import attrs

from chatmd.elements.reading import Placed
from chatmd.shell.values import Value
from chatmd.text.attributes import place_of
from chatmd.text.tree import Element
from chatml.source import Span

D = TypeVar("D")

PART = "part"
TAG = "tag"
Join = Literal["append", "named", "unique"]
"""How the entries of a child come together with inherited ones (section 7.4): behind them; an entry may replace one
of the same id; or no id may be there twice."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def declared(record: type[D]) -> type[D]:
    """Make a record class of a subclass of `Declared`: frozen, made by keywords.

    Comparing and showing are left to `Declared`: they must not recurse, and generating them for each class would take
    most of the time of an import. There are no slots, so that a record may be put together from two kinds.
    """
    return attrs.frozen(record, kw_only=True, eq=False, repr=False, slots=False)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Declared(Placed):
    """A part of a declaration. `element` is what it was read from; like its place it takes no part in equality.

    Declarations may be nested deeper than any call stack, so comparing, hashing and showing them does not recurse.
    """

    text_code: ClassVar[str] = "shell.unexpected_text"
    child_code: ClassVar[str] = "shell.unexpected_child"
    spellings: ClassVar[Mapping[str, Value]] = {}
    element: Element | None = attrs.field(default=None, eq=False, repr=False)

    @classmethod
    def rewritten(cls, given: dict[str, str]) -> dict[str, str]:
        """The attributes as the shape has them, where an element has `spellings` that say the same in another way."""
        return given

    def place(self, name: str) -> Span | None:
        """Where an attribute was written; the start tag when it was not."""
        return self.span if self.element is None else place_of(self.element, name)

    def contradiction(self) -> tuple[str, Span | None] | None:
        """The code and the place where parts of the declaration contradict each other, if they do."""
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Declared):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip_longest(flatten(self), flatten(other)))

    def __hash__(self) -> int:
        return hash(tuple(flatten(self)))

    def __repr__(self) -> str:
        return "".join(_shown(part) for part in flatten(self))[1:]


Flat = type[Declared] | tuple[str, Any] | None


def flatten(record: Declared) -> Iterator[Flat]:
    """A record without nesting: its class, its fields as (name, value), where a field holds other records its name with
    their number and then each of them, None at its end."""
    waiting: list[Declared | Flat] = [record]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Declared):
            yield part
            continue
        waiting.append(None)
        yield part.__class__
        for field in reversed(attrs.fields(part.__class__)):
            value = getattr(part, field.name)
            held = (value,) if isinstance(value, Declared) else value
            if isinstance(held, tuple) and any(isinstance(one, Declared) for one in held):
                waiting += reversed(held)
                waiting.append((field.name, len(held)))
            elif field.eq:
                waiting.append((field.name, value))


def _shown(part: Flat) -> str:
    if part is None:
        return ">"
    return f" {part[0]}={part[1]!r}" if isinstance(part, tuple) else f" <{part.__name__}"


@attrs.frozen
class ByValue:
    """Several records for one tag: the value of an attribute decides."""

    attribute: str
    records: Mapping[str, type[Declared]]
    default: str | None = None


@attrs.frozen
class ByPresence:
    """Several records for one tag: of some attributes exactly one is there, and decides. `missing` and `conflict` are
    the codes for none and for several."""

    records: Mapping[str, type[Declared]]
    missing: str
    conflict: str


Form = type[Declared] | ByValue | ByPresence
"""What the element of a tag is read as."""


@attrs.frozen
class Attribute:
    """An attribute of an element. Without a default it must be there and must not be empty."""

    value: Value
    required: bool = False


@attrs.frozen
class Slot:
    """Where child elements go. Their number is bounded by `least` and `most`; `arity` is the code for a wrong number,
    reported at the parent, or None where the second child is a `shell.duplicate_section`. `whole` is a section that
    replaces the inherited one completely."""

    tags: Mapping[str, Form]
    single: bool = False
    least: int = 0
    most: int | None = None
    arity: str | None = None
    unknown: str = "shell.unknown_element"
    join: Join = "append"
    whole: bool = False


@attrs.frozen
class Shape:
    """What a record class says: its attributes and slots in the order in which they are written, the slot of each tag,
    in each slot the tag of the records that do not carry it themselves, the attributes that must be there, the field
    that carries the tag, and the defaults of all fields."""

    attributes: dict[str, Attribute]
    slots: dict[str, Slot]
    by_tag: dict[str, str]
    tags: dict[str, dict[type[Declared], str]]
    required: tuple[str, ...]
    tag: str | None
    defaults: dict[str, Any]


def needed(value: Value) -> Any:
    """A field for an attribute that must be there."""
    return attrs.field(metadata={PART: Attribute(value, required=True)})


def attribute(value: Value, default: Any = None) -> Any:
    """A field for an attribute that may be left away; None stands for one that is inherited or unset."""
    return attrs.field(default=default, metadata={PART: Attribute(value)})


def tag_name() -> Any:
    """A field for the tag of the element, in a record that several tags share."""
    return attrs.field(metadata={PART: TAG})


def child(name: str, form: Form, *, default: Any = None, whole: bool = False) -> Any:
    """A field for a child element that may be there once."""
    slot = Slot({name: form}, single=True, most=1, whole=whole)
    return attrs.field(default=default, metadata={PART: slot})


def children(tags: Mapping[str, Form], join: Join = "append") -> Any:
    """A field for any number of child elements, in order."""
    return attrs.field(default=(), metadata={PART: Slot(tags, join=join)})


SHAPES: dict[type[Declared], Shape] = {}


def shape(record: type[Declared]) -> Shape:
    """What a record class says about its element."""
    if record not in SHAPES:
        SHAPES[record] = _shape_of(record)
    return SHAPES[record]


def _shape_of(record: type[Declared]) -> Shape:
    parts = {field.name: field.metadata[PART] for field in attrs.fields(record) if PART in field.metadata}
    attributes = {name: part for name, part in parts.items() if isinstance(part, Attribute)}
    slots = {name: part for name, part in parts.items() if isinstance(part, Slot)}
    return Shape(
        attributes,
        slots,
        {tag: name for name, slot in slots.items() for tag in slot.tags},
        {name: _homes(slot) for name, slot in slots.items()},
        tuple(name for name, attribute in attributes.items() if attribute.required),
        next((name for name, part in parts.items() if part == TAG), None),
        {field.name: field.default for field in attrs.fields(record)},
    )


def _homes(slot: Slot) -> dict[type[Declared], str]:
    return {record: tag for tag, form in slot.tags.items() for record in records(form)}


def records(form: Form) -> list[type[Declared]]:
    """The records that an element may be read as."""
    return [form] if isinstance(form, type) else list(form.records.values())
