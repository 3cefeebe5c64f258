"""Values that are made and dropped: tasks, which never run then, and others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.syntax import ast
from chatml.types.checked import Checked
from chatml.types.model import Con, Fun, Type, Unit, Unknown, Var
from chatml.types.report.words import Words, place_of
from chatml.types.variables import resolved
from chatml.types.warnings.tree import nodes_in, short

if TYPE_CHECKING:
    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
else:
    model = lazy("chatml.diagnostics.model")


def dropped_values(checked: Checked) -> Iterator[Diagnostic]:
    """A warning for each value that nothing uses."""
    listed = in_arrays(checked)
    for node in nodes_in(checked.script):
        match node:
            case ast.Seq(first=value) | ast.While(body=value) if value not in listed or is_task(checked, value):
                yield from dropped(checked, value)
            case ast.ArrayLit(items=items):
                yield from (elements(item) for item in items if is_list(checked, item))
            case ast.ExprStatement(value=value) if is_task(checked, value):
                yield never_run(value, None)


def dropped(checked: Checked, value: ast.Expr) -> Iterator[Diagnostic]:
    """What there is to say of a value before `;`."""
    type = type_of(checked, value)
    if type is None or type is Unit or isinstance(type, Unknown | Var):
        return
    if isinstance(type, Con):
        yield never_run(value, "in …")
    else:
        words = Words(checked.names)
        message = f"this value is not used: it is {words.a(type)}, and `;` drops it"
        help = "call it: `f()`" if isinstance(type, Fun) and not type.params else "use it, or leave it out"
        yield model.Diagnostic("type.unused_value", message, place_of(value), severity="warning", help=help)


def never_run(value: ast.Expr, after: str | None) -> Diagnostic:
    """A task is a value: it runs when it is a part of what a handler returns."""
    text = short(value, "…")
    help = f"run it first, and go on: `let* () = {text} {after or 'in …'}`"
    return model.Diagnostic(
        "type.unused_task", "this task is never run", place_of(value), severity="warning", help=help
    )


def elements(item: ast.Expr) -> Diagnostic:
    """`[1; 2; 3]` is an array of one element, the last one."""
    return model.Diagnostic(
        "type.unused_value",
        "`;` drops what is before it: this array has one element here, the last one",
        item.span,
        severity="warning",
        help="the elements of an array are separated by `,`",
    )


def is_list(checked: Checked, item: ast.Expr) -> bool:
    """Whether an element of an array is a sequence whose values are of one type, as in other languages a list is."""
    return isinstance(item, ast.Seq) and type_of(checked, item.first) not in (None, Unit)


def in_arrays(checked: Checked) -> frozenset[ast.Expr]:
    """What the sequences drop that are elements of arrays: `elements` speaks of it."""
    found = set[ast.Expr]()
    for node in nodes_in(checked.script):
        if isinstance(node, ast.ArrayLit):
            for item in node.items:
                while isinstance(item, ast.Seq):
                    found.add(item.first)
                    item = item.second
    return frozenset(found)


def is_task(checked: Checked, value: ast.Expr) -> bool:
    return isinstance(type_of(checked, value), Con)


def type_of(checked: Checked, value: ast.Expr) -> Type | None:
    """The type of an expression, if it was inferred."""
    type = checked.types.get(value)
    return None if type is None else resolved(type)
