"""Where nodes stand (language.md 2.5): a node and the text that its span covers."""

from __future__ import annotations

import pytest

from chatml.source import Source
from chatml.syntax import ast
from chatml.syntax.parse import parse


def spans(node: object) -> list[tuple[str, str]]:
    """The kind and text of every node, a parent before its children."""
    found = []
    todo = [node]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo += reversed(node)
        elif type(node).__module__ == ast.__name__:
            found.append((type(node).__name__, node.span.text))
            todo += reversed([part for _, part in ast.parts(node)])
    return found


def first(text: str, kind: str) -> str:
    """The text of the first node of a kind in a script."""
    return next(covered for name, covered in spans(parse(Source("s", text))) if name == kind)


@pytest.mark.parametrize(
    ("text", "kind", "covered"),
    [
        # parentheses make no node, but belong to a node that begins or ends with them
        ("let x = (a)", "Name", "a"),
        ("let x = (a) + (b)", "Binary", "(a) + (b)"),
        ("let x = ((a + b)) * c", "Binary", "((a + b)) * c"),
        ("(a)", "ExprStatement", "(a)"),
        ("let x = (a) (* end *)", "LetStatement", "let x = (a)"),
        ("let u = (a); (b)", "Seq", "(a); (b)"),
        ("let x = (f)(y)", "Call", "(f)(y)"),
        ("let x = (r).x", "FieldGet", "(r).x"),
        ("let x = -(a)", "Neg", "-(a)"),
        ("let x = ref (a)", "Ref", "ref (a)"),
        ("let x = fun y -> (y)", "Lambda", "fun y -> (y)"),
        ("let x = if a then b else (c)", "If", "if a then b else (c)"),
        ("type t = (int) -> (int)", "ArrowType", "(int) -> (int)"),
        ("type t = (int)", "NamedType", "int"),
        # the lambda of a short definition is the whole form
        ("let f x = x print(1)", "Lambda", "let f x = x"),
        ("let y = let f x = x in f", "Lambda", "let f x = x in f"),
        ("let rec f x = x and g y = y", "Binding", "f x = x"),
        ("let rec f x = x and g y = y", "Lambda", "f x = x"),
        ("let rec f x = x and g y = y", "LetRecStatement", "let rec f x = x and g y = y"),
        # a method call
        ("print(e.f(1))", "FieldGet", "e.f(1)"),
        ("print((e.f)(1))", "FieldGet", "e.f"),
        ("e.f(1)(2)", "Call", "e.f(1)(2)"),
        # an annotated expression
        ("let x : int = (1)", "Annot", "1"),
        ("let x : int = 1; 2", "Annot", "1; 2"),
        # arms and their patterns
        ("match a with | `A(x) -> (x) | _ -> 1", "Arm", "| `A(x) -> (x)"),
        ("match a with | `A(x) -> (x) | _ -> 1", "VariantPattern", "`A(x)"),
        ("match a with | () -> 1", "UnitPattern", "()"),
        ("match a with | { b = 1; _ } -> 1", "FieldPattern", "b = 1"),
        # labels, names, operators
        ("let abc = 1", "Ident", "abc"),
        ("{ r with long = 1; }", "Field", "long = 1"),
        ("{ r with long = 1; }", "RecordUpdate", "{ r with long = 1; }"),
        ("a[1] <- 2 + 3", "ArraySet", "a[1] <- 2 + 3"),
        ("a[1]", "ArrayGet", "a[1]"),
        ("type t = [ `A(int) | `B ]", "CaseType", "`A(int)"),
        ("type t = { a : int array; }", "AppliedType", "int array"),
        ("type t = { a : int array; }", "FieldType", "a : int array"),
        ("module M = struct let x = 1 end", "ModuleStatement", "module M = struct let x = 1 end"),
        ('let s = "a\r\nb"', "String", '"a\r\nb"'),
    ],
)
def test_span(text: str, kind: str, covered: str) -> None:
    assert first(text, kind) == covered


@pytest.mark.parametrize("form", ["let* x = t in u", "let+ x = t in u"])
def test_all_that_a_task_form_makes_has_its_span(form: str) -> None:
    made = [kind for kind, covered in spans(parse(Source("s", f"print({form})"))) if covered == form]
    assert made == ["Call", "FieldGet", "Name", "Ident", "Lambda"]


def test_a_task_form_without_a_name_has_a_parameter_that_no_text_can_name() -> None:
    script = parse(Source("s", "let* ( ) = t in u"))
    call = script.statements[0]
    assert isinstance(call, ast.ExprStatement)
    assert isinstance(call.value, ast.Call)
    function = call.value.args[1]
    assert isinstance(function, ast.Lambda)
    assert [param.name for param in function.params] == [ast.UNNAMED]


@pytest.mark.parametrize("op", ["+", "<=.", "&&", "||", "++", "%", "-."])
def test_operators_have_their_own_span(op: str) -> None:
    statement = parse(Source("s", f"a  {op}(b)")).statements[0]
    assert isinstance(statement, ast.ExprStatement)
    assert isinstance(statement.value, ast.Binary | ast.And | ast.Or)
    assert statement.value.op_span.text == op


def test_a_script_covers_its_whole_text() -> None:
    for text in ("", " x ", "(* a *)"):
        span = parse(Source("s", text)).span
        assert (span.left, span.right) == (0, len(text))


def test_positions_count_every_line_end_as_one() -> None:
    """LF, CR and CR LF end a line wherever they stand: between tokens, in comments, in strings."""
    source = Source("s", 'let a = "x\r\ny\rz" (* \r\n *)\r\nlet b = 1')
    statement = parse(source).statements[1]
    assert statement.span.start == (5, 0, source.text.index("let b"))
