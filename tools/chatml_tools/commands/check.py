"""Report every error and warning of some scripts, without running them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from chatml.diagnostics.errors import CompileError
from chatml.pipeline import check
from chatml.types.guided import STANDARD
from chatml_tools.arguments import Arguments
from chatml_tools.console import add_strict, conclude, hardened, refuse_twice
from chatml_tools.scripts import add_surface, choose_surface, read_source

if TYPE_CHECKING:
    from chatml.diagnostics.model import Diagnostic


def configure(arguments: Arguments) -> None:
    arguments.add("files", nargs="+", metavar="FILE", help="a script or a prompt document; - is standard input")
    arguments.add("--portable", action="store_true", help="warn of what other ChatML implementations lack")
    arguments.add("--json", action="store_true", help="print the findings as one JSON document")
    add_strict(arguments)
    add_surface(arguments)


def execute(args: SimpleNamespace) -> int:
    refuse_twice(args.files)
    found = [diagnostic for path in args.files for diagnostic in check_file(path, args.surface, args.portable)]
    return conclude(hardened(found, args.strict), len(args.files), as_json=args.json)


def check_file(path: str, surface: str | None, portable: bool) -> tuple[Diagnostic, ...]:
    try:
        source = read_source(path)
    except CompileError as error:
        return error.diagnostics
    return check(source, surface=choose_surface(surface, source), portable=portable, entrypoints=STANDARD)
