"""Rules of language.md section 3 that the conformance cases do not show, each with a program."""

from __future__ import annotations

import pytest

from chatml.types.show import show
from tests.chatml.types.checking import check_text, shown

ACCEPTED = {
    "3.1 a bare tag and one with a unit payload have one type": "let xs = [`A, `A(())]",
    "3.2 a postfix constructor applies to what stands before it": "let xs : int array array = [[1], []]",
    "3.2 a recursive function type does not flatten into itself": """
        type s = int -> s
        let rec f : s = fun n -> f
        let g : s = f(1)(2)(3)
        """,
    "3.2 a name for a recursive function type flattens into a later arrow": """
        type s = int -> s
        type u = bool -> s
        let rec f : s = fun n -> f
        let g : u = fun b n -> f
        """,
    "3.2 a declared type equals its unfolding": """
        type tree = { v : int; kids : tree array }
        let leaf : tree = { v = 1; kids = [] }
        let rec total : tree -> int = fun t -> Array.fold(t.kids, t.v, fun sum kid -> sum + total(kid))
        print(total({ v = 1; kids = [leaf, { v = 2; kids = [leaf] }] }))
        """,
    "3.2 two declarations of one structure are one type": """
        type a = [ `E | `N(a) ]
        type b = [ `E | `N([ `E | `N(b) ]) ]
        let x : a = `N(`E)
        let y : b = x
        """,
    "3.2 type names and value names are apart": "type x = int let x : x = 1",
    "3.2 a type may have the name of a constructor": "type task = int let x : task task = Task.pure(1)",
    "3.3 an opened export keeps its polymorphism (X-07)": 'open Option let a = some(1) let b = some("x")',
    "3.3 a module as a value is generalised": 'let m = Option let a = m.some(1) let b = m.some("x")',
    "3.3 a variant of values is generalised": "let v = `Pair(fun x -> x, []) let n = 1",
    "3.4 an empty record has a type (X-14)": "type e = {} let r : e = {} let f : e -> int = fun r -> 1 print(f({}))",
    "3.4 rows merge in both directions": "let f a b = let c = [a, b] in a.x + b.y",
    "3.4 an update meets its base": """
        let step st go = if go then Task.pure({ st with n = 1 }) else Task.pure(st)
        let t = step({ n = 0; rest = "kept" }, true)
        """,
    "3.5 an unknown type has equality when it is compared": "let same a b = a == b let u = same(print, print)",
    "3.5 only known fields count": "let f r = if r == r then r.n else 0",
    "3.6 a loop body and the first of a sequence have any type": "let f () = while false do 1 done; 2",
    "3.6 a copy-update may change a type": 'let r = { a = 1 } let s = { r with a = "x" } let t = s.a ++ ""',
    "3.7 an array of records is opened": """
        let names xs = xs[0].name ++ ""
        print(names([{ name = "a"; age = 1 }]))
        """,
    "3.7 a ref of records is opened": """
        let n r = (!r).n + 1
        print(n(ref({ n = 1; k = 2 })))
        """,
    "3.7 a result that is the parameter follows it": """
        let mark r = r.n + 0; r
        let k = mark({ n = 1; k = "k" }).k ++ ""
        """,
    "3.7 a parameter closed by an assignment is opened": """
        let store cell x = cell := { a = 1 }; cell := x; x.a
        print(store(ref({ a = 0 }), { a = 1; b = 2 }))
        """,
    "3.7 a parameter closed by a pattern is opened": """
        let f r = match r with | { a = x } -> x + 0
        let u = f({ a = 1; b = 2 })
        """,
    "3.7 a parameter of a recursive record type is opened": """
        type node = { v : int; next : [ `End | `Next(node) ] }
        let value n = let m : node = n in m.v
        let v = value({ v = 1; next = `End; extra = true })
        """,
    "3.7 a parameter closed by its body gives back what the body sees": """
        let first r = let y : { a : int } = r in r
        print(first({ a = 1; b = 2 }).a)
        """,
    "3.7 what updates share with their base they keep": """
        let pair r = [r, { r with n = 1 }]
        let s = pair({ n = 0; b = true })
        let t = pair({ n = 0; c = "c" })
        print(if s[0].b then t[1].c else "")
        """,
    "3.8 a label that a join drops may be there at its type": """
        let note r on = if on then { r with tag = "t" } else r
        print(note({ tag = "s"; k = 1 }, true).tag ++ "")
        print(note({ k = 1 }, true).k + 1)
        """,
    "3.8 a record joins itself": """
        let f x = if x.b == 0 then x else x
        let c : bool = f({ b = 1; c = true }).c
        """,
    "3.8 the fields of records are joined": """
        let c = true
        let p = if c then { at = { x = 1; y = 2 }; n = 1 } else { at = { x = 3 }; n = 2 }
        print(p.at.x + p.n)
        """,
    "3.8 variants merge": """
        let f c = if c then `A else `B(1)
        let g v = match v with | `A -> 0 | `B(n) -> n | `C -> 2
        print(g(f(true)))
        """,
    "3.9 members of a group may be annotated": """
        let rec even : int -> bool = fun n -> if n == 0 then true else odd(n - 1)
        and odd n = if n == 0 then false else even(n - 1)
        print(even(2))
        """,
    "3.10 an empty closed pattern is total": "let f : { } -> int = fun r -> match r with | { } -> 1",
    "3.10 a name for a tuple payload covers nothing but may stand beside": """
        let f v = match v with | `P(p) -> 1 | _ -> 0
        print(f(`P(1, 2)))
        """,
    "3.10 an arm covers its tag with an open record pattern": """
        let f v = match v with | `At({ x = n; _ }) -> n | `Nowhere -> 0
        print(f(`At({ x = 1 })))
        """,
    "3.10 a catch-all leaves the row open": "let f v = match v with | `A -> 0 | _ -> 1 let u = f(`B)",
    "3.10 an empty variant takes a catch-all": "type no = [] let f : no -> int = fun v -> match v with | _ -> 1",
    "3.11 a module may use itself polymorphically at one type": """
        module M = struct
          let id x = x
          let three () = M.id(3)
        end
        let s = M.id("s") ++ ""
        """,
    "3.11 an export is as polymorphic inside as outside": """
        module M = struct
          let id x = x
          let call n = M.id(n)
          module N = struct let both () = M.id("s") ++ to_string(M.id(1)) end
        end
        let one = M.call(7) + 1
        let other = M.call("s") ++ ""
        """,
    "3.11 a nested module is an export": """
        module A = struct
          module B = struct let f x = x end
          let one = B.f(1)
        end
        open A
        let s = B.f("s") ++ ""
        """,
    "3.11 an opened module may export `not` (X-12)": """
        module M = struct let not x = x + 1 end
        open M
        print(not(1))
        """,
    "X-14 type variables of one name are not one variable": """
        let first a b = a
        let second a b = first(b, a)
        let u = second(1, "a") ++ ""
        let v = second("a", 1) + 1
        """,
    "X-14 a local function with a body of a primitive type": "let n = let g x = 1 in g(2)",
}

