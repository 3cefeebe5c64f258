"""Hold scripts to their scenarios: play each, and compare what happens with what it expects.

The script of `guard.scenario.json5` and of `guard.NAME.scenario.json5` is `guard.chatml` beside it, or the moderator
of a prompt document, `guard.chatmd` or `guard.md`. In a folder, every file called so is a scenario.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, add_strict, print_json, report, write
from chatml_tools.scripts import SURFACES
from chatml_tools.testing.find import find_scenarios
from chatml_tools.testing.junit import junit
from chatml_tools.testing.run import Outcome, Runner
from chatml_tools.testing.show import encode_coverage, encode_outcome, show, show_coverage, tally, total_text


def configure(arguments: Arguments) -> None:
    arguments.add("paths", nargs="+", metavar="PATH", help="a scenario, or a folder of scenarios")
    arguments.add("--script", metavar="FILE", help="play every scenario to this script")
    arguments.add("--update", action="store_true", help="rewrite expectations that do not hold, in place")
    arguments.add("--coverage", action="store_true", help="tell which branches of the scripts ran, and which not")
    arguments.add("--junit", metavar="FILE", help="write a report in JUnit's XML")
    arguments.add("--json", action="store_true", help="print the outcomes as one JSON document")
    add_strict(arguments)
    arguments.add("--surface", choices=SURFACES, help="what the scripts can name (default: ui)")


def execute(args: SimpleNamespace) -> int:
    runner = Runner(
        script=args.script, surface=args.surface, rewrite=args.update, cover=args.coverage, strict=args.strict
    )
    outcomes = []
    for path in find_scenarios(args.paths):
        outcome = runner.run(path)
        outcomes.append(outcome)
        if not args.json:
            tell(outcome)
    if args.junit is not None:
        save(args.junit, junit(outcomes))
    if args.json:
        print_json(encode(outcomes, runner))
    else:
        for script, coverage in runner.coverages.items():
            for line in show_coverage(script, coverage):
                write(sys.stdout, line)
        write(sys.stdout, total_text(outcomes))
    return 1 if any(outcome.status in ("failed", "error") for outcome in outcomes) else 0


def encode(outcomes: Sequence[Outcome], runner: Runner) -> dict[str, Any]:
    """Everything as plain data."""
    coverages = [encode_coverage(script, coverage) for script, coverage in runner.coverages.items()]
    return {
        "scenarios": [encode_outcome(outcome) for outcome in outcomes],
        **tally(outcomes),
        **({"coverage": coverages} if runner.cover else {}),
    }


def tell(outcome: Outcome) -> None:
    for line in show(outcome):
        write(sys.stdout, line)
    report(outcome.diagnostics)


def save(path: str, data: bytes) -> None:
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
