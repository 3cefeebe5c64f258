"""The catalogue of the runtime's diagnostics: every code has an entry, and its examples are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import chatml_runtime
from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.explain import Example, read_catalogue
from chatml.diagnostics.model import Diagnostic
from chatml_runtime.scenario import read_scenario
from chatml_runtime.script.scripts import compile_script

ENTRIES = read_catalogue("chatml_runtime")
EXAMPLES = [(code, example) for code, entry in ENTRIES.items() for example in entry.examples]
CODE = re.compile(r'"((?:scenario|type)\.\w+)"')


def test_every_code_has_an_entry_and_every_entry_a_code() -> None:
    files = Path(chatml_runtime.__file__).parent.rglob("*.py")
    codes = {code for path in files for code in CODE.findall(path.read_text(encoding="utf-8"))}
    assert codes == set(ENTRIES)


def found(example: Example) -> tuple[Diagnostic, ...]:
    """What is reported of an example, warnings included."""
    try:
        if example.language == "json5":
            return read_scenario(example.text).warnings
        return compile_script(example.text).warnings
    except CompileError as error:
        return error.diagnostics


@pytest.mark.parametrize(("code", "example"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_examples(code: str, example: Example) -> None:
    assert [diagnostic.code for diagnostic in found(example)] == ([code] if example.fails else [])


def test_both_kinds_of_example_are_given() -> None:
    assert all({example.fails for example in entry.examples} == {True, False} for entry in ENTRIES.values())
