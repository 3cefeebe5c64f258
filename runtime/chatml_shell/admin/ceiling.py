"""The ceiling over what a document declares: every violation, each with what is asked and what is allowed.

A violation is a row: the code, and a function that yields what a runtime asks for beyond the policy. The rows are in
the order of shell.md section 10.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from chatmd.report.problems import Diagnostic
from chatmd.shell.backends import Direct, ExternalBackend
from chatmd.shell.extensions import HookReviewer, ModelReviewer, Reviewer, ScriptReviewer
from chatmd.shell.runtime import Runtime
from chatmd.shell.sections import Root
from chatmd.shell.tool import Raw
from chatmd.shell.values import CLEAR
from chatmd.sources.paths import HostPaths, InvalidPathError
from chatml_shell.admin.policy import AdminPolicy
from chatml_shell.manifest.checks import matches_platform
from chatml_shell.manifest.record import YOLO, Manifest
from chatml_shell.manifest.uses import extensions
from chatml_shell.problems import problem, sorted_findings
from chatml_shell.resolver.files import within


@attrs.frozen
class Asked:
    """A policy, and a runtime that is held against it."""

    policy: AdminPolicy
    runtime: Runtime
    manifest: Manifest
    hosts: HostPaths


Excess = Iterator[tuple[str, str]]
"""What is asked for beyond the policy, and what the policy allows, in words."""


def violations(policy: AdminPolicy, manifest: Manifest, hosts: HostPaths) -> list[Diagnostic]:
    """Every way in which a manifest asks for more than the administrator allows; none for none."""
    found = []
    for runtime in manifest.material.runtimes.values():
        asked = Asked(policy, runtime, manifest, hosts)
        for code, excess in ROWS.items():
            found += [
                problem(
                    code,
                    runtime.span,
                    path=("runtime", runtime.id),
                    source=runtime.source_record,
                    runtime=runtime.id,
                    requested=requested,
                    ceiling=ceiling,
                    policy=policy.source,
                )
                for requested, ceiling in excess(asked)
            ]
    return sorted_findings(found)


def _power(name: str) -> Callable[[Asked], Excess]:
    def excess(asked: Asked) -> Excess:
        if getattr(asked.runtime.capabilities, name) and not getattr(asked.policy, f"allow_{name}"):
            yield f"{name}=true", "false"

    return excess


def _sandbox(asked: Asked) -> Excess:
    if asked.policy.require_sandbox and asked.runtime.capabilities.sandbox == "direct_unsafe":
        yield "sandbox=direct_unsafe", "a sandbox"


def _roots(kind: str) -> Callable[[Asked], Excess]:
    def excess(asked: Asked) -> Excess:
        allowed: Iterable[str] | None = getattr(asked.policy, f"allowed_{kind}_roots")
        for root in getattr(asked.runtime.capabilities, kind) if allowed is not None else ():
            if not _is_allowed(root, allowed or (), asked.hosts):
                yield f"{kind} {_shown(root)}", ", ".join(allowed or ()) or "no root"

    return excess


def _is_allowed(root: Root, allowed: Iterable[str], hosts: HostPaths) -> bool:
    """Whether a root lies below an allowed one; what the environment names is not known now, so it never does."""
    if root.path is None:
        return False
    try:
        return within(hosts.resolve(root.path), allowed)
    except InvalidPathError:
        return False


def _shown(root: Root) -> str:
    return f"${root.path_env}" if root.path is None else root.path.from_root


def _direct(asked: Asked) -> Excess:
    if not asked.policy.allow_direct_backend:
        for backend in asked.runtime.backends.backends:
            if isinstance(backend, Direct) and matches_platform(backend, asked.manifest.platform):
                yield f"the backend {backend.id or 'direct'}", "no direct backend"


def _declared(asked: Asked) -> Excess:
    if asked.runtime.backends.accept_declared_confinement and not asked.policy.allow_declared_confinement:
        yield "accept_declared_confinement=true", "false"


def _external(asked: Asked) -> Excess:
    for backend in asked.runtime.backends.backends if not asked.policy.allow_external_backends else ():
        if isinstance(backend, ExternalBackend):
            yield f"the external backend {backend.executable.from_root}", "none"


def _hashes(asked: Asked) -> Excess:
    for executable in asked.runtime.resolver.executables if asked.policy.require_executable_hashes else ():
        if executable.sha256 is None:
            yield f"the executable {executable.id} without digest", "a digest for each"


def _trusted(asked: Asked) -> Excess:
    for executable in asked.runtime.resolver.executables if asked.policy.require_trusted_executables else ():
        if not executable.trusted:
            yield f"the executable {executable.id}, not trusted", "trusted ones"


def _reviewers(asked: Asked) -> Excess:
    allowed = asked.policy.allowed_reviewer_kinds
    for reviewer in asked.runtime.reviewers.reviewers if allowed is not None else ():
        if reviewer_kind(reviewer) not in (allowed or ()):
            yield f"the reviewer {reviewer.id} of kind {reviewer_kind(reviewer)}", ", ".join(allowed or ()) or "none"


def reviewer_kind(reviewer: Reviewer) -> str:
    """The kind of a reviewer, as documents spell it."""
    kinds = {ScriptReviewer: "chatml", ModelReviewer: "model", HookReviewer: "executable"}
    return kinds.get(type(reviewer), "ui")


def _scopes(asked: Asked) -> Excess:
    for scope in asked.runtime.approvals.scopes or ():
        if scope not in asked.policy.allowed_approval_scopes:
            yield f"the scope {scope}", ", ".join(asked.policy.allowed_approval_scopes) or "none"


def _audit(asked: Asked) -> Excess:
    if asked.policy.require_audit and asked.runtime.audit.format == "none":
        yield "no audit", "an audit"


def _durable_audit(asked: Asked) -> Excess:
    if asked.policy.require_durable_audit and asked.runtime.audit.format not in ("jsonl", "session"):
        yield f"the audit {asked.runtime.audit.format}", "jsonl or session"


def _limit(name: str) -> Callable[[Asked], Excess]:
    def excess(asked: Asked) -> Excess:
        ceiling = asked.policy.limits.get(name)
        value = getattr(asked.runtime.limits, name)
        if ceiling is not None and (value is None or value is CLEAR or value > ceiling):
            yield f"{name} of {'any size' if value is None or value is CLEAR else value}", str(ceiling)

    return excess


def _yolo(asked: Asked) -> Excess:
    if asked.runtime.resolved_profile == YOLO and not asked.policy.allow_yolo:
        yield f"the profile {YOLO}", "other profiles"


def _hooks(asked: Asked) -> Excess:
    if not asked.policy.allow_hooks:
        for use in extensions(asked.runtime):
            yield f"the extension {'.'.join(use.path[2:])}", "no extension"


def _raw_prefix(asked: Asked) -> Excess:
    if asked.policy.allow_raw_prefix_grants or "prefix_session" not in (asked.runtime.approvals.scopes or ()):
        return
    for tool in asked.manifest.material.tools.values():
        if isinstance(tool.mode, Raw) and tool.runtime == asked.runtime.id:
            yield f"prefix_session for the raw tool {tool.name}", "other scopes"


ROWS: dict[str, Callable[[Asked], Excess]] = {
    "shell.admin_network_denied": _power("network"),
    "shell.admin_child_processes_denied": _power("child_processes"),
    "shell.admin_arbitrary_code_denied": _power("arbitrary_code"),
    "shell.admin_privilege_change_denied": _power("privilege_change"),
    "shell.admin_sandbox_required": _sandbox,
    "shell.admin_read_root_denied": _roots("read"),
    "shell.admin_write_root_denied": _roots("write"),
    "shell.admin_direct_backend_denied": _direct,
    "shell.admin_declared_confinement_denied": _declared,
    "shell.admin_external_backend_denied": _external,
    "shell.admin_executable_hash_required": _hashes,
    "shell.admin_trusted_executable_required": _trusted,
    "shell.admin_reviewer_denied": _reviewers,
    "shell.admin_approval_scope_denied": _scopes,
    "shell.admin_audit_required": _audit,
    "shell.admin_durable_audit_required": _durable_audit,
    "shell.admin_limit_wall_time": _limit("wall_time"),
    "shell.admin_limit_idle_time": _limit("idle_time"),
    "shell.admin_limit_cpu_time": _limit("cpu_time"),
    "shell.admin_limit_max_stdin": _limit("max_stdin"),
    "shell.admin_limit_stdout": _limit("stdout"),
    "shell.admin_limit_stderr": _limit("stderr"),
    "shell.admin_limit_total_output": _limit("total_output"),
    "shell.admin_limit_memory": _limit("memory"),
    "shell.admin_limit_file_size": _limit("file_size"),
    "shell.admin_limit_open_files": _limit("open_files"),
    "shell.admin_yolo_denied": _yolo,
    "shell.admin_hooks_denied": _hooks,
    "shell.admin_raw_prefix_grant_denied": _raw_prefix,
}
"""What the policy can forbid in a runtime, by the code of the finding."""
