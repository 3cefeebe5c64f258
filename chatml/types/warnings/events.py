"""Arms of a handler that no event comes to, and decisions where no call is under review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.syntax import ast
from chatml.types.checked import Checked
from chatml.types.environment import HostTypes
from chatml.types.guided import Entrypoints, handler_of
from chatml.types.report.words import place_of
from chatml.types.warnings.tree import nodes_in

if TYPE_CHECKING:
    from chatml.diagnostics import model, suggest
    from chatml.diagnostics.model import Diagnostic
else:
    model, suggest = lazy("chatml.diagnostics.model"), lazy("chatml.diagnostics.suggest")

HOOKS: Mapping[str, str] = {
    "PreToolUse": "Pre_tool_call",
    "PermissionRequest": "Pre_tool_call",
    "Tool_call": "Pre_tool_call",
    "Tool_start": "Pre_tool_call",
    "On_tool_start": "Pre_tool_call",
    "PostToolUse": "Post_tool_response",
    "Tool_result": "Post_tool_response",
    "Tool_end": "Post_tool_response",
    "On_tool_end": "Post_tool_response",
    "UserPromptSubmit": "Turn_start",
    "User_message": "Turn_start",
    "On_agent_start": "Turn_start",
    "On_llm_start": "Turn_start",
    "Stop": "Turn_end",
    "SubagentStop": "Turn_end",
    "On_agent_end": "Turn_end",
    "On_llm_end": "Turn_end",
    "Message": "Item_appended",
    "Message_appended": "Item_appended",
}
"""What other hosts call their hooks, and the event that comes at that time here."""

DECISIONS = frozenset(("approve", "reject", "rewrite_args", "redirect"))
REVIEW = "Pre_tool_call"


def event_warnings(checked: Checked, host: HostTypes, names: Entrypoints, hosted: bool) -> Iterator[Diagnostic]:
    """The warnings about the arms with which a handler matches its event."""
    handler = handler_of(checked.script, names)
    if handler is None or len(handler.params) != 3:
        return
    event = handler.params[2].name
    built = {node.tag for node in nodes_in(checked.script) if isinstance(node, ast.Variant)}
    own_tool = "Tool" in {statement.name.name for statement in modules(checked.script)}
    for node in nodes_in(handler.body):
        if isinstance(node, ast.Match) and isinstance(node.scrutinee, ast.Name) and node.scrutinee.name == event:
            yield from unknown_events(node, host, built, hosted)
            if not own_tool:
                yield from misplaced_decisions(node, host)


def modules(script: ast.Script) -> Iterator[ast.ModuleStatement]:
    return (statement for statement in script.statements if isinstance(statement, ast.ModuleStatement))


def unknown_events(node: ast.Match, host: HostTypes, built: set[str], hosted: bool) -> Iterator[Diagnostic]:
    """A tag that no host delivers and the script never makes."""
    for arm in node.arms:
        pattern = arm.pattern
        if not isinstance(pattern, ast.VariantPattern):
            continue
        tag = pattern.tag
        if tag in host.events or tag in host.own or tag in built:
            continue
        meant = standard_event(tag, host)
        if hosted and meant is None:
            continue
        help = (
            f"did you mean `{meant}?"
            if meant
            else "an event of the script's own is made with `Runtime.emit` or a timer"
        )
        yield model.Diagnostic(
            "type.unknown_event",
            f"no event is called `{tag}: hosts deliver none, and the script makes none",
            pattern.span,
            severity="warning",
            notes=(f"hosts deliver {', '.join([f'`{each}' for each in host.events])}",),
            help=help,
        )


def standard_event(tag: str, host: HostTypes) -> str | None:
    """The standard event that a tag may stand for.

    >>> from chatml.types.model import Unit
    >>> host = HostTypes(Unit, {"Pre_tool_call": Unit, "Turn_end": Unit})
    >>> [standard_event(tag, host) for tag in ("Pre_tool_cal", "PreToolCall", "pre_tool_use", "Stop", "Tick")]
    ['Pre_tool_call', 'Pre_tool_call', 'Pre_tool_call', 'Turn_end', None]
    """
    known = {**{plain(hook): event for hook, event in HOOKS.items()}, **{plain(event): event for event in host.events}}
    found = known.get(plain(tag)) or next(iter(suggest.near(tag, host.events, most=1)), None)
    if found is None:
        close = suggest.near(plain(tag), known, most=1)
        found = known[close[0]] if close else None
    return found


def plain(tag: str) -> str:
    """A tag without what differs between ways to write it."""
    return tag.replace("_", "").lower()


def misplaced_decisions(node: ast.Match, host: HostTypes) -> Iterator[Diagnostic]:
    """A decision about a call in an arm that is not about one: the event fails there (X-58)."""
    reviewed = False
    for arm in node.arms:
        tag = arm.pattern.tag if isinstance(arm.pattern, ast.VariantPattern) else None
        if tag == REVIEW or (tag is None and not reviewed):
            reviewed = True
            continue
        for call in decisions_in(arm.body):
            where = f"`{tag}`" if tag is None else f"`{tag}"
            yield model.Diagnostic(
                "type.misplaced_decision",
                f"no call is under review here, so the event fails: `{place_of(call).text}` belongs to "
                f"`{REVIEW}, and this is the arm of {where if tag else 'all other events'}",
                place_of(call),
                severity="warning",
                help=f"decide in the arm `| `{REVIEW}(call) -> …`",
            )


def decisions_in(body: ast.Expr) -> Iterator[ast.FieldGet]:
    for node in nodes_in(body):
        match node:
            case ast.FieldGet(record=ast.Name(name="Tool"), label=label) if label.name in DECISIONS:
                yield node
