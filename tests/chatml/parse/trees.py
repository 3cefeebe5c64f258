"""Generated syntax trees, every one of them the tree of some text; and generated texts that are nearly scripts."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from chatml.source import Source, Span
from chatml.syntax import ast
from chatml.syntax.ast_text import show

NOWHERE = Span(Source("nowhere", ""), 0, 0)

names = st.sampled_from(["a", "b", "f", "x'"[:1], "not", "_x", "__", "array"])
module_names = st.sampled_from(["M", "Task"])
tags = st.sampled_from(["A", "b", "1", "_"])
idents = names.map(lambda name: ast.Ident(name, NOWHERE))
modules = module_names.map(lambda name: ast.Ident(name, NOWHERE))
ints = st.integers(0, 2**62 - 1)
floats = st.floats(min_value=0.0, allow_nan=False)
strings = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=5)


def few(items: st.SearchStrategy, least: int = 0) -> st.SearchStrategy:
    return st.lists(items, min_size=least, max_size=3).map(tuple)


def made(make: type, *parts: st.SearchStrategy) -> st.SearchStrategy:
    """Nodes from their parts; the spans, which come last, point nowhere."""
    spans = 2 if make in (ast.Binary, ast.And, ast.Or) else 1
    return st.tuples(*parts).map(lambda values: make(*values, *[NOWHERE] * spans))


literals = st.one_of(
    made(ast.Unit),
    made(ast.Int, ints),
    made(ast.Float, floats),
    made(ast.Bool, st.booleans()),
    made(ast.String, strings),
    made(ast.Name, names | module_names),
    made(ast.Variant, tags, st.just(())),
)

# Types and patterns

types = st.recursive(
    made(ast.NamedType, names),
    lambda types: st.one_of(
        made(ast.ArrowType, types, types),
        made(ast.AppliedType, idents, types),
        made(ast.RecordType, few(made(ast.FieldType, idents, types))),
        made(ast.VariantType, few(made(ast.CaseType, tags.map(lambda tag: ast.Ident(tag, NOWHERE)), few(types)))),
    ),
    max_leaves=6,
)

patterns = st.recursive(
    st.one_of(
        made(ast.UnitPattern),
        made(ast.WildcardPattern),
        made(ast.NamePattern, names),
        made(ast.IntPattern, ints),
        made(ast.FloatPattern, floats),
        made(ast.BoolPattern, st.booleans()),
        made(ast.StringPattern, strings),
    ),
    lambda patterns: st.one_of(
        made(ast.VariantPattern, tags, few(patterns)),
        made(ast.RecordPattern, few(made(ast.FieldPattern, idents, patterns)), st.just(False)),
        made(ast.RecordPattern, few(made(ast.FieldPattern, idents, patterns), least=1), st.just(True)),
    ),
    max_leaves=5,
)

# Expressions


def short(value: ast.Expr) -> ast.Expr:
    """A lambda that is the value of a binding may be one that is written `let f x = e`."""
    return ast.Lambda(value.params, value.body, NOWHERE, True) if isinstance(value, ast.Lambda) else value


def values(exprs: st.SearchStrategy) -> st.SearchStrategy:
    """What a binding may hold."""
    return st.one_of(exprs, exprs.map(short), made(ast.Annot, exprs, types))


def bindings(exprs: st.SearchStrategy) -> st.SearchStrategy:
    return few(made(ast.Binding, idents, values(exprs)), least=1)


def written_out(params: tuple[ast.Ident, ...], body: ast.Expr, span: Span) -> ast.Lambda:
    """`fun p -> e`"""
    return ast.Lambda(params, body, span, False)


def plain_call(function: ast.Expr, args: tuple[ast.Expr, ...], span: Span) -> ast.Call:
    """`f(e)`"""
    return ast.Call(function, args, span, None)


def task_let(form: str, task: ast.Expr, parameter: str, body: ast.Expr) -> ast.Call:
    function = ast.FieldGet(
        ast.Name("Task", NOWHERE), ast.Ident({"let*": "bind", "let+": "map"}[form], NOWHERE), NOWHERE
    )
    return ast.Call(function, (task, ast.Lambda((ast.Ident(parameter, NOWHERE),), body, NOWHERE, False)), NOWHERE, form)


def larger(exprs: st.SearchStrategy) -> st.SearchStrategy:
    fields = made(ast.Field, idents, exprs)
    return st.one_of(
        made(ast.Neg, st.sampled_from(["-", "-."]), exprs),
        made(ast.Binary, st.sampled_from(["==", "<", "<.", "+", "++", "-", "-.", "*", "%", "/."]), exprs, exprs),
        made(ast.And, exprs, exprs),
        made(ast.Or, exprs, exprs),
        made(written_out, few(idents), exprs),
        made(plain_call, exprs, few(exprs)),
        made(ast.If, exprs, exprs, exprs),
        made(ast.While, exprs, exprs),
        made(ast.Let, idents, values(exprs), exprs),
        made(ast.LetRec, bindings(exprs), exprs),
        made(ast.Match, exprs, few(made(ast.Arm, patterns, exprs), least=1)),
        made(ast.RecordLit, few(fields)),
        made(ast.FieldGet, exprs, idents),
        made(ast.RecordUpdate, exprs, few(fields, least=1)),
        made(ast.Variant, tags, few(exprs)),
        made(ast.ArrayLit, few(exprs)),
        made(ast.ArrayGet, exprs, exprs),
        made(ast.ArraySet, exprs, exprs, exprs),
        made(ast.Ref, exprs),
        made(ast.Deref, exprs),
        made(ast.SetRef, exprs, exprs),
        made(ast.Seq, exprs, exprs),
        st.builds(task_let, st.sampled_from(["let*", "let+"]), exprs, names | st.just(ast.UNNAMED), exprs),
    )


exprs = st.recursive(literals, larger, max_leaves=12)

# Statements

CONTINUES = re.compile(r"[(\[-]")


def separable(statements: list[ast.Statement]) -> tuple[ast.Statement, ...]:
    """The statements that can follow their predecessor: one that would continue it is not a statement (2.3)."""
    kept: list[ast.Statement] = []
    for statement in statements:
        text = show(ast.Script((statement,), NOWHERE))
        match kept[-1:]:
            case [ast.LetStatement() | ast.LetRecStatement() | ast.ExprStatement()] if CONTINUES.match(text):
                continue
        kept.append(statement)
    return tuple(kept)


plain_statements = st.one_of(
    made(ast.LetStatement, idents, values(exprs)),
    made(ast.LetRecStatement, bindings(exprs)),
    made(ast.OpenStatement, modules),
    made(ast.ExprStatement, exprs),
)
items = st.recursive(
    plain_statements,
    lambda items: made(ast.ModuleStatement, modules, st.lists(items, max_size=3).map(separable)),
    max_leaves=3,
)
scripts = made(ast.Script, st.lists(items | made(ast.TypeStatement, idents, types), max_size=4).map(separable))

# Texts

TOKENS = re.findall(
    r"\S+",
    """
    ( ) { } [ ] ; , . | _ -> <- : := != = == < <= <. + ++ +. - -. * % && || ! let let* let+ fun if then else while do
    done in match with module struct end open ref rec and type true x f M `A 1 2.5 "s" (* *) " & ( ) = let in x x
    """,
)

token_soup = st.lists(st.sampled_from(TOKENS), max_size=25).map(" ".join)


@st.composite
def nearly_scripts(draw: st.DrawFn) -> str:
    """The text of a script with a few tokens or characters taken out, put in or repeated."""
    pieces = re.findall(r"\s+|\w+|\W", show(draw(scripts)))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(pieces)))
        match draw(st.integers(0, 3)):
            case 0:
                del pieces[place : place + 1]
            case 1:
                pieces.insert(place, draw(st.sampled_from(TOKENS)))
            case 2:
                pieces.insert(place, draw(st.characters(exclude_categories=["Cs"])))
            case _:
                pieces[place:place] = pieces[place // 2 : place // 2 + 3]
    return "".join(pieces)
