"""A traced program does what it did, and its trace tells so, in bounded memory."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chatml
from chatml.trace import Bounds, Entry, LeftOut, Trace, Tracer, draw
from chatml.trace.collect import INNERMOST
from chatml.trace.values import brief
from chatml.values.model import INT_MAX, INT_MIN, Ref
from chatml.values.text import show
from tests.chatml.cases import Case, read_corpus
from tests.chatml.observe import SURFACES, Outcome, observe
from tests.chatml.programs import programs

LIMITS = chatml.Limits(steps=100_000, text=100_000)
PROGRAMS = [case for case in read_corpus() if case.fails is None or case.fails.kind == "runtime"]
ALL = Bounds(entries=10**9, depth=10**9, first=10**9)
"""Bounds that leave nothing out."""


def traced(
    program: str, *, surface: str = "core", limits: chatml.Limits = chatml.Limits(), bounds: Bounds = Bounds()
) -> tuple[Outcome, Trace]:
    """What a program does while it is traced, as `observe` tells it, and the trace."""
    lines: list[str] = []
    compiled = chatml.compile(program, name="program.chatml", surface=SURFACES[surface])
    findings = chatml.check(program, name="program.chatml", surface=SURFACES[surface])
    tracer = Tracer(compiled, bounds)
    try:
        tracer.program.run(print=lines.append, limits=limits)
    except chatml.RuntimeFailure as failure:
        findings = (*findings, failure.diagnostic)
    return Outcome(tuple("\n".join(lines).split("\n")) if lines else (), findings), tracer.take()


def seen(outcome: Outcome) -> tuple[tuple[str, ...], str | None]:
    """What was printed, and every report in full."""
    return outcome.printed, outcome.report


def drawn(program: str, **options: object) -> list[str]:
    """The lines of a program's trace."""
    return list(draw(traced(program, **options)[1]))  # type: ignore[arg-type]


def sizes(entries: tuple[Entry | LeftOut, ...]) -> tuple[int, int]:
    """How many entries were kept, and how many left out."""
    kept = left_out = 0
    waiting = list(entries)
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, LeftOut):
            left_out += entry.entries
        else:
            kept += 1
            waiting += entry.inner
    return kept, left_out


# Nothing else changes


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.id)
def test_the_corpus(case: Case) -> None:
    walked = observe(case.program, surface=case.surface, engine="walk")
    assert seen(traced(case.program, surface=case.surface)[0]) == seen(walked)


@given(programs())
@settings(max_examples=300)
def test_tracing_changes_nothing(program: str) -> None:
    """A traced program prints the same lines, and fails the same way at the same place with the same calls running."""
    assert seen(traced(program, limits=LIMITS)[0]) == seen(observe(program, limits=LIMITS, engine="walk"))


@pytest.mark.parametrize("limits", [{"steps": 50}, {"depth": 20}, {"text": 10}])
@pytest.mark.parametrize(
    "program",
    [
        "let rec f n = 1 + f(n + 1) print(f(0))",
        "let rec f n = f(n + 1) print(f(0))",
        'let rec f t = f(t ++ t) print(f("ab"))',
        "print(Array.map(Array.make(100, 1), fun n -> n + 1))",
    ],
)
def test_limits_are_the_same(program: str, limits: dict[str, int]) -> None:
    bounds = chatml.Limits(**{"steps": 1_000, **limits})
    outcome, _ = traced(program, limits=bounds)
    assert seen(outcome) == seen(observe(program, limits=bounds, engine="walk"))
    assert outcome.error is not None or "text" not in limits


def test_tail_calls_take_no_stack() -> None:
    program = "let rec even n = if n == 0 then true else odd(n - 1) and odd n = if n == 0 then false else even(n - 1)"
    outcome, _ = traced(f"{program}\nprint(even(20000))", limits=chatml.Limits(depth=1_000))
    assert outcome.printed == ("true",)


@pytest.mark.parametrize("call", ["f(n - 1)", "{ v = [Array.fold([n - 1], 0, fun sum m -> sum + f(m))] }.v[0]"])
def test_deep_recursion(call: str) -> None:
    outcome, trace = traced(f"let rec f n = if n == 0 then 0 else 1 + {call}\nprint(f(99000))")
    assert outcome.printed == ("99000",)
    assert sum(sizes(trace.entries)) > 99_000 * 2


# Nothing is lost, and little is kept


@given(programs(), st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=200)
def test_what_is_not_kept_is_counted(program: str, entries: int, depth: int, first: int, last: int) -> None:
    """What is kept and what is left out add up to everything, whatever the bounds; and they hold."""
    bounds = Bounds(entries, depth, first, last)
    kept, left_out = sizes(traced(program, limits=LIMITS, bounds=bounds)[1].entries)
    whole, nothing = sizes(traced(program, limits=LIMITS, bounds=ALL)[1].entries)
    assert (kept + left_out, nothing) == (whole, 0)
    assert kept <= most_entries(bounds)


def most_entries(bounds: Bounds) -> int:
    """How many entries a trace can have: those within the bound, the last ones at its root, the way to a failure."""
    return bounds.entries + bounds.last + bounds.depth + INNERMOST + 1


