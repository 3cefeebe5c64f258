"""Write a session as a document: its prompt, then what was said, then what the moderator changed.

The history is a conversation in any format that `chatmd convert` reads; what the prompt itself contributed is not
written twice. The moderator's changes come from a snapshot.
"""

from __future__ import annotations

import json
import sys
from itertools import takewhile
from types import SimpleNamespace

import chatmd
from chatmd.report.problems import ChatmdError
from chatml.diagnostics.errors import SnapshotError
from chatml_runtime.moderation.documents import overlay_entries
from chatml_runtime.moderation.snapshots import ModeratorSnapshot
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, report
from chatml_tools.documents.reading import FORMATS, ConversationError, decode, format_of, load_document


def configure(arguments: Arguments) -> None:
    arguments.add("prompt", metavar="PROMPT", help="the document that the session began with")
    arguments.add("target", metavar="TARGET", help="the document to write")
    arguments.add("--history", metavar="FILE", help="the whole conversation, the prompt's own items first")
    arguments.add("--from", dest="source", choices=FORMATS, help="the format of the history")
    arguments.add("--snapshot", metavar="FILE", help="a moderator's snapshot, for its changes")
    arguments.add("--namespace", default="session", help="the namespace of the identities (default: session)")
    arguments.add("--force", action="store_true", help="replace TARGET if it exists")


def execute(args: SimpleNamespace) -> int:
    try:
        chatmd.export(session(args), args.target, overwrite=args.force)
    except ChatmdError as error:
        report(error.diagnostics)
        return 1
    except (ConversationError, SnapshotError) as error:
        print(f"chatmd: {error}", file=sys.stderr)
        return 1
    except FileExistsError as error:
        raise UsageError(f"{error}; --force replaces it") from None
    except OSError as error:
        raise UsageError(f"cannot export to {args.target}: {error.strerror or error}") from None
    return 0


def session(args: SimpleNamespace) -> chatmd.Session:
    """What the arguments say was a session."""
    allocator = chatmd.Allocator(args.namespace)
    own = chatmd.materialise_history(load_document(args.prompt), allocator)
    history = own
    if args.history is not None:
        read, _ = FORMATS[format_of(args.history, args.source)]
        items = read(args.history)
        pairs = zip(own, items, strict=False)
        kept = len(list(takewhile(lambda pair: dict(pair[0].item) == pair[1], pairs)))
        history = own[:kept] + [chatmd.Entry(allocator.fresh(), item) for item in items[kept:]]
    overlay = () if args.snapshot is None else overlay_entries(read_snapshot(args.snapshot).overlay)
    return chatmd.Session(prompt_file=args.prompt, history=history, checkpoint=chatmd.checkpoint(own), overlay=overlay)


def read_snapshot(path: str) -> ModeratorSnapshot:
    """The snapshot in a file. Raises `SnapshotError`."""
    try:
        return ModeratorSnapshot.from_json(json.loads(decode(path)))
    except ValueError as error:
        raise SnapshotError(f"{path} is not JSON: {error}") from None
