"""Scripts of the shell compiled: each on the surface of its kind, its entry point held to its type (section 8.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from chatmd.elements.script import ShellScript
from chatmd.report.problems import Diagnostic
from chatmd.shell.policy import ScriptMatcher
from chatml.builtins.schemes import task
from chatml.builtins.shell import AUDIT_TYPE, CONTEXT_TYPE, RESULT_TYPE
from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic as Finding
from chatml.pipeline import Program, compile
from chatml.surfaces.shell import SHELL_SURFACES
from chatml.types.model import Fun, Type, Var
from chatml_runtime.moderation.documents import script_source
from chatml_shell.errors import ShellError
from chatml_shell.manifest.record import Manifest
from chatml_shell.manifest.uses import ENTRY_POINTS, matchers
from chatml_shell.problems import problem, sorted_findings

INPUTS: Mapping[str, Type] = {
    "shell_after_interceptor": RESULT_TYPE,
    "shell_audit_filter": AUDIT_TYPE,
}
"""What a kind of script is given; the others get a context."""

STATE = Var("state")
INITIAL = "initial_state"


@attrs.frozen(eq=False)
class CompiledExtension:
    """A script of the shell and its program; it may be run by any number of sessions."""

    script: ShellScript
    program: Program


def compile_extensions(manifest: Manifest) -> dict[str, CompiledExtension]:
    """The scripts that a manifest uses, compiled, under their ids.

    Raises `ShellError` (`shell.chatml_compile`) with a finding for each of their problems.
    """
    functions: dict[str, set[str]] = {}
    for runtime in manifest.material.runtimes.values():
        for use in matchers(runtime):
            if isinstance(use.declaration, ScriptMatcher):
                functions.setdefault(use.declaration.script, set()).add(use.declaration.function)
    compiled: dict[str, CompiledExtension] = {}
    findings: list[Diagnostic] = []
    for script in manifest.material.scripts.values():
        try:
            names = functions.get(script.id, {ENTRY_POINTS[script.kind]})
            compiled[script.id] = compile_extension(script, sorted(names))
        except ShellError as error:
            findings += error.diagnostics
    if findings:
        raise ShellError(sorted_findings(findings))
    return compiled


def compile_extension(script: ShellScript, functions: Iterable[str] = ()) -> CompiledExtension:
    """One script, its entry points checked: those of some names, or that of its kind. Raises `ShellError`
    (`shell.chatml_compile`)."""
    try:
        program = compile(script_source(script), surface=SHELL_SURFACES[script.kind])
    except CompileError as error:
        raise ShellError([_finding(script, one) for one in error.diagnostics if one.severity == "error"]) from None
    problems = [
        why
        for name in (list(functions) or [ENTRY_POINTS[script.kind]])
        for why in _contract(program, name, INPUTS.get(script.kind, CONTEXT_TYPE))
    ]
    if problems:
        raise ShellError([_problem(script, why) for why in dict.fromkeys(problems)])
    return CompiledExtension(script, program)


def _contract(program: Program, function: str, given: Type) -> list[str]:
    """Why a script cannot be called: a binding that is missing, or of another type."""
    contract = program.checked.contract()
    missing = [name for name in (INITIAL, function) if name not in contract.types]
    if missing:
        return [f"it must define `{name}`" for name in missing]
    wanted = Fun([given, STATE], task(STATE))
    if contract.fit(function, wanted) is not None:
        shown = program.checked.show(function)
        return [f"`{function}` must take its input and a state and return a task of the state, and it is `{shown}`"]
    if contract.fit(INITIAL, STATE) is not None:
        state = contract.show(STATE)
        return [f"`{INITIAL}` is `{program.checked.show(INITIAL)}`, and `{function}` takes a state of type `{state}`"]
    return []


def _finding(script: ShellScript, finding: Finding) -> Diagnostic:
    """A problem of a script as one of the document that declares it."""
    labels = [(label.span, label.text) for label in finding.labels]
    return problem(
        "shell.chatml_compile",
        finding.span,
        path=("script", script.id),
        source=script.source_record,
        labels=labels,
        notes=finding.notes,
        help=finding.help,
        id=script.id,
        why=finding.message,
    )


def _problem(script: ShellScript, why: str) -> Diagnostic:
    path, record = ("script", script.id), script.source_record
    return problem("shell.chatml_compile", script.span, path=path, source=record, id=script.id, why=why)
