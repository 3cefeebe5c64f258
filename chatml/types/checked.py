"""The result of checking a script."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.stack import deep
from chatml.syntax import ast
from chatml.types.environment import Entry, ModuleType, adopt_all
from chatml.types.facts import Mismatch, Problem, Site
from chatml.types.freeze import Freezer, mismatch
from chatml.types.model import Empty, Record, Scalar, Type, Var
from chatml.types.names import TypeNames
from chatml.types.rebuild import row_of
from chatml.types.scheme import Scheme, instantiate, substitute
from chatml.types.show import Shower, show
from chatml.types.unify import Failure, Unifier
from chatml.types.variables import resolved

if TYPE_CHECKING:
    from chatml.diagnostics.model import Diagnostic
    from chatml.types.report import problems as wording
else:
    wording = lazy("chatml.types.report.problems")


class Checked:
    """What is known of a script once its types are checked.

    `problems` are what is wrong with it, the first one first; `diagnostics` words them. `entries` are the definitions
    of the top level in source order, a repeated name at its last place.
    """

    def __init__(
        self,
        script: ast.Script,
        problems: tuple[Problem, ...],
        entries: Mapping[str, Entry],
        types: Mapping[ast.Expr, Type],
        operands: Mapping[ast.Binary, Type],
        projections: frozenset[ast.FieldGet],
        binders: Mapping[ast.Ident | ast.NamePattern, Entry] = MappingProxyType({}),
        absent: frozenset[ast.FieldGet] = frozenset(),
        aliases: Mapping[str, Type | None] = MappingProxyType({}),
    ) -> None:
        self.script = script
        self.problems = problems
        self.entries = entries
        self.types = types
        """The type of each expression as inference left it; `type_of` follows what was found out later."""
        self.operands = operands
        """The type of what each `==` and `!=` compares."""
        self.projections = projections
        """The field accesses that read an export of a module by the module's name."""
        self.binders = binders
        """What each name stands for where it is bound; a definition at fault stands for anything."""
        self.absent = absent
        """The field accesses that fail whenever they run, whatever the record holds (section 3.7)."""
        self.aliases = aliases
        """The types that have a name; None for one whose declaration is at fault."""
        self.warnings: tuple[Diagnostic, ...] = ()
        """What is worth a warning, once that was looked for."""

    @cached_property
    def names(self) -> TypeNames:
        """By what names types are shown: the script's own before those of the surface."""
        return TypeNames(self.aliases)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems in words, in the same order."""
        if not self.problems:
            return ()
        with deep():
            return wording.describe_all(self.problems, self.script, self.types, self.names)

    @cached_property
    def bindings(self) -> dict[str, Type]:
        """The type of each definition of the top level, modules as records of their exports."""
        with deep():
            return {name: type_of_entry(entry) for name, entry in self.entries.items()}

    def show(self, name: str) -> str:
        """The printed type of a definition of the top level (builtins.md section 1.5). Raises `KeyError`."""
        with deep():
            return show(self.bindings[name])

    def tell(self, name: str) -> str:
        """The type of a definition of the top level as people read it, by the names of types. Raises `KeyError`."""
        with deep():
            return Shower(naming=self.names).show(self.bindings[name])

    def is_scalar(self, comparison: ast.Binary) -> bool:
        """Whether a `==` or `!=` compares ints, floats, bools, strings or units."""
        return isinstance(resolved(self.operands[comparison]), Scalar)

    def type_of(self, expr: ast.Expr) -> Type:
        """The type of an expression; an `Unknown` may be anything. Raises `KeyError` where checking ended before it."""
        return resolved(self.types[expr])

    def contract(self) -> Contract:
        """A copy of the definitions' types, to be held against expectations."""
        return Contract(self)


def type_of_entry(entry: Entry, module: str = "") -> Type:
    """What a name stands for as one type; the variables that each use may choose are `Var`s.

    Each export of a module has variables of its own: `module` is what leads to it and keeps their names apart.
    """
    match entry:
        case Scheme(type):
            if not module:
                return type
            return substitute(entry, {variable: Var(f"{module}{variable.name}") for variable in entry.variables})
        case ModuleType(exports):
            fields = {label: type_of_entry(export, f"{module}{label}.") for label, export in exports.items()}
            return Record(row_of(fields, Empty))
    return entry


class Contract:
    """Holds definitions against the types that a host expects of them; the script's own types stay as they are.

    In an expected type a `Var` or `RowVar` stands for one type throughout the contract, to be found out.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> from chatml.types import Environment, check
    >>> from chatml.types.model import Fun, Var
    >>> checked = check(parse(Source("s", "let start = 1 let step n = n + 1")), Environment({}))
    >>> contract = checked.contract()
    >>> contract.fit("start", Var("state")), contract.fit("step", Fun([Var("state")], Var("state")))
    (None, None)
    >>> contract.show(Var("state"))
    'int'
    """

    def __init__(self, checked: Checked) -> None:
        self.unifier = Unifier()
        self.freezer = Freezer()
        self.variables: dict[tuple[type, str], Type] = {}
        with deep():
            self.types = {name: self.instance(entry) for name, entry in checked.entries.items()}
        self.places = places(checked.script)

    def instance(self, entry: Entry) -> Type:
        """A type of the script as a copy; what several definitions share is shared by their copies."""
        match entry:
            case Scheme():
                return self.freezer.freeze(instantiate(self.unifier, entry))
            case ModuleType(exports):
                fields = {label: self.instance(export) for label, export in exports.items()}
                return Record(row_of(fields, Empty))
        return self.freezer.freeze(entry)

    def expected(self, type: Type) -> Type:
        """A host's type, its variables replaced by those of the contract. Raises `AliasError`."""
        adopted = adopt_all(type)
        if not isinstance(adopted, Scheme):
            return adopted
        chosen: dict[Type, Type] = {}
        for variable in adopted.variables:
            key = variable.__class__, variable.name
            chosen[variable] = self.variables.setdefault(key, self.unifier.fresh())
        return substitute(adopted, chosen)

    def fit(self, name: str, expected: Type) -> Mismatch | None:
        """Make a definition's type equal to an expected one; None if that works. Raises `KeyError`."""
        type, wanted = self.types[name], self.expected(expected)
        mark = len(self.unifier.trail)
        with deep():
            try:
                self.unifier.unify(type, wanted)
            except Failure as failure:
                self.unifier.roll_back(mark)
                return mismatch(failure, type, wanted, Site("contract", self.places[name]), self.places[name].span)
        return None

    def type(self, name: str) -> Type:
        """What is known of a definition's type. Raises `KeyError`."""
        return Freezer().freeze(self.types[name])

    def show(self, type: Type) -> str:
        """The text of an expected type with what was found out."""
        with deep():
            return show(self.expected(type))

    def tell(self, type: Type, names: TypeNames) -> str:
        """The same as people read it, by the names of types."""
        with deep():
            return Shower(naming=names).show(self.expected(type))


def places(script: ast.Script) -> dict[str, ast.Ident]:
    """Where each name of the top level is defined, the last time."""
    found: dict[str, ast.Ident] = {}
    for statement in script.statements:
        found |= {binder.name: binder for binder in binders(statement)}
    return found


def binders(statement: ast.Statement) -> list[ast.Ident]:
    """The names that a statement defines, where they stand."""
    match statement:
        case ast.LetStatement(name) | ast.ModuleStatement(name):
            return [name]
        case ast.LetRecStatement(bindings):
            return [binding.name for binding in bindings]
    return []
