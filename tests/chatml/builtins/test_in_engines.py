"""Builtins as scripts run them, in both engines."""

from __future__ import annotations

from typing import Literal

import pytest

import chatml

Engine = Literal["compiled", "walk"]
ENGINES: list[Engine] = ["compiled", "walk"]


def run(source: str, engine: Engine, text: int | None = None) -> list[str]:
    printed: list[str] = []
    chatml.compile(source).run(print=printed.append, engine=engine, limits=chatml.Limits(text=text))
    return printed


@pytest.mark.parametrize("engine", ENGINES)
def test_recursion_through_a_callback(engine: Engine) -> None:
    source = """
    let rec count n = if n == 0 then 0 else 1 + Array.fold([n], 0, fun sum m -> count(m - 1))
    print(count(20000))
    """
    assert run(source, engine) == ["20000"]


@pytest.mark.parametrize("engine", ENGINES)
def test_table_is_a_ref(engine: Engine) -> None:
    source = """
    let t = Hashtbl.create()
    Hashtbl.set(t, "a", 1)
    let before = !t
    Hashtbl.set(t, "b", 2)
    print(before)
    before[0] <- { key = "z"; value = 9 }
    print(!t)
    let now = !t
    now[1] <- { key = "c"; value = 3 }
    print(Hashtbl.get(t, "c"))
    print(swap_ref(t, []))
    print(t)
    t := [{ key = "x"; value = 0 }]
    print(Hashtbl.mem(t, "x"))
    """
    assert run(source, engine) == [
        "[|{ key = a; value = 1 }|]",
        "[|{ key = a; value = 1 }, { key = b; value = 2 }|]",
        "`Some(3)",
        "[|{ key = a; value = 1 }, { key = c; value = 3 }|]",
        "ref([||])",
        "true",
    ]


DOUBLED = "let rec doubled n j = if n == 0 then j else doubled(n - 1, `Array([j, j]))\n"

ENDLESS = {
    "print": "let a : json array = [`Null]\nArray.set(a, 0, `Array(a))\nprint(a)",
    "to_string": "let a : json array = [`Null]\nArray.set(a, 0, `Array(a))\nlet s = to_string(a)",
    "Json.stringify": "let a : json array = [`Null]\nArray.set(a, 0, `Array(a))\nprint(Json.stringify(`Array(a)))",
    "Json.pretty": "let a : json array = [`Null]\nArray.set(a, 0, `Array(a))\nprint(Json.pretty(`Array(a)))",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ENDLESS)
def test_cyclic_values(name: str, engine: Engine) -> None:
    with pytest.raises(chatml.RuntimeFailure, match=f"{name}: the value contains itself") as caught:
        run(ENDLESS[name], engine)
    assert caught.value.span is not None
    assert caught.value.span.start.line == 3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "source",
    [
        'let rec grow s = grow(String.concat(s, s))\nprint(grow("ab"))',
        "let rec grow a = grow(Array.append(a, a))\nprint(grow([1]))",
        DOUBLED + "print(Json.stringify(doubled(60, `Null)))",
        DOUBLED + "print(doubled(60, `Null))",
        "print(Array.make(4611686018427387903, 0))",
        "print(Array.init(4611686018427387903, fun i -> i))",
        'print(String.replace_all("aaaaaaaaaa", "a", "bbbbbbbbbbbbbbbbbbbb"))',
    ],
)
def test_limit_of_text(source: str, engine: Engine) -> None:
    with pytest.raises(chatml.RuntimeFailure, match="limit `text` exceeded"):
        run(source, engine, text=100)
