"""Show the tools of a document as a model sees them.

Nothing is started and nobody is asked: a shell tool is shown by its declaration, one JSON object a line with `--json`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import chatmd
from chatmd.document import Document
from chatmd.elements.read_file import ReadFile
from chatmd.elements.tool import AgentTool
from chatmd.loading.shell_tools import shell_tools
from chatmd.report.problems import ChatmdError
from chatmd.request.tools import schema as document_schema
from chatmd.sources.paths import HostPaths
from chatml_shell.manifest.compile import compile_manifest
from chatml_shell.tools.schema import describe, schema
from chatml_tools.arguments import Arguments
from chatml_tools.console import print_json, report, write
from chatml_tools.documents.reading import load_document


def configure(arguments: Arguments) -> None:
    arguments.add("file", metavar="FILE", help="a document")
    arguments.add("--json", action="store_true", help="print one JSON object a line")


def execute(args: SimpleNamespace) -> int:
    try:
        document = load_document(args.file)
        compile_manifest(document)
        findings = chatmd.check_tools(document)
        if findings:
            report(findings)
            return 1
        offered = list(described(document))
    except ChatmdError as error:
        report(error.diagnostics)
        return 1
    for tool in offered:
        if args.json:
            print_json(tool)
        else:
            write(sys.stdout, show(tool))
    return 0


def described(document: Document) -> Iterator[dict[str, Any]]:
    """The tools of a document that it describes itself: shell tools, agents, and roots that may be read. What a host
    or a server brings along, only they can describe."""
    root = document.root
    hosts = HostPaths(workspace=os.getcwd(), prompt_dir=None if root is None else root.prompt_dir)
    for declaration in document.tools:
        if isinstance(declaration, ReadFile | AgentTool):
            function = document_schema(declaration, hosts)
            assert function is not None
            kind = "read_file" if isinstance(declaration, ReadFile) else "agent"
            yield {**{name: function[name] for name in ("name", "description", "parameters")}, "kind": kind}
    for tool in shell_tools(document):
        yield {"name": tool.name, "description": describe(tool), "parameters": schema(tool), "kind": "shell"}


def show(tool: dict[str, Any]) -> str:
    """A tool for people: its name, its fields, what it does."""
    required = set(tool["parameters"]["required"])
    names = (name if name in required else f"{name}?" for name in tool["parameters"]["properties"])
    return f"{tool['name']}({', '.join(names)}): {tool['kind']}\n  {tool['description']}"
