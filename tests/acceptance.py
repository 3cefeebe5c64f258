"""The conformance cases of a specification, each as passed, failed or missing: `python -m tests.acceptance S`.

A case is carried by the tests whose names begin with its id: `test_s_012_…` is one of S-012. The cases that the
specification lists are a row of `CASES`; one that no test carries is reported as missing, which fails like failed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.house import ROOT

CASES = {"S": range(1, 35)}
"""The numbers of each family's cases; S is shell.md, appendix S."""

DROPPED: dict[str, str] = {}
"""Cases that are left out on purpose, with the row of docs/decisions.md that says why."""

NAME = re.compile(r"test_([a-z])_(\d{3})(?:_|$)")


class Outcomes:
    """What pytest says of each test, by the id of the case that it carries."""

    def __init__(self) -> None:
        self.by_case: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test has ended."""
        case = case_of(report.nodeid.partition("[")[0].rpartition("::")[2])
        if case is not None and (report.when == "call" or report.outcome != "passed"):
            self.by_case[case][report.outcome] += 1


def case_of(name: str) -> str | None:
    """The case that a test carries.

    >>> case_of("test_s_012_backends_must_fit"), case_of("test_other")
    ('S-012', None)
    """
    found = NAME.match(name)
    return f"{found[1].upper()}-{found[2]}" if found else None


def tests_of(family: str) -> list[str]:
    """The node ids of the tests of a family."""
    found: list[tuple[Path, str]] = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        found += ((path.relative_to(ROOT), node.name) for node in body if isinstance(node, ast.FunctionDef))
    return [f"{path}::{name}" for path, name in found if (case_of(name) or "").startswith(f"{family}-")]


def main(arguments: Sequence[str]) -> int:
    """Run the cases of a family and print a line for each; 0 when all passed or are dropped with a reason."""
    if len(arguments) != 1 or arguments[0] not in CASES:
        print(f"usage: python -m tests.acceptance {'|'.join(CASES)}", file=sys.stderr)
        return 2
    (family,) = arguments
    outcomes = Outcomes()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        pytest.main(["--no-header", f"--rootdir={ROOT}", *tests_of(family)], plugins=[outcomes])
    good = True
    for number in CASES[family]:
        case = f"{family}-{number:03}"
        counted = outcomes.by_case[case]
        if case in DROPPED:
            state = f"dropped: {DROPPED[case]}"
        elif not counted:
            state = "missing"
        else:
            bad = counted["failed"] + counted["skipped"]
            state = f"{'failed' if bad else 'passed'} ({counted.total()} checks)"
        good = good and state.startswith(("passed", "dropped"))
        print(f"{case} {state}")
    if not good:
        print(said.getvalue(), file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(ROOT)))
    raise SystemExit(main(sys.argv[1:]))