LONG = {
    "a tail call": "let rec f n = if n == 0 then 0 else f(n - 1)\nprint(f(20000))",
    "a loop": "let i = ref(0)\nlet f n = n + 1\nwhile !i < 20000 do i := f(!i) done",
    "a wide tree": "let rec f n = if n < 2 then n else f(n - 1) + f(n - 2)\nprint(f(18))",
    "a deep tree": "let rec f n = if n == 0 then 0 else 1 + f(n - 1)\nprint(f(20000))",
    "callbacks": "print(length(Array.map(Array.make(20000, 1), fun n -> if n == 1 then 2 else 3)))",
    "a failure": "let rec f n = if n == 0 then 1 / 0 else 1 + f(n - 1)\nprint(f(20000))",
    "statements": "\n".join(f"print({n})" for n in range(2_000)),
}


@pytest.mark.parametrize("program", LONG.values(), ids=LONG.keys())
def test_a_long_run_has_a_short_trace(program: str) -> None:
    _, trace = traced(program)
    kept, left_out = sizes(trace.entries)
    assert kept <= most_entries(Bounds())
    assert left_out > 1_000
    assert len(list(draw(trace))) <= 2 * kept


def test_an_endless_loop_takes_no_more_memory_the_longer_it_runs() -> None:
    def peak(steps: int) -> int:
        tracemalloc.start()
        traced("let rec f n kept = f(n + 1, [n, n])\nf(0, [])", limits=chatml.Limits(steps=steps))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1_000)
    assert peak(40_000) < 1.1 * peak(4_000)


# What is told


def test_calls_arms_and_results() -> None:
    program = """
let area shape =
  match shape with
  | `Circle(r) -> 3 * r * r
  | `Square(side) ->
    let doubled = twice_of(side) in
    doubled * side
let sum = Array.fold([`Circle(2), `Square(3)], 0, fun total shape -> total + area(shape))
print(if sum > 20 then "large" else "small")
""".replace("twice_of(side)", "side * 1")
    assert drawn(program) == [
        "8:11   Array.fold([|`Circle(2), `Square(3)|], 0, fun) -> 21",
        "8:51     fun(0, `Circle(2)) -> 12",
        "8:78       area(`Circle(2)) -> 12",
        "4:5          | `Circle(r)",
        "8:51     fun(12, `Square(3)) -> 21",
        "8:78       area(`Square(3)) -> 9",
        "5:5          | `Square(side)",
        "9:10   if sum > 20: true",
        '9:1    print("large") -> ()',
    ]


def test_a_failure_is_told_where_it_happened() -> None:
    program = "let half n = 10 / n\nlet all = Array.map([2, 0], half)"
    assert drawn(program) == [
        "2:11   Array.map([|2, 0|], half) ✗",
        "1:1      half(2) -> 5",
        "1:1      half(0) ✗ division by zero (1:14)",
    ]


def test_a_failure_outside_of_calls_is_told() -> None:
    assert drawn("let n = 1\nprint(n / 0)") == ["       failed ✗ division by zero (2:7)"]


def test_builtins_that_are_operators_are_told_only_when_they_fail() -> None:
    assert drawn('let n = length([1]) let m = not(true) let s = to_string(1)\nlet f = fail("no " ++ s)') == [
        '2:9    fail("no 1") ✗ no 1 (2:9)'
    ]


def test_the_turns_of_a_tail_call_are_inside_the_first_one() -> None:
    assert drawn("let rec f n = if n == 0 then 7 else f(n - 1)\nlet seven = f(2)") == [
        "2:13   f(2) -> 7",
        "1:18     if n == 0: false",
        "1:37     f(1) ↻",
        "1:18       if n == 0: false",
        "1:37     f(0) -> 7",
        "1:18       if n == 0: true",
    ]


def test_a_tail_call_of_another_function_is_inside_of_its_caller() -> None:
    assert drawn("let g n = n + 1\nlet f n = g(n * 2)\nlet three = f(1)") == [
        "3:13   f(1) -> 3",
        "2:11     g(2) -> 3",
    ]


def test_functions_that_call_each_other_for_ever() -> None:
    program = "let rec f n = g(n) and g n = if n == 0 then 0 else f(n - 1)\nlet zero = f(2)"
    assert [line for line in drawn(program) if "if" not in line] == [
        "2:12   f(2) -> 0",
        "1:15     g(2) ↻",
        "1:52     f(1) ↻",
        "1:15       g(1) ↻",
        "1:52     f(0) -> 0",
        "1:15       g(0) -> 0",
    ]


def test_functions_of_a_host_are_told() -> None:
    twice = chatml.Builtin("twice", chatml.Fun([chatml.Int], chatml.Int), lambda number: number * 2)
    program = chatml.compile("let four = twice(2)", surface=chatml.Surface(globals=(twice,)))
    tracer = Tracer(program)
    tracer.program.run()
    assert list(draw(tracer.take())) == ["1:12   twice(2) -> 4"]


