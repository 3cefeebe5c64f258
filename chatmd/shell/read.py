"""From elements to shell declarations: one reader for every shape (shell.md section 1).

It keeps a stack of its own, because matchers may be nested deeper than any call stack.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar

import attrs

from chatmd.elements.reading import Reading
from chatmd.report.problems import ChatmdError
from chatmd.shell.access import ModeratorRuntime, ShellAccess
from chatmd.shell.shape import ByPresence, ByValue, Declared, Form, Slot, records, shape
from chatmd.shell.values import EmptyEntryError, Value, among, one_of
from chatmd.sources.paths import InvalidPathError
from chatmd.text import attributes
from chatmd.text.attributes import WHITE
from chatmd.text.tree import Element, Node, Text
from chatml.diagnostics.suggest import did_you_mean

D = TypeVar("D", bound=Declared)
Path = tuple[str, ...]

UNKNOWN_TAG = re.compile(r"<([A-Za-z_][^\s/>]*)[^>]*>")
SHORTEST_CHAIN = 2
LONGEST_CHAIN = 8


def read_shell_access(element: Element, reading: Reading) -> ShellAccess:
    """A shell runtime. Raises `ChatmdError` with the first finding (`chatmd/catalogue/shell.md`)."""
    return read_declaration(element, ShellAccess, reading)


def read_moderator_runtime(element: Element, reading: Reading) -> ModeratorRuntime:
    """The runtime of the moderator (section 4). Raises `ChatmdError`: the strict attribute codes, and
    `shell.moderator_runtime_content`.
    """
    return read_declaration(element, ModeratorRuntime, reading)


def read_declaration(element: Element, record: type[D], reading: Reading) -> D:
    """A top-level element as its record: its attributes, then its children from left to right."""
    frame = _open(element, record, (element.tag,), reading)
    read_children(frame, reading)
    return record(**values_of(frame, reading))


@attrs.define
class Frame:
    """An element on its way to a record: `tags` leads to it, `values` and `found` are what is known so far."""

    element: Element
    record: type[Declared]
    tags: Path
    values: dict[str, Any]
    nodes: Iterator[Node]
    found: dict[str, list[Declared]]
    field: str = ""

    @property
    def path(self) -> Path:
        """The path of the element in findings."""
        return path_of(self.tags)


def path_of(tags: Path) -> Path:
    """The path in findings of an element that some tags lead to: a top-level element names its sections, a section
    what it holds.

    >>> path_of(("shell_access", "limits")), path_of(("shell_access", "policy", "rule"))
    (('shell_access', 'limits'), ('policy', 'rule'))
    """
    return tags if len(tags) <= SHORTEST_CHAIN else tags[1:]


def frame_of(element: Element, record: type[Declared], tags: Path, values: dict[str, Any], field: str = "") -> Frame:
    """An element whose attributes are read and whose children are not."""
    return Frame(element, record, tags, values, iter(element.children), {}, field)


def read_children(frame: Frame, reading: Reading) -> None:
    """Read what is inside of an element, from left to right, into `frame.found`."""
    stack = [frame]
    while stack:
        top = stack[-1]
        for node in top.nodes:
            entry = _entry(top, node, reading)
            if entry is not None:
                stack.append(entry)
                break
        else:
            stack.pop()
            if stack:
                made = top.record(**values_of(top, reading))
                contradiction = made.contradiction()
                if contradiction is not None:
                    code, span = contradiction
                    raise reading.fault(code, span or top.element.span, path=top.path)
                stack[-1].found.setdefault(top.field, []).append(made)


def _entry(parent: Frame, node: Node, reading: Reading) -> Frame | None:
    """A child as the next element to read; None for white space."""
    known = shape(parent.record)
    if isinstance(node, Text):
        if node.text.strip(WHITE):
            raise _unexpected_text(parent, node, reading)
        return None
    if node.tag == "import":
        raise _misplaced(parent.record.text_code, parent, node, reading)
    field = known.by_tag.get(node.tag)
    if field is None:
        unknown = next((slot.unknown for slot in known.slots.values()), parent.record.child_code)
        raise _misplaced(unknown, parent, node, reading)
    slot = known.slots[field]
    tags = (*parent.tags[: LONGEST_CHAIN - 1], node.tag)
    found = parent.found.get(field, [])
    if len(found) == slot.most:
        raise _too_many(parent, slot, node, found[0], reading)
    return _open(node, slot.tags[node.tag], tags, reading, field)


def _open(element: Element, form: Form, tags: Path, reading: Reading, field: str = "") -> Frame:
    """An element with its attributes read, as the record that they decide on."""
    path = path_of(tags)
    allowed = {name for record in records(form) for name in (*shape(record).attributes, *record.spellings)}
    if isinstance(form, ByValue):
        allowed.add(form.attribute)
    given = attributes.strict(element, allowed, path, reading.record)
    attributes.require(element, given, _required_by_all(form), path, reading.record)
    record = _choose(element, form, given, path, reading)
    known = shape(record)
    attributes.require(element, given, known.required, path, reading.record)
    for name, value in record.spellings.items():
        if name in given:
            read_value(element, name, value, given[name], path, reading)
    values: dict[str, Any] = {} if known.tag is None else {known.tag: element.tag}
    for name, text in record.rewritten(given).items():
        if name in known.attributes:
            values[name] = read_value(element, name, known.attributes[name].value, text, path, reading)
        elif not (isinstance(form, ByValue) and name == form.attribute):
            place = attributes.name_of(element, name)
            reading.warn("shell.ignored_attribute", place, path=path, tag=element.tag, attribute=name)
    return frame_of(element, record, tags, values, field)


def _required_by_all(form: Form) -> list[str]:
    """The attributes that must be there whatever the element is read as."""
    first, *others = (shape(record).required for record in records(form))
    return [name for name in first if all(name in other for other in others)]


def _choose(element: Element, form: Form, given: Mapping[str, str], path: Path, reading: Reading) -> type[Declared]:
    """The record that the attributes of an element decide on."""
    if isinstance(form, ByValue):
        if form.default is None:
            attributes.require(element, given, (form.attribute,), path, reading.record)
        text = given.get(form.attribute, form.default or "")
        read_value(element, form.attribute, among(form.records), text, path, reading)
        return form.records[text]
    if isinstance(form, ByPresence):
        present = [name for name in given if name in form.records]
        if not present:
            raise reading.fault(form.missing, element.span, path=path, **_alternatives(element, form, present))
        if len(present) > 1:
            place = attributes.name_of(element, present[1])
            raise reading.fault(form.conflict, place, path=path, **_alternatives(element, form, present))
        return form.records[present[0]]
    return form


def _alternatives(element: Element, form: ByPresence, present: list[str]) -> dict[str, Any]:
    """The facts about attributes that exclude each other."""
    return {
        "tag": element.tag,
        "alternatives": one_of(tuple(form.records)),
        "found": " and ".join(f"`{name}`" for name in present) or "neither",
    }


def read_value(element: Element, name: str, value: Value, text: str, path: Path, reading: Reading) -> Any:
    """The value of an attribute. Raises `ChatmdError` with the code of its type."""
    code, why = value.code, ""
    try:
        found = value.parse(text, reading.record)
    except InvalidPathError as error:
        found, why = None, str(error)
    except EmptyEntryError:
        found, code = None, "shell.invalid_list"
    if found is not None:
        return found
    raise reading.fault(
        code,
        attributes.place_of(element, name),
        path=(*path, name),
        help=did_you_mean(text, value.known),
        attribute=name,
        value=text,
        wanted=value.wanted,
        why=why,
    )


def values_of(frame: Frame, reading: Reading) -> dict[str, Any]:
    """The fields of a record whose element is read to its end."""
    values = frame.values
    element = frame.element
    for field, slot in shape(frame.record).slots.items():
        found = frame.found.get(field, [])
        if slot.arity is not None and len(found) < slot.least:
            raise reading.fault(slot.arity, element.span, path=frame.path, tag=element.tag, count="none")
        if not slot.single:
            values[field] = tuple(found)
        elif found:
            values[field] = found[0]
    return values | origin(element, reading)


def origin(element: Element, reading: Reading) -> dict[str, Any]:
    """The fields of a record that say where it was written."""
    return {"element": element, "span": element.span, "source_record": reading.record}


def _too_many(parent: Frame, slot: Slot, child: Element, first: Declared, reading: Reading) -> ChatmdError:
    """The fault for a child whose slot is full: at the parent where its number is at fault, else at the child."""
    tag = parent.element.tag
    if slot.arity is None:
        labels = [] if first.span is None else [(first.span, "the first one is here")]
        path = path_of((*parent.tags, child.tag))
        return reading.fault("shell.duplicate_section", child.span, path=path, labels=labels, tag=tag, child=child.tag)
    labels = [(child.span, "this one is too many")]
    return reading.fault(slot.arity, parent.element.span, path=parent.path, labels=labels, tag=tag, count="several")


def _unexpected_text(parent: Frame, node: Text, reading: Reading) -> ChatmdError:
    """The fault for a text among elements, at its first tag or line."""
    start = len(node.text) - len(node.text.lstrip(WHITE))
    markup = UNKNOWN_TAG.match(node.text, start)
    line, _, _ = node.text[start:].rstrip(WHITE).partition("\n")
    end = start + len(line.rstrip(WHITE)) if markup is None else markup.end()
    tags = shape(parent.record).by_tag
    near = None if markup is None else _near(markup[1], tags)
    facts = {"tag": parent.element.tag, "text": node.text[start:end]}
    span = node.span_of(start, end)
    return reading.fault(parent.record.text_code, span, path=parent.path, help=near or _holds(tags), **facts)


def _near(name: str, tags: Collection[str]) -> str | None:
    """What the unknown tag of a text may have been meant to be."""
    if name in tags:
        return f'write `type="shell"`: only then `<{name}>` is read as an element'
    near = did_you_mean(name, tags)
    return near and f"an unknown tag is text: {near}"


def _holds(tags: Collection[str]) -> str:
    """What an element may hold, as a help."""
    if not tags:
        return "it is always empty: close it with `/>`"
    return f"it holds {', '.join(f'`<{tag}>`' for tag in tags)} and nothing else; an unknown tag is text"


def _misplaced(code: str, parent: Frame, child: Element, reading: Reading) -> ChatmdError:
    """The fault for an element that has no place where it stands."""
    tag, tags = parent.element.tag, shape(parent.record).by_tag
    facts = {"tag": tag, "child": child.tag, "text": f"<{child.tag}>"}
    return reading.fault(code, child.span, path=parent.path, help=_holds(tags), **facts)
