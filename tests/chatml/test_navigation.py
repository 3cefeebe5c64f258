"""Finding the way in a script: what a name refers to, what stands at a place, the outline, completion anywhere."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatml
from chatml.core import nodes
from chatml.core.resolve import Cell, Place, Resolver
from chatml.pipeline import environment, names
from chatml.source import Source
from chatml.stack import deep
from chatml.syntax import ast
from chatml.syntax.parse import parse
from chatml.syntax.parse.recovery import parse_parts
from chatml.types import check
from chatml_tools.navigation import Analysis, Bindings, Preceding, Symbol, outline
from tests.chatml.cases import read_corpus
from tests.chatml.programs import programs

CURSOR = "^"


def marked(text: str) -> tuple[Analysis, int]:
    """The analysis of a text, and the place of the mark in it."""
    offset = text.index(CURSOR)
    return Analysis(Source("s.chatml", text.replace(CURSOR, "")), chatml.UI_MODERATOR), offset


def described(text: str) -> str | None:
    analysis, offset = marked(text)
    sight = analysis.describe(offset)
    return None if sight is None else f"{sight.span.text} | {sight.text}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let ^twice f x = f(f(x))", "twice | twice : ((a -> a), a -> a)"),
        ("let twice ^f x = f(f(x))", "f | f : ('a -> 'a)"),
        ("let id x = x print(^id(1))", "id | id : (a -> a)\nid : (int -> int)  (* here *)"),
        ("let id x = x print(id^(1))", "id | id : (a -> a)\nid : (int -> int)  (* here *)"),
        ("let f n = let ^g x = x in g(n + 1)", "g | g : (a -> a)"),
        ("let rec ^go n = if n == 0 then 0 else go(n - 1)", "go | go : (int -> int)"),
        ("print(^to_string(1))", "to_string | to_string : (a -> string)\nto_string : (int -> string)  (* here *)"),
        (
            "let a = Array.^map([1], fun x -> x)",
            "map | Array.map : (a array, (a -> b) -> b array)\n"
            "Array.map : (int array, (int -> int) -> int array)  (* here *)",
        ),
        ("let a = ^Array.map", "Array | module Array"),
        ("module ^M = struct let a = 1 end", "M | module M"),
        ("module M = struct let a = 1 end open ^M", "M | module M"),
        ("module M = struct let a = 1 end print(M.^a)", "a | M.a : int"),
        ("open Option let f = ^get_or", "get_or | get_or : ([`None | `Some(a)], a -> a)"),
        ("let r = { n = 1 } print(r.^n)", "n | n : int"),
        ("match `Some(1) with | `Some(^n) -> n | `None -> 0", "n | n : int"),
        ("match { a = true } with | { a = ^b } -> b", "b | b : bool"),
        ("let x = 1 +^ 2", "1 + 2 | int"),
        ('let x = ^"a" ++ "b"', '"a" | string'),
        ("let x = ^`Some(1)", "`Some(1) | [`Some(int) | ...]"),
        ("type point = { x : int } let p : ^point = { x = 1 }", "point | type point = { x : int }"),
        ("type ^point = { x : int }", "point | type point = { x : int }"),
        ("let ^x = 1 + true", "x | x  (* its definition is at fault *)"),
        ("let x = 1 + true let y = ^x", "x | x  (* its definition is at fault *)"),
        ("let* ^x = Task.pure(1) in Task.pure(x)", "x | x : int"),
        ("^let x = 1", None),
        ("let x = 1 (* ^x *)", None),
        ("let x = unknown_^name", "unknown_name | unknown_name : 'a"),
        ("let ^a = 1\nlet b = (\nlet c = 3", "a | a : int"),
        ("let a = 1\nlet b = (\nlet c = ^a", "a | a : int"),
    ],
)
def test_what_stands_at_a_place(text: str, expected: str | None) -> None:
    assert described(text) == expected


def test_a_type_of_the_surface() -> None:
    found = described("let f : ^context -> int = fun c -> c.now_ms")
    assert found is not None
    assert found.startswith("context | type context = {")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("let x = 1 let y = ^x", "4"),
        ("let x = 1 let x = ^x", "4"),
        ("let x = 1 let x = x print(^x)", "14"),
        ("let x = 1 let f x = ^x", "16"),
        ("let x = 1 let y = let x = ^x in x", "4"),
        ("let x = 1 let y = let x = x in ^x", "22"),
        ("let rec f n = g(n) and g n = ^f(n)", "8"),
        ("let rec f n = ^g(n) and g n = f(n)", "23"),
        ("match 1 with | x -> ^x", "15"),
        ("let x = 1 match x with | 2 -> ^x | x -> x", "4"),
        ("module M = struct let a = 1 let b = ^a end", "22"),
        ("module M = struct let a = 1 end let b = M.^a", "22"),
        ("module M = struct let a = 1 end let b = ^M.a", "7"),
        ("module M = struct let a = 1 end open M print(^a)", "22"),
        ("module M = struct let a = 1 end print(^a)", None),
        ("type t = int let x : ^t = 1", "5"),
        ("type t = [ `A | `B(^t) ]", "5"),
        ("let ^x = 1", "4"),
        ("print(^to_string(1))", None),
        ("print(Array.^map)", None),
        ("let r = { n = 1 } print(r.^n)", None),
        ("let^ x = 1", None),
        ("let* x = Task.pure(1) in Task.pure(^x)", "5"),
        ("let x = 1 let y = (x + true)\nlet z = ^x", "4"),
    ],
)
def test_where_a_name_is_bound(text: str, bound: str | None) -> None:
    analysis, offset = marked(text)
    span = analysis.definition(offset)
    assert (None if span is None else str(span.left)) == bound


class Recorder(Resolver):
    """The resolver of the language, which notes every place that it makes, and the place of every use."""

    def __init__(self, script: ast.Script, surface: chatml.Surface) -> None:
        super().__init__(names(surface))
        self.made: list[tuple[str, Place]] = []
        self.known: set[int] = set()
        self.places: dict[ast.Name | ast.FieldGet, Place] = {}
        with deep():
            self.extend(script, lambda comparison: False)

    def bind(self, name: str, place: Place) -> None:
        is_builtin = isinstance(place, Cell) and place.index in {cell.cell for cell in self.builtins}
        if not is_builtin and id(place) not in self.known:  # as those are that `open` brings
            self.known.add(id(place))
            self.made.append((name, place))
        super().bind(name, place)

    def expr(self, expr: ast.Expr) -> nodes.Expr:
        if isinstance(expr, ast.Name):
            self.places[expr] = self.lookup(expr.name)
        elif isinstance(expr, ast.FieldGet) and isinstance(expr.record, ast.Name):
            export = self.module_exports(expr.record.name).get(expr.label.name)
            if export is not None:
                self.places[expr] = export
        return super().expr(expr)


def agree(script: ast.Script, surface: chatml.Surface) -> int:
    """Hold the bindings of a script against the places of the resolver; the number of uses."""
    recorder, bindings = Recorder(script, surface), Bindings(script)
    binders = [each.binder for each in bindings.binders.values() if each.kind != "type"]
    assert [name for name, _ in recorder.made] == [binder.name for binder in binders]
    binder_of = {id(place): binder for (_, place), binder in zip(recorder.made, binders, strict=True)}
    for use, place in recorder.places.items():
        binding = bindings.of(use)
        assert (None if binding is None else binding.binder) is binder_of.get(id(place))
        assert binding is None or binding.binder.name == (use.name if isinstance(use, ast.Name) else use.label.name)
    return len(recorder.places)


@given(programs())
@settings(max_examples=200)
def test_every_use_is_bound_where_the_resolver_says(program: str) -> None:
    """The definition of every identifier is the binding of that name that the resolver means."""
    agree(parse(Source("s.chatml", program)), chatml.CORE)


def test_the_corpus_is_bound_where_the_resolver_says() -> None:
    """The same for programs that people wrote."""
    uses = 0
    for case in read_corpus():
        surface = chatml.UI_MODERATOR
        try:
            script = parse(Source("s.chatml", case.program))
        except chatml.CompileError:
            continue
        with deep():
            if not check(script, environment(surface)).problems:
                uses += agree(script, surface)
    assert uses > 1_000


@given(programs())
@settings(max_examples=60)
def test_every_place_of_a_program(program: str) -> None:
    """Every name of a well-typed program has a description, and its definition is a name of the same text."""
    analysis = Analysis(Source("s.chatml", program), chatml.CORE)
    for use, binding in analysis.bindings.uses.items():
        if isinstance(use, ast.Name):
            assert analysis.definition(use.span.left) == binding.span
            assert binding.span.text == use.name
            sight = analysis.describe(use.span.left)
            assert sight is not None
            assert sight.span == use.span


WORDS = ("let ", "x", " = ", "(", ")", "\nlet ", "\n", "match ", " with ", "| ", "`A", ".", "1", "in ", '"', "end")
CLAUSES = ("open M", "module M = struct ", "type t = ", "{ a = x }", "(*", "*)", "fun ", "->")
OTHERS = ("\U0001f600", "\r\n", "\ud800")
PIECES = st.sampled_from([*WORDS, *CLAUSES, *OTHERS])


@given(st.lists(PIECES, max_size=25).map("".join), st.integers(0, 80))
@settings(max_examples=400)
def test_any_text_at_any_place(text: str, offset: int) -> None:
    """Whatever is typed, every question has an answer, and diagnostics are those of `check`."""
    offset = min(offset, len(text))
    analysis = Analysis(Source("s.chatml", text), chatml.CORE)
    analysis.describe(offset)
    span = analysis.definition(offset)
    assert span is None or 0 <= span.left < span.right <= len(text)
    outline(analysis.checked)
    Preceding(chatml.CORE).complete(text, offset)
    assert list(map(str, analysis.diagnostics)) == list(map(str, chatml.check(text, name="s.chatml")))


# Parts


def defined(text: str) -> list[str]:
    with deep():
        return list(check(parse_parts(Source("s", text)), environment(chatml.CORE)).entries)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let a = 1\nlet b =\nlet c = 3", ["a", "c"]),
        ("let a =\nlet b = 1 in\nb\nlet c = ", ["a"]),
        ("let a = 1\nlet b = ?\nlet c = 3", ["a"]),
        ('let a = 1\nlet b = "\nlet c = 3', ["a"]),
        ("  let a = 1\n  let b = (\n  let c = 3", ["a", "c"]),
        ("let a = 1\n(* let b = (\n*)\nlet c = )", ["a"]),
        ("", []),
    ],
)
def test_what_can_be_read(text: str, expected: list[str]) -> None:
    assert defined(text) == expected


def test_a_long_broken_text_takes_linear_time() -> None:
    def time_of(lines: int) -> float:
        source = Source("s", "let a = 1\n" * lines + "let b = (")
        start = time.process_time()
        assert len(parse_parts(source).statements) == lines
        return time.process_time() - start

    time_of(100)
    assert time_of(40_000) < 16 * max(time_of(5_000), 0.01)


# Completion


def offered(preceding: Preceding, text: str) -> list[str]:
    offset = text.index(CURSOR)
    return [each.text for each in preceding.complete(text.replace(CURSOR, ""), offset)]


SCRIPT = "let user = { name = 1; age = 2 }\nlet f u = u.name\nlet g u = ^\nlet later = user\n"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("user.", ["age", "name"]), ("la", []), ("us", ["user"]), ("f(user.a", ["age"]), ("u.", [])],
)
def test_completion_in_the_middle(typed: str, expected: list[str]) -> None:
    assert offered(Preceding(chatml.CORE), SCRIPT.replace(CURSOR, f"{typed}{CURSOR}")) == expected


def test_completion_keeps_what_did_not_change() -> None:
    """Moving about and editing above gives what a new reader would be given."""
    preceding = Preceding(chatml.CORE)
    texts = [
        SCRIPT.replace(CURSOR, f"user.{CURSOR}"),
        SCRIPT.replace(CURSOR, "1") + f"let h = later.{CURSOR}",
        SCRIPT.replace(CURSOR, "1").replace("age", "years") + f"let h = later.{CURSOR}",
        f"let user = {CURSOR}",
        SCRIPT.replace(CURSOR, "(") + f"let h = later.{CURSOR}",
    ]
    expected = [["age", "name"], ["age", "name"], ["name", "years"], None, ["age", "name"]]
    for text, wanted in zip(texts, expected, strict=True):
        found = offered(preceding, text)
        assert found == offered(Preceding(chatml.CORE), text)
        assert wanted in (None, found)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200), PIECES), max_size=12), st.integers(0, 200))
@settings(max_examples=150)
def test_completion_forgets_what_changed(edits: list[tuple[int, int, str]], offset: int) -> None:
    """After any edits, with a completion at each, what is offered is what a new reader of the text is offered."""
    text, preceding = SCRIPT.replace(CURSOR, "1"), Preceding(chatml.CORE)
    for left, right, piece in edits:
        preceding.complete(text, min(offset, len(text)))
        text = text[:left] + piece + text[max(left, min(right, left + 5)) :]
        offset = (offset * 7 + left) % (len(text) + 1)
        kept = [(each.text, each.kind, each.detail()) for each in preceding.complete(text, offset)]
        new = [(each.text, each.kind, each.detail()) for each in Preceding(chatml.CORE).complete(text, offset)]
        assert kept == new


def test_tags_of_the_whole_text_are_offered() -> None:
    found = offered(Preceding(chatml.CORE), "let a = `Before\nlet b = `^\nlet c = `After")
    assert {"`Before", "`After", "`Some"} <= set(found)


# The outline


def test_deep_modules() -> None:
    """Everything works at any depth; the outline stops looking."""
    text = "module M = struct let a = 1 " * 900 + "end " * 900
    analysis = Analysis(Source("s", text), chatml.CORE)
    level, inside = 0, outline(analysis.checked)
    while inside:
        level, inside = level + 1, inside[-1].inside
    assert level == 51
    assert analysis.describe(text.rindex("a =")) is not None


def test_outline() -> None:
    modules = "module M = struct let a = 1 module N = struct let rec f x = x and g y = y end end"
    text = f"type t = int\n{modules}\nlet bad = 1 + true"

    def told(symbols: tuple[Symbol, ...]) -> list[object]:
        return [(each.name, each.kind, each.detail, told(each.inside)) for each in symbols]

    analysis = Analysis(Source("s", text), chatml.CORE)
    inner = [("f", "function", "(a -> a)", []), ("g", "function", "(a -> a)", [])]
    assert told(outline(analysis.checked)) == [
        ("t", "type", "", []),
        ("M", "module", "", [("a", "value", "int", []), ("N", "module", "", inner)]),
        ("bad", "value", "", []),
    ]
