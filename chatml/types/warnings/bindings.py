"""Local names that are bound and never used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.syntax import ast
from chatml.types.checked import Checked
from chatml.types.warnings.dropped import is_task, never_run
from chatml.types.warnings.tree import nodes_in

if TYPE_CHECKING:
    import bisect

    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
else:
    bisect, model = lazy("bisect"), lazy("chatml.diagnostics.model")


def unused_bindings(checked: Checked) -> Iterator[Diagnostic]:
    """A warning for each local `let` whose name is never used, unless the name begins with `_`.

    A task is warned of under any name: nothing runs it.
    """
    names = Names(checked.script)
    for node in nodes_in(checked.script):
        match node:
            case ast.Let(name=name, value=value, body=body) if not names.stand_in(body, name.name):
                if is_task(checked, value):
                    yield never_run(value, "in …")
                elif not name.name.startswith("_"):
                    yield unused(name)
            case ast.LetRec(bindings=(binding,), body=body) if not names.stand_in(body, binding.name.name):
                if not binding.name.name.startswith("_"):
                    yield unused(binding.name)
            case ast.LetStatement(name=name, value=value) if name.name.startswith("_") and is_task(checked, value):
                yield never_run(value, "in …")


class Names:
    """Where each name of a script is used."""

    def __init__(self, script: ast.Script) -> None:
        self.places: dict[str, list[int]] = {}
        for node in nodes_in(script):
            if isinstance(node, ast.Name):
                self.places.setdefault(node.name, []).append(node.span.left)
        for places in self.places.values():
            places.sort()

    def stand_in(self, body: ast.Expr, name: str) -> bool:
        """Whether a name stands in an expression. One that an inner binding hides counts: then nothing is said."""
        places = self.places.get(name, [])
        first = bisect.bisect_left(places, body.span.left)
        return first < len(places) and places[first] < body.span.right


def unused(name: ast.Ident) -> Diagnostic:
    return model.Diagnostic(
        "type.unused_binding",
        f"`{name.name}` is never used",
        name.span,
        severity="warning",
        help=f"leave it out, or call it `_{name.name}`",
    )
