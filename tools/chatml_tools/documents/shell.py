"""Look at what a document may run, and at what was run and approved.

    chatmd shell inspect PROMPT.md [--json|--canonical]     the manifest: its hash, its runtimes, who has signed it
    chatmd shell sign PROMPT.md KEY --key-id ID --issuer WHO  a signature over the manifest, printed
    chatmd shell verify PROMPT.md                           the signature and the sources, as a start would check them
    chatmd shell audit validate|replay FILE…                whether an audit is whole, and what it tells
    chatmd shell audit request ID FILE…                     the records of one request
    chatmd shell grants list|explain|revoke [ID]            approvals: of the session with --session, else durable ones
    chatmd shell manifest-grants list|explain|revoke [ID]   manifests that the session has authorised
    chatmd shell interrupted list                           requests of the session that nothing says the end of

Everything but `revoke` only reads; `revoke` asks, or takes `--yes`.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

from chatmd.report.problems import ChatmdError
from chatml_shell.errors import StorageError
from chatml_tools.arguments import Arguments
from chatml_tools.console import print_json, report
from chatml_tools.shell import audits, granted, inspecting
from chatml_tools.shell.hosting import SESSION_OPTION

ACTIONS = {
    "inspect": inspecting.inspect,
    "sign": inspecting.sign_manifest,
    "verify": inspecting.verify_manifest,
    "audit": audits.audit,
    "grants": granted.grants,
    "manifest-grants": granted.manifest_grants,
    "interrupted": audits.interrupted_requests,
}


def configure(arguments: Arguments) -> None:
    arguments.add("action", choices=tuple(ACTIONS), metavar="ACTION", help="what to look at")
    arguments.add("words", nargs="*", metavar="WORD", help="see above")
    arguments.add("--json", action="store_true", help="print one JSON document")
    arguments.add("--canonical", action="store_true", help="print the canonical text of the manifest")
    arguments.add("--session", **SESSION_OPTION)
    arguments.add("--key-id", metavar="ID", help="the name of the key that signs")
    arguments.add("--issuer", metavar="WHO", help="who signs")
    arguments.add("--audience", default="ochat", metavar="WHO", help="whom the signature is for")
    arguments.add("--yes", action="store_true", help="revoke without asking")
    arguments.add("--reason", metavar="TEXT", help="why a grant is revoked")


def execute(args: SimpleNamespace) -> int:
    try:
        return ACTIONS[args.action](args, args.words)
    except ChatmdError as error:
        report(error.diagnostics)
        return 1
    except StorageError as error:
        if args.json:
            print_json({"code": error.code, "message": error.message})
        print(f"chatmd: {error}", file=sys.stderr)
        return 1
