"""What does not fit in a document's runtimes and tools: every finding, none for none (section 9.1, steps 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chatmd.elements.script import Script
from chatmd.report.problems import Diagnostic
from chatmd.shell.access import ModeratorRuntime
from chatmd.shell.backends import Backend, Bubblewrap, ExternalBackend, Part, Seatbelt
from chatmd.shell.policy import ArgvPrefix, Joined, TextMatcher
from chatmd.shell.runtime import Platform, Runtime
from chatmd.shell.shape import Declared
from chatmd.shell.tool import Fixed, ShellTool
from chatml.diagnostics.suggest import did_you_mean
from chatml_shell.manifest.uses import Path, hooks, matchers, script_uses
from chatml_shell.problems import problem

NEEDED = {
    "capabilities": ("sandbox", "network", "child_processes", "arbitrary_code", "privilege_change"),
    "resolver": ("allow_relative_search_path",),
    "environment": ("inherit",),
    "limits": ("wall_time", "idle_time", "max_stdin", "stdout", "stderr", "total_output"),
    "policy": ("default",),
    "approvals": ("provider", "unavailable", "scopes", "durable"),
    "secrets": ("replacement",),
}
"""The settings that a runtime must have; the other limits may stay open."""


def check_runtime(runtime: Runtime, platform: Platform) -> Iterator[Diagnostic]:
    """What is wrong with one settled runtime by itself."""
    here = ("runtime", runtime.id)
    for section, names in NEEDED.items():
        for name in names:
            if getattr(getattr(runtime, section), name) is None:
                yield report("shell.unresolved_setting", runtime, (*here, section, name), runtime=runtime.id, name=name)
    if not fits(runtime, platform):
        yield report(
            "shell.incompatible_backend",
            runtime.backends if runtime.backends.span is not None else runtime,
            (*here, "backends"),
            runtime=runtime.id,
            sandbox=runtime.capabilities.sandbox,
            platform=platform,
        )
    for backend in runtime.backends.backends:
        if isinstance(backend, ExternalBackend):
            yield from _check_external(backend, (*here, "backends", backend.id or "external_backend"))
    yield from _check_matchers(runtime)


def matches_platform(backend: Backend, platform: Platform) -> bool:
    """Whether a backend is meant for a platform; on one that is not known only those for any platform are."""
    return backend.when in ("any", platform)


def confines(backend: Backend) -> bool:
    """Whether a backend claims to confine: an external one that claims nothing counts as starting directly."""
    return isinstance(backend, Seatbelt | Bubblewrap) or (
        isinstance(backend, ExternalBackend) and backend.confinement != "none"
    )


def fits(runtime: Runtime, platform: Platform) -> bool:
    """Whether the backends of a runtime can give it the sandbox that it asks for, on a platform."""
    declared = runtime.backends.backends
    here = [backend for backend in declared if matches_platform(backend, platform)]
    if runtime.capabilities.sandbox == "required":
        return any(confines(backend) for backend in here)
    if runtime.capabilities.sandbox == "direct_unsafe":
        return any(not confines(backend) for backend in here)
    return bool(declared)


def _check_external(backend: ExternalBackend, path: Path) -> Iterator[Diagnostic]:
    commands = sum(isinstance(atom, Part) and atom.kind == "command_argv" for atom in backend.atoms)
    if commands != 1:
        yield report("shell.external_backend_command_argv", backend, path, count=commands)
    if backend.confinement == "verified":
        yield report("shell.external_backend_unverifiable", backend, path, "confinement")


def _check_matchers(runtime: Runtime) -> Iterator[Diagnostic]:
    for use in matchers(runtime):
        matcher = use.declaration
        if isinstance(matcher, Joined) and not matcher.matchers:
            yield report("shell.empty_matcher", matcher, use.path, tag=matcher.kind)
        elif isinstance(matcher, TextMatcher) and matcher.kind == "program_regex" and not matcher.value:
            yield report("shell.empty_regex", matcher, use.path)
        elif isinstance(matcher, ArgvPrefix) and not all(matcher.values or ("",)):
            yield report("shell.invalid_argv_prefix", matcher, use.path)


def check_tool(tool: ShellTool, runtimes: Mapping[str, Runtime]) -> Iterator[Diagnostic]:
    """What is wrong with a tool: its runtime, the executable that it names, its bounds."""
    here = ("tool", tool.name)
    runtime = runtimes.get(tool.runtime)
    if runtime is None:
        yield unknown_runtime(tool, (*here, "runtime"), "runtime", tool.runtime, runtimes)
    mode = tool.mode
    if not isinstance(mode, Fixed):
        return
    place: Declared = mode.line or tool
    name = mode.executable_ref or (mode.line.executable_ref if mode.line is not None else None)
    known = [] if runtime is None else [one.id for one in runtime.resolver.executables]
    if name is not None and runtime is not None and name not in known:
        near = did_you_mean(name, known)
        path = (*here, "executable_ref")
        yield report("shell.unknown_executable", place, path, "executable_ref", near, id=name, runtime=runtime.id)
    least, most = mode.arguments.min_count, mode.arguments.max_count
    if least is not None and most is not None and least > most:
        path = (*here, "arguments")
        yield report("shell.invalid_argument_bounds", mode.arguments, path, "min_count", least=least, most=most)


def check_moderator(moderator: ModeratorRuntime, runtimes: Mapping[str, Runtime]) -> Iterator[Diagnostic]:
    """That the moderator's processes have a runtime."""
    if moderator.shell_runtime not in runtimes:
        yield unknown_runtime(moderator, ("moderator_runtime",), "shell_runtime", moderator.shell_runtime, runtimes)


