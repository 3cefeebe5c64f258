"""The catalogue of the shell runtime: failing examples fail with their code, mended ones do not, no code is missing."""

from __future__ import annotations

import pytest

from chatmd.report.problems import Diagnostic
from chatml.diagnostics.explain import Example, read_catalogue
from chatml_shell.errors import ShellError
from chatml_shell.problems import WORDINGS
from tests.shell.prompts import manifest

CATALOGUE = read_catalogue("chatml_shell")
EXAMPLES = [(code, example) for code, entry in CATALOGUE.items() for example in entry.examples]
DOCUMENTS = {"shell.directory_unavailable", "shell.empty_matcher", "shell.unknown_runtime"}
"""Codes that `chatmd` reports and explains as well."""


def found(text: str) -> list[Diagnostic]:
    """What is said about a document when its manifest is compiled."""
    try:
        return list(manifest(text).warnings)
    except ShellError as error:
        return list(error.diagnostics)


@pytest.mark.parametrize(("code", "example"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_examples(code: str, example: Example) -> None:
    assert {one.code for one in found(example.text)} == ({code} if example.fails else set())


def test_every_wording_is_explained() -> None:
    assert set(WORDINGS) - DOCUMENTS <= set(CATALOGUE)
