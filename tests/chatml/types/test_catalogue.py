"""The catalogue of type errors: every code has an entry, and its examples are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import chatml
from chatml import types
from chatml.diagnostics.explain import Example, read_catalogue
from chatml.diagnostics.model import Diagnostic
from chatml.types.guided import STANDARD

ENTRIES = {
    code: entry
    for code, entry in read_catalogue("chatml").items()
    if code.startswith("type.") or "is a warning" in entry.text
}
EXAMPLES = [(code, example) for code, entry in ENTRIES.items() for example in entry.examples]


def test_every_code_has_an_entry_and_every_entry_a_code():
    texts = [path.read_text(encoding="utf-8") for path in Path(types.__file__).parent.rglob("*.py")]
    codes = {
        code for text in texts for code in re.findall(r'"((?:type|syntax)\.\w+)"', text) if code != "syntax.too_deep"
    }
    assert codes == set(ENTRIES)


def test_every_entry_has_an_example_of_each_kind():
    for code, entry in ENTRIES.items():
        assert [example.fails for example in entry.examples] == [True, False], code


@pytest.mark.parametrize(("code", "example"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_examples(code: str, example: Example):
    found = [diagnostic.code for diagnostic in diagnostics(example)]
    assert found[:1] == ([code] if example.fails else [])


def diagnostics(example: Example) -> tuple[Diagnostic, ...]:
    """What is reported of an example; one in the language `moderator` is held to the contract."""
    surface = chatml.UI_MODERATOR if example.language == "moderator" else chatml.CORE
    return chatml.check(example.text, surface=surface, entrypoints=STANDARD)
