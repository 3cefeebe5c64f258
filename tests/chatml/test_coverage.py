"""Coverage: which branches of a script ran, on both engines, and that noting them changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatml.diagnostics.errors import RuntimeFailure
from chatml.pipeline import ENGINES, EngineName, compile
from chatml_tools.coverage import Coverage
from tests.house import ROOT

SCRIPT = """
let choose n =
  match n with
  | 0 -> if n == 0 then "zero" else "never"
  | 1 -> to_string(Array.map([n], fun m -> m + 1)[0])
  | _ -> "many"
let unused x = match x with | `A -> 1 | `B -> 2
print(choose(PLACE))
"""


def covered(place: str, engine: EngineName) -> list[str]:
    coverage = Coverage(compile(SCRIPT.replace("PLACE", place)))
    coverage.program.run(engine=engine, print=lambda line: None)
    return [span.text for span in coverage.missed()]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_has_not_run(engine: EngineName) -> None:
    unused = "match x with | `A -> 1 | `B -> 2"
    one = "to_string(Array.map([n], fun m -> m + 1)[0])"
    assert covered("0", engine) == ['"never"', one, '"many"', unused]
    assert covered("1", engine) == ['if n == 0 then "zero" else "never"', '"many"', unused]
    assert covered("2", engine) == ['if n == 0 then "zero" else "never"', one, unused]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_ran_before_a_failure_counts(engine: EngineName) -> None:
    coverage = Coverage(compile("let f n = if n == 0 then 1 / n else n\nlet a = f(0)"))
    with pytest.raises(RuntimeFailure):
        coverage.program.run(engine=engine)
    assert [span.text for span in coverage.missed()] == ["n"]


def test_each_branch_is_counted_once_however_often_it_runs() -> None:
    coverage = Coverage(compile("let rec down n = if n == 0 then 0 else down(n - 1)\nlet a = down(100000)"))
    coverage.program.run()
    assert (coverage.reached, len(coverage.branches), coverage.missed()) == ({0, 1, 2}, 3, [])


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("[!g]*.chatml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("engine", ENGINES)
def test_noting_changes_nothing(path: Path, engine: EngineName) -> None:
    """A script prints the same whether its branches are noted or not."""
    program = compile(path.read_text(encoding="utf-8"))
    plain: list[str] = []
    noted: list[str] = []
    program.run(print=plain.append, engine=engine)
    Coverage(program).program.run(print=noted.append, engine=engine)
    assert noted == plain != []
