"""The lexical and grammar cases of language.md, appendix A and B: what parses, and where what does not parse fails."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

from chatml.errors import CompileError
from chatml.parse import parse
from chatml.source import Source

CASES = Path(__file__).with_name("conformance.txt")
HEAD = re.compile(r"(L-\d+) (\w+): (.*)")
ERROR = re.compile(r"  => error (\d+):(\d+)-")


@attrs.frozen
class Case:
    id: str
    kind: str
    text: str
    error: tuple[int, int] | None


def read_cases() -> list[Case]:
    cases = []
    for block in re.split(r"^(?=L-\d+ )", CASES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, *lines = block.rstrip("\n").split("\n")
        match = HEAD.fullmatch(head)
        assert match is not None, head
        text = "\n".join(line.removeprefix("    ") for line in lines if line.startswith("    "))
        error = next((found for line in lines if (found := ERROR.match(line))), None)
        place = None if error is None else (int(error[1]), int(error[2]))
        cases.append(Case(match[1], match[2], text, place))
    return cases


ALL = read_cases()


def test_all_cases_are_read() -> None:
    assert [case.id for case in ALL] == [f"L-{number:03}" for number in range(1, 59)]


@pytest.mark.parametrize("case", [case for case in ALL if case.kind != "parse"], ids=lambda case: case.id)
def test_parses(case: Case) -> None:
    assert parse(Source(case.id, case.text)).statements or case.id == "L-004"


@pytest.mark.parametrize("case", [case for case in ALL if case.kind == "parse"], ids=lambda case: case.id)
def test_fails_at_its_place(case: Case) -> None:
    with pytest.raises(CompileError) as caught:
        parse(Source(case.id, case.text))
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code.startswith("syntax.")
    assert diagnostic.span is not None
    assert diagnostic.span.start[:2] == case.error
