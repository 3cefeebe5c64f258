"""Types as text (language.md 3.1, builtins.md 1.5)."""

from __future__ import annotations

import pytest

from chatml.types.model import (
    Array,
    Bool,
    Con,
    Empty,
    Extend,
    Float,
    Fun,
    Int,
    Mu,
    Record,
    RecVar,
    Ref,
    RowVar,
    String,
    Tuple,
    Type,
    Unit,
    Unknown,
    Var,
    Variant,
)
from chatml.types.show import Shower, show
from tests.chatml.types.checking import shown


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (Int, "int"),
        (Array(Float), "float array"),
        (Array(Fun([Int], Int)), "(int -> int) array"),
        (Ref(Array(Bool)), "ref(bool array)"),
        (Fun([], Unit), "( -> unit)"),
        (Fun([Int, String], Fun([Bool], Unit)), "(int, string -> (bool -> unit))"),
        (Record(Empty), "{}"),
        (Variant(Empty), "[]"),
        (Record(Extend({"b": Int, "a": String}, Empty)), "{a: string; b: int}"),
        (Record(Extend({"b": Int}, RowVar("r"))), "{b: int; ...}"),
        (Record(RowVar("r")), "{...}"),
        (Variant(RowVar("r")), "[...]"),
        (Variant(Extend({"B": Int, "A": Unit, "C": Tuple([Int, Bool])}, Empty)), "[`A | `B(int) | `C(int, bool)]"),
        (Variant(Extend({"A": Tuple([Int, Int])}, RowVar("r"))), "[`A(int, int) | ...]"),
        (Array(Tuple([Int, String])), "(int * string) array"),
        (Con("task", [Array(Int)]), "int array task"),
        (Con("map", [Int, String]), "map(int, string)"),
        (Fun([Var("x"), Var("y"), Var("x")], Var("y")), "(a, b, a -> b)"),
        (Mu("j", Variant(Extend({"Null": Unit, "Many": Array(RecVar("j"))}, Empty))), "mu j. [`Many(j array) | `Null]"),
    ],
)
def test_show(type: Type, text: str):
    assert show(type) == text


def test_free_variables_have_a_mark_and_one_name_each():
    one, other = Unknown(0), Unknown(0)
    shower = Shower()
    assert shower.show(Fun([one, other], one)) == "('a, 'b -> 'a)"
    assert shower.show(other) == "'b"


def test_after_26_letters_come_numbers():
    assert show(Fun([Var(f"v{n}") for n in range(28)], Int)).endswith("z, a1, b1 -> int)")


def test_labels_that_a_tail_repeats_are_those_of_the_front():
    tail = Unknown(0)
    tail.link = Extend({"a": String, "b": Int}, Empty)
    assert show(Record(Extend({"a": Int}, tail))) == "{a: int; b: int}"


def test_a_cycle_without_a_binder_shows_at_its_repetition():
    hole = Unknown(0)
    hole.link = Record(Extend({"next": Fun([], hole)}, Empty))
    assert show(hole) == "{next: ( -> 'rec)}"


def test_a_type_too_large_to_show_is_cut():
    type: Type = Int
    for _ in range(64):
        type = Record(Extend({"l": type, "r": type}, Empty))
    assert len(show(type)) < 400_000
    assert "…" in show(type)


def test_printed_types_of_a_program():
    assert shown(
        """
        type shape = [ `Dot | `Box(int, int) ]
        let id x = x
        let name p = p.name
        let tag v = match v with | `A -> 0 | _ -> 1
        let closed v = match v with | `A -> 0 | `B(n) -> n
        let area : shape -> int = fun s -> match s with | `Dot -> 0 | `Box(w, h) -> w * h
        let weak = ref([])
        let later = Task.pure(1)
        let same : json -> json = fun j -> j
        module M = struct
          let twice f x = f(f(x))
          let one = 1
        end
        let id = 1.5
        """
    ) == {
        "name": "({name: a; ...} -> a)",
        "tag": "([`A | ...] -> int)",
        "closed": "([`A | `B(int)] -> int)",
        "area": "([`Box(int, int) | `Dot] -> int)",
        "weak": "ref('a array)",
        "later": "int task",
        "same": f"({JSON} -> {JSON})",
        "M": "{one: int; twice: ((a -> a), a -> a)}",
        "id": "float",
    }


JSON = (
    "mu __builtin_json. [`Array(__builtin_json array) | `Bool(bool) | `Null | `Number(float) | "
    "`Object({key: string; value: __builtin_json} array) | `String(string)]"
)


def test_an_unfolded_recursive_type_shows_its_binder_inside():
    tree = Mu("tree", Int)
    kids = Array(tree)
    tree.body = Record(Extend({"kids": kids}, Empty))
    assert show(tree.body) == "{kids: (mu tree. {kids: tree array}) array}"
    assert show(Con("task", [tree])) == "(mu tree. {kids: tree array}) task"
    assert show(Mu("list", Array(Int))) == "mu list. int array"


def test_a_cut_type_closes_its_brackets():
    fields = {name: Fun([Int, Int], Int) for name in "abcdef"}
    assert Shower(6).show(Record(Extend(fields, Empty))) == "{a: (int, int -> int); b: (… -> …); …}"
    assert Shower(3).show(Variant(Extend({"A": Int, "B": Int, "C": Int}, Empty))) == "[`A(int) | `B(int) | …]"
