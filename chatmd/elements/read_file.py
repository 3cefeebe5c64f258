"""The configured `read_file` tool: which directories it may read (chatmd.md section 8)."""

from __future__ import annotations

import attrs

from chatmd.elements.reading import Placed, Reading
from chatmd.sources.paths import InvalidPathError, PathExpr, parse_path
from chatmd.text import attributes
from chatmd.text.attributes import WHITE
from chatmd.text.tags import READ_FILE_NAMES
from chatmd.text.tree import Element, Text

NAME = "read_file"
DEFAULT_BASE = "tool_dir"


@attrs.frozen
class ReadRoot:
    """A directory that the tool may read: the selector that the model uses, and the path expression."""

    id: str
    path: PathExpr
    description: str | None = None


CURRENT = ReadRoot("cwd", PathExpr(DEFAULT_BASE, ""), "The directory that the host was launched in.")
"""The one root of a declaration without `<read/>` elements."""


@attrs.frozen
class ReadFile(Placed):
    """The `read_file` tool with its roots, in the order declared."""

    roots: tuple[ReadRoot, ...] = (CURRENT,)
    description: str | None = None

    @property
    def name(self) -> str:
        """What the model calls the tool, whichever spelling declared it."""
        return NAME


def read_read_file(element: Element, reading: Reading) -> ReadFile:
    """The declaration with either spelling of the name.

    Raises `ChatmdError`: the strict attribute codes, and `read_file.invalid_name`, `_unexpected_child`,
    `_unexpected_text`, `_invalid_root_id`, `_invalid_path`, `_duplicate_root`.
    """
    given = attributes.strict(element, ("name", "description"), ("tool",), reading.record)
    if given["name"] not in READ_FILE_NAMES:
        place = attributes.place_of(element, "name")
        raise reading.fault("read_file.invalid_name", place, path=("tool", "name"), value=given["name"])
    roots: dict[str, ReadRoot] = {}
    for child in _only_elements(element, ("tool",), reading):
        if child.tag != "read":
            raise reading.fault("read_file.unexpected_child", child.span, path=("tool",), tag=child.tag)
        root = _read_root(child, ("tool", "read", str(len(roots))), reading)
        if root.id in roots:
            place = attributes.place_of(child, "id")
            raise reading.fault("read_file.duplicate_root", place, path=("tool", "read"), id=root.id)
        roots[root.id] = root
    return ReadFile(
        tuple(roots.values()) or (CURRENT,),
        stripped(given.get("description")),
        span=element.span,
        source_record=reading.record,
    )


def _read_root(element: Element, path: tuple[str, ...], reading: Reading) -> ReadRoot:
    known = ("id", "path", "description")
    given = attributes.strict(element, known, path, reading.record, required=("id", "path"))
    for child in _only_elements(element, path, reading):
        raise reading.fault("read_file.unexpected_child", child.span, path=path, tag=child.tag)
    identity = given["id"].strip(WHITE)
    if not identity:
        place = attributes.place_of(element, "id")
        raise reading.fault("read_file.invalid_root_id", place, path=(*path, "id"))
    try:
        where = parse_path(given["path"], DEFAULT_BASE, within=reading.record.within)
    except InvalidPathError as error:
        place = attributes.place_of(element, "path")
        raise reading.fault(
            "read_file.invalid_path", place, path=(*path, "path"), value=given["path"], why=str(error)
        ) from None
    return ReadRoot(identity, where, stripped(given.get("description")))


def _only_elements(element: Element, path: tuple[str, ...], reading: Reading) -> list[Element]:
    """The children of an element that holds nothing but elements and white space."""
    found = []
    for child in element.children:
        if isinstance(child, Element) and child.tag != "import":
            found.append(child)
        elif not isinstance(child, Text) or child.text.strip(WHITE):
            raise reading.fault("read_file.unexpected_text", child.span, path=path, tag=element.tag)
    return found


def stripped(text: str | None) -> str | None:
    """A description without surrounding white space; a blank one is none."""
    return (text or "").strip(WHITE) or None
