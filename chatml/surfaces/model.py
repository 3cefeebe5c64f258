"""The surface model: what a host gives a script to name (builtins.md section 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from chatml.records import evolve, frozen
from chatml.types.environment import HostTypes
from chatml.types.model import Fun, Type
from chatml.values.model import Value

Host = Callable[..., Value]


PARAMETERS = "abcdefgh"
"""What an expression of Python calls the arguments of a builtin."""


@frozen(eq=False)
class Builtin:
    """A host function with its type scheme, and all that an engine may know of it.

    `function` gets the evaluated arguments and returns a value. It raises `BuiltinFailure` with the facts of a failure;
    the engine adds the qualified name and the place.
    """

    name: str
    scheme: Fun
    function: Host
    machine: bool = False
    """Whether the function takes the running `Machine` before its arguments."""
    loop: str | None = None
    """For a function that calls its last argument for each element of an array: the builtin of `Array` that it does so
    like. Generated code has the loop where it is called (`chatml.engines.compile.traversals`)."""
    inline: str | None = None
    """A Python expression of the arguments `a`, `b` and so on that does the same with arguments of the kinds that the
    scheme says (`chatml.builtins.expressions`). Where the types let a value of another kind through, Python refuses it
    or computes with what is there (docs/decisions.md)."""
    on_data: str | None = None
    """Such an expression for arguments in which all that has the type `json` is plain JSON data: what a host hands to a
    function of the script need not become a value to be read."""
    pattern: bool = False
    """Whether the second argument is a pattern: one that is written out is looked at by the checker."""

    @property
    def callbacks(self) -> tuple[int, ...]:
        """Which of the arguments are functions."""
        return tuple([index for index, param in enumerate(self.scheme.params) if isinstance(param, Fun)])

    def qualified(self, module: str | None) -> str:
        """The name by which reports call the builtin, which may be an export of a module."""
        return self.name if module is None else f"{module}.{self.name}"


@frozen(eq=False)
class Module:
    """A builtin module: a name and its exports."""

    name: str
    exports: tuple[Builtin, ...]


@frozen(eq=False)
class Alias:
    """A type that scripts can name."""

    name: str
    type: Type


DO_WITHOUT = "do without it, or run the policy in a host that can"


@frozen
class Withheld:
    """An export that a script must not name: its qualified name, why this host cannot do it, and what to do."""

    name: str
    reason: str
    help: str

    @property
    def label(self) -> str:
        """The name of the export in its module."""
        return self.name.rpartition(".")[2]


@frozen(eq=False)
class Surface:
    """Everything that a script can name besides syntax and its own definitions. Immutable."""

    globals: tuple[Builtin, ...] = ()
    modules: tuple[Module, ...] = ()
    aliases: tuple[Alias, ...] = ()
    host: HostTypes | None = None
    """What a host hands to the handler of a moderator, on the surfaces that moderators are written for."""
    withheld: tuple[Withheld, ...] = ()
    """What a script must not name although it is there, since the host cannot do it."""

    def combine(self, other: Surface) -> Surface:
        """Both surfaces; where both define a name, this one's definition counts."""
        return Surface(
            _first_of_each(self.globals + other.globals),
            _first_of_each(self.modules + other.modules),
            _first_of_each(self.aliases + other.aliases),
            self.host or other.host,
            self.withheld + other.withheld,
        )

    def withhold(self, reasons: Mapping[str, str | tuple[str, str]]) -> Surface:
        """The same surface, where a script that names one of these exports is at fault (`host.unsupported`).

        The keys are qualified names such as `Tool.redirect`; the values are the reason why this host cannot do it, or
        the reason and what to do. `KeyError` for what is not an export of a module of this surface.

        >>> from chatml import UI_MODERATOR, check
        >>> surface = UI_MODERATOR.withhold({"Tool.redirect": "a hook cannot redirect a call"})
        >>> script = "open Tool let go = redirect"
        >>> [(found.code, found.span.text, found.message) for found in check(script, surface=surface)]
        [('host.unsupported', 'redirect', 'a hook cannot redirect a call')]
        """
        exports = {export.qualified(module.name) for module in self.modules for export in module.exports}
        for name in reasons:
            if name not in exports:
                raise KeyError(name)
        given = {name: (reason, DO_WITHOUT) if isinstance(reason, str) else reason for name, reason in reasons.items()}
        return evolve(self, withheld=(*self.withheld, *(Withheld(name, *words) for name, words in given.items())))

    def without(self, name: str) -> Surface:
        """The surface without one export of a module."""
        modules = [
            Module(module.name, tuple([each for each in module.exports if each.qualified(module.name) != name]))
            for module in self.modules
        ]
        return evolve(self, modules=tuple(modules), withheld=())


Named = TypeVar("Named", Builtin, Module, Alias)


def _first_of_each(definitions: Iterable[Named]) -> tuple[Named, ...]:
    by_name: dict[str, Named] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, definition)
    return tuple(by_name.values())
