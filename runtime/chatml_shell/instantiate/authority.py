"""What a runtime may do and use up, on this machine: roots, limits, programs (section 11.2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from chatmd.shell.runtime import Runtime
from chatmd.shell.sections import Root
from chatmd.sources.paths import PathExpr
from chatml_shell.errors import Refusal
from chatml_shell.plans.grants import Bounds, Grants
from chatml_shell.problems import fault
from chatml_shell.resolver.files import canonical
from chatml_shell.resolver.resolve import Alias, Resolver, pin

PathOf = Callable[[PathExpr], str]
BYTES = ("max_stdin", "stdout", "stderr", "total_output")


def grants_of(runtime: Runtime, environment: Mapping[str, str], path: PathOf) -> Grants:
    """The capabilities of a runtime. Raises `ShellError` (`shell.capability_path_missing`)."""
    capabilities = runtime.capabilities
    return Grants(
        read_roots=_roots(capabilities.read, runtime.id, environment, path),
        write_roots=_roots(capabilities.write, runtime.id, environment, path),
        network=bool(capabilities.network),
        child_processes=bool(capabilities.child_processes),
        arbitrary_code=bool(capabilities.arbitrary_code),
        privilege_change=bool(capabilities.privilege_change),
        sandbox=capabilities.sandbox or "required",
    )


def _roots(roots: tuple[Root, ...], runtime: str, environment: Mapping[str, str], path: PathOf) -> tuple[str, ...]:
    """Roots where their links lead, each once. A root that the environment names must be an absolute path there."""
    places: list[str] = []
    for root in roots:
        if root.path is not None:
            places.append(canonical(path(root.path)))
            continue
        name = root.path_env or ""
        value = environment.get(name, "")
        if os.path.isabs(value):
            places.append(canonical(value))
        elif not root.optional or value:
            raise fault(
                "shell.capability_path_missing", root.span, path=("runtime", runtime, "capabilities", name), name=name
            )
    return tuple(dict.fromkeys(places))


def bounds_of(runtime: Runtime) -> Bounds:
    """The limits of a runtime. Raises `ShellError` (`shell.required_limit_disabled`)."""
    limits = runtime.limits
    open_ended = _durations(runtime)
    for name in ("wall_time", *BYTES):
        value = open_ended["wall_time"] if name == "wall_time" else getattr(limits, name)
        if not value:
            raise fault(
                "shell.required_limit_disabled", limits.span, path=("runtime", runtime.id, "limits", name), name=name
            )
    return Bounds(
        wall_time=open_ended["wall_time"] or 0.0,
        idle_time=open_ended["idle_time"],
        cpu_time=open_ended["cpu_time"],
        max_stdin=limits.max_stdin or 0,
        stdout=limits.stdout or 0,
        stderr=limits.stderr or 0,
        total_output=limits.total_output or 0,
        memory=limits.memory,
        file_size=limits.file_size,
        open_files=limits.open_files,
    )


def _durations(runtime: Runtime) -> dict[str, float | None]:
    limits = runtime.limits
    given = {"wall_time": limits.wall_time, "idle_time": limits.idle_time, "cpu_time": limits.cpu_time}
    return {name: value if isinstance(value, int | float) else None for name, value in given.items()}


def resolver_of(runtime: Runtime, path_variable: str, path: PathOf) -> Resolver:
    """How the programs of a runtime are found; what its executables are is settled now.

    Raises `ShellError`: `shell.executable_unavailable`, `shell.executable_digest_mismatch`.
    """
    section = runtime.resolver
    aliases = {}
    for executable in section.executables:
        here = ("runtime", runtime.id, "resolver", executable.id)
        file = path(executable.path)
        try:
            found = pin(file, requested=executable.id, trusted=executable.trusted)
        except Refusal as refusal:
            facts = {"id": executable.id, "why": refusal.reason}
            raise fault("shell.executable_unavailable", executable.span, path=here, **facts) from None
        if executable.sha256 is not None and executable.sha256.lower() != found.sha256:
            facts = {"id": executable.id, "file": file, "sha256": found.sha256}
            raise fault("shell.executable_digest_mismatch", executable.span, path=here, **facts)
        aliases[executable.id] = Alias(file, found.sha256, executable.trusted)
    declared = tuple(path(one.path) for one in section.search_path)
    return Resolver(
        aliases,
        declared or tuple(path_variable.split(":")),
        tuple(path(one.path) for one in section.trusted_root),
    )
