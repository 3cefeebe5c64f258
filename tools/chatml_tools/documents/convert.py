"""Convert a conversation between ChatMD, provider input items (JSON or JSON Lines) and nr-chat.

The formats are told by the names of the files (.md .chatmd, .json .jsonl, .nrchat .chat) unless --from and --to say so.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

from chatmd.report.problems import ChatmdError
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, report
from chatml_tools.documents.reading import FORMATS, ConversationError, format_of


def configure(arguments: Arguments) -> None:
    arguments.add("file", metavar="FILE", help="a conversation")
    arguments.add("output", nargs="?", metavar="OUTPUT", help="where to write (default: standard output)")
    arguments.add("--from", dest="source", choices=FORMATS, help="the format of FILE")
    arguments.add("--to", dest="target", choices=FORMATS, help="the format to write")


def execute(args: SimpleNamespace) -> int:
    if args.output is None and args.target is None:
        raise UsageError("say what to convert to: an OUTPUT file, or --to FORMAT")
    read, _ = FORMATS[format_of(args.file, args.source)]
    _, write = FORMATS[format_of(args.output or "", args.target, "--to")]
    try:
        text = write(read(args.file))
    except ChatmdError as error:
        report(error.diagnostics)
        return 1
    except ConversationError as error:
        print(f"chatmd: {error}", file=sys.stderr)
        return 1
    save(args.output, text)
    return 0


def save(path: str | None, text: str) -> None:
    """Write text to a file as it is, or to standard output."""
    data = text.encode("utf-8")
    if path is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
