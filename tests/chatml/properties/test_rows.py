"""What holds for every program in which rows meet, well typed or not."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatml
from chatml.pipeline import environment
from chatml.source import Source
from chatml.surfaces.core import CORE
from chatml.syntax.parse import parse
from chatml.types.statements import Statements
from tests.chatml.observe import observe, seen
from tests.chatml.program_choices import DrawnChooser, RandomChooser
from tests.chatml.program_rows import HelperWriter, RowWriter

WORK_PER_CHARACTER = 10
"""The most that was seen in a hundred thousand programs is 1."""


@st.composite
def row_programs(draw: st.DrawFn) -> str:
    return RowWriter(DrawnChooser(draw)).program()


def assert_check_ends(program: str) -> None:
    """Check a program and word all that was found, within a bound of parts looked at."""
    statements = Statements(environment(CORE))
    checked = statements.extend(parse(Source("rows", program)), work=WORK_PER_CHARACTER * len(program))
    assert not statements.exhausted, program
    for name in checked.bindings:
        checked.show(name)
    for diagnostic in checked.diagnostics:
        str(diagnostic)


@given(row_programs())
@settings(max_examples=300)
def test_the_check_ends(program: str) -> None:
    """The check of a program ends after work in proportion to its text, and every type and problem has a text."""
    assert_check_ends(program)


@pytest.mark.parametrize("seed", range(0, 3_000, 300))
def test_the_check_ends_far_from_simple(seed: int) -> None:
    """The same for programs that nothing keeps small."""
    for number in range(seed, seed + 300):
        assert_check_ends(RowWriter(RandomChooser(Random(number))).program())


LIMITS = chatml.Limits(steps=20_000, depth=2_000)


@st.composite
def helper_programs(draw: st.DrawFn) -> str:
    return HelperWriter(DrawnChooser(draw)).program()


def assert_helpers_keep_promises(program: str) -> None:
    """What a program does is the same in both engines, and fails only where the checker says that it will."""
    walked = observe(program, limits=LIMITS, engine="walk")
    assert seen(walked) == seen(observe(program, limits=LIMITS, engine="compiled")), program
    if walked.error is not None and walked.error.code.startswith("runtime."):
        assert walked.error.code == "runtime.no_field", program
        assert chatml.compile(program).checked.absent, program


@given(helper_programs())
@settings(max_examples=300)
def test_helpers_keep_what_they_promise(program: str) -> None:
    """A field that a helper gives back has the type that its record promises, however the record came through."""
    assert_helpers_keep_promises(program)


@pytest.mark.parametrize("seed", range(0, 1_500, 300))
def test_helpers_keep_what_they_promise_far_from_simple(seed: int) -> None:
    """The same for programs that nothing keeps small."""
    for number in range(seed, seed + 300):
        assert_helpers_keep_promises(HelperWriter(RandomChooser(Random(number))).program())
