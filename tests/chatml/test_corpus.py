"""The conformance corpus: every case under its own id (language.md and builtins.md, appendices)."""

from __future__ import annotations

import re

import pytest

import chatml
from chatml.diagnostics.model import Diagnostic
from tests.chatml.cases import CORPUS, Case, read_corpus, read_file, record
from tests.chatml.observe import SURFACES, Outcome, observe

CASES = read_corpus()


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.id)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="module")
def outcome(case: Case) -> Outcome:
    return observe(case.program, case.name, case.surface)


def test_case(case: Case, outcome: Outcome) -> None:
    """The program is accepted or refused as the case says, in the class and at the place that it fixes."""
    assert outcome.printed == case.prints
    error = outcome.error
    if case.fails is None:
        assert error is None, str(error)
        return
    assert error is not None, "accepted, and it ran to its end"
    assert error.code.split(".")[0] == case.fails.kind, str(error)
    if case.fails.place is not None:
        assert error.span is not None, str(error)
        assert (error.span.start.line, error.span.start.column + 1) == case.fails.place, str(error)
    for name in case.names:
        assert names(error, name), f"{name} is missing from: {error.message}"


def test_report(case: Case, outcome: Outcome, update: bool) -> None:
    """The whole report stands as recorded; `--update` records it anew."""
    if update and outcome.report != case.report:
        record(case, outcome.report)
        return
    assert outcome.report == case.report


def test_compile_refuses_what_check_reports(case: Case, outcome: Outcome) -> None:
    """`compile` raises exactly the errors that `check` returns."""
    if case.fails is None or case.fails.kind == "runtime":
        chatml.compile(case.program, name=case.name, surface=SURFACES[case.surface])
        return
    with pytest.raises(chatml.CompileError) as raised:
        chatml.compile(case.program, name=case.name, surface=SURFACES[case.surface])
    assert [str(finding) for finding in raised.value.diagnostics if finding.severity == "error"] == [
        str(finding) for finding in outcome.findings if finding.severity == "error"
    ]


def test_ids_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_conformance_is_complete() -> None:
    """Every case of the language is here, and every case of the builtins that is a program."""
    ids = {case.id for case in CASES}
    assert {f"L-{number:03}" for number in range(1, 169)} <= ids
    assert {f"B-{number:03}" for number in (*range(1, 76), *range(86, 96))} <= ids


@pytest.mark.parametrize("path", sorted(CORPUS.rglob("*.chatml")), ids=lambda path: path.stem)
def test_files_are_canonical(path: object) -> None:
    """A file reads back as it is written, so that a recorded report changes nothing else."""
    assert "\n".join(case.show() for case in read_file(path)) == path.read_bytes().decode("utf-8")


def names(error: Diagnostic, name: str) -> bool:
    """Whether what a diagnostic says names a fact, as a word of its own; the lines of the source do not count."""
    said = [error.message, *(label.text for label in error.labels), *error.notes, error.help or ""]
    before = r"(?<!\w)" if name[:1].isalnum() else ""
    after = r"(?!\w)" if name[-1:].isalnum() else ""
    return re.search(before + re.escape(name) + after, "\n".join(said)) is not None
