"""Times every task in every column and prints two tables: ratios to hand-written Python, and a policy's decision.

    python -m benchmarks.engines [RUNS]

The peers are starlark-pyo3, lupa, cel-python, asteval and RestrictedPython; those that are not installed are left out.
Each figure is the median of RUNS runs (default 7) of processor time, and the runs of all columns are interleaved, so
that a busy moment of the machine falls on all alike. A dash: the language cannot express the task.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.engines.columns import COLUMNS, POLICIES, CannotExpressError
from benchmarks.engines.tasks import CALL, TASKS, Task

DECISIONS = 2_000


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    sys.setrecursionlimit(20_000)
    print(row("task", "Python, ms", *list(COLUMNS)[1:]))
    print(row("---", *["---:"] * len(COLUMNS)))
    ratios: dict[str, list[float]] = {name: [] for name in COLUMNS}
    for task in TASKS:
        times = measure(task, runs)
        limit = times["Python"]
        assert limit is not None
        cells = [f"{limit * 1000:.1f}"]
        for name in list(COLUMNS)[1:]:
            taken = times[name]
            cells.append("–" if taken is None else f"{taken / limit:.2f}")
            if taken is not None:
                ratios[name].append(taken / limit)
        print(row(task.name, *cells))
    print(row("**median**", "", *[f"{median(ratios[name]):.2f}" for name in list(COLUMNS)[1:]]))
    print()
    print(row("policy decision, conversions included", "µs", "× Python"))
    print(row("---", "---:", "---:"))
    policies = {name: make() for name, (module, make) in POLICIES.items() if module is not None}
    taken = interleaved({name: lambda decide=decide: repeat(decide) for name, decide in policies.items()}, runs)
    for name, seconds in taken.items():
        print(row(name, f"{seconds / DECISIONS * 1e6:.2f}", f"{seconds / taken['Python']:.2f}"))


def measure(task: Task, runs: int) -> dict[str, float | None]:
    """The time that each column takes for a task."""
    mains: dict[str, Callable[[int], Any]] = {}
    for name, make in COLUMNS.items():
        try:
            main = make(task)
            result = main(task.size)
        except CannotExpressError:
            continue
        except Exception as error:
            print(f"{name} gives up on {task.name}: {str(error).strip().splitlines()[-1:]}", file=sys.stderr)
            continue
        mains[name] = main
        assert result == mains["Python"](task.size), f"{name} gives {result} for {task.name}"
    taken = interleaved({name: lambda main=main: main(task.size) for name, main in mains.items()}, runs)
    return {name: taken.get(name) for name in COLUMNS}


def interleaved(actions: dict[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """The median processor time of each action, all run in turn."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(runs):
        for name, action in actions.items():
            start = time.process_time()
            action()
            taken[name].append(time.process_time() - start)
    return {name: median(times) for name, times in taken.items()}


def repeat(decide: Callable[[dict[str, Any]], Any]) -> None:
    for _ in range(DECISIONS):
        decide(CALL)


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


main()