REJECTED = {
    "3.2 a unit argument cannot be written": ("let f : unit -> int = fun u -> 1", "type.lambda_arity"),
    "3.2 a duplicate field in a type": ("type t = { a : int; a : int }", "type.duplicate_label"),
    "3.2 a duplicate tag in a type": ("type t = [ `A | `A(int) ]", "type.duplicate_label"),
    "3.2 a constructor does not guard": ("type t = t task", "type.ill_formed"),
    "3.2 types are compared by structure": (
        "type t = int type u = string let x : t = 1 let y : u = x",
        "type.mismatch",
    ),
    "3.3 indexing does not generalise": ('let f = [fun x -> x][0] let a = f(1) let b = f("s")', "type.mismatch"),
    "3.3 a local definition does not generalise": (
        'let f = let y = 1 in fun x -> x let a = f(1) let b = f("s")',
        "type.mismatch",
    ),
    "3.3 a parameter has one type": ('let f g = let a = g(1) in g("s")', "type.mismatch"),
    "3.3 what mentions json is not generalised": (
        'let f j x = let k : json = j in x let a = f(`Null, 1) let b = f(`Null, "s")',
        "type.mismatch",
    ),
    "3.4 updates of one record with different fields do not meet": (
        "let f st go = if go then [{ st with a = 1 }] else [{ st with b = true }]",
        "type.recursive",
    ),
    "3.4 an array does not contain itself": ("let f x = [x, [x]]", "type.recursive"),
    "3.5 a module with functions has no equality": (
        "module M = struct let f x = x end let b = M == M",
        "type.no_equality",
    ),
    "3.5 equality looks into fields": ("let b = { a = [1] } == { a = [2] }", "type.no_equality"),
    "3.6 a boolean operator wants bools": ("let b = true && 1", "type.mismatch"),
    "3.6 a remainder wants ints": ("let n = 1 % 2.0", "type.mismatch"),
    "3.6 an index is an int": ('let n = [1]["a"]', "type.mismatch"),
    "3.6 only arrays are indexed": ('let n = "abc"[0]', "type.mismatch"),
    "3.6 an update of no record": ("let r = { 1 with a = 2 }", "type.mismatch"),
    "3.7 variants are not opened": (
        "let f v = match v with | `A -> 0 let g v = let w = f(v) in v let u = g(`B)",
        "type.unknown_tag",
    ),
    "3.7 what an annotation says stays closed": (
        "let f : { a : int } -> int = fun r -> r.a let u = f({ a = 1; b = 2 })",
        "type.extra_field",
    ),
    "3.7 a parameter that escaped is opened once": (
        """
        let seen = ref(fail("nothing yet"))
        let note x = seen := x; x.a
        let u = note({ a = 1; b = 2 })
        let v = note({ a = 1; c = 3 })
        """,
        "type.extra_field",
    ),
    "3.7 a field keeps its type on the way through a helper": (
        "let f x = if x.b == 0 then x else x let n : int = f({ b = 1; c = true }).c",
        "type.mismatch",
    ),
    "3.7 a field keeps its type on the way through an update": (
        """
        let update r = let n = r.name in { r with extra = 1 }
        print(String.length(update({ name = "a"; x = [1] }).x))
        """,
        "type.mismatch",
    ),
    "3.7 what an update of a base shares with it is what the base has": (
        "let pair r = [r, { r with n = 1 }] let s = pair({ n = 0; c = true }) print(s[0].b)",
        "type.missing_field",
    ),
    "3.7 another record that is given back has no fields of the parameter": (
        "let f r q = if r.a == 0 then r else (let z : { a : int } = q in z) print(f({ a = 1; b = 1 }, { a = 1 }).b)",
        "type.missing_field",
    ),
    "3.7 a record in a ref stays closed": (
        """
        let store cell x = cell := { a = 1 }; cell := x; x.a
        print(store(ref({ a = 0; b = 1 }), { a = 1; b = "s" }))
        """,
        "type.extra_field",
    ),
    "3.7 a field that a rest lacks is missing but where it is read directly": (
        """
        let set r v = print(r.name); { r with x = v }
        let get r = r.zzz
        print(get(set({ name = "a" }, 1)))
        """,
        "type.missing_field",
    ),
    "3.8 a label that a join drops has no other type": (
        'let note r on = if on then { r with tag = 1 } else r print(note({ tag = "s" }, true))',
        "type.mismatch",
    ),
    "3.8 a label that a join drops has no other type behind a helper": (
        """
        let note r on = if on then { r with tag = 1 } else r
        let again r = note(r, true)
        print(again({ tag = "s" }))
        """,
        "type.mismatch",
    ),
    "3.8 a label that a join drops has no other type in a recursion": (
        """
        let rec go n r = if n == 0 then r else go(n - 1, if n == 2 then { r with tag = n } else r)
        print(go(3, { tag = "s" }))
        """,
        "type.mismatch",
    ),
    "3.8 arrays do not join": ("let xs = if true then [{ a = 1 }] else [{ a = 1; b = 2 }]", "type.extra_field"),
    "3.9 a group is monomorphic inside": ('let rec f x = x and g y = f(1) + string_length(f("s"))', "type.mismatch"),
    "3.10 two halves do not make a whole": (
        "let f v = match v with | `A(`X) -> 0 | `A(`Y) -> 1",
        "type.missing_cases",
    ),
    "3.10 a payload-free tag is not covered by a pattern for one argument": (
        "let f : [ `A ] -> int = fun v -> match v with | `A(x) -> 1",
        "type.missing_cases",
    ),
    "3.10 a record with a nested literal is not total": (
        "let f r = match r with | { a = true } -> 1",
        "type.missing_cases",
    ),
    "3.10 a function cannot be matched but by a catch-all": (
        "let f g = match g(1) with | 1 -> 1",
        "type.missing_cases",
    ),
    "3.10 a catch-all after both booleans": (
        "let f b = match b with | true -> 1 | false -> 2 | x -> 3",
        "type.redundant_arm",
    ),
    "3.11 a script's own `not` counts": (
        "let not x = x module M = struct let not x = x end open M",
        "type.open_shadows",
    ),
    "3.11 a module is not finished inside, whatever is used of it": (
        "module M = struct let f () = M.g() open M let g () = 1 end",
        "type.not_a_module",
    ),
    "3.11 an export that is defined twice has one type inside": (
        'module M = struct let id x = x let u () = M.id(1) let v () = M.id("s") let id x = x end',
        "type.mismatch",
    ),
    "3.11 an export that is still to come has one type inside": (
        'module M = struct let u () = M.id(1) let v () = M.id("s") let id x = x end',
        "type.mismatch",
    ),
    "3.11 an export inside is the one that the finished module has": (
        "module M = struct let x = 1 let u () = M.x + 1 let x = true end",
        "type.mismatch",
    ),
    "3.11 types are not exported": (
        "type t = int module M = struct let x : t = 1 end let y : u = M.x",
        "type.unknown_type",
    ),
}


