"""Replay stored conversations to a policy, and report what it would have decided.

A transcript is a ChatMD document, an nr-chat file, or provider items as JSON or JSON Lines; its name tells, or --from.
The conversation goes on as it is stored, whatever the policy decides, until the policy ends it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import SimpleNamespace

from chatml.diagnostics.errors import CompileError
from chatml.pipeline import compile, warnings_of
from chatml.types.guided import STANDARD
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, add_strict, heed, print_json, report, write
from chatml_tools.documents.reading import FORMATS
from chatml_tools.replay.show import Total, encode_result, encode_total, show, show_difference, show_total
from chatml_tools.replay.work import Order, Result, find_transcripts, work_through
from chatml_tools.scripts import SURFACES, read_source


def configure(arguments: Arguments) -> None:
    arguments.add("script", metavar="SCRIPT", help="a script or a prompt document")
    arguments.add("transcripts", nargs="+", metavar="TRANSCRIPT", help="a conversation, or a folder of them")
    arguments.add("--diff", metavar="OTHER_SCRIPT", help="show what that one would have done otherwise")
    arguments.add("--from", dest="format", choices=FORMATS, help="the format of the transcripts")
    arguments.add("--host", metavar="SCENARIO", help="take session and host from a scenario file")
    arguments.add("--answer", metavar="TEXT", help="answer every question so (default: drop what asks)")
    arguments.add("--jobs", "-j", type=int, default=1, metavar="N", help="how many processes work at it")
    arguments.add("--json", action="store_true", help="print a JSON object per conversation, and one in total")
    add_strict(arguments)
    arguments.add("--surface", choices=SURFACES, help="what the scripts can name (default: ui)")


def execute(args: SimpleNamespace) -> int:
    if args.jobs < 1:
        raise UsageError(f"--jobs takes a number of at least 1, not {args.jobs}")
    scripts = (args.script,) if args.diff is None else (args.script, args.diff)
    if "-" in (*scripts, *args.transcripts):
        raise UsageError("scripts and transcripts are read more than once, so none can be on standard input")
    paths = find_transcripts(args.transcripts)
    order = Order(scripts, args.surface, args.format, args.host, args.answer)
    total = Total.of(len(scripts))
    describe = show if args.diff is None else show_difference
    try:
        report_warnings(scripts, args.surface, args.strict)
        for result in with_progress(work_through(order, paths, args.jobs), len(paths)):
            total.add(result)
            if args.json:
                print_json(encode_result(result))
                continue
            show_lines(describe(result))
    except CompileError as error:
        report(error.diagnostics)
        return 1
    except KeyboardInterrupt:
        if total.conversations and not args.json:
            show_lines(["", f"interrupted: {total.conversations} of {len(paths)}", *show_total(total)])
        raise
    if args.json:
        print_json({"total": encode_total(total, scripts)})
    else:
        show_lines(show_total(total))
    return 1 if total.is_at_fault else 0


def report_warnings(scripts: Iterable[str], surface: str | None, strict: bool) -> None:
    """Say once what is worth a warning in the scripts. Raises `CompileError` for one at fault."""
    for script in scripts:
        program = compile(read_source(script), surface=SURFACES[surface or "ui"](), entrypoints=STANDARD)
        heed(warnings_of(program), strict)


def show_lines(lines: Iterable[str]) -> None:
    for line in lines:
        write(sys.stdout, line)


def with_progress(results: Iterable[Result], number: int) -> Iterator[Result]:
    """The results; while the next one is awaited, a terminal shows how many there are already."""
    if not sys.stderr.isatty():
        yield from results
        return
    try:
        show_progress(f"0/{number}")
        for done, result in enumerate(results, 1):
            show_progress("")
            yield result
            show_progress(f"{done}/{number}")
    finally:
        show_progress("")


def show_progress(text: str) -> None:
    """Write over the line at the end of a terminal."""
    sys.stderr.write(f"{CLEAR_LINE}{text}")
    sys.stderr.flush()


CLEAR_LINE = "\r\x1b[K"
