"""Print the type of each top-level binding of a script, in source order."""

from __future__ import annotations

from types import SimpleNamespace

from chatml.diagnostics.errors import CompileError
from chatml.pipeline import compile
from chatml_tools.arguments import Arguments
from chatml_tools.console import print_json, report
from chatml_tools.scripts import add_surface, choose_surface, read_source


def configure(arguments: Arguments) -> None:
    arguments.add("file", metavar="FILE", help="a script or a prompt document; - is standard input")
    arguments.add("--json", action="store_true", help="print one JSON object from names to types")
    add_surface(arguments)


def execute(args: SimpleNamespace) -> int:
    try:
        source = read_source(args.file)
        checked = compile(source, surface=choose_surface(args.surface, source)).checked
        types = {name: checked.tell(name) for name in checked.bindings}
    except CompileError as error:
        report(error.diagnostics)
        return 1
    if args.json:
        print_json(types)
    else:
        for name, shown in types.items():
            print(f"{name} : {shown}")
    return 0
