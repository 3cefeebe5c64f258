"""What an editor asks about one text of a script: what is wrong, and the type and the binding of what stands there."""

from __future__ import annotations

from functools import cached_property

from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic
from chatml.pipeline import diagnostics_of, environment
from chatml.records import frozen
from chatml.source import Source, Span
from chatml.stack import deep
from chatml.surfaces.model import Surface
from chatml.syntax import ast
from chatml.syntax.parse import parse
from chatml.syntax.parse.recovery import parse_parts
from chatml.types import Checked
from chatml.types import check as check_types
from chatml.types.checked import type_of_entry
from chatml.types.environment import Entry, ModuleType
from chatml.types.guided import STANDARD, GuidedStatements, is_moderator
from chatml.types.model import Type
from chatml.types.scheme import ANYTHING, Scheme
from chatml.types.show import Shower
from chatml_tools.navigation.bindings import Binding, Bindings, Occurring
from chatml_tools.navigation.place import Occurrence, expression_at, name_at

MOST_PARTS = 1_000
"""How many parts of a type are shown."""


@frozen
class Sight:
    """What stands at a place: where it begins and ends, and its type as text, behind its name if it has one."""

    span: Span
    text: str


class Analysis:
    """A script as it stands, right or wrong. Runs nothing; each part is found out when it is asked for, once.

    >>> from chatml.surfaces.core import CORE
    >>> analysis = Analysis(Source("s", "let twice f x = f(f(x))"), CORE)
    >>> analysis.describe(5).text, analysis.describe(12).text, analysis.definition(16).left
    ('twice : ((a -> a), a -> a)', "x : 'a", 10)
    """

    def __init__(self, source: Source, surface: Surface) -> None:
        self.source = source
        self.surface = surface
        try:
            self.script = parse(source)
            self.faults: tuple[Diagnostic, ...] = ()
        except CompileError as error:
            self.script = parse_parts(source)
            self.faults = error.diagnostics

    @cached_property
    def checked(self) -> Checked:
        """The types of the script, or of those parts that can be read."""
        with deep():
            return check_types(self.script, environment(self.surface))

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every error and warning, as `chatml check` reports them."""
        return self.faults or diagnostics_of(self.checked, self.surface, STANDARD)

    @cached_property
    def guided(self) -> Checked:
        """The types of the script with what its host hands to a handler."""
        if self.surface.host is None or not is_moderator(self.script):
            return self.checked
        with deep():
            return GuidedStatements(environment(self.surface)).extend(self.script)

    @cached_property
    def bindings(self) -> Bindings:
        """What each name refers to."""
        return Bindings(self.script)

    def definition(self, offset: int) -> Span | None:
        """Where the name at an offset is bound; None for a builtin, and where no name stands."""
        found = name_at(self.script, self.bindings, offset)
        binding = None if found is None else self.bindings.of(found.node)
        return None if binding is None else binding.span

    def describe(self, offset: int) -> Sight | None:
        """The name at an offset, or else the smallest expression there, with its type."""
        with deep():
            found = name_at(self.script, self.bindings, offset)
            if found is not None:
                text = self.describe_name(found)
                return None if text is None else Sight(found.span, text)
            expr = expression_at(self.script, offset)
            type = None if expr is None else self.guided.types.get(expr)
            return None if expr is None or type is None else Sight(expr.span, self.shower().show(type))

    def describe_name(self, found: Occurrence) -> str | None:
        """A name with its type; a name of many types also with the one that it has here."""
        node, name = found.node, found.span.text
        binding = self.bindings.of(node)
        if isinstance(node, ast.NamedType) or (binding is not None and binding.kind == "type"):
            return self.describe_type(name, binding)
        entry = self.entry_of(node, binding)
        here = self.guided.types.get(node) if isinstance(node, ast.Name | ast.FieldGet) else None
        if isinstance(entry, ModuleType):
            return f"module {name}"
        if entry is ANYTHING:
            return f"{name}  (* its definition is at fault *)"
        if entry is None:
            return None if here is None else self.told(name, here)
        if isinstance(node, ast.FieldGet):
            name = f"{node.record.span.text}.{name}"
        general = self.told(name, type_of_entry(entry))
        special = general if here is None or not isinstance(entry, Scheme) else self.told(name, here)
        return general if special.replace("'", "") == general.replace("'", "") else f"{general}\n{special}  (* here *)"

    def entry_of(self, node: Occurring, binding: Binding | None) -> Entry | None:
        """What a name stands for: a definition, a builtin, or an export of a builtin module."""
        if binding is not None:
            return self.guided.binders.get(binding.binder)
        builtins = environment(self.surface).values
        match node:
            case ast.Name(name=name):
                opened = [self.export(module, name) for module in self.bindings.opened]
                return next((entry for entry in (builtins.get(name), *opened) if entry is not None), None)
            case ast.OpenStatement(name=ast.Ident(name=name)):
                return builtins.get(name)
            case ast.FieldGet(record=ast.Name(name=module) as record, label=label):
                return None if record in self.bindings.uses else self.export(module, label.name)
        return None

    def export(self, module: str, label: str) -> Entry | None:
        """What a builtin module exports under a label."""
        entry = environment(self.surface).values.get(module)
        return entry.exports.get(label) if isinstance(entry, ModuleType) else None

    def describe_type(self, name: str, binding: Binding | None) -> str:
        """A type with its declaration, as it is written in the script, or as the surface has it."""
        if binding is not None:
            return f"type {name} = {self.bindings.declarations[binding.binder].span.text}"
        alias = environment(self.surface).aliases.get(name)
        return f"type {name}" if alias is None else f"type {name} = {self.shower().declaration(alias)}"

    def told(self, name: str, type: Type) -> str:
        """A name with its type."""
        return f"{name} : {self.shower().show(type)}"

    def shower(self) -> Shower:
        """What shows a type by the names that the script has for it."""
        return Shower(MOST_PARTS, self.checked.names)
