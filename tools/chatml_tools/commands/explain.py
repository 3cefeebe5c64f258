"""Explain a diagnostic code: what it means, a program that fails with it, and one that does not.

Without a code, list all of them with their titles; with the name of a family, such as `syntax`, those of the family.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from chatml.diagnostics.explain import Entry, read_catalogue
from chatml.diagnostics.suggest import did_you_mean
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, print_json

PACKAGES = ("chatml", "chatmd", "chatml_runtime", "chatml_shell")


def configure(arguments: Arguments) -> None:
    arguments.add("code", nargs="?", metavar="CODE", help="a code such as type.mismatch, or a family such as type")
    arguments.add("--json", action="store_true", help="print one JSON document")


def execute(args: SimpleNamespace) -> int:
    entries = {code: entry for package in PACKAGES for code, entry in read_catalogue(package).items()}
    entry = entries.get(args.code)
    if entry is None:
        listed = [each for code, each in sorted(entries.items()) if args.code in (None, code.split(".")[0])]
        if not listed:
            known = [*entries, *{code.split(".")[0] for code in entries}]
            raise UsageError(f"unknown code {args.code}: {did_you_mean(args.code, known) or 'see `chatml explain`'}")
        tell_all(listed, as_json=args.json)
        return 0
    if args.json:
        print_json({"code": entry.code, "text": entry.text})
    else:
        print(f"{entry.code}\n{'─' * len(entry.code)}\n\n{entry.text}")
    return 0


def tell_all(entries: Sequence[Entry], *, as_json: bool) -> None:
    """List codes with their titles."""
    if as_json:
        print_json([{"code": entry.code, "title": entry.title} for entry in entries])
        return
    width = max(len(entry.code) for entry in entries)
    for entry in entries:
        print(f"{entry.code:<{width}}  {entry.title}")
