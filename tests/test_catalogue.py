"""The catalogues of codes, taken together: complete, and each failure at run time is shown by a program.

The examples of the other families are tested beside the phases that find them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from chatml.diagnostics.explain import Example, read_catalogue
from tests.chatml.observe import observe
from tests.house import PACKAGES, modules

ENTRIES = {code: entry for package in PACKAGES for code, entry in read_catalogue(package).items()}
NAMES = {module.name for module in modules()}
FAMILIES = sorted({code.split(".")[0] for code in ENTRIES})
CODE = re.compile(rf"({'|'.join(FAMILIES)})\.[a-z0-9_]*[a-z0-9]")

ONLY_A_HOST = {
    "runtime.duplicate_operations",
    "runtime.host",
    "runtime.missing_binding",
    "runtime.not_a_function",
    "runtime.not_callable",
    "runtime.surface_mismatch",
    "runtime.type_confusion",
    "runtime.wrong_arity",
}
"""Failures that a checked script cannot run into by itself."""

RUNTIME = {code: entry for code, entry in ENTRIES.items() if code.startswith("runtime.")}
EXAMPLES = [(code, example) for code, entry in RUNTIME.items() for example in entry.examples]


@pytest.mark.parametrize(("code", "example"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_runtime_example(code: str, example: Example) -> None:
    """A failing example runs into its entry's code, a mended one into nothing."""
    found = [finding.code for finding in observe(example.text, f"{code}.chatml").findings]
    assert found == ([code] if example.fails else [])


@pytest.mark.parametrize("code", RUNTIME)
def test_runtime_entry_shows_both(code: str) -> None:
    kinds = {example.fails for example in RUNTIME[code].examples}
    assert kinds == (set() if code in ONLY_A_HOST else {True, False})


def test_there_is_a_catalogue_of_each_family() -> None:
    assert {"syntax", "type", "runtime", "portable", "chatmd", "scenario"} <= set(FAMILIES)


def test_codes_of_the_source_are_those_of_the_catalogues() -> None:
    assert set(codes_in_source()) == set(ENTRIES)


def codes_in_source() -> Iterator[str]:
    """Every code that a module writes down.

    A code is a whole string literal. One that is put together at run time could not be found, so none may be, except
    in documents, whose codes are all keys of one table (`chatmd.report.problems.WORDINGS`).
    """
    starts = tuple(f"{family}." for family in FAMILIES if family != "chatmd")
    for module in modules():
        for node in ast.walk(ast.parse(module.path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
                assert not str(node.values[0].value).startswith(starts), f"{module.name}: {ast.unparse(node)}"
            elif isinstance(node, ast.Constant) and CODE.fullmatch(str(node.value)) and node.value not in NAMES:
                yield str(node.value)
