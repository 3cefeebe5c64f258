"""The catalogue of syntax errors: every code has an entry, and its examples are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.explain import Example, read_catalogue
from chatml.source import Source
from chatml.syntax import decode
from chatml.syntax.parse import parse, problems
from chatml.syntax.parse.traps import TRAPS

ENTRIES = {code: entry for code, entry in read_catalogue("chatml").items() if code.startswith("syntax.")}
ENTRIES = {code: entry for code, entry in ENTRIES.items() if "is a warning" not in entry.text}
"""Warnings are found when the types are known; their examples are tested there."""
EXAMPLES = [(code, example) for code, entry in ENTRIES.items() for example in entry.examples]


def test_every_code_has_an_entry_and_every_entry_a_code() -> None:
    written = "".join(Path(module.__file__ or "").read_text(encoding="utf-8") for module in (problems, decode))
    codes = {trap.code for trap in TRAPS} | set(re.findall(r'"(syntax\.\w+)"', written))
    assert codes == set(ENTRIES)


@pytest.mark.parametrize(("code", "example"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_examples(code: str, example: Example) -> None:
    source = Source("example", example.text)
    if not example.fails:
        parse(source)
        return
    with pytest.raises(CompileError) as caught:
        parse(source)
    assert caught.value.diagnostics[0].code == code, str(caught.value)
