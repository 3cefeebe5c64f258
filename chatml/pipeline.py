"""The phases in order: text → syntax tree → types → core → a running instance."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from chatml.core import nodes
from chatml.core.resolve import Names, resolve
from chatml.diagnostics.errors import CompileError, SurfaceError
from chatml.engines.engine import Engine
from chatml.lazy import lazy
from chatml.records import frozen
from chatml.source import Source
from chatml.stack import deep
from chatml.surfaces import model as surfaces
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Surface
from chatml.syntax.parse import parse
from chatml.types import Checked, Environment
from chatml.types import check as check_types
from chatml.values.limits import Limits
from chatml.values.model import BuiltinFunction, ModuleValue, Value

if TYPE_CHECKING:
    from chatml.core import module_state
    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
    from chatml.engines import walk
    from chatml.engines.compile import body, code, compiled, listing, lower
    from chatml.functions import function
    from chatml.syntax import ast
    from chatml.syntax import portable as portability
    from chatml.types import contract, guided, warnings
    from chatml.types.guided import Entrypoints
else:
    walk, function = lazy("chatml.engines.walk"), lazy("chatml.functions.function")
    contract, module_state = lazy("chatml.types.contract"), lazy("chatml.core.module_state")
    model = lazy("chatml.diagnostics.model")
    guided, warnings = lazy("chatml.types.guided"), lazy("chatml.types.warnings")
    portability = lazy("chatml.syntax.portable")
    body, code = lazy("chatml.engines.compile.body"), lazy("chatml.engines.compile.code")
    compiled, lower = lazy("chatml.engines.compile.compiled"), lazy("chatml.engines.compile.lower")
    listing = lazy("chatml.engines.compile.listing")

Sink = Callable[[str], object]


def compile(
    source: Source | str,
    *,
    name: str = "<script>",
    surface: Surface = CORE,
    entrypoints: Entrypoints | None = None,
) -> Program:
    """Compile a script against a surface. Runs no script code. Raises `CompileError` with all diagnostics.

    With `entrypoints` it is held to the contract of a moderator, on a surface that has one (X-47).

    >>> compile("let double n = n * 2").types
    {'double': '(int -> int)'}
    """
    source = as_source(source, name)
    with deep():
        script = parse(source)
        checked = check_types(script, environment(surface))
        if entrypoints is not None:
            found = contract.check_contract(checked, environment(surface), entrypoints)
            if found.problems:
                raise CompileError(found.problems)
            checked.warnings = found.warnings
        elif checked.problems:
            raise CompileError(checked.diagnostics)
        refused = unsupported(source, script, surface)
        if refused:
            raise CompileError(refused)
        resolved = resolve(script, names(surface), checked.is_scalar, checked.absent)
        if entrypoints is not None:
            checked.warnings += module_state.module_writes(resolved, entrypoints.on_event)
    return Program(source, surface, resolved, checked)


def check(
    source: Source | str,
    *,
    name: str = "<script>",
    surface: Surface = CORE,
    portable: bool = False,
    entrypoints: Entrypoints | None = None,
) -> tuple[Diagnostic, ...]:
    """Every error and warning of a script, errors first in order of place. Never raises for a fault of the script.

    `portable` adds warnings for what other implementations of the language lack (X-12). With `entrypoints` it is what
    the commands check: a script that defines one of them is held to the contract of a moderator, on a surface that has
    one (X-47), and every script is searched for what it says and does not do (X-48).

    >>> [diagnostic.code for diagnostic in check("print(1 + true)")]
    ['type.mismatch']
    """
    source = as_source(source, name)
    with deep():
        try:
            script = parse(source)
            checked = check_types(script, environment(surface))
            found = diagnostics_of(checked, surface, entrypoints)
        except CompileError as error:
            return error.diagnostics
        if not any(diagnostic.severity == "error" for diagnostic in found):
            found = unsupported(source, script, surface) + found
        return found + (portability.find_additions(script) if portable else ())


def diagnostics_of(checked: Checked, surface: Surface, entrypoints: Entrypoints | None) -> tuple[Diagnostic, ...]:
    """What is wrong with a checked script, as a moderator if it defines one of the entry points, and its warnings."""
    if entrypoints is None:
        return checked.diagnostics
    if not guided.is_moderator(checked.script, entrypoints):
        return checked.diagnostics or warnings.find_warnings(checked, environment(surface), entrypoints)
    found = contract.check_contract(checked, environment(surface), entrypoints)
    if found.problems:
        return found.problems
    resolved = resolve(checked.script, names(surface), checked.is_scalar, checked.absent)
    more = found.warnings + module_state.module_writes(resolved, entrypoints.on_event)
    return warnings.find_warnings(checked, environment(surface), entrypoints, more)


def warnings_of(program: Program) -> tuple[Diagnostic, ...]:
    """Everything that is worth a warning in a script that is about to run (X-48), with what its compilation found.

    Its host may deliver events of its own, so of unknown events only those are told that look like standard ones.

    >>> [warning.code for warning in warnings_of(compile("let f x = (1; x)"))]
    ['type.unused_value']
    """
    known = environment(program.surface)
    return warnings.find_warnings(program.checked, known, more=program.warnings, hosted=True)


def unsupported(source: Source, script: ast.Script, surface: Surface) -> tuple[Diagnostic, ...]:
    """An error wherever a script that is right names what the surface withholds: as an export, opened, or as a value.

    These are the places at which the checker misses the export, once the surface does not have it.
    """
    found = []
    for withheld in surface.withheld:
        if withheld.label in source.text:
            lacking = check_types(script, environment(surface.without(withheld.name)))
            found += [
                model.Diagnostic("host.unsupported", withheld.reason, problem.span, help=withheld.help)
                for problem in lacking.diagnostics
                if problem.severity == "error"
            ]
    return tuple(found)


def as_source(source: Source | str, name: str) -> Source:
    if not isinstance(source, Source | str):
        raise TypeError(f"a script is a `str` or a `Source`, and this is a `{type(source).__name__}`")
    return Source(name, source) if isinstance(source, str) else source


@frozen(eq=False)
class Program:
    """A compiled script: immutable, to be shared by any number of instances and threads."""

    source: Source
    surface: Surface
    core: nodes.Script
    checked: Checked

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the checker found worth a warning."""
        return self.checked.warnings

    @property
    def types(self) -> dict[str, str]:
        """The printed type of each top-level binding, in source order."""
        return {name: self.checked.show(name) for name in self.checked.bindings}

    def python(self, *, bounded: bool = False) -> str | None:
        """The Python code that runs the script, for reading; None if it nests too deep to be compiled.

        `bounded` code keeps limits: it counts steps, checks sizes and announces writes.

        >>> print(compile("let name call = call.name").python())
        # g0: name
        <BLANKLINE>
        # line 1: name
        def g0(v1):
            return v1['name']
        """
        with deep():
            try:
                return listing.listing(self.core, known_builtins(self.core, self.surface), bounded=bounded)
            except (body.TooDeep, RecursionError):
                return None

    def run(
        self,
        *,
        surface: Surface | None = None,
        print: Sink | None = None,
        limits: Limits = Limits(),
        journaled: bool = False,
        engine: EngineName = "compiled",
    ) -> Instance:
        """Run the top level in fresh globals and return the instance. Raises `RuntimeFailure`.

        `print` gets each line that the script prints, without its line end; `limits` bound this run and, afresh, each
        later call. Another `surface` must define the same names as the one that the script was compiled with.
        `journaled` is for hosts that will set a journal to take writes back.
        """
        surface = self.surface if surface is None else surface
        refuse_other_names(self.surface, surface)
        sink = print_line if print is None else print
        instance = Instance(self, self.start(surface, sink, limits, journaled, engine))
        instance.machine.run()
        return instance

    def start(self, surface: Surface, sink: Sink, limits: Limits, journaled: bool, engine: EngineName) -> Engine:
        """An engine that is ready to run the top level."""
        counted = limits.depth is not None and limits.depth < EXACT_DEPTH
        python = None
        if engine == "compiled" and not counted:
            bounded = journaled or limits.steps is not None or limits.text is not None
            python = generated(self.core, surface, bounded)
        builtins = builtin_cells(self.core, surface)
        if python is None:
            return walk.Walker(self.core, builtins, sink, limits)
        return compiled.Compiled(python, builtins, sink, limits)


