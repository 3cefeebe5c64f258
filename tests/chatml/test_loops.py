"""Loops: what the compiling engine leaves out, because it knows better beforehand, makes no difference."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import chatml
from chatml.pipeline import ENGINES
from tests.chatml.observe import observe, seen
from tests.chatml.program_loops import loop_programs


@given(loop_programs())
@settings(max_examples=200)
def test_generated_loops(program: str) -> None:
    """Whatever is left out because of what is known beforehand, both engines compute the same."""
    limits = chatml.Limits(steps=1_000, text=100_000)
    walked = observe(program, limits=limits, engine="walk")
    assert seen(observe(program, limits=limits)) == seen(walked)
    if walked.error is None or walked.error.code != "runtime.limit":
        assert seen(observe(program)) == seen(walked)
        assert seen(observe(program, journaled=True)) == seen(walked)


LARGEST = "4611686018427387903"
LOOPS = {
    "a sum of a fold": f"print(Array.fold([{LARGEST}, {LARGEST}, 5], 1, fun sum x -> sum + x - 1))",
    "a sum in a ref": f"""let f n = let sum = ref(n) in let i = ref(0) in
  while !i < 9 do sum := !sum - {LARGEST}; i := !i + 1 done; !sum
print(f(-3))""",
    "a sum that a loop looks at": f"""let f n = let sum = ref(n) in
  while !sum > 0 do sum := !sum + {LARGEST} done; !sum
print(f(3))""",
    "a sum that only a loop inside gathers": f"""let f n = let sum = ref(n) in let i = ref(0) in
  while !i < 3 do
    let j = ref(0) in while !j < 3 do sum := !sum + {LARGEST}; j := !j + 1 done; print(!sum); i := !i + 1 done; !sum
print(f(3))""",
    "a sum in a parameter": f"""let rec f k sum = if k == 0 then sum < 0 else f(k - 1, {LARGEST} + sum + k)
print([f(3, 1), f(2, 1), f(4, 1)])""",
    "a parameter counts beyond the end": f"""let rec f k n = if k > 0 then n else f(k - 1, n + 1)
print(f(-{LARGEST}, 0))""",
    "a counter that its guard does not guard": f"""let f n = let i = ref(n) in let turns = ref(0) in
  while !i > 0 do i := !i + 1; i := !i + {LARGEST}; turns := !turns + 1 done; [!i, !turns]
print(f(1))""",
    "a condition that writes": f"""let f n = let i = ref(n) in
  if !i < 3 && (i := {LARGEST}; true) then !i + 1 else 0
print(f(1))""",
    "operands that write": f"let f n = let i = ref(n) in !i + (i := {LARGEST}; 1) + !i\nprint(f(1))",
    "a failure in two loops": """let f xs = Array.iter(xs, fun x ->
  Array.iter(xs, fun y ->
    print(6 / y)))
f([2, 0])""",
    "a failure in a function that a loop calls": """let g x = [1][x]
let f xs = Array.map(xs, g)
print(f([0, 1]))""",
    "a failure in a builtin that a loop calls": 'Array.iter(["1", "x"], fun s ->\n  print(String.slice(s, 0, 2)))',
    "functions made in a loop": """let f xs = let sum = ref(0) in
  Array.map(Array.map(xs, fun x -> (sum := !sum + x; fun y -> [x, y, 1 / (x - 2)])), fun g -> g(!sum))
print(f([1, 3]))
print(f([1, 2]))""",
    "elements are read in their turn": """let a = [1, 2, 3]
print(Array.map(a, fun x -> (a[2] <- 7; a[1] <- x * 5; x)))
print(Array.fold(a, 0, fun sum x -> (a[2] <- 100; sum + x)))
print(Array.filter(a, fun x -> (a[1] <- 0; a[2] <- 0; x > 1)))
Array.iteri(a, fun i x -> (a[2] <- 8; print([i, x])))
print(Array.mapi(a, fun i x -> i * 100 + x))""",
    "a loop that ends early": """let positive x = (print(x); x > 1)
print(Array.exists([1, 2, 3], fun x -> positive(x)))
print(Array.for_all([2, 1, 3], positive))
print(Array.find_map([1, 2, 3], fun x -> if positive(x) then `Some(x * 2) else `None))
print(Array.find_map([1], fun x -> if positive(x) then `Some(x) else `None))""",
    "builtins as functions of a loop": 'Array.iter(Array.map([1, 2], to_string), print)\nArray.iter(["a"], fail)',
    "a count below zero": "print(Array.init(0 - 1, fun i -> i))",
    "a count beyond any bound": f"print(Array.init({LARGEST}, fun i -> i))",
    "operands before a loop": """let f n = let r = ref(n) in
  [!r, Array.fold([1, 2], !r, fun sum x -> (r := !r + 1; sum + x * !r)), !r]
print(f(1))""",
    "the last value of a sum that a function captures": """let rec f k sum made =
  if k == 0 then made(sum) else f(k - 1, sum + 4611686018427387903, fun x -> x + sum)
print(f(3, 2, fun x -> x))""",
}


@pytest.mark.parametrize("program", LOOPS.values(), ids=LOOPS.keys())
def test_loops(program: str) -> None:
    walked = observe(program, engine="walk", limits=chatml.Limits(steps=10_000))
    assert seen(observe(program)) == seen(walked)
    for steps in range(1, 40):
        limits = chatml.Limits(steps=steps, text=5)
        assert seen(observe(program, limits=limits)) == seen(observe(program, engine="walk", limits=limits))


@pytest.mark.parametrize(
    "loop", ["let i{0} = ref(0) in while !i{0} < 1 do i{0} := !i{0} + 1; {1} done", "Array.iter([1], fun x{0} -> {1})"]
)
def test_many_loops_inside_each_other(loop: str) -> None:
    program = "print(n)"
    for number in range(25):
        program = loop.format(number, program)
    for engine in ENGINES:
        assert observe(f"let f n = {program}\nf(3)", engine=engine).printed == ("3",)
