"""Every trap of the syntax by an example: the token that is reported, in «», and the code."""

from __future__ import annotations

from string import Template

import pytest

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.syntax.parse import is_incomplete, parse, parse_expression
from chatml.syntax.parse.driver import run
from chatml.syntax.parse.problems import Rejected, Unexpected
from chatml.syntax.parse.situation import Situation
from chatml.syntax.parse.traps import TRAPS, find_trap

EXAMPLES = {
    "comment_style": ["«/»/ hello", "x /«/» hello", "x /«*» hello */"],
    "fat_arrow": ["fun x «=»> x", "match x with | 1 «=»> 2"],
    "foreign_operator": [
        "a <«>» b",
        "f(a ==«=» b)",
        "f(a !=«=» b)",
        "2 *«*» 3",
        "let x = a «:»: b",
        "x «|»> f",
        "x +«=» 1",
        "f(a «and» b)",
        "if a «and» b then 1 else 2",
        "f(a «or» b)",
        "f(a «mod» b)",
        "let x = a «|» b",
        "f <«|» x",
        "f >«>» g",
        "let x = [«.»..xs, 1]",
        "let x = { «.»..r, a = 1 }",
        "let x = xs[1«:»2]",
        "let x = xs[«:»2]",
        "let x = { r «|» a = 1 }",
        "match x with | 1 -> f(x)\n  |«>» g",
        "let x = t >«>=» f",
        "match x with | 1 -> r.a «=» 2",
        'if "a" «in» b then 1 else 2',
    ],
    "ended_arm": ["match x with\n| 1 -> f(1)\n  g(2)\n«|» _ -> 3"],
    "else_if": ["if a then b «elif» c then d else e"],
    "foreign_keyword": [
        "def f(x)«:» 1",
        "if a«:» print(1)",
        "while a == 1«:» print(1)",
        "for i «in» xs",
        "let x = [y * 2 «for» y in ys]",
        "function f(x) { x «}»",
        "let x = try f(1) «with» e -> 2",
        "for i «=» 0 to 3",
        'raise (Failure «"x"»)',
        "let f x = «do»! x",
        "type t = { mutable «x» : int }",
        "match x with\n| 1 ->\n  return f(1)\n«|» _ -> 3",
        "match x with\n| 1 ->\n  await f(1)\n«|» _ -> 3",
    ],
    "begin_end": ["begin print(1) «end»", "(begin «f»(1))"],
    "function_keyword": ["let f = function «|» 1 -> 2"],
    "braces": ["if a «{» b }", "if (a) «{» b }", "match x «{» }"],
    "array_bars": ["print([«|»1, 2|])"],
    "number_form": ["f(0«x1f»)", "f(1«_000»)", "f(2.5«e3»)"],
    "unary_plus": ["let x = «+»1", "f(1 * «+»2)"],
    "missing_let": ["x «=» 1", "f(x) «=» 1", "r.a «=» 1"],
    "missing_backtick": ["match a with | «A» -> 1", "type t = [ «A» ]", "type t = [ `A | «B» ]"],
    "pattern_form": [
        "match a with | «[»] -> 1",
        "match a with | («x») -> 1",
        "match a with | { b = («x») } -> 1",
        "match a with | 1 «|» 2 -> 3",
        "match a with | x «when» x > 1 -> 1",
        "match a with | `A(x) «as» y -> 1",
    ],
    "type_form": [
        "type t = int «*» int",
        "let x : int «ref» = 1",
        "type t = («)» -> int",
        "type t = «A» | B",
        "type t = «`A» | `B",
        "type t = «|» `A",
        "type t = int «|» string",
        "type t = [ «|» `A ]",
        "let x : «Int» = 1",
        "type t = «Array»<int>",
        "let x : list«[»int] = 1",
        "let x : int«[»] = 1",
        "let x : list«<»int> = 1",
    ],
    "tag_payload": [
        "type t = [ `A «of» int ]",
        "match a with | `A «x» -> 1",
        "f(`A «1»)",
        "type t = [ `A «{» a : int } ]",
    ],
    "semicolon_between_statements": [
        "print(1)«;» print(2)",
        "«;»",
        "module M = struct print(1)«;» print(2) end",
        "type t = int«;»",
        "open M«;»",
    ],
    "missing_rec": ["let f = 1 «and» g = 2", "let f x = x «and» g x = x"],
    "type_in_module": ["module M = struct «type» t = int end", "module M = struct let x = 1 «type» t = int end"],
    "module_path": ["A.«B».x", "open A«.»B"],
    "name_case": [
        "module «m» = struct end",
        "open «m»",
        "let «M» = 1",
        "fun «X» -> 1",
        "let r = { X «=» 1 }",
        "Tool.«Approve»()",
    ],
    "let_pattern": [
        "let «_» = 1",
        "let «(») = 1",
        "let rec f x = 1 and «_» = 2",
        "let «{» a = b } = 1",
        "let* «_» = t in u",
        "let* («x») = t in u",
    ],
    "keyword_as_name": [
        "let «if» = 1",
        "r.«end»",
        "ev.«type»",
        "t.«then»(f)",
        "let f «rec» = 1",
        "{ «type» = 1 }",
        "{ if «=» 1 }",
        "{ a = 1; «in» = 2 }",
    ],
    "parameter": [
        "fun «_» -> 1",
        "let f x «_» = 1",
        "fun «->» 1",
        "let f x «(») = 1",
        "let f(«x», y) = 1",
        "fun x «(»y) -> 1",
        "fun x«,» y -> 1",
        "let f «{» a = b } = 1",
    ],
    "annotated_parameter": [
        "let f («x» : int) = 1",
        "let f y «(»x : int) = 1",
        "fun x «:» int -> 1",
        "let f x «:» int = 1",
        "let rec f () «:» int = 1",
    ],
    "definition_sign": ["fun x «=» 1", "let x «==» 1", "let x «:=» 1", "let f x «->» 1", "{ a = 1; b «==» 2 }"],
    "annotation": ["let x = 1 + 2 «:» int", "f(x «:» int)"],
    "open_ended_field": [
        "{ f = fun x -> x; n «=» 1 }",
        "{ a = if b then 1 else 2; c «=» 3 }",
        "{ r with f = let x = 1 in x; n «=» 1 }",
        "{ a = 1; f = match x with | 1 -> 2; n «=» 1 }",
    ],
    "record_separator": [
        "{ a = 1«,» b = 2 }",
        "match a with | { a = x«,» b = y } -> 1",
        "type t = { a : int«,» b : int }",
    ],
    "record_sign": ["{ a «:» 1 }", "{ a = 1; b «:» 2 }", "type t = { a «=» int }"],
    "field_punning": ["{ a «}»", "{ a; b «}»", "match a with | { a «}» -> 1", "{ a = 1; b «}»"],
    "record_field": ['{ "a" «=» 1 }', "{ a = 1; «2» }", "{ a; b «=» 1 }"],
    "open_pattern": ["match a with | { «_» } -> 0"],
    "field_assignment": ["r.x «<-» 1", "a[0].x «<-» 1"],
    "trailing_semicolon": [
        "let x = (a; «)»",
        "let x = 1;«;»",
        "let x = 1;«»",
        "if a then b; «else» c",
        "{ a = 1;«;» }",
    ],
    "trailing_comma": ["[1, 2,«]»", "f(1,«)»", "match a with | `A(x,«)» -> 1"],
    "missing_bar": ["match 1 with «1» -> 2"],
    "negative_pattern": ["match 1 with | «-»1 -> 0", "match 1 with | `A(«-.»1.5) -> 0"],
    "empty_payload": ["match `A with | `A(«)» -> 0", "type t = [ `A(«)» ]"],
    "underscore": ["f(«_»)", "let x = «_»"],
    "call_parentheses": [
        "f(g «x»)",
        "if f «x» then 1 else 2",
        "f(g(1) «x»)",
        "f(not «!»x)",
        "f (g) [1«,» 2]",
        'let a = let b = f «"s"» in b',
    ],
    "missing_else": ["if a then b«»", "(if a then b«)»", "let x = if a then b\n«let» y = 1"],
    "missing_in": [
        "let f () = print(1); let g = 2«»",
        "let a = let b = 1 «print»(b)",
        "let f x =\n  let y = 1\n  «y» + 1",
        "f(let x = 1«)»",
        "let* x = t«»",
        "let x = 1; let rec f y = y«»",
    ],
    "assignment_arrow": ["a«<-»1", "a «<-» 1"],
    "float_digits": ["let n = 1.«»", "f(1.«)»", "let x = «.»5"],
    "field_name": ["x.«0»", "x.«(»1)", 'x.«"a"»'],
    "equality_sign": ["if a «=» b then 1 else 2", "let x = a «=» b"],
    "tuple": ["(1«,» 2)", "let x = a«,» b", "match a with | x«,» y -> 1"],
    "missing_fun": ["(x «->» x)", "x «->» x"],
    "unclosed": [
        "print((1 + 2)\n«let» y = 3",
        "let z = f(\nlet y = 2«»",
        "let z = [\nlet f x = 2\n«print»(1)",
        "if (a «then» b else c",
        "[1, 2«»",
        "module M = struct let x = 1«»",
        "while a do b«»",
    ],
    "wrong_bracket": ["(1«]»", "[f(1«]»", "module M = struct let x = (1 «end»"],
    "unopened": ["«)»", "f(1)«)»", "x «done»", "«else» 1", "x «in» y", "a «then» b"],
    "missing_separator": ["[1 «2»]", "(print(1)\n«print»(2))", "f(1 «fun» x -> x)"],
    "missing_operand": ["f(«,» 1)", "1 + «*» 2", "f(1 + «)»", "if «then» 1 else 2"],
    "unexpected_token": ["let x : «=» 1", "match x with | 1 «:=» 2", "module M = «N»"],
    "unexpected_end": ["let x =«»", "let«»", "match x with | 1«»", "type t =«»", "x.«»"],
}
ALL = [(f"syntax.{code}", example) for code, examples in EXAMPLES.items() for example in examples]


