"""Print the messages of a growing nr-chat file, each when it is complete. Ctrl-C ends it.

Without --follow, print the messages that the file has and stop.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace

from chatmd import nrchat
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, print_json, write


def configure(arguments: Arguments) -> None:
    arguments.add("file", metavar="FILE", help="an nr-chat file")
    arguments.add("--follow", "-f", action="store_true", help="wait for more")
    arguments.add("--json", action="store_true", help="print a JSON object per message")


def execute(args: SimpleNamespace) -> int:
    try:
        for message in messages(args):
            if args.json:
                print_json({"role": message.role, "name": message.name, "meta": message.meta, "body": message.body})
            else:
                write(sys.stdout, nrchat.stringify([message]).rstrip("\n"))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read {args.file}: {error.strerror or error}") from None
    except ValueError as error:
        print(f"chatmd: {args.file}: {error}", file=sys.stderr)
        return 1
    return 0


def messages(args: SimpleNamespace) -> Iterator[nrchat.Message]:
    if args.follow:
        return nrchat.follow(args.file, wait=lambda: time.sleep(0.2))
    return nrchat.iter_messages(args.file)