def print_line(text: str) -> None:
    """The default sink: standard output, flushed with each line."""
    print(text, flush=True)


class Instance:
    """A running script: its definitions, and the engine that calls them. For one thread at a time."""

    def __init__(self, program: Program, engine: Engine) -> None:
        self.program = program
        self.machine = engine
        self.limits = engine.limits

    def __getitem__(self, name: str) -> Value:
        """The value of a top-level definition; the last one of that name. Raises `KeyError`."""
        return self.machine.read(self.program.core.definitions[name])

    def __contains__(self, name: str) -> bool:
        return name in self.program.core.definitions

    def call(self, name: str, *args: Value) -> Value:
        """Call a top-level function with values, under a fresh budget. Raises `RuntimeFailure`.

        >>> compile("let add a b = a + b").run().call("add", 1, 2)
        3
        """
        left = self.machine.renew()
        try:
            return self.apply(self[name], list(args))
        finally:
            self.machine.restore(left)

    def function(self, name: str) -> Callable[..., Any]:
        """A top-level function as a function of Python: data in, data out, converted and checked by its static type.

        A part of type `json` is plain JSON data. Raises `KeyError` for an unknown name, and `BoundaryError` if the
        definition is not a function. The function raises `BoundaryError` for data that do not fit, `RuntimeFailure` for
        what fails in the script; each call has a fresh budget.

        >>> guard = 'let decide call = if call.name == "read" then `Allow else `Deny(call.name)'
        >>> decide = compile(guard).run().function("decide")
        >>> decide({"name": "read"}), decide({"name": "write"})
        (('Allow',), ('Deny', 'write'))
        """
        cell = self.program.core.definitions[name]
        return function.function_of(self.program.checked, self.machine, cell, name)

    def apply(self, function: Value, args: list[Value]) -> Value:
        """Apply any function value to arguments (language.md section 5.9). Raises `RuntimeFailure`."""
        return self.machine.apply(function, args)