@pytest.mark.parametrize("rule", ACCEPTED)
def test_accepted(rule: str):
    shown(ACCEPTED[rule])


@pytest.mark.parametrize("rule", REJECTED)
def test_rejected(rule: str):
    text, code = REJECTED[rule]
    assert [diagnostic.code for diagnostic in check_text(text).diagnostics][:1] == [code]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        # The parts in the order in which they are inferred: the first error is that of the first part.
        ('let r = { a = 1 + "x"; b = 1 + "y" }', 27),
        ('let f xs = xs[1 + "i"] <- 1 + "v"', 14),
        ('let f xs = (xs + "a")[0] <- 1 + "v"', 28),
        ('let f xs = (1 + "a")[1 + "i"]', 21),
        ('let u = print(1 + "a", 1 + "b")', 14),
        ('let u = (1 + "f")(1 + "a")', 9),
        ('let u = if 1 + "c" then 1 + "a" else 1 + "b"', 11),
        ('let u = { (1 + "r") with a = 1 + "a" }', 11),
        ('let r = ref(0) let u = (1 + "l") == (1 + "r")', 24),
        # An error without a place of its own is at the innermost expression around it.
        ('let f x = (x + 1; x ++ "s")', 18),
        ('let f x = match x with | 1 -> 1 | "s" -> 2 | _ -> 3', 34),
        ('let f : int -> int = fun x -> "s"', 21),
        ("let f x = let rec g y = g in x", 10),
    ],
)
def test_places(text: str, place: int):
    problem = check_text(text).problems[0]
    assert problem.span is not None
    assert problem.span.left == place


def test_types_of_expressions():
    """Every expression of a checked script has a type for later passes."""
    checked = check_text("let f p = p.n + 1 let same = f({ n = 1 }) == 2 let part = String.length")
    function, same, part = [statement.value for statement in checked.script.statements]
    assert show(checked.type_of(function)) == "({n: int; ...} -> int)"
    assert show(checked.type_of(same.left)) == "int"
    assert checked.is_scalar(same)
    assert checked.projections == {part}
