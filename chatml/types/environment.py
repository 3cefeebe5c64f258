"""What the checker is told of the world around a script: values, modules and types (builtins.md sections 1.1, 1.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from chatml.records import frozen
from chatml.types.facts import DuplicateType, LooseAlias, PrimitiveRedefined, Problem, UnboundBinder, UnguardedType
from chatml.types.model import (
    OPEN,
    RECURSIVE,
    Bool,
    Con,
    Empty,
    Float,
    Int,
    Mu,
    RecVar,
    RowVar,
    Scalar,
    String,
    Type,
    Unit,
    Unknown,
    Var,
)
from chatml.types.rebuild import rebuild
from chatml.types.scheme import ANYTHING, Scheme
from chatml.types.variables import CHILDREN

PRIMITIVES: Mapping[str, Type] = {"int": Int, "float": Float, "bool": Bool, "string": String, "unit": Unit}
CONSTRUCTORS = frozenset({"task"})
"""The type constructors of the host; each takes one argument."""


@frozen(eq=False)
class ModuleType:
    """A finished module: the type of each export, with its own quantified variables."""

    exports: Mapping[str, Entry]


@frozen(eq=False)
class Body:
    """A module whose body is being checked: its exports so far, and the names that are defined once, so final."""

    exports: Mapping[str, Entry]
    once: frozenset[str]

    def final(self, label: str) -> Entry | None:
        """What the finished module will export under a name, if that is known."""
        return self.exports.get(label) if label in self.once else None


@frozen(eq=False)
class HostTypes:
    """What a host hands to the handler of a moderator: the context, and what each standard event carries.

    `Unit` stands for nothing. `own` is what the events carry that a host makes of jobs which a script has begun.
    """

    context: Type
    events: Mapping[str, Type]
    own: Mapping[str, Type] = MappingProxyType({})


Entry = Type | Scheme | ModuleType
"""What a name stands for: a type that all its uses share, a scheme that each use instantiates, a module."""


class Environment:
    """The names that a script may use besides its own. Immutable; shared by any number of checks and threads.

    `values` and the exports of `modules` have the schemes of builtins.md section 1.4, `aliases` are pairs of a name and
    a closed type. `added` are globals that an opened module may shadow, and aliases that a script may declare (X-12).
    `patterns` are exports whose second argument is a pattern: `Environment.patterns` has the identity of the type of
    each, by which its calls are known under whatever name. `host` is there where the script of a moderator is checked;
    `given` are its types as the checker holds them. `problems` says what is wrong with the aliases (builtins.md 1.3);
    every check against this environment reports it.

    >>> Environment({"answer": Int}, {}, [("int", String)]).problems
    (PrimitiveRedefined(span=None, name='int'),)
    """

    def __init__(
        self,
        values: Mapping[str, Type],
        modules: Mapping[str, Mapping[str, Type]] = MappingProxyType({}),
        aliases: Iterable[tuple[str, Type]] = (),
        added: frozenset[str] = frozenset(),
        patterns: Collection[tuple[str, str]] = (),
        host: HostTypes | None = None,
    ) -> None:
        problems: list[Problem] = []
        self.values: dict[str, Entry] = {}
        self.aliases: dict[str, Type] = {}
        self.added = added
        self.host = host
        self.given = None if host is None else adopt_host(host, problems)
        for name, scheme in values.items():
            self.values[name] = adopt(name, scheme, problems)
        for name, exports in modules.items():
            self.values[name] = ModuleType(
                {label: adopt(f"{name}.{label}", scheme, problems) for label, scheme in exports.items()}
            )
        self.patterns = frozenset([id(self.export(module, label)) for module, label in patterns])
        for name, type in aliases:
            if name in PRIMITIVES:
                problems.append(PrimitiveRedefined(None, name))
            elif name in self.aliases:
                problems.append(DuplicateType(None, name))
            else:
                self.aliases[name] = adopt_alias(name, type, problems)
        self.problems = tuple(problems)

    def export(self, module: str, label: str) -> Entry:
        """The entry of an export of a module."""
        entry = self.values[module]
        assert isinstance(entry, ModuleType)
        return entry.exports[label]


def adopt(name: str, scheme: Type, problems: list[Problem]) -> Type | Scheme:
    """A builtin's scheme as the checker holds it. One that is not well formed adds a problem and fits everywhere."""
    try:
        return adopt_all(scheme, name)
    except AliasError as error:
        problems.append(error.problem)
        return ANYTHING


def adopt_all(scheme: Type, name: str = "") -> Type | Scheme:
    """A host's type as the checker holds it, quantified over all its variables. Raises `AliasError`."""
    adoption = _Adoption(name)
    type = adoption.visit(scheme)
    return Scheme(type, tuple(adoption.variables.values())) if adoption.variables else type


def adopt_alias(name: str, type: Type, problems: list[Problem]) -> Type:
    """The type that a surface gives a name."""
    adopted = adopt(name, type, problems)
    if not isinstance(adopted, Scheme):
        return adopted
    if adopted is not ANYTHING:
        problems.append(LooseAlias(None, name, adopted.variables[0].name))
    return Unit


def adopt_host(host: HostTypes, problems: list[Problem]) -> HostTypes:
    """The types of a host as the checker holds them."""
    events = {tag: adopt_alias(tag, type, problems) for tag, type in host.events.items()}
    own = {tag: adopt_alias(tag, type, problems) for tag, type in host.own.items()}
    return HostTypes(adopt_alias("context", host.context, problems), events, own)


class AliasError(Exception):
    """A type of the environment that is not well formed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


class _Adoption:
    """A host's type as the checker holds types: one object for each variable, recursion as a cycle."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.variables: dict[tuple[type, str], Var | RowVar] = {}
        self.binders: dict[str, Mu] = {}
        self.unguarded: frozenset[str] = frozenset()

    def visit(self, type: Type) -> Type:
        match type:
            case Var() | RowVar():
                return self.variables.setdefault((type.__class__, type.name), type)
            case RecVar(binder):
                return self.recur(binder)
            case Mu(binder, body):
                return self.mu(binder, body)
            case Scalar() | Unknown():
                return type
        if type is Empty:
            return type
        outside = self.unguarded
        if type.__class__ is not Con:
            self.unguarded = frozenset()
        built = rebuild(type, self.visit)
        self.unguarded = outside
        return built

    def recur(self, binder: str) -> Mu:
        if binder not in self.binders:
            raise AliasError(UnboundBinder(None, self.name, binder))
        if binder in self.unguarded:
            raise AliasError(UnguardedType(None, self.name))
        return self.binders[binder]

    def mu(self, binder: str, body: Type) -> Mu:
        outside, hidden = self.unguarded, self.binders.get(binder)
        mu = self.binders[binder] = Mu(binder, body, OPEN if self.mentions_variables(body) else RECURSIVE)
        self.unguarded |= {binder}
        mu.body = self.visit(body)
        self.unguarded = outside
        if hidden is None:
            del self.binders[binder]
        else:
            self.binders[binder] = hidden
        return mu

    def mentions_variables(self, type: Type) -> bool:
        """Whether a host's type has a variable in it, or the binder of an enclosing type that has one."""
        stack = [type]
        while stack:
            type = stack.pop()
            if isinstance(type, Var | RowVar):
                return True
            if isinstance(type, RecVar):
                outer = self.binders.get(type.binder)
                if outer is not None and outer.level >= 0:
                    return True
            elif type.level >= 0:
                stack.extend(CHILDREN[type.__class__](type))
        return False
