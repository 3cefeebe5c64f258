"""From document to text (chatmd.md section 15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from chatmd.document import Document, TopLevel
from chatmd.elements import history_id
from chatmd.elements.config import Config
from chatmd.elements.content import AgentItem, Content, DocItem, ImageItem, Item, TextItem
from chatmd.elements.message import HistoryEntry, Message
from chatmd.elements.read_file import NAME, ReadFile
from chatmd.elements.reasoning import SUMMARY_TEXT, Reasoning
from chatmd.elements.script import Inline, ModeratorScript, Script, ScriptLimits, ShellScript
from chatmd.elements.tool import AgentTool, Builtin, Command, McpTool
from chatmd.elements.trace import ToolCall, ToolResponse
from chatmd.shell.access import ModeratorRuntime, ShellAccess
from chatmd.shell.tool import ShellTool
from chatmd.shell.write import write_moderator_runtime, write_shell_access, write_shell_tool
from chatmd.text import markup
from chatmd.text.markup import Written
from chatmd.text.quantities import show_bytes, show_duration
from chatml.source import Span

Attributes = list[tuple[str, Written]]


def dumps(document: Document) -> str:
    """A document as text: `load(dumps(document))`, beside the root document, is equal to it (section 15,
    X-43).

    Imports stay expanded, ids qualified. Raises `ChatmdError` (`chatmd.unserialisable_attribute`) for a
    value that ends in a backslash and needs quotes.

    >>> import chatmd
    >>> print(dumps(chatmd.load("<config  model='m'/>  <user>1 &lt; 2, 2 < 3</user>", base_dir=".")))
    <config model="m"/>
    <user>RAW|1 &lt; 2, 2 < 3|RAW</user>
    """
    return "\n".join(write_element(element) for element in document.elements)


def write_element(element: TopLevel) -> str:
    """One top-level element as text."""
    return WRITERS[type(element)](element)


def write_content(content: Content) -> str:
    """The body of a message-like element."""
    if content is None:
        return ""
    return markup.text(content) if isinstance(content, str) else "".join(write_items(content))


def write_items(items: Iterable[Item]) -> Iterator[str]:
    """Items as markup; sub-agents with their own, without call stack for their depth."""
    stack: list[Iterator[Item]] = [iter(items)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, AgentItem):
                yield markup.opening("agent", [("src", item.url), ("local", item.local)], item.span) + ">"
                stack.append(iter(item.items))
                break
            yield _leaf(item)
        else:
            stack.pop()
            if stack:
                yield "</agent>"


def _leaf(item: TextItem | ImageItem | DocItem) -> str:
    if isinstance(item, TextItem):
        return markup.text(item.text)
    given: Attributes = [("src", item.url), ("local", item.local)]
    if isinstance(item, ImageItem):
        return markup.empty("img", given, item.span)
    return markup.empty("doc", [*given, ("strip", item.strip), ("markdown", item.markdown)], item.span)


def _entry(entry: HistoryEntry) -> Attributes:
    """The attributes that say which entry of the history this is."""
    record = entry.source_record
    written = entry.source_context
    moved = record is not None and written != record.file
    return [
        (history_id.ATTRIBUTE, None if entry.history_id is None else str(entry.history_id)),
        ("ochat-source-context", written if moved else None),
    ]


def _with_content(tag: str, given: Attributes, content: Content, span: Span | None) -> str:
    if content is None:
        return markup.empty(tag, given, span)
    return markup.element(tag, given, write_content(content), span)


def _message(message: Message) -> str:
    legacy = message.legacy_call
    given: Attributes = [
        ("role", message.role if message.kind == "msg" else None),
        ("tool_call", legacy is not None),
        ("type", message.type),
        ("name", message.name),
        ("id", message.id),
        ("status", message.status),
        ("phase", message.phase),
        ("tool_call_id", message.tool_call_id if legacy is None else legacy.call_id),
        ("function_name", None if legacy is None else legacy.name),
        *_entry(message),
    ]
    return _with_content(message.kind, given, message.content, message.span)


def _tool_call(call: ToolCall) -> str:
    given: Attributes = [
        ("type", call.type),
        ("function_name", call.function_name),
        ("tool_call_id", call.tool_call_id),
        ("id", call.id),
        ("status", call.status),
        *_entry(call),
    ]
    return _with_content("tool_call", given, call.content, call.span)


def _tool_response(response: ToolResponse) -> str:
    given: Attributes = [
        ("type", response.type),
        ("tool_call_id", response.tool_call_id),
        ("id", response.id),
        ("name", response.name),
        ("status", response.status),
        *_entry(response),
    ]
    return _with_content("tool_response", given, response.content, response.span)


def _reasoning(reasoning: Reasoning) -> str:
    summaries = [
        markup.element(
            "summary",
            [("type", None if summary.type == SUMMARY_TEXT else summary.type)],
            markup.text(summary.text),
            reasoning.span,
        )
        for summary in reasoning.summary
    ]
    given: Attributes = [("id", reasoning.id), ("status", reasoning.status), *_entry(reasoning)]
    if not summaries:
        return markup.empty("reasoning", given, reasoning.span)
    return markup.element("reasoning", given, _lines(summaries), reasoning.span)


def _config(config: Config) -> str:
    given: Attributes = [
        ("model", config.model),
        ("max_tokens", None if config.max_tokens is None else str(config.max_tokens)),
        ("temperature", None if config.temperature is None else repr(config.temperature)),
        ("reasoning_effort", config.reasoning_effort),
        ("id", config.id),
        ("show_tool_call", config.show_tool_call),
    ]
    return markup.empty("config", given, config.span)


def _builtin(tool: Builtin) -> str:
    return markup.empty("tool", [("name", tool.name)], tool.span)


def _read_file(tool: ReadFile) -> str:
    roots = [
        markup.empty(
            "read",
            [("id", root.id), ("path", root.path.from_root), ("description", root.description)],
            tool.span,
        )
        for root in tool.roots
    ]
    given: Attributes = [("name", NAME), ("description", tool.description)]
    return markup.element("tool", given, _lines(roots), tool.span)


def _command(tool: Command) -> str:
    given: Attributes = [("name", tool.name), ("command", tool.command), ("description", tool.description)]
    return markup.empty("tool", given, tool.span)


def _agent_tool(tool: AgentTool) -> str:
    given: Attributes = [
        ("name", tool.name),
        ("agent", tool.agent),
        ("local", tool.local),
        ("description", tool.description),
    ]
    return markup.empty("tool", given, tool.span)


def _mcp_tool(tool: McpTool) -> str:
    names = tool.names or ()
    given: Attributes = [
        ("mcp_server", tool.mcp_server),
        ("name", names[0] if len(names) == 1 else None),
        ("includes", ",".join(names) if len(names) > 1 else None),
        ("description", tool.description),
        ("strict", tool.strict),
        ("client_id_env", tool.client_id_env),
        ("client_secret_env", tool.client_secret_env),
    ]
    return markup.empty("tool", given, tool.span)


LIMITS: dict[str, Callable[[Any], str]] = {
    "wall_time": show_duration,
    "fuel": str,
    "max_tasks": str,
    "max_value": show_bytes,
    "max_output": show_bytes,
    "max_array_items": str,
    "max_depth": str,
}


def _script(script: Script) -> str:
    source = script.source
    limits = attrs.asdict(script.limits)
    defaults = attrs.asdict(ScriptLimits())
    given: Attributes = [
        ("language", script.language),
        ("kind", script.kind),
        ("id", script.id),
        ("src", None if isinstance(source, Inline) else source.from_root),
        *((name, show(limits[name]) if limits[name] != defaults[name] else None) for name, show in LIMITS.items()),
    ]
    if isinstance(source, Inline):
        return markup.element("script", given, markup.text(source.text), script.span)
    return markup.empty("script", given, script.span)


def _lines(children: list[str]) -> str:
    """Elements inside of one that ignores white space, each on its own line."""
    return "".join(f"\n  {child}" for child in children) + "\n"


WRITERS: dict[type, Callable[[Any], str]] = {
    Message: _message,
    ToolCall: _tool_call,
    ToolResponse: _tool_response,
    Reasoning: _reasoning,
    Config: _config,
    Builtin: _builtin,
    ReadFile: _read_file,
    Command: _command,
    AgentTool: _agent_tool,
    McpTool: _mcp_tool,
    ModeratorScript: _script,
    ShellScript: _script,
    ShellTool: write_shell_tool,
    ShellAccess: write_shell_access,
    ModeratorRuntime: write_moderator_runtime,
}
"""How each class of the model is written."""
