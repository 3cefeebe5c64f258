"""Limits: every bound stops what goes beyond it, in both engines, and names itself (X-04, X-05)."""

from __future__ import annotations

import pytest

import chatml
from chatml.pipeline import EngineName
from chatml.values.limits import LARGEST
from tests.chatml.observe import observe

ENGINES: list[EngineName] = ["walk", "compiled"]

BEYOND = [
    ("steps", chatml.Limits(steps=1_000), "while true do () done"),
    ("steps", chatml.Limits(steps=1_000), "let rec f n = f(n + 1)\nf(0)"),
    ("steps", chatml.Limits(steps=1_000), "let rec f n = 1 + f(n + 1)\nf(0)"),
    ("steps", chatml.Limits(steps=1_000), "let f k n = k(n)\nlet rec g n = f(g, n)\ng(0)"),
    ("steps", chatml.Limits(steps=1_000), "Array.init(2000, fun i -> i)"),
    ("steps", chatml.Limits(steps=1_000), "Array.make(100000, 0)"),
    ("steps", chatml.Limits(steps=1_000), "let a = [1]\nwhile true do Array.fill(a, 2) done"),
    ("depth", chatml.Limits(), "let rec f n = 1 + f(n + 1)\nf(0)"),
    ("depth", chatml.Limits(), "let rec f n = Array.map([n], f)[0] + 1\nf(0)"),
    ("depth", chatml.Limits(), "let rec f n = (let k = fun x -> f(x + 1) in k(n)) + 1\nf(0)"),
    ("text", chatml.Limits(text=100), 'let rec f s = f(s ++ s)\nf("a")'),
    ("text", chatml.Limits(text=100), 'let s = ref("a")\nwhile true do s := !s ++ !s done'),
    ("text", chatml.Limits(text=100), "Array.make(101, 0)"),
    ("text", chatml.Limits(text=100), "print(Array.make(100, 0))"),
    ("text", chatml.Limits(), 'let rec f s = f(s ++ s)\nf("a")'),
    ("text", chatml.Limits(), f"Array.make({LARGEST + 1}, 0)"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "limits", "program"), BEYOND, ids=[f"{name}: {text}" for name, _, text in BEYOND])
def test_beyond(name: str, limits: chatml.Limits, program: str, engine: EngineName) -> None:
    error = observe(program, limits=limits, engine=engine).error
    assert error is not None
    assert error.code == "runtime.limit"
    assert f"`{name}`" in error.message
    assert error.span is not None


@pytest.mark.parametrize("engine", ENGINES)
def test_within(engine: EngineName) -> None:
    limits = chatml.Limits(steps=1_000, depth=100, text=100)
    program = (
        "let rec f n = if n == 0 then 0 else 1 + f(n - 1)\nprint(f(90))\nprint(length(Array.init(100, fun i -> i)))"
    )
    assert observe(program, limits=limits, engine=engine).printed == ("90", "100")


@pytest.mark.parametrize("engine", ENGINES)
def test_each_call_of_an_instance_has_the_whole_budget(engine: EngineName) -> None:
    program = chatml.compile("let rec f n = if n == 0 then 0 else f(n - 1)")
    instance = program.run(limits=chatml.Limits(steps=100), engine=engine)
    for _ in range(5):
        assert instance.call("f", 90) == 0
    with pytest.raises(chatml.RuntimeFailure, match="`steps`"):
        instance.call("f", 200)
    assert instance.call("f", 90) == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("way", ["call", "function"])
def test_a_call_inside_another_leaves_its_budget_alone(engine: EngineName, way: str) -> None:
    program = """
let one call = call.n + 1
let rec fib n = if n < 2 then n else fib(n - 1) + fib(n - 2)
let endless () = while true do print("again") done
"""
    turns: list[str] = []

    def again(text: str) -> None:
        turns.append(text)
        assert len(turns) < 1_000
        if way == "call":
            instance.call("one", {"n": 1})
            instance.call("fib", 3)
        else:
            instance.function("one")({"n": 1})
            instance.function("fib")(3)

    instance = chatml.compile(program).run(limits=chatml.Limits(steps=60), print=again, engine=engine)
    with pytest.raises(chatml.RuntimeFailure) as caught:
        instance.call("endless")
    assert caught.value.limit == "steps"
    assert len(turns) == 59


@pytest.mark.parametrize("engine", ENGINES)
def test_literals_are_as_long_as_the_script_has_them(engine: EngineName) -> None:
    program = 'let items = [1, 2, 3, 4]\nlet text = "long"\nprint(length(items))'
    assert observe(program, limits=chatml.Limits(text=3), engine=engine).printed == ("4",)
