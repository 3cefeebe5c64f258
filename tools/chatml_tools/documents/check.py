"""Report every error and warning of some documents.

Of the text itself and of what it imports, of its moderator, and of what it declares for the shell: runtimes, tools and
the scripts that extend them. Nothing is started.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import chatmd
from chatmd.elements.script import ShellScript
from chatmd.elements.tool import Command
from chatmd.report.problems import ChatmdError
from chatmd.shell.tool import ShellTool
from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic
from chatml.lazy import lazy
from chatml.pipeline import warnings_of
from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.moderation.documents import moderator_script
from chatml_tools.arguments import Arguments
from chatml_tools.console import conclude
from chatml_tools.documents.reading import load_document

if TYPE_CHECKING:
    from chatml_shell.extensions import compile as extending
    from chatml_shell.manifest import compile as compiling
else:
    compiling, extending = lazy("chatml_shell.manifest.compile"), lazy("chatml_shell.extensions.compile")


def configure(arguments: Arguments) -> None:
    arguments.add("files", nargs="+", metavar="FILE", help="a document")
    arguments.add("--json", action="store_true", help="print the findings as one JSON document")


def execute(args: SimpleNamespace) -> int:
    found = [diagnostic for path in args.files for diagnostic in check_file(path)]
    return conclude(found, len(args.files), as_json=args.json)


def check_file(path: str) -> tuple[Diagnostic, ...]:
    """The findings about the document in a file: why it does not load, or what is wrong with it."""
    try:
        return findings(load_document(path))
    except ChatmdError as error:
        return error.diagnostics


def findings(document: chatmd.Document) -> tuple[Diagnostic, ...]:
    """The findings about a document, its scripts, and what it declares for the shell."""
    found = (*document.warnings, *chatmd.check_tools(document), *shell_findings(document))
    try:
        script = moderator_script(document, surface=UI_MODERATOR)
    except CompileError as error:
        return (*found, *error.diagnostics)
    return found if script is None else (*found, *warnings_of(script.compiled.program))


def shell_findings(document: chatmd.Document) -> tuple[Diagnostic, ...]:
    """The findings about runtimes, shell tools and the scripts that extend the shell (E-39)."""
    if not (document.shell_runtimes or document.moderator_runtime or any(map(is_of_shell, document.elements))):
        return ()
    try:
        manifest = compiling.compile_manifest(document)
        extending.compile_extensions(manifest)
    except ChatmdError as error:
        return error.diagnostics
    return manifest.warnings


def is_of_shell(element: object) -> bool:
    """Whether a part of a document is a tool or a script of the shell."""
    return isinstance(element, Command | ShellTool | ShellScript)
