"""Call a shell tool of a document, as a model would call it.

At a terminal you are asked twice: about the manifest, which is everything that the document may do, and about each
command that its policy leaves open. Elsewhere nothing is started unless `--authorize` names the manifest's hash, which
`chatmd shell inspect` shows, or says `once`; `--answer` then gives the approvals, in order.
"""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

from chatmd.report.problems import ChatmdError, Diagnostic
from chatml_shell.approvals.broker import GivenAnswers
from chatml_shell.approvals.question import Provider
from chatml_shell.manifest.record import Manifest
from chatml_shell.registry.opening import open_registry
from chatml_shell.registry.registry import CallOutcome, UnknownToolError, record_json
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, print_json, read_bytes, report, write
from chatml_tools.documents.reading import load_document
from chatml_tools.shell.asking import ask_for_command, authoriser_of, is_terminal, parse_answers
from chatml_tools.shell.hosting import SESSION_OPTION, make_host, manifest_of, remembered, session_place


def configure(arguments: Arguments) -> None:
    arguments.add("file", metavar="PROMPT", help="a document")
    arguments.add("tool", metavar="TOOL", help="the name of a shell tool")
    arguments.add("arguments", nargs="?", default="{}", metavar="ARGUMENTS", help="a JSON object, or - to read one")
    arguments.add("--authorize", metavar="once|SHA256", help="authorise the manifest: this call's, or exactly this one")
    arguments.add("--answer", action="append", metavar="ANSWER", help="an approval, in order: once, session, deny, …")
    arguments.add("--session", **SESSION_OPTION)
    arguments.add("--json", action="store_true", help="print one JSON object: output, code, records, manifest_sha256")


def execute(args: SimpleNamespace) -> int:
    answers = parse_answers(args.answer)
    authoriser_of(args.authorize)
    text = read_bytes("-").decode("utf-8", "replace") if args.arguments == "-" else args.arguments
    provider: Provider = ask_for_command if is_terminal() and not answers else GivenAnswers(answers)
    manifest: Manifest | None = None
    try:
        manifest = manifest_of(load_document(args.file))
        if not args.json:
            report(manifest.warnings)
        outcome = asyncio.run(called(manifest, args, text, provider))
    except ChatmdError as error:
        return failed(error.diagnostics, manifest, as_json=args.json)
    except UnknownToolError as error:
        raise UsageError(str(error)) from None
    if args.json:
        print_json(encode(outcome, manifest))
    else:
        write(sys.stdout, outcome.output.removesuffix("\n"))
    return 0 if outcome.code is None else 1


async def called(manifest: Manifest, args: SimpleNamespace, text: str, provider: Provider) -> CallOutcome:
    """What comes of the call."""
    session = session_place(args.session)
    host = make_host(manifest, session, provider)
    authoriser = remembered(authoriser_of(args.authorize), session)
    snapshots = None if session is None else session.snapshots
    async with open_registry(manifest, host=host, authoriser=authoriser, snapshots=snapshots) as registry:
        return await registry.run(args.tool, text)


def encode(outcome: CallOutcome, manifest: Manifest) -> dict[str, Any]:
    """A call's outcome as plain data."""
    return {
        "output": outcome.output,
        "code": outcome.code,
        "records": [record_json(record) for record in outcome.records],
        "manifest_sha256": manifest.sha256,
    }


def failed(found: tuple[Diagnostic, ...], manifest: Manifest | None, *, as_json: bool) -> int:
    """Report why nothing was started (E-40)."""
    report(found)
    if as_json:
        codes = [one.code for one in found]
        sha256 = None if manifest is None else manifest.sha256
        print_json({"output": None, "code": codes[0], "codes": codes, "records": [], "manifest_sha256": sha256})
    return 1
