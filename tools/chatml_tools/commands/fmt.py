"""Rewrite scripts in their canonical layout: two blanks of indentation, at most 100 columns, the fewest parentheses.

What a script means does not change, and comments stay where they are. A script with a syntax error is reported and left
as it is.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from chatml.diagnostics.errors import CompileError
from chatml.syntax.decode import decode
from chatml.syntax.format import format_script
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, count, read_bytes, refuse_twice, report
from chatml_tools.scripts import DATA, DOCUMENTS


def configure(arguments: Arguments) -> None:
    arguments.add("files", nargs="+", metavar="FILE", help="a script; - reads standard input and prints the result")
    arguments.add("--check", action="store_true", help="write nothing; list what would change, and exit with 1")


def execute(args: SimpleNamespace) -> int:
    refuse_twice(args.files)
    changed = faulty = 0
    for path in args.files:
        content = read_script(path)
        try:
            text = format_script(decode("<stdin>" if path == "-" else path, content)).encode("utf-8")
        except CompileError as error:
            report(error.diagnostics)
            faulty += 1
            continue
        if text != content:
            changed += 1
            if args.check:
                print(f"would reformat {path}")
            elif path != "-":
                replace(path, text)
                print(f"reformatted {path}")
        if path == "-" and not args.check:
            sys.stdout.flush()
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()
    if args.files != ["-"]:
        print(summary(len(args.files), changed, faulty, args.check))
    return 1 if faulty or (args.check and changed) else 0


def read_script(path: str) -> bytes:
    """The content of a script; a prompt document and a scenario are none."""
    if path.endswith((*DOCUMENTS, *DATA)):
        what = "a document" if path.endswith(DOCUMENTS) else "data"
        raise UsageError(f"cannot format {path}: it is {what}, not a script")
    return read_bytes(path)


def summary(files: int, changed: int, faulty: int, check: bool) -> str:
    """What became of the files, in one line."""
    parts = [f"{count(changed, 'file')} {'would be ' if check else ''}reformatted"]
    parts.append(f"{count(files - changed - faulty, 'file')} unchanged")
    if faulty:
        parts.append(f"{count(faulty, 'file')} with errors")
    return ", ".join(parts)


def replace(path: str, content: bytes) -> None:
    """Give a file new content: all of it or, when anything fails, none."""
    target = Path(path).resolve()
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = file.name
            file.write(content)
        os.chmod(temporary, target.stat().st_mode)
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
