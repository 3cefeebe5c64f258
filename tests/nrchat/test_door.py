"""The door of `chatmd.nrchat`: its names, their descriptions, and every example in code and document."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from chatmd import nrchat
from chatml.diagnostics.errors import ChatmlError

DOCUMENT = Path(__file__).parents[2] / "docs" / "nrchat.md"
MODULES = ["chatmd.nrchat", *(m.name for m in pkgutil.walk_packages(nrchat.__path__, "chatmd.nrchat."))]
FIXED = {
    *("parse", "stringify", "replace_span", "escape_body", "fence_for"),
    *("parse_json5", "stringify_json5", "Message", "Span", "iter_messages", "follow"),
}


def test_the_names_are_sorted_and_there() -> None:
    assert nrchat.__all__ == sorted(nrchat.__all__)
    assert set(nrchat.__all__) >= FIXED
    assert all(hasattr(nrchat, name) for name in nrchat.__all__)


@pytest.mark.parametrize("name", nrchat.__all__)
def test_every_name_says_what_it_is(name: str) -> None:
    thing = getattr(nrchat, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        assert ">>>" in (thing.__doc__ or "")


def test_every_error_is_in_the_one_tree_and_a_value_error() -> None:
    errors = [thing for name in nrchat.__all__ if inspect.isclass(thing := getattr(nrchat, name))]
    errors = [thing for thing in errors if issubclass(thing, BaseException)]
    assert len(errors) == 8
    for error in errors:
        assert issubclass(error, nrchat.NrChatError)
        assert issubclass(error, ChatmlError)
        assert issubclass(error, ValueError)
    assert issubclass(nrchat.WriteTypeError, TypeError)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_code(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_examples_in_the_document() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.M | re.S)
    assert len(blocks) >= 8
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "nrchat.md", str(DOCUMENT), 0)
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.summarize(verbose=False).failed == 0


def test_the_example_of_the_format_is_canonical() -> None:
    (text,) = re.findall(r"^```text\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.M | re.S)
    found = nrchat.parse(text)
    assert nrchat.stringify([message.with_meta(message.meta) for message in found]) == text
    assert nrchat.check(found) == []