def check_workers(runtime: Runtime, runtimes: Mapping[str, Runtime]) -> Iterator[Diagnostic]:
    """That the programs which extend a runtime have one to run in."""
    for use in hooks(runtime):
        worker = use.declaration.runtime
        if worker not in runtimes:
            near = did_you_mean(worker, runtimes)
            yield report("shell.unknown_worker_runtime", use.declaration, use.path, "runtime", near, id=worker)


def check_scripts(runtime: Runtime, scripts: Mapping[str, Script]) -> Iterator[Diagnostic]:
    """That the scripts which a runtime names are there and of the right kind."""
    for use in script_uses(runtime):
        script = scripts.get(use.script)
        if script is None:
            near = did_you_mean(use.script, scripts)
            yield report("shell.unknown_script", use.declaration, use.path, "script", near, id=use.script)
        elif script.kind != use.kind:
            facts = {"id": use.script, "kind": script.kind, "wanted": use.kind}
            yield report("shell.script_kind_mismatch", use.declaration, use.path, "script", **facts)


def unknown_runtime(at: Declared, path: Path, attribute: str, name: str, runtimes: Mapping[str, Runtime]) -> Diagnostic:
    """The finding that a reference leads to no runtime."""
    return report("shell.unknown_runtime", at, path, attribute, did_you_mean(name, runtimes), id=name)


def report(
    code: str, at: Any, path: Path, attribute: str | None = None, near: str | None = None, **facts: Any
) -> Diagnostic:
    """A finding at an attribute of a declaration, or at the declaration."""
    span = at.place(attribute) if isinstance(at, Declared) and attribute is not None else at.span
    return problem(code, span, path=path, source=at.source_record, help=near, **facts)


def duplicates(code: str, named: Iterable[tuple[str, Any]], kind: str) -> Iterator[Diagnostic]:
    """The findings that two declarations have the same name."""
    seen: dict[str, Any] = {}
    for name, one in named:
        first = seen.setdefault(name, one)
        if first is not one:
            labels = [(first.span, "the first one is here")] if first.span is not None else []
            yield problem(code, one.span, path=(kind, name), source=one.source_record, labels=labels, id=name)
