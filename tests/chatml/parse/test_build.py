"""What nodes hold: literals, escapes, derived forms, the shape of operators."""

from __future__ import annotations

import pytest

from chatml.source import Source
from chatml.syntax.ast_text import dump
from chatml.syntax.parse import parse_expression


def tree(text: str) -> str:
    return " ".join(dump(parse_expression(Source("s", text))).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("007", "(Int 7)"),
        ("4611686018427387903", "(Int 4611686018427387903)"),
        ("0000000000000000000000004611686018427387903", "(Int 4611686018427387903)"),
        ("00.50", "(Float 0.5)"),
        ("9" * 400 + ".0", "(Float inf)"),
        ("true", "(Bool true)"),
        (r'"t\tq\"b\\n"', r'(String "t\tq\"b\\n")'),
        (r'"\d\x41\\"', r'(String "\\d\\x41\\")'),
        ('"a\r\nb\rc\nd"', r'(String "a\nb\nc\nd")'),
        ('"\\\r\n"', r'(String "\\\n")'),
        ('"(* no comment *)"', '(String "(* no comment *)")'),
        ("`1a", "(Variant 1a [])"),
        ("`A()", "(Variant A [])"),
        ("`A(())", "(Variant A [(Unit)])"),
        ("`Some(1)(2)", "(Call (Variant Some [(Int 1)]) [(Int 2)])"),
        ("(a)", "(Name a)"),
        ("{}", "(RecordLit [])"),
        ("{ a = 1; }", "(RecordLit [(Field a (Int 1))])"),
        ("f(a; b, c)", "(Call (Name f) [(Seq (Name a) (Name b)) (Name c)])"),
        ("fun () -> 1", "(Lambda [] (Int 1))"),
        ("let f () = 1 in f", "(Let f (Lambda [] (Int 1) short) (Name f))"),
        ("let x : int = 1 in x", "(Let x (Annot (Int 1) (NamedType int)) (Name x))"),
        ("let+ () = t in u", "(Call (FieldGet (Name Task) map) [(Name t) (Lambda [()] (Name u))] let+)"),
        ("1 + 2 * 3 == 7", "(Binary == (Binary + (Int 1) (Binary * (Int 2) (Int 3))) (Int 7))"),
        ("a || b && c == d", "(Or (Name a) (And (Name b) (Binary == (Name c) (Name d))))"),
        ("a || b || c", "(Or (Or (Name a) (Name b)) (Name c))"),
        ("a * -b / c", "(Binary * (Name a) (Neg - (Binary / (Name b) (Name c))))"),
        ("-a + b", "(Binary + (Neg - (Name a)) (Name b))"),
        ("-.1.5", "(Neg -. (Float 1.5))"),
        ("x-.1.5", "(Binary -. (Name x) (Float 1.5))"),
        ("-7 % 3", "(Neg - (Binary % (Int 7) (Int 3)))"),
        ("!a && b", "(And (Deref (Name a)) (Name b))"),
        ("!r.f", "(Deref (FieldGet (Name r) f))"),
        ("!r := 1", "(Deref (SetRef (Name r) (Int 1)))"),
        ("a + r := 1", "(Binary + (Name a) (SetRef (Name r) (Int 1)))"),
        ("a := b := c", "(SetRef (Name a) (SetRef (Name b) (Name c)))"),
        ("r.x := 1", "(SetRef (FieldGet (Name r) x) (Int 1))"),
        ("a[i][j] <- v", "(ArraySet (ArrayGet (Name a) (Name i)) (Name j) (Name v))"),
        ("ref(1) == ref(2)", "(Ref (Binary == (Int 1) (Ref (Int 2))))"),
        ("if a then b; c else d; e", "(If (Name a) (Seq (Name b) (Name c)) (Seq (Name d) (Name e)))"),
        ("1.5.x", "(FieldGet (Float 1.5) x)"),
        ("a(**)(b)", "(Call (Name a) [(Name b)])"),
    ],
)
def test_tree(text: str, expected: str) -> None:
    assert tree(text) == expected
