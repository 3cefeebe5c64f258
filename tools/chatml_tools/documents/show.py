"""Show what the model sees of a document, and what the document asks of the host.

That is the effective items, the tools with their schemas, the scripts, and the roots that may be read.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import chatmd
from chatmd.report.problems import ChatmdError
from chatml_tools.arguments import Arguments
from chatml_tools.console import print_json, report, write
from chatml_tools.documents.reading import load_document


def configure(arguments: Arguments) -> None:
    arguments.add("file", metavar="FILE", help="a document")
    arguments.add("--json", action="store_true", help="print one JSON document")


def execute(args: SimpleNamespace) -> int:
    try:
        document = load_document(args.file)
        description = chatmd.describe(document)
    except ChatmdError as error:
        report(error.diagnostics)
        return 1
    if args.json:
        print_json(description)
    else:
        report(document.warnings)
        write(sys.stdout, chatmd.show(description))
    return 0
