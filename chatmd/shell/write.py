"""From shell declarations to text (shell.md section 3.9)."""

from __future__ import annotations

from collections.abc import Iterator

from chatmd.shell.access import ModeratorRuntime, ShellAccess
from chatmd.shell.shape import ByValue, Declared, shape
from chatmd.shell.tool import ShellTool, mode_of
from chatmd.text import markup
from chatmd.text.markup import Written

DEEPEST_INDENT = 8

Given = list[tuple[str, Written]]


def write_shell_access(access: ShellAccess) -> str:
    """A shell runtime as text that reads back equal; what is not set is not written."""
    return write_declaration("shell_access", given(access), access)


def write_moderator_runtime(runtime: ModeratorRuntime) -> str:
    """The runtime of the moderator as text."""
    return write_declaration("moderator_runtime", given(runtime), runtime)


def write_shell_tool(tool: ShellTool) -> str:
    """A shell tool as text: what its mode says is written out, also where it is the default."""
    name, *others = given(tool)
    selected: Given = [name, ("type", "shell"), ("mode", mode_of(tool)), *others, *given(tool.mode, defaults=True)]
    return write_declaration("tool", selected, tool.mode)


def write_declaration(tag: str, attributes: Given, record: Declared) -> str:
    """An element with these attributes and what its record holds, each child on a line of its own.

    Takes no call stack for the depth of the record.
    """
    parts: list[str] = []
    stack: list[tuple[str, Iterator[tuple[str, Given, Declared]]]] = [("", iter([(tag, attributes, record)]))]
    while stack:
        outer, entries = stack[-1]
        for name, written, child in entries:
            parts.append(_line(len(stack) - 1))
            parts.append(markup.opening(name, written, child.span))
            inside = list(_inside(child))
            if inside:
                parts.append(">")
                stack.append((name, iter(inside)))
                break
            parts.append("/>")
        else:
            stack.pop()
            if stack:
                parts += (_line(len(stack) - 1), f"</{outer}>")
    return "".join(parts)[1:]


def given(record: Declared, *, defaults: bool = False) -> Given:
    """The attributes of a record that are set: unless `defaults`, without those that have their default value."""
    known = shape(record.__class__)
    values = [(name, attribute, getattr(record, name)) for name, attribute in known.attributes.items()]
    return [
        (name, attribute.value.show(value))
        for name, attribute, value in values
        if value is not None and (defaults or attribute.required or value != known.defaults[name])
    ]


def _inside(record: Declared) -> Iterator[tuple[str, Given, Declared]]:
    """The children of a record in the order of its shape: tag, attributes, record."""
    known = shape(record.__class__)
    for field, slot in known.slots.items():
        held = getattr(record, field)
        for child in held if not slot.single else () if held == known.defaults[field] else (held,):
            own = shape(child.__class__).tag
            tag = known.tags[field][child.__class__] if own is None else getattr(child, own)
            form = slot.tags[tag]
            written = given(child)
            if isinstance(form, ByValue):
                kinds = {made: name for name, made in form.records.items()}
                written.insert(0, (form.attribute, kinds[child.__class__]))
            yield tag, written, child


def _line(depth: int) -> str:
    """The beginning of a line; very deep elements are indented no further, so that the text stays linear."""
    return "\n" + "  " * min(depth, DEEPEST_INDENT)
