"""Run a script, and print what it prints.

A script that defines `initial_state` and `on_event` is a moderator: --events feeds it a scenario.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

from chatml.diagnostics.errors import CompileError, RuntimeFailure
from chatml.pipeline import ENGINES, EngineName, Program, compile, warnings_of
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, add_strict, heed, report, write
from chatml_tools.scripts import add_surface, choose_surface, read_source


def configure(arguments: Arguments) -> None:
    arguments.add("script", metavar="SCRIPT", help="a script or a prompt document; - is standard input")
    arguments.add("--events", metavar="FILE", help="compile a moderator, and feed it the scenario in a file or -")
    arguments.add("--authorize", metavar="once|SHA256", help="with --events: run a prompt's processes for real")
    arguments.add("--trace", action="store_true", help="show what ran: calls, matches, effects, commits")
    arguments.add("--json", action="store_true", help="with --events or --trace: print JSON, an object a line")
    arguments.add("--show-code", action="store_true", help="print the Python code of the script instead of running it")
    arguments.add("--engine", choices=ENGINES, help="what runs the script (default: compiled; a trace: walk)")
    add_strict(arguments)
    add_surface(arguments)


def execute(args: SimpleNamespace) -> int:
    if args.trace and args.engine == "compiled":
        raise UsageError("--trace is by the engine `walk`: leave out --engine compiled")
    if args.show_code and (args.trace or args.events is not None):
        raise UsageError("--show-code runs nothing: leave out --trace and --events")
    engine: EngineName = args.engine or "compiled"
    if args.events is not None:
        feed: Callable[..., int] = importlib.import_module("chatml_tools.timeline.feed").feed
        options = {"as_json": args.json, "engine": engine, "traced": args.trace, "strict": args.strict}
        options["authorize"] = args.authorize
        return feed(args.script, args.surface, args.events, **options)
    if args.authorize is not None:
        raise UsageError("--authorize is for --events: a plain program starts no processes")
    if args.json and not args.trace:
        raise UsageError("--json is for --events and --trace: a plain program prints what it prints")
    try:
        source = read_source(args.script)
        program = compile(source, surface=choose_surface(args.surface, source))
        heed(warnings_of(program), args.strict)
        if args.show_code:
            return show_code(program)
        if args.trace:
            importlib.import_module("chatml_tools.timeline.tracing").run(program, as_json=args.json)
        else:
            program.run(print=partial(write, sys.stdout), engine=engine)
    except CompileError as error:
        report(error.diagnostics)
        return 1
    except RuntimeFailure as failure:
        report([failure.diagnostic])
        return 1
    if {"initial_state", "on_event"} <= program.core.definitions.keys():
        write(sys.stderr, f"{source.name} defines a moderator: feed it with `chatml run {args.script} --events FILE`")
    return 0


def show_code(program: Program) -> int:
    code = program.python()
    if code is None:
        raise UsageError(
            f"{program.source.name} nests deeper than Python's compiler should follow: the evaluator runs it"
        )
    write(sys.stdout, code)
    return 0
