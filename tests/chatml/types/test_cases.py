"""The conformance cases and the corpus, as far as the checker decides them."""

from __future__ import annotations

import pytest

from chatml.diagnostics.errors import CompileError
from chatml.pipeline import environment
from chatml.source import Source
from chatml.surfaces.core import CORE
from chatml.syntax.parse import parse
from chatml.types import check
from tests.chatml.cases import Case, read_corpus


def parses(case: Case) -> bool:
    try:
        parse(Source(case.name, case.program))
    except CompileError:
        return False
    return True


CASES = [case for case in read_corpus() if case.surface == "core" and parses(case)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case):
    checked = check(parse(Source(case.name, case.program)), environment(CORE))
    if case.fails is None or case.fails.kind != "type":
        assert checked.problems == (), str(checked.diagnostics[0])
        return
    report = str(checked.diagnostics[0])
    assert checked.diagnostics[0].code.startswith("type.")
    for name in case.names:
        assert name in report
    if case.fails.place is not None:
        start = checked.problems[0].span.start
        assert (start.line, start.column + 1) == case.fails.place, report


def test_the_cases_are_there():
    assert len([case for case in CASES if case.fails is not None and case.fails.kind == "type"]) > 60
