"""What each name of a script refers to: the place where it is bound, by the scopes of language.md section 4.

The script need not be right: a name that is not bound anywhere refers to nothing, as a builtin does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from chatml.records import mutable
from chatml.source import Span
from chatml.stack import deep
from chatml.syntax import ast
from chatml.types.scope import Scope

Kind: TypeAlias = Literal["value", "module", "type"]
Use: TypeAlias = ast.Name | ast.FieldGet | ast.OpenStatement | ast.NamedType
Binder: TypeAlias = ast.Ident | ast.NamePattern
Occurring: TypeAlias = Use | Binder


@mutable
class Binding:
    """A place where a name is bound. `exports` are those of a module, once its body has ended."""

    binder: Binder
    kind: Kind
    exports: Mapping[str, Binding] = MappingProxyType({})

    @property
    def span(self) -> Span:
        """Where the name stands that is bound here."""
        return self.binder.span


class Bindings:
    """The bindings of a script, and the binding of each use of a name: of `Name`s, exports, opened modules and types.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> bindings = Bindings(parse(Source("s", "let x = 1 let f x = x print(f(x))")))
    >>> [(use.span.left, binding.span.left) for use, binding in bindings.uses.items()]
    [(20, 16), (28, 14), (30, 4)]
    """

    def __init__(self, script: ast.Script) -> None:
        self.uses: dict[Use, Binding] = {}
        self.binders: dict[Binder, Binding] = {}
        self.scope: Scope[Binding] = Scope({})
        self.types: dict[str, Binding] = {}
        """The declared types: one name space for the whole script, modules included."""
        self.opened: list[str] = []
        """The opened modules that the script does not bind."""
        self.declarations: dict[Binder, ast.TypeExpr] = {}
        self.definitions: dict[str, Binding] = {}
        with deep():
            self.visit_all(script.statements)

    def of(self, node: Occurring) -> Binding | None:
        """The binding that a binder is, or that a use refers to."""
        if isinstance(node, ast.Ident | ast.NamePattern):
            return self.binders.get(node)
        return self.uses.get(node)

    def bind(self, binder: Binder, kind: Kind = "value") -> Binding:
        """A new binding, in scope from here on."""
        binding = self.binders[binder] = Binding(binder, kind)
        self.scope.define(binder.name, binding)
        return binding

    def define(self, name: ast.Ident, kind: Kind = "value") -> Binding:
        """A new binding of a statement, which a module exports."""
        binding = self.definitions[name.name] = self.bind(name, kind)
        return binding

    def refer(self, use: Use, binding: Binding | None) -> None:
        if binding is not None:
            self.uses[use] = binding

    def visit(self, node: Any) -> None:
        handler = HANDLERS.get(node.__class__)
        if handler is not None:
            handler(self, node)
            return
        for _, part in ast.parts(node):
            if isinstance(part, tuple):
                self.visit_all(part)
            elif hasattr(part, "span"):
                self.visit(part)

    def visit_all(self, nodes: tuple[Any, ...]) -> None:
        for node in nodes:
            self.visit(node)

    # Statements

    def let_statement(self, statement: ast.LetStatement) -> None:
        self.visit(statement.value)
        self.define(statement.name)

    def let_rec_statement(self, statement: ast.LetRecStatement) -> None:
        for binding in statement.bindings:
            self.define(binding.name)
        for binding in statement.bindings:
            self.visit(binding.value)

    def type_statement(self, statement: ast.TypeStatement) -> None:
        binding = self.binders[statement.name] = Binding(statement.name, "type")
        self.types.setdefault(statement.name.name, binding)
        self.declarations[statement.name] = statement.type
        self.visit(statement.type)

    def module(self, statement: ast.ModuleStatement) -> None:
        binding = self.define(statement.name, "module")
        outside, self.definitions = self.definitions, {}
        mark = self.scope.mark()
        self.visit_all(statement.items)
        binding.exports, self.definitions = self.definitions, outside
        self.scope.leave(mark)

    def open(self, statement: ast.OpenStatement) -> None:
        binding = self.scope.entries.get(statement.name.name)
        self.refer(statement, binding)
        if binding is None:
            self.opened.append(statement.name.name)
        else:
            for label, export in binding.exports.items():
                self.scope.define(label, export)

    # Expressions

    def let(self, expr: ast.Let) -> None:
        self.visit(expr.value)
        mark = self.scope.mark()
        self.bind(expr.name)
        self.visit(expr.body)
        self.scope.leave(mark)

    def let_rec(self, expr: ast.LetRec) -> None:
        mark = self.scope.mark()
        for binding in expr.bindings:
            self.bind(binding.name)
        for binding in expr.bindings:
            self.visit(binding.value)
        self.visit(expr.body)
        self.scope.leave(mark)

    def function(self, expr: ast.Lambda) -> None:
        mark = self.scope.mark()
        for param in expr.params:
            self.bind(param)
        self.visit(expr.body)
        self.scope.leave(mark)

    def arm(self, arm: ast.Arm) -> None:
        mark = self.scope.mark()
        self.visit(arm.pattern)
        self.visit(arm.body)
        self.scope.leave(mark)

    def name(self, expr: ast.Name) -> None:
        self.refer(expr, self.scope.entries.get(expr.name))

    def field(self, expr: ast.FieldGet) -> None:
        self.visit(expr.record)
        module = self.uses.get(expr.record) if isinstance(expr.record, ast.Name) else None
        if module is not None:
            self.refer(expr, module.exports.get(expr.label.name))

    def named_type(self, type: ast.NamedType) -> None:
        self.refer(type, self.types.get(type.name))


HANDLERS: dict[type, Callable[[Bindings, Any], object]] = {
    ast.LetStatement: Bindings.let_statement,
    ast.LetRecStatement: Bindings.let_rec_statement,
    ast.TypeStatement: Bindings.type_statement,
    ast.ModuleStatement: Bindings.module,
    ast.OpenStatement: Bindings.open,
    ast.Let: Bindings.let,
    ast.LetRec: Bindings.let_rec,
    ast.Lambda: Bindings.function,
    ast.Arm: Bindings.arm,
    ast.NamePattern: Bindings.bind,
    ast.Name: Bindings.name,
    ast.FieldGet: Bindings.field,
    ast.NamedType: Bindings.named_type,
}
"""The nodes that bind a name or refer to one; of all others the parts are looked at in order."""