def text_of(example: str) -> str:
    return example.replace("«", "").replace("»", "")


def situation_of(example: str) -> Situation:
    with pytest.raises(Rejected) as caught:
        run(Source("example", text_of(example)), "program")
    assert isinstance(caught.value.problem, Unexpected)
    return caught.value.problem.situation


@pytest.mark.parametrize(("code", "example"), ALL, ids=[example for _, example in ALL])
def test_trap_is_named_where_it_stands(code: str, example: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(Source("example", text_of(example)))
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == code, str(diagnostic)
    assert diagnostic.span is not None
    assert diagnostic.span.left == example.index("«")
    assert diagnostic.span.text == example[example.index("«") + 1 : example.index("»")]
    assert is_incomplete(caught.value) == example.endswith("«»")


def test_every_row_has_an_example() -> None:
    """No row is hidden behind another one."""
    found = [find_trap(situation_of(example)) for _, example in ALL]
    hidden = [trap for trap in TRAPS if not any(trap is other for other in found)]
    assert hidden == []


NAMES = {"found", "before", "open", "close", "partner", "lower", "callee", "args"}


def test_messages_name_only_what_there_is() -> None:
    for trap in TRAPS:
        for text in (trap.message, trap.help or ""):
            assert set(Template(text).get_identifiers()) <= NAMES
            assert not text.endswith(".")


def test_a_long_token_is_cut_short() -> None:
    with pytest.raises(CompileError) as caught:
        parse(Source("example", f"let x : {'1' * 1000}"))
    assert "1" * 24 + "..." in caught.value.diagnostics[0].message


def test_expected_tokens_are_what_the_grammar_allows() -> None:
    for example, expected in (
        ("let «if» = 1", {"LIDENT", "rec"}),
        ("match 1 with «1» -> 2", {"|"}),
        ("open «m»", {"UIDENT"}),
        ("type t = [ `A «of» int ]", {"(", "|", "]"}),
    ):
        assert situation_of(example).expected == expected


def test_an_expression_alone_is_read_alone() -> None:
    for text, place in (("1; 2", 1), ("let x = 1", 9), ("1 2", 2), ("", 0), ("type", 0)):
        with pytest.raises(CompileError) as caught:
            parse_expression(Source("value", text))
        span = caught.value.diagnostics[0].span
        assert span is not None
        assert span.left == place


def test_open_texts_are_incomplete_and_wrong_ones_are_not() -> None:
    for text, incomplete in (
        ('print("a', True),
        ("(* a", True),
        ("print(1", True),
        ("let x", True),
        ("print(1))", False),
        ("a & b", False),
    ):
        with pytest.raises(CompileError) as caught:
            parse(Source("input", text))
        assert is_incomplete(caught.value) == incomplete
