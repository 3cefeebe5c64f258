"""Tours: one program seen by every phase, in one Markdown file.

A tour is a title, a sentence or two, and sections, each a heading in capitals over a fenced block: `PROGRAM` is
written by hand; `TREE`, `TYPES`, `CORE`, `PYTHON`, `OUTPUT` and `PROBLEMS` are made from it, each left out when it is
empty.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import chatml
from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.syntax.ast_text import dump
from chatml.syntax.parse import parse
from tests.chatml import core_dump
from tests.chatml.observe import observe

TOURS = Path(__file__).parent / "tour"

SECTION = re.compile(r"^## ([A-Z]+)\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_program(text: str) -> str:
    """The program of a tour, without its final line end."""
    sections = dict(SECTION.findall(text))
    return sections["PROGRAM"].removesuffix("\n")


def remake(path: Path) -> str:
    """A tour with its sections made anew; everything above the program stays."""
    text = path.read_text(encoding="utf-8")
    program = read_program(text)
    introduction = text[: text.index("## PROGRAM")]
    sections = [("PROGRAM", "chatml", program), *views(program, f"{path.stem}.chatml")]
    return introduction + "\n".join(f"## {title}\n\n```{kind}\n{body}\n```\n" for title, kind, body in sections)


def views(program: str, name: str) -> list[tuple[str, str, str]]:
    """What each phase makes of a program: title, kind of block, text."""
    made: list[tuple[str, str, str]] = []
    with suppress(CompileError):
        made.append(("TREE", "text", dump(parse(Source(name, program)))))
        compiled = chatml.compile(program, name=name)
        made.append(("TYPES", "text", "\n".join(f"{name} : {shown}" for name, shown in compiled.types.items())))
        made.append(("CORE", "text", core_dump.dump(compiled.core)))
        made.append(("PYTHON", "text", compiled.python() or ""))
    outcome = observe(program, name)
    made.append(("OUTPUT", "text", "\n".join(outcome.printed)))
    made.append(("PROBLEMS", "text", outcome.report or ""))
    return [section for section in made if section[2]]
