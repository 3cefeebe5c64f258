"""The whole corpus through the front end: what parses, where it fails, and that Lark and the printer agree."""

from __future__ import annotations

import pytest

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.syntax.ast_text import dump, show
from chatml.syntax.parse import parse
from tests.chatml.cases import Case, read_corpus
from tests.chatml.parse.lark_oracle import first_error

CASES = read_corpus()
FAILING = [case for case in CASES if case.fails is not None and case.fails.kind == "syntax"]
PARSING = [case for case in CASES if case.fails is None or case.fails.kind != "syntax"]
LEXICAL_AND_GRAMMAR = {f"L-{number:03}" for number in range(1, 59)}


def test_all_cases_of_the_specification_are_there() -> None:
    assert not LEXICAL_AND_GRAMMAR - {case.id for case in CASES}


@pytest.mark.parametrize("case", PARSING, ids=lambda case: case.id)
def test_parses_as_lark_does_and_as_it_is_shown(case: Case) -> None:
    script = parse(Source(case.name, case.program))
    assert first_error(case.program) is None
    assert dump(parse(Source("shown", show(script)))) == dump(script)


@pytest.mark.parametrize("case", FAILING, ids=lambda case: case.id)
def test_fails_at_its_place(case: Case) -> None:
    with pytest.raises(CompileError) as caught:
        parse(Source(case.name, case.program))
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code.startswith("syntax.")
    assert diagnostic.span is not None
    assert case.fails is not None
    assert (diagnostic.span.start.line, diagnostic.span.start.column + 1) == case.fails.place
    if diagnostic.code != "syntax.int_out_of_range":
        assert diagnostic.span.left == first_error(case.program)
