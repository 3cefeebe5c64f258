"""Explain a diagnostic code: what it means, a program that fails with it, and one that does not.

Without a code, list all of them.
"""

from __future__ import annotations

from types import SimpleNamespace

from chatml.diagnostics.explain import read_catalogue
from chatml.diagnostics.suggest import did_you_mean
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, print_json

PACKAGES = ("chatml", "chatmd", "chatml_runtime")


def configure(arguments: Arguments) -> None:
    arguments.add("code", nargs="?", metavar="CODE", help="a code such as type.mismatch")
    arguments.add("--json", action="store_true", help="print one JSON document")


def execute(args: SimpleNamespace) -> int:
    entries = {code: entry for package in PACKAGES for code, entry in read_catalogue(package).items()}
    if args.code is None:
        if args.json:
            print_json(list(entries))
        else:
            print("\n".join(entries))
        return 0
    entry = entries.get(args.code)
    if entry is None:
        raise UsageError(f"unknown code {args.code}: {did_you_mean(args.code, entries) or 'see `chatml explain`'}")
    if args.json:
        print_json({"code": entry.code, "text": entry.text})
    else:
        print(f"{entry.code}\n{'─' * len(entry.code)}\n\n{entry.text}")
    return 0
