"""The plugin of pytest: scenarios are collected as tests (docs/policy-tests.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from chatml_tools.testing.find import SUFFIX


class ScenarioMismatch(Exception):
    """The scenario did not pass; the text is the report."""


class ScenarioFile(pytest.File):
    """A scenario file: one test."""

    def collect(self) -> Iterator[ScenarioTest]:
        yield ScenarioTest.from_parent(self, name="scenario")


class ScenarioTest(pytest.Item):
    """Passes if the script does what the scenario expects."""

    def runtest(self) -> None:
        runner: Any = import_module("chatml_tools.testing.run").Runner()
        outcome = runner.run(str(self.path))
        if outcome.status != "passed":
            describe: Callable[[Any], str] = import_module("chatml_tools.testing.show").describe
            raise ScenarioMismatch(describe(outcome))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, ScenarioMismatch):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.path.name


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Collect what is called like a scenario."""
    return ScenarioFile.from_parent(parent, path=file_path) if file_path.name.endswith(SUFFIX) else None
