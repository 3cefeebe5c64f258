"""Scripts: compiled once, shared by any number of sessions and threads (runtime.md sections 3 and 11.1, X-26)."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from functools import cached_property, lru_cache

import attrs

from chatml.diagnostics.errors import SurfaceError
from chatml.diagnostics.model import Diagnostic
from chatml.functions.fitting import state_type
from chatml.pipeline import EngineName, Program, compile
from chatml.records import evolve
from chatml.sites import with_sites
from chatml.source import Source
from chatml.surfaces.model import Surface
from chatml.surfaces.moderator import MODERATOR
from chatml.types.guided import STANDARD, Entrypoints
from chatml.types.model import Type
from chatml.values.copies import fresh
from chatml.values.limits import Limits
from chatml.values.model import is_function
from chatml_runtime.script import problems
from chatml_runtime.script.errors import InstantiationError
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.session import Session

Sink = Callable[[str], object]


@attrs.frozen(eq=False)
class CompiledScript:
    """A compiled script: immutable, to be shared.

    `warnings` name the events that it can never match (X-08); `engine` runs its sessions, of `session_class`.
    """

    program: Program
    warnings: tuple[Diagnostic, ...] = ()
    engine: EngineName = "compiled"
    session_class: type[Session] = Session
    entrypoints: Entrypoints = STANDARD

    @property
    def source(self) -> str:
        """The exact source text."""
        return self.program.source.text

    @cached_property
    def source_hash(self) -> str:
        """`sha256:` and the digest of the UTF-8 bytes of the source text (X-25)."""
        return source_hash(self.source)

    @cached_property
    def state_type(self) -> Type:
        """The static type of the state, which a stored one is held against (X-56)."""
        return state_type(self.program.checked, self.entrypoints)

    @property
    def surface(self) -> Surface:
        """The surface that the script was compiled with."""
        return self.program.surface

    def instantiate(
        self,
        registry: OpRegistry,
        *,
        surface: Surface | None = None,
        entrypoints: Entrypoints = STANDARD,
        print: Sink | None = None,
        limits: Limits = Limits(),
    ) -> Session:
        """Run the top level in fresh globals and make a session of it, with a copy of the first state (3.2, X-55).

        `print` gets the lines that the script prints, `limits` bound the run of the top level.
        `InstantiationError` if the surface is another one or an entry point is missing or no function;
        `RuntimeFailure` if the top level fails.
        """
        try:
            instance = self.program.run(surface=surface, print=print, limits=limits, journaled=True, engine=self.engine)
        except SurfaceError as error:
            raise InstantiationError(str(error), code="runtime.surface_mismatch") from error
        for role, name in (("initial_state", entrypoints.initial_state), ("on_event", entrypoints.on_event)):
            if name not in instance:
                raise InstantiationError(problems.missing_binding(role, name), code="runtime.missing_binding")
        handler = instance[entrypoints.on_event]
        if not is_function(handler):
            raise InstantiationError(problems.not_callable(entrypoints.on_event), code="runtime.not_callable")
        operations = {operation.name: operation for operation in registry}
        return self.session_class(instance, operations, fresh(instance[entrypoints.initial_state]), handler)


def source_hash(source: str) -> str:
    """The identity of a source text, as snapshots store it.

    >>> source_hash("")
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    return f"sha256:{hashlib.sha256(source.encode()).hexdigest()}"


def compile_script(
    source: Source | str,
    *,
    name: str = "<script>",
    surface: Surface = MODERATOR,
    entrypoints: Entrypoints | None = STANDARD,
    engine: EngineName = "compiled",
    sites: bool = False,
) -> CompiledScript:
    """Compile a script as a moderator: the types of its entry points are checked as well (X-08).

    `CompileError` carries the diagnostics. With `entrypoints=None` the contract is not checked. With `sites` effects
    know the place of the expression that decided on them. Runs no script code.

    >>> script = compile_script("let initial_state = 0 let on_event ctx st ev = Task.pure(st + 1)")
    >>> script.program.types["on_event"]
    '(a, int, b -> int task)'
    """
    program = compile(source, name=name, surface=hosted(surface), entrypoints=entrypoints)
    compiled = with_sites(program) if sites else program
    return CompiledScript(compiled, program.warnings, engine, entrypoints=entrypoints or STANDARD)


@lru_cache(maxsize=64)
def hosted(surface: Surface) -> Surface:
    """A surface that says what hosts hand to a handler; one that does not say it takes it from `MODERATOR`."""
    return surface if surface.host is not None else evolve(surface, host=MODERATOR.host)


@attrs.frozen(eq=False)
class ScriptArtifact:
    """A compiled script under the id that a prompt gives it."""

    script_id: str
    compiled: CompiledScript

    @property
    def source_hash(self) -> str:
        """The identity of the source text (`CompiledScript.source_hash`)."""
        return self.compiled.source_hash


class ArtifactCache:
    """Compiles each source once per surface; safe to use from any thread.

    >>> cache = ArtifactCache()
    >>> source = "let initial_state = 0 let on_event ctx st ev = Task.pure(st)"
    >>> one, two = cache.get("main", source), cache.get("other", source)
    >>> one.compiled is two.compiled, two.script_id, len(cache)
    (True, 'other', 1)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._compiled: dict[tuple[str, tuple[frozenset[str], ...]], CompiledScript] = {}

    def get(
        self, script_id: str, source: Source | str, *, name: str = "<script>", surface: Surface = MODERATOR
    ) -> ScriptArtifact:
        """The artifact of a moderator script, under its own id. `CompileError` as for `compile_script`."""
        text = source.text if isinstance(source, Source) else source
        key = (source_hash(text), surface_names(surface))
        with self._lock:
            compiled = self._compiled.get(key)
            if compiled is None:
                compiled = self._compiled[key] = compile_script(source, name=name, surface=surface)
        return ScriptArtifact(script_id, compiled)

    def __len__(self) -> int:
        return len(self._compiled)


def surface_names(surface: Surface) -> tuple[frozenset[str], ...]:
    """The names that a surface defines: globals, modules, aliases."""
    return tuple(
        frozenset(item.name for item in items) for items in (surface.globals, surface.modules, surface.aliases)
    )
