"""`<shell_access>`: a named shell runtime, as declared (shell.md section 3), and what a moderator uses."""

from __future__ import annotations

from typing import ClassVar

from chatmd.shell.backends import Backends
from chatmd.shell.extensions import Audit, EffectAnalysis, Interceptors, Reviewers
from chatmd.shell.policy import Policy
from chatmd.shell.sections import Approvals, Capabilities, Environment, Limits, Resolver, Secrets
from chatmd.shell.shape import Declared, attribute, child, declared, needed
from chatmd.shell.values import BOOL, PATH, REFERENCE, RUNTIME_ID
from chatmd.sources.paths import PathExpr


@declared
class ShellAccess(Declared):
    """A shell runtime as declared. `id` and `extends` are qualified; None is what it leaves to the runtime that it
    extends."""

    id: str = needed(RUNTIME_ID)
    extends: str | None = attribute(REFERENCE)
    cwd: PathExpr | None = attribute(PATH)
    pipefail: bool | None = attribute(BOOL)
    capabilities: Capabilities | None = child("capabilities", Capabilities)
    resolver: Resolver | None = child("resolver", Resolver)
    environment: Environment | None = child("environment", Environment)
    limits: Limits | None = child("limits", Limits)
    backends: Backends | None = child("backends", Backends)
    policy: Policy | None = child("policy", Policy)
    approvals: Approvals | None = child("approvals", Approvals)
    reviewers: Reviewers | None = child("reviewers", Reviewers, whole=True)
    interceptors: Interceptors | None = child("interceptors", Interceptors, whole=True)
    effect_analysis: EffectAnalysis | None = child("effect_analysis", EffectAnalysis, whole=True)
    secrets: Secrets | None = child("secrets", Secrets)
    audit: Audit | None = child("audit", Audit, whole=True)


@declared
class ModeratorRuntime(Declared):
    """The runtime in which the moderator's processes run, by its qualified id (section 4)."""

    text_code: ClassVar[str] = "shell.moderator_runtime_content"
    child_code: ClassVar[str] = "shell.moderator_runtime_content"
    shell_runtime: str = needed(REFERENCE)
