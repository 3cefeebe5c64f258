"""What holds for every well-typed program."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings

import chatml
from chatml.source import Source
from chatml.syntax.ast_text import dump, show
from chatml.syntax.parse import parse
from tests.chatml.observe import Outcome, observe
from tests.chatml.program_choices import RandomChooser
from tests.chatml.programs import programs, write_program

FAILURES = {"runtime.division_by_zero", "runtime.out_of_bounds", "runtime.builtin", "runtime.limit"}
"""What a well-typed program may still run into."""

LIMITS = chatml.Limits(steps=100_000, depth=10_000, text=100_000)


@given(programs())
@settings(max_examples=400)
def test_soundness(program: str) -> None:
    """A well-typed program checks without a finding, and no value in it ever has the wrong kind."""
    outcome = observe(program, limits=LIMITS)
    assert outcome.error is None or outcome.error.code in FAILURES, f"{program}\n\n{outcome.report}"


@pytest.mark.parametrize("seed", range(0, 500, 50))
def test_soundness_far_from_simple(seed: int) -> None:
    """The same for programs that nothing keeps small: Hypothesis prefers simple choices, a generator does not."""
    for number in range(seed, seed + 50):
        program = write_program(RandomChooser(Random(number)))
        outcome = observe(program, limits=LIMITS)
        assert outcome.error is None or outcome.error.code in FAILURES, f"{program}\n\n{outcome.report}"


@given(programs())
def test_determinism(program: str) -> None:
    """A program does the same each time: same lines, same failure, same types."""
    assert seen(observe(program, limits=LIMITS)) == seen(observe(program, limits=LIMITS))
    assert chatml.compile(program).types == chatml.compile(program).types


@given(programs())
def test_instances_are_independent(program: str) -> None:
    """Two runs of one compiled program share nothing."""
    compiled = chatml.compile(program)
    outputs: list[list[str]] = [[], []]
    for lines in outputs:
        try:
            compiled.run(print=lines.append, limits=LIMITS)
        except chatml.RuntimeFailure as failure:
            lines.append(str(failure.diagnostic))
    assert outputs[0] == outputs[1]


def seen(outcome: Outcome) -> tuple[tuple[str, ...], str | None]:
    """An outcome as text; spans of two sources never compare equal."""
    return outcome.printed, outcome.report


@given(programs())
def test_printing(program: str) -> None:
    """A program written out and parsed again has the same tree, and does the same."""
    tree = parse(Source("program", program))
    written = show(tree)
    assert dump(parse(Source("written", written))) == dump(tree)
    assert observe(written, limits=LIMITS).printed == observe(program, limits=LIMITS).printed
