"""The documents tell the truth: doctests pass, and every snippet runs and gives what stands under it.

- `python`: run in order, one namespace per document; with `>>>` as a doctest, else as a program.
- `console`: `$ command` lines run in the root of the project; what follows each is its whole output.
- `chatml`, with options `moderator`, `ui` or `fails`: checked and run; an `output` block right after it is what it
  prints, or with `fails` the report.
"""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chatml.lazy import Waiting
from tests.chatml.observe import observe
from tests.house import COMMANDS, DOCUMENTS, ROOT, ModuleFile, environment, modules
from tests.snippets import Snippet, replace_text, snippets

PAGES = [
    page
    for folder in ("", "docs", "tests", "examples/**", "benchmarks")
    for page in ROOT.glob(f"{folder}/*.md".lstrip("/"))
]
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)")
TEST = re.compile(r"\btest_\w+(?:\.py)?")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WITH_DOCTESTS = [module for module in modules() if ">>>" in module.path.read_text(encoding="utf-8")]
SNIPPETS = [snippet for path in DOCUMENTS for snippet in snippets(path)]
CONSOLES = [snippet for snippet in SNIPPETS if snippet.language == "console"]
PROGRAMS = [
    (snippet, following if following is not None and following.language == "output" else None)
    for snippet, following in zip(SNIPPETS, [*SNIPPETS[1:], None], strict=True)
    if snippet.language == "chatml"
]


@pytest.mark.parametrize("module", WITH_DOCTESTS, ids=lambda module: module.name)
def test_doctests(module: ModuleFile) -> None:
    tested = importlib.import_module(module.name)
    for late in [value for value in vars(tested).values() if isinstance(value, Waiting)]:
        importlib.import_module(late.__name__)  # The search for examples must not be what loads it: it walks `vars`.
    result = doctest.testmod(tested, optionflags=OPTIONS)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python snippets of a document run in order."""
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": "snippet"}
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for snippet in snippets(path):
        if snippet.language != "python":
            continue
        if ">>>" in snippet.text:
            examples = doctest.DocTestParser().get_doctest(
                snippet.text, namespace, snippet.place, str(path), snippet.line - 1
            )
            runner.run(examples, clear_globs=False)
            namespace.update(examples.globs)
        else:
            exec(compile("\n" * (snippet.line - 1) + snippet.text, str(path), "exec"), namespace)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links(path: Path) -> None:
    """What a page links to inside the project exists."""
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    missing = [target for target in targets if target and not (path.parent / target).exists()]
    assert missing == []


def test_decisions_name_tests_that_exist() -> None:
    files = [(path.name, path.read_text(encoding="utf-8")) for path in (ROOT / "tests").rglob("test_*.py")]
    known = {name for name, _ in files} | {name for _, text in files for name in re.findall(r"\bdef (test_\w+)", text)}
    named = set(TEST.findall((ROOT / "docs/decisions.md").read_text(encoding="utf-8")))
    assert named
    assert named - known == set()


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose search path has the project's commands."""
    commands = tmp_path_factory.mktemp("bin")
    for name, program in COMMANDS.items():
        (commands / name).write_text(f"#!{sys.executable}\n{program}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    path = environment()["PATH"]
    return environment(PATH=f"{commands}:{Path(sys.executable).parent}:{path}")


@pytest.mark.parametrize("snippet", CONSOLES, ids=lambda snippet: snippet.place)
def test_console(snippet: Snippet, shell: dict[str, str], update: bool) -> None:
    """Each command of a console snippet prints what stands under it."""
    _, *commands = ("\n" + snippet.text).split("\n$ ")
    assert commands, "a console snippet has at least one `$ command`"
    lines = [command.partition("\n")[0] for command in commands]
    told = "".join(f"$ {line}\n{ending(execute(line, shell))}" for line in lines)
    if update and told != snippet.text:
        replace_text(snippet, told)
        return
    assert told == snippet.text


def execute(line: str, shell: dict[str, str]) -> str:
    """All output of a command."""
    finished = subprocess.run(
        ["bash", "-c", line],
        cwd=ROOT,
        env=shell,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return finished.stdout


@pytest.mark.parametrize(("snippet", "output"), PROGRAMS, ids=[snippet.place for snippet, _ in PROGRAMS])
def test_program(snippet: Snippet, output: Snippet | None, update: bool) -> None:
    """A ChatML snippet is accepted and prints what stands under it, or fails as it announces."""
    surface = next((option for option in snippet.options if option != "fails"), "core")
    outcome = observe(snippet.text, snippet.path.with_suffix(".chatml").name, surface)
    assert (outcome.error is not None) == ("fails" in snippet.options), outcome.report
    told = ending("\n".join(outcome.printed) if outcome.error is None else outcome.report or "")
    if update and output is not None and told != output.text:
        replace_text(output, told)
        return
    assert output is None or told == output.text


def ending(text: str) -> str:
    """A text with a line end at its end, unless it is empty."""
    return text if not text or text.endswith("\n") else f"{text}\n"
