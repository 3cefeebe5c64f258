"""Completion: what is offered at a cursor. It runs nothing, changes nothing, and never fails."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatml
from chatml.source import Source
from chatml.syntax.parse.lexer import FIXED
from chatml_tools.completion.complete import complete
from chatml_tools.workspace import Workspace

SCRIPT = """
let user = { name = "Ada"; home = { street = "Main"; no = 1 }; tag = `Admin(2) }
let people n = Array.make(n, user)
let cell = ref({ inner = 1 })
let loop = ref([])
module Outer = struct module Inner = struct let x = 1 end let here = 2 end
module Shapes = struct let area r = r * r  let unit_square = 1 end
type point = { px : int; py : int }
let origin : point = { px = 0; py = 0 }
let boom u = fail("completion must not run this")
"""


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    workspace = Workspace(chatml.UI_MODERATOR)
    workspace.enter(Source("script", SCRIPT))
    return workspace


def offered(workspace: Workspace, text: str) -> list[str]:
    return [each.text for each in complete(workspace, text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("us", ["user"]),
        ("user.", ["home", "name", "tag"]),
        ("user.n", ["name"]),
        ("user.home.", ["no", "street"]),
        ("print(user.home.s", ["street"]),
        ("people(3)[0].home.", ["no", "street"]),
        ("people(1)[user.home.", ["no", "street"]),
        ("(user).na", ["name"]),
        ("Shapes.", ["area", "unit_square"]),
        ("Sha", ["Shapes"]),
        ("Array.fil", ["fill", "filter"]),
        ("origin.", ["px", "py"]),
        ("let a = user in a.home.", ["no", "street"]),
        ("let f x = let y = user.home in if y.no == 0 then y.", ["no", "street"]),
        ("let f x = x.alpha + x.beta + x.", ["alpha", "beta"]),
        ("fun x -> if x.ready then x.", ["ready"]),
        ("match `Got(user) with | `Got(u) -> u.", ["home", "name", "tag"]),
        ("match Array.find(people(3), fun p -> true) with | `Some(p) -> p.", ["home", "name", "tag"]),
        ("match Array.find(people(3), fun p -> true) with | `None -> 0 | `Some(p) -> p.home.", ["no", "street"]),
        ("match 1 with | _ -> user.", ["home", "name", "tag"]),
        ("let f e = match e with | _ -> user.home.", ["no", "street"]),
        ("Array.map(people(2), fun p -> p.home.", ["no", "street"]),
        ("print((match user.tag with | `Admin(n) -> user.home.", ["no", "street"]),
        ("let rec f n = f(n - user.home.n", ["no"]),
        ("module M = struct let a = user let b = a.", ["home", "name", "tag"]),
        ("while user.home.", ["no", "street"]),
        ("{ user with name = user.n", ["name"]),
        ("[user, user.na", ["name"]),
        ("let on_event : (context -> int) = fun ctx -> ctx.no", ["now_ms"]),
        ("boom(1).", []),
        ("nothing_known.", []),
        ("user.name.", []),
        ("1.", []),
        ("`Adm", ["`Admin"]),
        ("let p : poi", ["point"]),
        ("let p : str", ["string"]),
        ("let us", []),
        ('"user.', []),
        ("(* user.", []),
        ("let p : int -> (poi", ["point"]),
        ("let p : int arr", ["array"]),
        ("type t = [ `A(int) | `B(str", ["string"]),
        ("type t = { a : int; px", []),
        ("type t = int print(us", ["user"]),
        ("type t = int\nwhi", ["while"]),
        ("let p : point = us", ["user"]),
        ("{ user with na", ["name"]),
        ("{ user with name = 1; ho", ["home"]),
        ("{ people(1)[0].home with ", ["no", "street"]),
        ("print({ user with home = { user.home with st", ["street"]),
        ("{ user.home.", ["no", "street"]),
        ("{ name = (1; us", ["user"]),
        ("let* a = Shapes.", ["area", "unit_square"]),
        ("let f x = 1 let* a = user.home.", ["no", "street"]),
        ("open Sha", ["Shapes"]),
        ("open us", []),
        ("Outer.", ["here"]),
        ("whi", ["while"]),
        ("let longname = 1 in lo", ["longname", "loop"]),
        ("USER", ["user"]),
    ],
)
def test_offers(workspace: Workspace, text: str, expected: list[str]) -> None:
    assert offered(workspace, text) == expected


def test_a_completion_tells_what_it_replaces_and_its_type(workspace: Workspace) -> None:
    (found,) = complete(workspace, "print(user.ho")
    assert (found.text, found.size, found.kind, found.detail()) == ("home", 2, "field", "{no: int; street: string}")


def test_everything_in_scope_is_offered(workspace: Workspace) -> None:
    names = offered(workspace, "")
    assert {"user", "Shapes", "print", "Array", "Item", "match"} <= set(names)
    assert len(names) == len(set(names))


PIECES = st.sampled_from(
    [word for word in FIXED if not word.isupper()]
    + [
        "user",
        "x",
        "home",
        ".",
        "Shapes",
        "`A",
        "1",
        "2.5",
        '"s"',
        "(*",
        "*)",
        '"',
        "?",
        "\n",
        "loop",
        "[1]",
        "(",
        "\0",
    ]
)


@given(st.lists(PIECES, max_size=20).map(" ".join))
@settings(max_examples=300)
def test_any_text(text: str) -> None:
    """Whatever stands before the cursor, completion answers, and the workspace stays as it is."""
    workspace = Workspace(chatml.UI_MODERATOR)
    workspace.enter(Source("script", SCRIPT))
    for found in complete(workspace, text):
        found.detail()
    assert workspace.enter(Source("after", "loop")).lines() == ["- : ref('a array) = ref([])"]
    assert len(workspace.inputs) == 2
