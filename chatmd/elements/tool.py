"""Tool declarations and their shapes (chatmd.md section 7)."""

from __future__ import annotations

import attrs

from chatmd.elements.read_file import ReadFile, read_read_file, stripped
from chatmd.elements.reading import Placed, Reading, lenient
from chatmd.report.problems import ChatmdError
from chatmd.text import attributes
from chatmd.text.attributes import WHITE
from chatmd.text.tags import READ_FILE_NAMES
from chatmd.text.tree import Element


@attrs.frozen
class Builtin(Placed):
    """A tool that the host brings along."""

    name: str


@attrs.frozen
class Command(Placed):
    """A command line as a tool, in the old compact form; it becomes a fixed shell tool and never runs
    directly.
    """

    name: str
    command: str
    description: str | None = None


@attrs.frozen
class AgentTool(Placed):
    """Another prompt as a tool: `agent` is its path (with `local`) or URL."""

    name: str
    agent: str
    description: str | None = None
    local: bool = False


@attrs.frozen
class McpTool(Placed):
    """Tools of an MCP server: those of `names`, or all of them when it is None.

    `client_id_env` and `client_secret_env` name environment variables whose values the host adds to the
    server's URI.
    """

    mcp_server: str
    names: tuple[str, ...] | None = None
    description: str | None = None
    strict: bool = False
    client_id_env: str | None = None
    client_secret_env: str | None = None


SHAPES = ("command", "agent", "mcp_server")
"""The attributes that decide a shape; a declaration has one of them at most."""


def is_shell_tool(element: Element) -> bool:
    """Whether a `<tool>` is a strict shell tool: by its type, or because it names a runtime."""
    return any(name == "runtime" or (name == "type" and value == "shell") for name, value in element.attrs)


def read_tool(element: Element, reading: Reading) -> Builtin | Command | AgentTool | McpTool | ReadFile:
    """A declaration of any shape but the shell tool's.

    Raises `ChatmdError`: `chatmd.tool_conflicting_attributes`, `chatmd.tool_empty_*`, and for `read_file`
    what its own reader raises.
    """
    given = lenient(element)
    shapes = [shape for shape in SHAPES if shape in given]
    if len(shapes) > 1:
        raise _conflict(element, shapes, reading)
    name = given.get("name", "").strip(WHITE)
    if shapes == ["mcp_server"]:
        return _read_mcp(element, given, name, reading)
    if not name:
        raise _empty(element, "name", "name", reading)
    if not shapes and name in READ_FILE_NAMES:
        return read_read_file(element, reading)
    description = stripped(given.get("description"))
    span, record = element.span, reading.record
    if shapes == ["command"]:
        command = _filled(element, given, "command", reading)
        return Command(name, command, description, span=span, source_record=record)
    if shapes == ["agent"]:
        agent = _filled(element, given, "agent", reading)
        return AgentTool(name, agent, description, "local" in given, span=span, source_record=record)
    return Builtin(name, span=span, source_record=record)


def _read_mcp(element: Element, given: dict[str, str], name: str, reading: Reading) -> McpTool:
    return McpTool(
        _filled(element, given, "mcp_server", reading),
        (name,) if name else _read_selector(element, given, reading),
        stripped(given.get("description")),
        "strict" in given,
        given.get("client_id_env"),
        given.get("client_secret_env"),
        span=element.span,
        source_record=reading.record,
    )


def _read_selector(element: Element, given: dict[str, str], reading: Reading) -> tuple[str, ...] | None:
    """The names that `include`, or else `includes`, lists; None when neither says anything."""
    for attribute in ("include", "includes"):
        written = given.get(attribute, "")
        if written.strip(WHITE):
            entries = [entry.strip(WHITE) for entry in written.split(",")]
            names = tuple(entry for entry in entries if entry)
            if not names:
                raise _empty(element, attribute, "selector", reading)
            return names
    return None


def _filled(element: Element, given: dict[str, str], name: str, reading: Reading) -> str:
    value = given[name].strip(WHITE)
    if not value:
        raise _empty(element, name, name, reading)
    return value


def _empty(element: Element, attribute: str, what: str, reading: Reading) -> ChatmdError:
    place = attributes.place_of(element, attribute)
    return reading.fault(f"chatmd.tool_empty_{what}", place, path=("tool", attribute), attribute=attribute)


def _conflict(element: Element, shapes: list[str], reading: Reading) -> ChatmdError:
    """Several shapes at once; the place is the second of the attributes that decide one."""
    deciding = [
        place for (name, _), place in zip(element.attrs, attributes.places(element), strict=True) if name in shapes
    ]
    listed = " and ".join(f"`{shape}`" for shape in shapes)
    return reading.fault("chatmd.tool_conflicting_attributes", deciding[1].name, path=("tool",), attributes=listed)
