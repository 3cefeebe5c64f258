"""What a handler writes outside of its state is told at the write (X-55)."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatml
from chatml.diagnostics.explain import Example, read_catalogue
from chatml.types.guided import STANDARD

CODE = "durable.module_state"
ENTRY = read_catalogue("chatml")[CODE]
HANDLER = "\nlet initial_state = 0\nlet on_event ctx st ev = let u = write(st) in Task.pure(st + 1)"


def writes(source: str) -> list[str]:
    """The texts of the writes that are told."""
    found = chatml.check(source, name="s", surface=chatml.UI_MODERATOR, entrypoints=STANDARD)
    assert all(diagnostic.severity == "warning" for diagnostic in found), [str(diagnostic) for diagnostic in found]
    return [diagnostic.span.text for diagnostic in found if diagnostic.code == CODE and diagnostic.span is not None]


@pytest.mark.parametrize("example", ENTRY.examples, ids=["fails", "mended"])
def test_examples(example: Example) -> None:
    assert len(writes(example.text)) == example.fails
    assert {each.fails for each in ENTRY.examples} == {True, False}


@pytest.mark.parametrize(
    ("definitions", "told"),
    [
        ("let n = ref(0) let write k = n := k", "n := k"),
        ("let n = ref(0) let write k = swap_ref(n, k)", "swap_ref(n, k)"),
        ("let xs = [0] let write k = xs[0] <- k", "xs[0] <- k"),
        ("let xs = [0] let write k = Array.set(xs, 0, k)", "Array.set(xs, 0, k)"),
        ('let t = Hashtbl.create() let write k = Hashtbl.set(t, "a", k)', 'Hashtbl.set(t, "a", k)'),
        ('let t = Hashtbl.create() let write k = Hashtbl.remove(t, "a")', 'Hashtbl.remove(t, "a")'),
        ("let c = { a = { r = ref(0) } } let write k = c.a.r := k", "c.a.r := k"),
        ("let rows = [[0]] let write k = rows[0][0] <- k", "rows[0][0] <- k"),
        ("let cells = [ref(0)] let write k = Array.get(cells, 0) := k", "Array.get(cells, 0) := k"),
        ("let n = ref(0) let write k = let m = n in m := k", "m := k"),
        ("let n = ref(0) let write k = (if k > 0 then n else n) := k", "(if k > 0 then n else n) := k"),
        ("let held = `Some(ref(0)) let write k = match held with | `Some(r) -> r := k | _ -> ()", "r := k"),
        ("let n = ref(0) let put r k = r := k let write k = put(n, k)", "put(n, k)"),
        ("let n = ref(0) let put r k = r := k let more r k = put(r, k) let write k = more(n, k)", "more(n, k)"),
        (
            "let n = ref(0) let rec put r k = if k < 0 then r := k else put(r, k - 1) let write k = put(n, k)",
            "put(n, k)",
        ),
        ("let n = ref(0) let write k = let put r = r := k in put(n)", "put(n)"),
        ("let n = ref(0) let write k = Array.map([k], fun x -> n := x)", "n := x"),
        ("module M = struct let r = ref(0) let put k = r := k end let write k = M.put(k)", "r := k"),
        ("module M = struct let r = ref(0) end open M let write k = r := k", "r := k"),
        ("let n = ref(0) let write = { put = fun k -> n := k } let write k = write.put(k)", "n := k"),
    ],
)
def test_a_write_that_the_handler_may_reach(definitions: str, told: str) -> None:
    assert writes(definitions + HANDLER) == [told]


@pytest.mark.parametrize(
    "definitions",
    [
        "let n = ref(0) let write k = !n",
        "let xs = [1, 2] let sum ys = Array.fold(ys, 0, fun a y -> a + y) let write k = sum(xs)",
        "let write k = let n = ref(0) in n := k",
        "let xs = [1] let write k = let ys = Array.copy(xs) in ys[0] <- k",
        "let xs = [1] let fill k = xs[0] <- k let filled = fill(3) let write k = xs[0]",
        "let xs = [1] xs[0] <- 2 let write k = xs[0]",
        "let n = ref(0) let unused k = n := k let write k = k",
        "let put r k = r := k let write k = let own = ref(0) in put(own, k)",
        "let initial = [0] let write k = let own = Array.map(initial, fun x -> x + k) in own[0] <- k",
    ],
)
def test_what_is_no_write_of_the_handler(definitions: str) -> None:
    assert writes(definitions + HANDLER) == []


def test_a_program_that_is_no_moderator_may_write() -> None:
    assert writes("let n = ref(0) let put k = n := k let u = put(1)") == []


@pytest.mark.parametrize("path", sorted(Path("examples").rglob("*.chatml")), ids=lambda path: path.stem)
def test_the_examples_keep_everything_in_their_state(path: Path) -> None:
    found = chatml.check(path.read_text(encoding="utf-8"), surface=chatml.UI_MODERATOR, entrypoints=STANDARD)
    assert [diagnostic.code for diagnostic in found if diagnostic.code == CODE] == []


def test_the_place_of_the_definition_is_a_label() -> None:
    script = "let n = ref(0) let write k = n := k" + HANDLER
    warnings = chatml.check(script, surface=chatml.UI_MODERATOR, entrypoints=STANDARD)
    (found,) = [warning for warning in warnings if warning.code == CODE]
    assert [label.span.text for label in found.labels] == ["ref(0)"]
    assert found.help == "put it into the state"