EngineName = Literal["compiled", "walk"]
ENGINES: tuple[EngineName, ...] = ("compiled", "walk")

EXACT_DEPTH = 1_000
"""Below this a `depth` limit is counted call by call, which only the evaluator does."""


def builtin_cells(script: nodes.Script, surface: Surface) -> dict[int, Value]:
    """The content of the cells that a surface fills."""
    values = builtin_values(surface)
    return {cell.cell: values[cell.module, cell.name] for cell in script.builtins}


@lru_cache(maxsize=256)
def generated(script: nodes.Script, surface: Surface, bounded: bool) -> code.Code | None:
    """The Python code of a script; None if it nests too deep to be worth it."""
    with deep():
        try:
            return lower.generate(script, known_builtins(script, surface), bounded=bounded)
        except (body.TooDeep, RecursionError):
            return None


def known_builtins(script: nodes.Script, surface: Surface) -> dict[int, code.Builtin]:
    """What the generator has to know of the builtins in the cells of a script."""
    rows = builtin_rows(surface)
    return {cell.cell: code.builtin_of(rows[cell.module, cell.name], cell.module) for cell in script.builtins}


@lru_cache(maxsize=64)
def environment(surface: Surface) -> Environment:
    """What the checker has to know of a surface."""
    values = {builtin.name: builtin.scheme for builtin in surface.globals}
    modules = {module.name: {export.name: export.scheme for export in module.exports} for module in surface.modules}
    patterns = [(module.name, export.name) for module in surface.modules for export in module.exports if export.pattern]
    aliases = [(alias.name, alias.type) for alias in surface.aliases]
    return Environment(values, modules, aliases, ADDED, patterns, surface.host)


ADDED = frozenset({"not", "event", "job_event", "reply"})
"""Globals and aliases that this project added: an opened module may export, a script declare the same name (X-12)."""


@lru_cache(maxsize=64)
def names(surface: Surface) -> Names:
    """What the resolver has to know of a surface."""
    return {
        **{builtin.name: None for builtin in surface.globals},
        **{module.name: [export.name for export in module.exports] for module in surface.modules},
    }


@lru_cache(maxsize=64)
def builtin_rows(surface: Surface) -> dict[tuple[str | None, str], surfaces.Builtin | surfaces.Module]:
    """The rows of a surface: globals and modules under `(None, name)`, exports under `(module, name)`."""
    rows: dict[tuple[str | None, str], surfaces.Builtin | surfaces.Module] = {}
    rows |= {(None, row.name): row for row in surface.globals}
    rows |= {(None, module.name): module for module in surface.modules}
    return rows | {(module.name, row.name): row for module in surface.modules for row in module.exports}


@lru_cache(maxsize=64)
def builtin_values(surface: Surface) -> dict[tuple[str | None, str], Value]:
    """The values of a surface, under the same keys as its rows."""
    rows = builtin_rows(surface)
    values: dict[tuple[str | None, str], Value] = {
        key: function_value(row, key[0]) for key, row in rows.items() if isinstance(row, surfaces.Builtin)
    }
    for module in surface.modules:
        exports = {row.name: values[module.name, row.name] for row in module.exports}
        values[None, module.name] = ModuleValue(module.name, exports)
    return values


def function_value(row: surfaces.Builtin, module: str | None) -> BuiltinFunction:
    """A builtin as a value, under its qualified name."""
    return BuiltinFunction(row.qualified(module), len(row.scheme.params), row.function, row.machine)


def refuse_other_names(compiled: Surface, running: Surface) -> None:
    """Refuse a surface that does not define the names that the script was compiled with (builtins.md 1.3)."""
    if compiled is running:
        return
    for part in ("globals", "modules", "aliases"):
        known, given = ({item.name for item in getattr(surface, part)} for surface in (compiled, running))
        if known != given:
            differing = ", ".join(sorted(known ^ given))
            raise SurfaceError(f"the script was compiled with other {part}: {differing}")
