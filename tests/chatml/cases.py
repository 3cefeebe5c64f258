"""The corpus: programs with what is expected of them, several cases to a file.

A file under `corpus/` is a list of cases. A case is a headline, a program, and blocks of expectation:

    (* --- L-163: a failing builtin aborts the program *)
    print("before")
    print(1 / 0)
    (*= surface core *)            left out when it is core
    (*= prints                     the lines that it prints; `prints nothing` may stand for none
    before
    *)
    (*= fails runtime at 2:7 *)    syntax, type or runtime; line and column from 1; `somewhere` fixes no place
    (*= names                      facts that the message must name, one a line
    division
    *)
    (*= report                     the whole report, recorded by `pytest --update`
    ...
    *)

The program is every line between the headline and the first block, without a final line end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import attrs

CORPUS = Path(__file__).parent / "corpus"

HEADLINE = re.compile(r"\(\* --- (\S+): (.*) \*\)")
BLOCK = re.compile(r"\(\*= (\w+)(?: (.*) \*\))?")
PLACE = re.compile(r"(syntax|type|runtime) (?:at (\d+):(\d+)|somewhere)")


@attrs.frozen
class Expected:
    """How a case fails: the class, and the place (line and column from 1) where one is fixed."""

    kind: str
    place: tuple[int, int] | None

    def __str__(self) -> str:
        return f"{self.kind} somewhere" if self.place is None else f"{self.kind} at {self.place[0]}:{self.place[1]}"


@attrs.frozen
class Case:
    """One program of the corpus and what is expected of it."""

    path: Path
    id: str
    title: str
    program: str
    surface: str = "core"
    prints: tuple[str, ...] = ()
    fails: Expected | None = None
    names: tuple[str, ...] = ()
    report: str | None = None

    @property
    def name(self) -> str:
        """The name under which the program is compiled, so that reports do not depend on this machine."""
        return f"{self.id}.chatml"

    def show(self) -> str:
        """The case as it stands in its file."""
        lines = [f"(* --- {self.id}: {self.title} *)", self.program]
        if self.surface != "core":
            lines.append(f"(*= surface {self.surface} *)")
        if self.prints:
            lines += ["(*= prints", *self.prints, "*)"]
        elif self.fails is None:
            lines.append("(*= prints nothing *)")
        if self.fails is not None:
            lines.append(f"(*= fails {self.fails} *)")
        if self.names:
            lines += ["(*= names", *self.names, "*)"]
        if self.report is not None:
            lines += ["(*= report", self.report, "*)"]
        return "\n".join(lines) + "\n"


def read_corpus(root: Path = CORPUS) -> list[Case]:
    """Every case of the corpus, in order of file and place."""
    return [case for path in sorted(root.rglob("*.chatml")) for case in read_file(path)]


def read_file(path: Path) -> list[Case]:
    """The cases of one file."""
    lines = path.read_bytes().decode("utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if HEADLINE.fullmatch(line)]
    ends = [*starts[1:], len(lines)]
    return [_read_case(path, lines[start:end]) for start, end in zip(starts, ends, strict=True)]


def write_file(path: Path, cases: list[Case]) -> None:
    """Put cases back into their file."""
    path.write_bytes("\n".join(case.show() for case in cases).encode("utf-8"))


def record(case: Case, report: str | None) -> None:
    """Rewrite the recorded report of one case in its file."""
    cases = [attrs.evolve(other, report=report) if other.id == case.id else other for other in read_file(case.path)]
    write_file(case.path, cases)


def _read_case(path: Path, lines: list[str]) -> Case:
    headline = HEADLINE.fullmatch(lines[0])
    assert headline is not None
    first = next((number for number, line in enumerate(lines) if line.startswith("(*= ")), None)
    if first is None:
        raise ValueError(f"{path}: case {headline[1]} expects nothing")
    found = dict(_blocks(path, lines[first:]))
    unknown = found.keys() - {"surface", "prints", "fails", "names", "report"}
    if unknown:
        raise ValueError(f"{path}: case {headline[1]} has unknown blocks {sorted(unknown)}")
    report = found.get("report")
    return Case(
        path=path,
        id=headline[1],
        title=headline[2],
        program="\n".join(lines[1:first]),
        surface=found["surface"][0] if "surface" in found else "core",
        prints=() if found.get("prints") == ["nothing"] else tuple(found.get("prints", ())),
        fails=_read_place(path, found["fails"][0]) if "fails" in found else None,
        names=tuple(found.get("names", ())),
        report=None if report is None else "\n".join(report),
    )


def _read_place(path: Path, text: str) -> Expected:
    match = PLACE.fullmatch(text)
    if match is None:
        raise ValueError(f"{path}: no such failure: {text}")
    return Expected(match[1], None if match[2] is None else (int(match[2]), int(match[3])))


def _blocks(path: Path, lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    rest = iter(lines)
    for line in rest:
        if not line:
            continue
        match = BLOCK.fullmatch(line)
        if match is None:
            raise ValueError(f"{path}: not a block of expectations: {line}")
        if match[2] is not None:
            yield match[1], [match[2]]
            continue
        body = []
        for inner in rest:
            if inner == "*)":
                break
            body.append(inner)
        yield match[1], body
