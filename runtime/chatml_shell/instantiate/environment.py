"""The variables of commands: what is inherited, what is done to it in order, and what never passes (section 18.1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import attrs

from chatmd.report.problems import Diagnostic
from chatmd.shell.sections import Environment, Pass, PathEntry, PathFromEnv, Set, Unset
from chatmd.sources.paths import PathExpr
from chatml_shell.errors import ShellError
from chatml_shell.problems import problem

DOUBTFUL = frozenset(("ENV", "BASH_ENV", "SHELLOPTS", "CDPATH", "IFS"))
DOUBTFUL_PREFIXES = ("DYLD_", "LD_", "PYTHON", "RUBY", "PERL", "GIT_", "BASH_", "ZDOTDIR")
"""What `safe` and `all_sanitized` do not inherit: variables that make programs run other code."""

NEVER = frozenset(
    (
        "BASH_ENV",
        "ENV",
        "IFS",
        "PYTHONHOME",
        "PYTHONPATH",
        "RUBYLIB",
        "PERL5LIB",
        "NODE_OPTIONS",
        "GIT_EXEC_PATH",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
    )
)
NEVER_PREFIXES = ("DYLD_", "LD_")
"""What no command gets, whatever a declaration says."""

FALLBACK_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
ALWAYS = {"PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb", "NO_COLOR": "1"}


@attrs.frozen
class Variables:
    """The variables of a runtime's commands, and those of their values that are secret."""

    values: Mapping[str, str] = attrs.field(repr=False)
    secrets: tuple[str, ...] = attrs.field(repr=False)


def build_variables(
    section: Environment, inherited: Mapping[str, str], path: Callable[[PathExpr], str], runtime: str
) -> Variables:
    """The variables that a section makes of those of the host.

    Raises `ShellError`: `shell.environment_missing`, `shell.environment_nul`.
    """
    values = _started(section.inherit, inherited)
    secrets: list[str] = []
    findings: list[Diagnostic] = []

    def report(code: str, name: str) -> None:
        findings.append(problem(code, section.span, path=("runtime", runtime, "environment", name), name=name))

    for operation in section.operations:
        if isinstance(operation, Set):
            if "\0" in operation.value:
                report("shell.environment_nul", operation.name)
            values[operation.name] = operation.value
        elif isinstance(operation, Pass):
            if operation.name in inherited:
                values[operation.name] = inherited[operation.name]
                secrets += [inherited[operation.name]] if operation.secret else []
            elif operation.required:
                report("shell.environment_missing", operation.name)
        elif isinstance(operation, Unset):
            values.pop(operation.name, None)
        elif isinstance(operation, PathEntry):
            before, after = operation.prepend, operation.append
            parts = [*([path(before)] if before else []), values.get("PATH", ""), *([path(after)] if after else [])]
            values["PATH"] = ":".join(parts)
        elif isinstance(operation, PathFromEnv):
            if operation.name in inherited:
                entry = inherited[operation.name] + (operation.suffix or "")
                old = values.get("PATH", "")
                values["PATH"] = f"{entry}:{old}" if operation.position == "prepend" else f"{old}:{entry}"
            elif operation.required:
                report("shell.environment_missing", operation.name)
        else:
            values = {name: value for name, value in values.items() if not name.startswith(operation.value)}
    if findings:
        raise ShellError(findings)
    return Variables(cleaned(values), tuple(secrets))


def _started(inherit: str | None, inherited: Mapping[str, str]) -> dict[str, str]:
    if inherit == "raw":
        return dict(inherited)
    if inherit in ("safe", "all_sanitized"):
        return {
            name: value
            for name, value in inherited.items()
            if name not in DOUBTFUL and not name.startswith(DOUBTFUL_PREFIXES)
        }
    return {}


def cleaned(values: Mapping[str, str]) -> dict[str, str]:
    """Variables without those that no command gets, a search path of absolute directories, and no pager and no colour.

    >>> cleaned({"LD_PRELOAD": "x", "PATH": ".:/bin::/bin:/usr/bin"})["PATH"]
    '/bin:/usr/bin'
    """
    kept = {name: value for name, value in values.items() if name not in NEVER and not name.startswith(NEVER_PREFIXES)}
    entries = dict.fromkeys(entry for entry in kept.get("PATH", "").split(":") if os.path.isabs(entry))
    return {**kept, "PATH": ":".join(entries) or FALLBACK_PATH, **ALWAYS}
