"""Report every error and warning of some documents: of the text itself, of what it imports, and of its moderator."""

from __future__ import annotations

from types import SimpleNamespace

import chatmd
from chatmd.report.problems import ChatmdError
from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic
from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.moderation.documents import moderator_script
from chatml_tools.arguments import Arguments
from chatml_tools.console import conclude
from chatml_tools.documents.reading import load_document


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
    """The findings about a document and the script that moderates it."""
    found = (*document.warnings, *chatmd.check_tools(document))
    try:
        script = moderator_script(document, surface=UI_MODERATOR)
    except CompileError as error:
        return (*found, *error.diagnostics)
    return found if script is None else (*found, *script.compiled.warnings)