def test_building_a_task_is_not_told() -> None:
    program = 'let ask name = Task.bind(Log.info(name), fun told -> Task.pure(1))\nlet task = ask("Ada")'
    assert drawn(program, surface="moderator") == ['2:12   ask("Ada") -> <task>']


def test_what_is_left_out_is_said() -> None:
    lines = drawn("let f n = n\nlet all = Array.map(Array.make(30, 1), f)", bounds=Bounds(first=2, last=1))
    assert lines[2:] == [
        "1:1      f(1) -> 1",
        "1:1      f(1) -> 1",
        "         … 27 more left out",
        "1:1      f(1) -> 1",
    ]


def test_an_interrupted_run_shows_what_was_running() -> None:
    def stop(line: str) -> None:
        raise KeyboardInterrupt

    tracer = Tracer(chatml.compile("let f n = print(n)\nf(1)"))
    with pytest.raises(KeyboardInterrupt):
        tracer.program.run(print=stop)
    assert list(draw(tracer.take())) == ["2:1    f(1) …", "1:11     print(1) …"]
    assert tracer.take() == Trace(())


def test_calls_of_a_host_are_traced_one_after_another() -> None:
    tracer = Tracer(chatml.compile("let double n = n * 2"))
    instance = tracer.program.run()
    tracer.take()
    for number in (1, 2):
        instance.call("double", number)
        assert list(draw(tracer.take())) == [f"1:1    double({number}) -> {2 * number}"]


def test_lines_are_as_wide_as_they_may_be() -> None:
    tracer = Tracer(chatml.compile("let f a b = a ++ b"))
    tracer.program.run().call("f", "a" * 500, "b" * 10)
    (line,) = draw(tracer.take(), width=80)
    assert 76 <= len(line) <= 80
    assert line.count("…") == 2
    assert "b" * 10 in line


def test_a_trace_as_json() -> None:
    _, trace = traced(
        "let f n = if n > 0 then 1 / n else 0\nlet a = f(2) let b = [1][f(0 - 1)]", bounds=Bounds(entries=2)
    )
    assert trace.to_json() == [
        {
            "kind": "call",
            "name": "f",
            "args": ["2"],
            "at": {"line": 2, "column": 9},
            "outcome": "returned",
            "result": "0",
            "failure": None,
            "inner": [{"left_out": 1}],
        },
        {
            "kind": "call",
            "name": "f",
            "args": ["-1"],
            "at": {"line": 2, "column": 26},
            "outcome": "returned",
            "result": "0",
            "failure": None,
            "inner": [{"left_out": 1}],
        },
    ]


# Values


def cyclic() -> list[object]:
    array: list[object] = [1]
    array.append(array)
    return array


def deep(levels: int) -> object:
    value: object = 0
    for _ in range(levels):
        value = ("Deep", value)
    return value


PARTS: st.SearchStrategy[object] = st.recursive(
    st.one_of(st.integers(INT_MIN, INT_MAX), st.booleans(), st.none(), st.floats(), st.just(("A",))),
    lambda part: st.one_of(
        st.lists(part, max_size=4),
        st.dictionaries(st.sampled_from("abc"), part, max_size=3),
        st.tuples(st.just("B"), part),
        st.builds(Ref, part),
    ),
)


@given(PARTS, st.integers(8, 60))
@example([1.5, {"a": None}, ("B", True)], 60)
def test_the_text_of_a_value_is_its_text_cut(value: object, length: int) -> None:
    """A value without strings is shown as the language shows it, up to the length."""
    text = show(value)
    assert brief(value, length) == (text if len(text) <= length else f"{text[: length - 1]}…")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('a "b"\n', '"a \\"b\\"\\n"'),
        (("Object", [{"key": "a", "value": ("Array", [("Number", 1.0), ("Null",)])}]), '{"a":[1,null]}'),
        (("Object", [1]), "`Object([|1|])"),
        (("Object", []), "{}"),
        ({}, "{  }"),
        (cyclic(), "[|1, [|1, [|1, [|1, [|1, [|1, [|1, [|1…"),
        (deep(200_000), "`Deep(`Deep(`Deep(`Deep(`Deep(`Deep(`D…"),
        ("x" * 10_000_000, f'"{"x" * 37}…'),
        ([0] * 10_000_000, "[|0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, …"),
    ],
    ids=range(9),
)
def test_values_in_short(value: object, text: str) -> None:
    assert brief(value, 39) == text


def test_functions_tasks_and_tables_in_short() -> None:
    program = """
let f n = n
let table = Hashtbl.create()
Hashtbl.set(table, "a", 1)
let known = Hashtbl.get(table, "a")
module M = struct let x = 1 end
let id x = x
let a = id(f) let b = id(fun n -> n) let c = id(String.length) let d = id(M) let e = id(Task.pure(1))
let g = id(ref(1))
"""
    results = [line.split("-> ")[1] for line in drawn(program)[-6:]]
    assert results == ["f", "fun", "String.length", "M", "<task>", "ref(1)"]
    assert '4:1    Hashtbl.set(ref([||]), "a", 1) -> ()' in drawn(program)
    assert '5:13   Hashtbl.get(ref([|{ key = "a"; value = 1 }|]), "a") -> `Some(1)' in drawn(program)
