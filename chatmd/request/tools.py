"""The tools that a document declares, as the model sees them (chatmd.md sections 7.3 and 7.4)."""

from __future__ import annotations

from typing import Any

import attrs

from chatmd.document import Document, ToolDecl
from chatmd.elements.read_file import NAME, ReadFile
from chatmd.elements.tool import AgentTool, Builtin, Command, McpTool
from chatmd.report.problems import Diagnostic, problem
from chatmd.request.read_file import open_read_file
from chatmd.shell.tool import mode_of
from chatmd.sources.paths import HostPaths
from chatml.diagnostics.suggest import did_you_mean
from chatml.source import Span

BUILTINS = {
    "apply_patch": "apply_patch",
    "read_dir": "read_directory",
    "append_to_file": "append_to_file",
    "find_and_replace": "find_and_replace",
    "webpage_to_markdown": "webpage_to_markdown",
    "fork": "fork",
    "odoc_search": "odoc_search",
    "index_markdown_docs": "index_markdown_docs",
    "markdown_search": "markdown_search",
    "query_vector_db": "query_vector_db",
    "index_ocaml_code": "index_ocaml_code",
    "import_image": "import_image",
    "meta_refine": "meta_refine",
}
"""The tools that a host may bring along: the name that declares one, and the name that the model calls."""


@attrs.frozen
class DeclaredTool:
    """One tool of a document. `names` is what the model calls: several or none known for an MCP server."""

    declaration: ToolDecl
    names: tuple[str, ...]
    span: Span | None


def declared_tools(document: Document) -> list[DeclaredTool]:
    """The tools of a document with the names that the model sees, in order."""
    return [
        DeclaredTool(element, exposed_names(element), element.span)
        for element in document.elements
        if isinstance(element, ToolDecl)
    ]


def exposed_names(declaration: ToolDecl) -> tuple[str, ...]:
    """The names under which the model sees a declaration."""
    if isinstance(declaration, McpTool):
        return declaration.names or ()
    if isinstance(declaration, ReadFile):
        return (NAME,)
    if isinstance(declaration, Builtin):
        return (BUILTINS.get(declaration.name, declaration.name),)
    return (declaration.name,)


def check_tools(document: Document) -> list[Diagnostic]:
    """What keeps the tools of a document from being offered, all findings: `tool.unknown_builtin` and
    `agent.duplicate_tool_name`."""
    findings = []
    seen: dict[str, DeclaredTool] = {}
    for tool in declared_tools(document):
        declaration = tool.declaration
        if isinstance(declaration, Builtin) and declaration.name not in BUILTINS:
            findings.append(
                problem(
                    "tool.unknown_builtin",
                    tool.span,
                    path=("tool",),
                    source=declaration.source_record,
                    help=did_you_mean(declaration.name, [*BUILTINS, NAME]),
                    name=declaration.name,
                )
            )
        for name in tool.names:
            if name in seen:
                first = seen[name].span
                labels = [(first, "the first one is here")] if first is not None else ()
                findings.append(
                    problem("agent.duplicate_tool_name", tool.span, path=("tool",), labels=labels, name=name)
                )
            seen.setdefault(name, tool)
    return findings


def schema(declaration: ToolDecl, hosts: HostPaths) -> dict[str, Any] | None:
    """A declaration as a function of a Responses request; None where only the host knows it (built-in and MCP tools,
    and commands, which become shell tools).

    Raises `ChatmdError` (`shell.directory_unavailable`) for a `read_file` root that does not exist.
    """
    if isinstance(declaration, ReadFile):
        return open_read_file(declaration, hosts).schema()
    if isinstance(declaration, AgentTool):
        return agent_schema(declaration)
    return None


def agent_schema(tool: AgentTool) -> dict[str, Any]:
    """An agent as a function: one text goes in, the agent's answer comes out.

    >>> agent_schema(AgentTool("ask", "a.chatmd"))["description"]
    'Asks the agent a.chatmd and returns its answer.'
    """
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description or f"Asks the agent {tool.agent} and returns its answer.",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": ["input"],
            "properties": {"input": {"type": "string", "description": "What the agent is asked."}},
        },
        "strict": False,
    }


def summary(declaration: ToolDecl) -> str:
    """What kind of tool a declaration makes, in a few words."""
    if isinstance(declaration, Builtin):
        return "built in"
    if isinstance(declaration, ReadFile):
        roots = ", ".join(f"{root.id} = {root.path}" for root in declaration.roots)
        return f"reads files below {roots}"
    if isinstance(declaration, Command):
        return f"command `{declaration.command}`"
    if isinstance(declaration, AgentTool):
        return f"agent {declaration.agent}"
    if isinstance(declaration, McpTool):
        what = "all tools" if declaration.names is None else ", ".join(declaration.names)
        return f"{what} of {declaration.mcp_server}"
    return f"shell tool of mode {mode_of(declaration)} in runtime `{declaration.runtime}`"
