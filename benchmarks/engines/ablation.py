"""What each trick of the compiling engine buys: `python -m benchmarks.engines.ablation [RUNS]`.

Each trick is switched off alone, and every task of this benchmark, a policy's decision and every policy of `examples/`
are timed with and without it. A figure is the time without the trick as a multiple of the time with it, so 1.10 is a
trick that buys 10 %. The time of a policy is what its script takes in a whole scenario; the host's part is left out.
The runs of all variants are interleaved, and a figure compares the best of RUNS runs (default 15) of processor time.
The table has the three rows that each trick helps most.
"""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import chatml
from benchmarks.engines.columns import STEPS
from benchmarks.engines.tasks import CALL, POLICY, TASKS
from chatml import pipeline
from chatml.core import nodes as core
from chatml.engines.compile import arithmetic, body, code, compiled, entry, lower, matches, statements
from chatml.records import evolve
from chatml.source import Source
from chatml.surfaces.model import Builtin, Module
from chatml_runtime.scenario import Stage, read_scenario
from chatml_runtime.script.scripts import ScriptArtifact, compile_script

Switch = AbstractContextManager[Any]
Action = Callable[[], float]
"""Does a piece of work and says how long it took."""

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENARIOS = sorted([*EXAMPLES.glob("*.json5"), *EXAMPLES.glob("policies/*.scenario.json5")])
PLAYS = 5
DECISIONS = 2_000


def without_facts(**nothing: Any) -> Switch:
    """Let the analysis find nothing of some kind."""
    analyse = lower.analyse
    return mock.patch.object(lower, "analyse", lambda *args: evolve(analyse(*args), **nothing))


def without_marks(*marks: str) -> Switch:
    """Let the rows of builtins say nothing of some kind."""
    seen, blank = pipeline.code.builtin_of, dict.fromkeys(marks)

    def blind(row: Builtin | Module, module: str | None) -> code.Builtin:
        return seen(evolve(row, **blank) if isinstance(row, Builtin) else row, module)

    # The pipeline has the module through `chatml.lazy`, which keeps what it has found: patch what it keeps.
    return mock.patch.object(pipeline.code, "builtin_of", blind)


def without_statement(kind: type) -> Switch:
    """Let a kind of expression be lowered as a value only."""
    rest = {key: lowered for key, lowered in statements.STATEMENTS.items() if key is not kind}
    return mock.patch.dict(statements.STATEMENTS, rest, clear=True)


def always_outside(variable: str, value: ast.expr, ends: tuple[int, ...]) -> ast.expr:
    """The comparison of a result with the ends of the ints, and with nothing before."""
    with mock.patch.object(arithmetic, "SMALL", 2**62 - 1):
        return real_outside(variable, value, ends)


real_outside = arithmetic.outside

TRICKS: dict[str, Callable[[], list[Switch]]] = {
    "room for a step (`Body.room`)": lambda: [mock.patch.object(body.Body, "learn", return_value=None)],
    "a small bound first (`SMALL`)": lambda: [mock.patch.object(arithmetic, "outside", always_outside)],
    "refs as variables": lambda: [without_facts(variables=set())],
    "loops in place of builtins": lambda: [without_marks("loop")],
    "a written function as the body of the loop": lambda: [without_facts(in_place={})],
    "builtins as expressions": lambda: [without_marks("inline", "on_data")],
    "strings that grow in place": lambda: [
        without_statement(core.Concat),
        mock.patch.object(statements, "grows", return_value=False),
    ],
    "a match of a choice": lambda: [mock.patch.object(matches, "chosen", return_value=False)],
    "a host's data in place (`entry`)": lambda: [mock.patch.object(entry, "in_place", return_value=None)],
}


class Clock:
    """Adds up the time that scripts take."""

    def __init__(self) -> None:
        self.total = 0.0
        self.running = False
        self.call = compiled.Compiled.call

    def timed_call(self, engine: compiled.Compiled, function: Any, args: list[Any]) -> Any:
        if self.running:
            return self.call(engine, function, args)
        self.running = True
        start = time.perf_counter()
        try:
            return self.call(engine, function, args)
        finally:
            self.total += time.perf_counter() - start
            self.running = False


def work(clock: Clock) -> dict[str, Action]:
    """Every piece of work, compiled by the engine as it is now."""
    actions: dict[str, Action] = {}
    for task in TASKS:
        for suffix, limits in (("", chatml.Limits()), (", steps", STEPS)):
            instance = chatml.compile(task.text("chatml") or "").run(limits=limits)
            actions[task.name + suffix] = partial(timed, partial(instance.call, "main", task.size))
    decide = chatml.compile(POLICY.text("chatml") or "", surface=chatml.MODERATOR).run().function("decide")
    actions["policy decision"] = partial(timed, lambda: [decide(CALL) for _ in range(DECISIONS)])
    for path in SCENARIOS:
        play = partial(play_scenario, path, clock, {})
        play()
        actions[path.name.partition(".")[0]] = play
    return actions


def timed(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def play_scenario(path: Path, clock: Clock, scripts: dict[Path, ScriptArtifact]) -> float:
    """What the script of a scenario takes."""
    artifact = scripts.get(path)
    if artifact is None:
        script = path.with_name(f"{path.name.partition('.')[0]}.chatml")
        source = Source(script.name, script.read_text(encoding="utf-8"))
        artifact = scripts[path] = ScriptArtifact("main", compile_script(source, surface=chatml.UI_MODERATOR))
    scenario = read_scenario(Source(path.name, path.read_text(encoding="utf-8")))
    clock.total = 0.0
    for _ in range(PLAYS):
        stage = Stage(artifact, scenario, [])
        for event in scenario.events:
            stage.play(event)
    return clock.total


def measure(variants: Mapping[str, Mapping[str, Action]], runs: int) -> dict[str, dict[str, float]]:
    """For each variant and piece of work, its time as a multiple of the first variant's."""
    first = next(iter(variants))
    ratios: dict[str, dict[str, float]] = {name: {} for name in variants}
    for row in variants[first]:
        times = {name: min(taken) for name, taken in interleaved(variants, row, runs).items()}
        for name, taken in times.items():
            ratios[name][row] = taken / times[first]
    return ratios


def interleaved(variants: Mapping[str, Mapping[str, Action]], row: str, runs: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(runs):
        for name, actions in variants.items():
            taken[name].append(actions[row]())
    return taken


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    clock = Clock()
    with mock.patch.object(compiled.Compiled, "call", lambda *args: clock.timed_call(*args)):
        variants = {"all": work(clock)}
        for trick, switches in TRICKS.items():
            with ExitStack() as off:
                for switch in switches():
                    off.enter_context(switch)
                variants[trick] = work(clock)
        ratios = measure(variants, runs)
    print("| trick | buys most in | then | then |")
    print("| --- | --- | --- | --- |")
    for trick in TRICKS:
        best = sorted(((ratio, row) for row, ratio in ratios[trick].items()), reverse=True)[:3]
        print(f"| {trick} | {' | '.join(f'{ratio:.2f} {row}' for ratio, row in best)} |")


if __name__ == "__main__":
    main()
