"""From `<tool type="shell">` to its declaration, in the order of checks of shell.md section 6.3."""

from __future__ import annotations

from collections.abc import Mapping

from chatmd.elements.reading import Reading
from chatmd.report.problems import ChatmdError
from chatmd.shell.read import Frame, frame_of, origin, read_children, read_value, values_of
from chatmd.shell.shape import shape
from chatmd.shell.tool import MODES, Fixed, ScriptFile, ShellTool
from chatmd.shell.values import one_of
from chatmd.text import attributes
from chatmd.text.attributes import WHITE
from chatmd.text.tree import Element
from chatml.diagnostics.suggest import did_you_mean
from chatml.source import Span

PATH = ("tool",)
MISSING = "shell.tool_missing_attribute"
COMMON = shape(ShellTool).attributes
SELECTORS = ("type", "mode")
ALLOWED = {*SELECTORS, *COMMON, *(name for mode in MODES.values() for name in shape(mode).attributes)}


def read_shell_tool(element: Element, reading: Reading) -> ShellTool:
    """A shell tool. Raises `ChatmdError` with the first finding: the strict codes, and `shell.tool_*`."""
    given = attributes.strict(element, ALLOWED, PATH, reading.record)
    inside = frame_of(element, Fixed, PATH, {})
    read_children(inside, reading)
    mode = _check_mode(element, given, inside, reading)
    kind = MODES[mode]
    common = {
        name: read_value(element, name, COMMON[name].value, text, PATH, reading)
        for name, text in given.items()
        if name in COMMON
    }
    if "name" in given:
        common["name"] = given["name"] = given["name"].strip(WHITE)
    attributes.require(element, given, ("name", "runtime"), PATH, reading.record, code=MISSING)
    known = shape(kind)
    attributes.require(element, given, known.required, PATH, reading.record, code=MISSING)
    for name, attribute in known.attributes.items():
        if name in given:
            inside.values[name] = read_value(element, name, attribute.value, given[name], PATH, reading)
    if kind is Fixed:
        _check_command(element, given, inside, reading)
    if kind is ScriptFile and inside.values.get("executable") and "interpreter" in given:
        place = attributes.place_of(element, "executable")
        raise reading.fault("shell.tool_conflicting_script", place, path=(*PATH, "executable"))
    inside.record = kind
    made = kind(**values_of(inside, reading))
    return ShellTool(mode=made, **common, **origin(element, reading))


def _check_mode(element: Element, given: Mapping[str, str], inside: Frame, reading: Reading) -> str:
    """The mode of a tool; its type, its attributes and its children fit it."""
    if given.get("type", "shell") != "shell":
        place = attributes.place_of(element, "type")
        raise reading.fault("shell.tool_invalid_type", place, path=(*PATH, "type"), value=given["type"])
    mode = given.get("mode", "fixed")
    if mode not in MODES:
        raise reading.fault(
            "shell.tool_invalid_mode",
            attributes.place_of(element, "mode"),
            path=(*PATH, "mode"),
            help=did_you_mean(mode, MODES),
            value=mode,
            known=one_of(tuple(MODES)),
        )
    for name in given:
        if name not in SELECTORS and name not in COMMON and name not in shape(MODES[mode]).attributes:
            homes = tuple(home for home, kind in MODES.items() if name in shape(kind).attributes)
            place = attributes.name_of(element, name)
            facts = {"attribute": name, "mode": mode, "modes": one_of(homes)}
            raise reading.fault("shell.tool_mode_attribute", place, path=(*PATH, name), **facts)
    found = [one.element for several in inside.found.values() for one in several if one.element is not None]
    if found and mode != "fixed":
        first = min(found, key=lambda one: one.left)
        raise reading.fault("shell.tool_mode_child", first.span, path=PATH, child=first.tag, mode=mode)
    return mode


def _check_command(element: Element, given: Mapping[str, str], inside: Frame, reading: Reading) -> None:
    """A fixed tool has exactly one command."""
    sources: list[tuple[str, Span]] = [
        (name, attributes.name_of(element, name)) for name in given if name in ("command", "executable_ref")
    ]
    sources += [("<command>", one.span) for one in inside.found.get("line", ()) if one.span is not None]
    if len(sources) > 1:
        found_all = " and ".join(f"`{name}`" for name, _ in sources)
        raise _at_fault("shell.tool_conflicting_command", sources[1][1], reading, found=found_all)
    if not sources:
        raise _at_fault("shell.tool_missing_command", element.span, reading)
    name, _ = sources[0]
    if name in given and not given[name].strip(WHITE):
        raise _at_fault("shell.tool_missing_command", attributes.place_of(element, name), reading)


def _at_fault(code: str, span: Span, reading: Reading, **facts: str) -> ChatmdError:
    return reading.fault(code, span, path=PATH, **facts)
