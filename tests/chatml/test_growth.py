"""What compiling costs grows with the length of a script, and no faster: work is counted, time is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType

import pytest

import chatml
from chatml.engines.compile.lower import PART
from chatml.engines.walk import Walker
from chatml.pipeline import generated
from chatml.surfaces.core import CORE

SCRIPTS: dict[str, Callable[[int], str]] = {
    "definitions": lambda n: "\n".join([f"let f{i} x = x + {i}" for i in range(n)]),
    "values": lambda n: "\n".join([f"let v{i} = {i} + 1" for i in range(n)]),
    "one group": lambda n: "let rec f0 x = x\n" + "\n".join([f"and f{i} x = f{i - 1}(x)" for i in range(1, n)]),
    "one module": lambda n: "module M = struct\n" + "\n".join([f"let f{i} x = x" for i in range(n)]) + "\nend",
    "one body": lambda n: "let f x =\n" + "\n".join([f"  let a{i} = x + {i} in" for i in range(n)]) + "\n  x",
    "choices": lambda n: "let f x = " + "".join([f"if x == {i} then {i} else " for i in range(n)]) + "0",
    "arms": lambda n: "let f x = match x with " + " ".join([f"| {i} -> {i}" for i in range(n)]) + " | _ -> 0",
    "an array": lambda n: f"let a = [{', '.join(['f'] * n)}]".replace("f", "1"),
    "a conjunction": lambda n: "let f x = " + " && ".join([f"x < {i}" for i in range(n)]),
    "a condition": lambda n: f"let f x = if {' || '.join([f'x == {i}' for i in range(n)])} then 1 else 0",
    "a sum": lambda n: f"let f x = {' + '.join(['x'] * n)}",
    "a text": lambda n: f"let f x = {' ++ '.join(['x'] * n)}",
    "steps": lambda n: (
        "let f x = let i = ref(x) in\n" + "".join(["  (if !i < 9 then i := !i + 1 else ());\n"] * n) + "  !i"
    ),
}


@pytest.mark.parametrize("write", SCRIPTS.values(), ids=list(SCRIPTS))
def test_ten_times_the_script_is_ten_times_the_work(write: Callable[[int], str]) -> None:
    small, large = (calls_of_generating(write(size)) for size in (200, 2_000))
    assert large <= 11 * small


def calls_of_generating(text: str) -> int:
    """How many calls, of functions of Python and of C, it takes to generate the code of a script."""
    core = chatml.compile(text).core
    count = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        generated(core, CORE, True)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", ["definitions", "values", "one group", "one module"])
def test_python_compiles_a_script_in_parts(kind: str) -> None:
    """CPython's compiler is the one step that is not linear: no call of it is given more than so many definitions."""
    code = generated(chatml.compile(SCRIPTS[kind](3_000)).core, CORE, False)
    assert code is not None
    assert len(code.parts) >= 3_000 // PART
    for part in code.parts:
        (main,) = [constant for constant in part.co_consts if isinstance(constant, CodeType)]
        assert sum(isinstance(constant, CodeType) for constant in main.co_consts) <= PART + 1


def test_the_parts_of_a_script_run_in_order() -> None:
    lines = [f"let f{i} x = x + {i}\nlet v{i} = f{i}({'0' if i == 0 else f'v{i - 1}'})" for i in range(500)]
    program = "\n".join([*lines, "print(v499)", "print([1][f1(v1)])"])
    failure = None
    printed: list[str] = []
    try:
        chatml.compile(program).run(print=printed.append)
    except chatml.RuntimeFailure as error:
        failure = error
    assert printed == [str(sum(range(500)))]
    assert failure is not None
    assert failure.span is not None
    assert (failure.code, failure.span.start.line) == ("runtime.out_of_bounds", 1_002)


@pytest.mark.parametrize(
    ("chain", "value"), [(" + ", 100_000), (" - ", -99_998), (" * ", 1), (" && ", True), (" || ", True)]
)
def test_a_chain_that_python_cannot_compile_is_walked(chain: str, value: object) -> None:
    link = "true" if isinstance(value, bool) else "1"
    instance = chatml.compile(f"let x = {chain.join([link] * 100_000)}").run()
    assert isinstance(instance.machine, Walker)
    assert instance["x"] == value
