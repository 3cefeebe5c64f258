"""Report every error and warning of some scripts, without running them."""

from __future__ import annotations

import argparse

from chatml.cli.console import add_surface, choose_surface, count, encode_all, print_json, read_source, report
from chatml.diagnostics import Diagnostic
from chatml.errors import CompileError
from chatml.pipeline import check


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a script; - is standard input")
    parser.add_argument("--portable", action="store_true", help="warn of what other ChatML implementations lack")
    parser.add_argument("--json", action="store_true", help="print the findings as one JSON document")
    add_surface(parser)


def execute(args: argparse.Namespace) -> int:
    found: list[Diagnostic] = []
    for path in args.files:
        found += check_file(path, args.surface, args.portable)
    errors = sum(diagnostic.severity == "error" for diagnostic in found)
    warnings = len(found) - errors
    if args.json:
        print_json({"diagnostics": encode_all(found), "errors": errors, "warnings": warnings})
    else:
        report(found)
        print(f"{count(len(args.files), 'file')} checked: {count(errors, 'error')}, {count(warnings, 'warning')}")
    return 1 if errors else 0


def check_file(path: str, surface: str | None, portable: bool) -> tuple[Diagnostic, ...]:
    try:
        source = read_source(path)
    except CompileError as error:
        return error.diagnostics
    return check(source, surface=choose_surface(surface, source), portable=portable)
