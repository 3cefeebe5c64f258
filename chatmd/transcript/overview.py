"""What a document amounts to: what the model sees, and what the host is asked for (`chatmd show`)."""

from __future__ import annotations

import os
from typing import Any

from chatmd.document import Document, ToolDecl
from chatmd.elements.read_file import ReadFile
from chatmd.elements.script import Inline
from chatmd.loading.loader import load_file
from chatmd.loading.shell_tools import resolve_runtimes
from chatmd.report.problems import ChatmdError, Diagnostic, encode
from chatmd.request.agents import RunAgent
from chatmd.request.convert import to_input_items
from chatmd.request.resources import Context
from chatmd.request.tools import check_tools, declared_tools, schema, summary
from chatmd.shell.authority import authority, show_authority
from chatmd.shell.runtime import Runtime
from chatmd.sources.paths import HostPaths, InvalidPathError, PathExpr
from chatmd.transcript.trace_text import flatten_output

LONGEST_TEXT = 400


def check(path: str | os.PathLike[str]) -> tuple[Diagnostic, ...]:
    """Every finding about the document in a file, errors and warnings: why it does not load, or what the loader left
    out, which tools cannot be offered, and which shell runtimes cannot be made.

    Never raises for a fault of the document.
    """
    try:
        document = load_file(path)
    except ChatmdError as error:
        return error.diagnostics
    _, findings = _resolved_runtimes(document)
    return (*document.warnings, *check_tools(document), *findings)


def _resolved_runtimes(document: Document) -> tuple[list[Runtime], tuple[Diagnostic, ...]]:
    """The shell runtimes of a document, or why there are none."""
    try:
        return list(resolve_runtimes(document).values()), ()
    except ChatmdError as error:
        return [], error.diagnostics


def describe(
    document: Document,
    *,
    hosts: HostPaths | None = None,
    ctx: Context | None = None,
    run_agent: RunAgent | None = None,
) -> dict[str, Any]:
    """A document as plain data: `config`, `items` as the model sees them, `tools` with schemas, `scripts`, `roots`,
    `runtimes` (shell runtimes and what they may do), and `findings`: warnings, and what cannot be offered.

    `hosts` gives values to path variables: without one, only the prompt's directory is known. Raises `ChatmdError`
    as `to_input_items` does.
    """
    if hosts is None:
        hosts = HostPaths(prompt_dir=None if document.root is None else document.root.prompt_dir)
    runtimes, unresolved = _resolved_runtimes(document)
    findings = [*document.warnings, *check_tools(document), *unresolved]
    tools = []
    for tool in declared_tools(document):
        declaration = tool.declaration
        offered = None
        if isinstance(declaration, ToolDecl):
            try:
                offered = schema(declaration, hosts)
            except ChatmdError as error:
                findings += error.diagnostics
        tools.append({"names": list(tool.names), "kind": summary(declaration), "schema": offered})
    return {
        "config": document.config.request_options(),
        "items": to_input_items(document, ctx, run_agent),
        "tools": tools,
        "scripts": [
            {
                "id": script.id,
                "kind": script.kind,
                "src": None if isinstance(script.source, Inline) else script.source.from_root,
                "sha256": script.source_sha256,
                "lines": script.text.count("\n") + 1,
            }
            for script in document.scripts
        ],
        "roots": [
            {
                "id": root.id,
                "path": root.path.canonical,
                "directory": _resolved(root.path, hosts),
                "description": root.description,
            }
            for tool_decl in document.tools
            if isinstance(tool_decl, ReadFile)
            for root in tool_decl.roots
        ],
        "runtimes": [authority(runtime) for runtime in runtimes],
        "findings": [encode(finding) for finding in findings],
    }


def _resolved(path: PathExpr, hosts: HostPaths) -> str | None:
    try:
        return hosts.resolve(path)
    except InvalidPathError:
        return None


def show(description: dict[str, Any]) -> str:
    """A description for people: one line per fact, long texts cut, nothing that is empty."""
    sections = [
        ("config", [f"{name}: {value}" for name, value in description["config"].items()]),
        ("items", [_item(index, item) for index, item in enumerate(description["items"])]),
        ("tools", [_tool(tool) for tool in description["tools"]]),
        ("shell runtimes", [show_authority(runtime) for runtime in description["runtimes"]]),
        ("read roots", [_root(root) for root in description["roots"]]),
        ("scripts", [_script(script) for script in description["scripts"]]),
    ]
    return "\n\n".join("\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections if lines)


def _item(index: int, item: dict[str, Any]) -> str:
    kind = item["type"]
    if kind == "message":
        body = flatten_output(item["content"])
        return f"{index}. {item['role']}: {_cut(body)}"
    if kind == "reasoning":
        return f"{index}. reasoning: {_cut(' '.join(part['text'] for part in item['summary']))}"
    if "name" in item:
        return f"{index}. {kind} {item['name']}({_cut(item.get('arguments', item.get('input', '')))})"
    return f"{index}. {kind}: {_cut(flatten_output(item['output']))}"


def _tool(tool: dict[str, Any]) -> str:
    return f"{', '.join(tool['names']) or '(names known to the server)'}: {tool['kind']}"


def _root(root: dict[str, Any]) -> str:
    where = root["directory"] or "not known to this host"
    return f"{root['id']}: {root['path']} ({where})"


def _script(script: dict[str, Any]) -> str:
    return f"{script['id']}: {script['kind']}, {script['src'] or 'inline'}, {script['lines']} lines"


def _cut(text: str) -> str:
    """A text on one line, its line feeds shown, cut when it is long."""
    line = text.replace("\n", "\\n")
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 3] + "..."
