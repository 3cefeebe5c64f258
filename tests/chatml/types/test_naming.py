"""Types do not depend on names (X-14)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.diagnostics.errors import CompileError
from chatml.pipeline import environment
from chatml.source import Source
from chatml.surfaces.core import CORE
from chatml.syntax import ast
from chatml.syntax.parse import parse
from chatml.types import check
from tests.chatml.cases import read_corpus

BINDERS: dict[type, str] = {ast.Let: "name", ast.Lambda: "params", ast.Binding: "name", ast.LetStatement: "name"}
"""Where nodes hold the names that they bind; patterns and uses hold theirs as text."""


def is_node(value: Any) -> bool:
    return value.__class__.__module__ == ast.__name__


def bound_names(script: ast.Script) -> list[str]:
    """Every name that a script binds, in order of appearance."""
    names: dict[str, None] = {}
    todo: list[Any] = [script]
    while todo:
        node = todo.pop()
        if node.__class__ in BINDERS:
            value = getattr(node, BINDERS[node.__class__])
            names.update({ident.name: None for ident in (value if isinstance(value, tuple) else (value,))})
        elif isinstance(node, ast.NamePattern):
            names[node.name] = None
        todo.extend(reversed([*ast.children(node)]))
    return list(names)


def rename(node: Any, names: dict[str, str]) -> Any:
    """A tree with other names for what it binds."""
    if isinstance(node, tuple):
        return tuple([rename(part, names) for part in node])
    if not is_node(node) or isinstance(node, ast.Ident):
        return node
    if isinstance(node, ast.Name | ast.NamePattern):
        return node.__class__(names.get(node.name, node.name), node.span)
    changes = {name: rename(getattr(node, name), names) for name in node.__match_args__}
    binder = BINDERS.get(node.__class__)
    if binder is not None:
        value = changes[binder]
        idents = value if isinstance(value, tuple) else (value,)
        renamed = [ast.Ident(names[ident.name], ident.span) for ident in idents]
        changes[binder] = tuple(renamed) if isinstance(value, tuple) else renamed[0]
    return node.__class__(*changes.values())


def programs() -> list[ast.Script]:
    """The programs of the corpus that define no module, whose names are also labels, and bind no builtin's name."""
    found = []
    for case in read_corpus():
        try:
            script = parse(Source(case.name, case.program))
        except CompileError:
            continue
        modules = any(isinstance(statement, ast.ModuleStatement | ast.OpenStatement) for statement in script.statements)
        names = bound_names(script)
        if case.surface == "core" and names and not modules and not set(names) & environment(CORE).values.keys():
            found.append(script)
    return found


PROGRAMS = programs()


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(PROGRAMS), st.randoms(use_true_random=False))
def test_renaming_changes_no_type(script: ast.Script, random: Any):
    """A program whose names are permuted has the same types and the same problems at the same places."""
    names = bound_names(script)
    shuffled = random.sample(names, len(names))
    checked = check(script, environment(CORE))
    permuted = dict(zip(names, shuffled, strict=True))
    renamed = check(rename(script, permuted), environment(CORE))
    assert [problem.__class__ for problem in renamed.problems] == [problem.__class__ for problem in checked.problems]
    assert [problem.span for problem in renamed.problems] == [problem.span for problem in checked.problems]
    expected = {permuted[name]: checked.show(name) for name in checked.bindings}
    assert {name: renamed.show(name) for name in renamed.bindings} == expected


def test_there_are_programs():
    assert len(PROGRAMS) > 60
