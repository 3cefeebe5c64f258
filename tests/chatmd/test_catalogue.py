"""The catalogue of findings: every code is in it, its failing example fails with it, its mended one does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from chatmd import (
    Allocator,
    ChatmdError,
    Context,
    Diagnostic,
    HostPaths,
    check_tools,
    dumps,
    materialise_history,
    open_read_file,
    resolve_runtimes,
)
from chatmd.elements.read_file import ReadFile
from chatmd.report.problems import WORDINGS
from chatml.diagnostics.explain import Entry, read_catalogue
from tests.chatmd.documents import load, write

CATALOGUE = read_catalogue("chatmd")
ENTRIES = [CATALOGUE[code] for code in WORDINGS if code in CATALOGUE]
WITHOUT_TEXT = {"chatmd.document_unavailable"}
"""Findings about a document that has no text to show."""


def test_every_code_has_an_entry() -> None:
    assert set(WORDINGS) - set(CATALOGUE) == set()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that the catalogue speaks of."""
    place = tmp_path_factory.mktemp("catalogue")
    write(
        place,
        policy_md="Be kind.",
        shared_chatmd="<system>Be brief.</system>",
        guard_chatml="let x = 1",
        loop_chatmd='<import src="loop.chatmd"/>',
    )
    for name, last, times in (("deep", 200, 1), ("double", 30, 2)):
        (place / name).mkdir()
        for index in range(last):
            (place / name / f"{index}.chatmd").write_text(f'<import src="{index + 1}.chatmd"/>' * times)
        (place / name / f"{last}.chatmd").write_text("<system>Be brief.</system>")
    return place


def findings(text: str, directory: Path, *, confined: bool) -> list[Diagnostic]:
    """Everything that is found about a document: when it is loaded, and when each thing is made of it."""
    try:
        document = load(text, directory, confined=confined)
    except ChatmdError as error:
        return list(error.diagnostics)
    found = [*document.warnings, *check_tools(document)]
    ctx = Context(dir=str(directory), cwd=str(directory))
    hosts = HostPaths(tool_dir=str(directory), prompt_dir=str(directory))
    tools = [tool for tool in document.tools if isinstance(tool, ReadFile)]
    steps: list[Callable[[], object]] = [
        lambda: materialise_history(document, Allocator("main"), ctx),
        lambda: document.config.request_options(),
        lambda: dumps(document),
        lambda: resolve_runtimes(document),
        *(partial(open_read_file, tool, hosts) for tool in tools),
    ]
    for step in steps:
        try:
            step()
        except ChatmdError as error:
            found += error.diagnostics
    return found


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.code for entry in ENTRIES])
def test_the_examples_of_an_entry_do_as_they_say(entry: Entry, directory: Path) -> None:
    """The failing example gives the code, placed and worded; the mended one gives nothing at all."""
    failing = [example for example in entry.examples if example.fails]
    mended = [example for example in entry.examples if not example.fails]
    if entry.code in WITHOUT_TEXT:
        assert (failing, mended) == ([], [])
        return
    assert failing
    assert mended
    confined = entry.code.startswith("chatmd.artifact_")
    for example in failing:
        found = {one.code: one for one in findings(example.text, directory, confined=confined)}
        assert entry.code in found
        finding = found[entry.code]
        assert finding.span is not None
        assert finding.severity == WORDINGS[entry.code].severity
        assert f"[{entry.code}]" in str(finding)
        assert finding.help is None or "{" not in finding.help.replace("{}", "")
    for example in mended:
        assert [str(one) for one in findings(example.text, directory, confined=confined)] == []
