"""The findings of the shell runtime: facts in, one wording per code out (shell.md section 23).

A phase says `raise fault("shell.backend_unavailable", span, path=…, runtime=…)`; the sentence and the help are decided
here. Each code has an entry in `chatml_shell/catalogue/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chatmd.report import problems as documents
from chatmd.report.problems import Diagnostic, worded
from chatmd.report.wording import Wording
from chatml.source import Span
from chatml_shell.errors import ShellError

FILES_CHANGE = "if the change is meant, update the digest in the declaration and authorise the new manifest"

WORDINGS: dict[str, Wording] = {
    # the manifest
    "shell.duplicate_tool": Wording("another shell tool is called `{id}`", "give each tool its own name"),
    "shell.duplicate_script": Wording("another script has the id `{id}`", "give each script its own id"),
    "shell.unresolved_setting": Wording("the runtime `{runtime}` has no value for `{name}`"),
    "shell.incompatible_backend": Wording(
        "no backend of `{runtime}` gives it `sandbox={sandbox}` on platform {platform}",
        "`required` needs a backend that confines, `direct_unsafe` one that does not; `when` must fit the platform",
    ),
    "shell.empty_matcher": documents.WORDINGS["shell.empty_matcher"],
    "shell.empty_regex": Wording("this regular expression is empty and would match every program"),
    "shell.invalid_argv_prefix": Wording("this prefix of words has an empty word, or none"),
    "shell.external_backend_command_argv": Wording(
        "an external backend runs the command with `<command_argv/>` exactly once, not {count} times"
    ),
    "shell.external_backend_unverifiable": Wording(
        "the confinement of an external backend cannot be verified",
        'write `confinement="declared"` and decide about it with `accept_declared_confinement`',
    ),
    "shell.unknown_runtime": documents.WORDINGS["shell.unknown_runtime"],
    "shell.unknown_executable": Wording(
        "the runtime `{runtime}` has no executable `{id}`", "declare it in `<resolver>` with `<executable>`"
    ),
    "shell.invalid_argument_bounds": Wording("at least {least} arguments and at most {most} fit nothing"),
    "shell.unknown_worker_runtime": Wording("there is no runtime `{id}` for this hook to run in"),
    "shell.runtime_dependency_cycle": Wording(
        "the runtime of a hook needs itself: {route}", "run hooks in a runtime without hooks of that kind"
    ),
    "shell.unknown_script": Wording("there is no shell script `{id}`", 'declare it with `<script id="...">`'),
    "shell.script_kind_mismatch": Wording("the script `{id}` is of kind `{kind}`; this place takes `{wanted}`"),
    "shell.unsupported_feature": Wording("this host has not the feature `{feature}`, which the document needs"),
    "shell.manifest_material_mismatch": Wording("the manifest {sha256} does not describe the runtimes at hand"),
    "chatmd.unused_script": Wording(
        "no runtime refers to the script `{id}`", "refer to it, or take it out: it never runs", "warning"
    ),
}


def problem(code: str, span: Span | None, **facts: Any) -> Diagnostic:
    """The finding of a code of this package. Keywords as in `chatmd.report.problems.worded`."""
    return worded(WORDINGS[code], code, span, **facts)


def fault(code: str, span: Span | None, **facts: Any) -> ShellError:
    """The exception for one finding, ready to be raised."""
    return ShellError([problem(code, span, **facts)])


def sorted_findings(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings without repetitions in the order of reports: by code, path and message (section 9.1)."""
    found = {(one.code, one.path, one.message): one for one in findings}
    return [found[key] for key in sorted(found)]
