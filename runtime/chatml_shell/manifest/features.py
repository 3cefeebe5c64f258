"""What a host must be able to do for a document: feature ids, and what asks for them (section 9.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chatmd.shell.backends import Bubblewrap, Direct, ExternalBackend, Seatbelt
from chatmd.shell.runtime import Platform, Runtime
from chatmd.shell.sections import SecretLiteral
from chatmd.shell.tool import ShellTool, mode_of
from chatml_shell.manifest.checks import matches_platform
from chatml_shell.manifest.uses import hooks, model_reviewers, script_uses

BACKENDS = {
    Seatbelt: "shell.backend.seatbelt.v1",
    Bubblewrap: "shell.backend.bubblewrap.v1",
    Direct: "shell.backend.direct.v1",
    ExternalBackend: "shell.external_backend.v1",
}
MODES = {
    "fixed": "shell.tool.fixed.v1",
    "structured": "shell.tool.structured.v1",
    "chain": "shell.tool.chain.v1",
    "raw": "shell.tool.raw.v1",
    "script": "shell.tool.script.v1",
}
SCRIPTS = {
    "shell_matcher": "shell.chatml.matcher.v1",
    "shell_reviewer": "shell.chatml.reviewer.v1",
    "shell_before_interceptor": "shell.chatml.before_interceptor.v1",
    "shell_after_interceptor": "shell.chatml.after_interceptor.v1",
    "shell_effect_analyzer": "shell.chatml.effect_analyzer.v1",
    "shell_audit_filter": "shell.chatml.audit_filter.v1",
}
RESOURCE_LIMITS = "shell.resource_limits.v1"
LITERAL_SECRETS = "shell.secret.literal.v1"
MODEL_REVIEWERS = "shell.model_reviewer.v1"
HOOKS = "shell.executable_hooks.v1"
SYSTEM_LIMITS = ("cpu_time", "memory", "file_size", "open_files")

ALL = frozenset(
    (
        *BACKENDS.values(),
        *MODES.values(),
        *SCRIPTS.values(),
        RESOURCE_LIMITS,
        LITERAL_SECRETS,
        MODEL_REVIEWERS,
        HOOKS,
    )
)
"""Every feature; this implementation has them all. Whether a backend is there on a machine is seen when it starts."""


def required_features(runtimes: Iterable[Runtime], tools: Iterable[ShellTool], platform: Platform) -> list[str]:
    """The features that some runtimes and tools need on a platform, sorted."""
    needed = {MODES[mode_of(tool)] for tool in tools}
    for runtime in runtimes:
        needed.update(_features_of(runtime, platform))
    return sorted(needed)


def _features_of(runtime: Runtime, platform: Platform) -> Iterator[str]:
    yield from (BACKENDS[type(one)] for one in runtime.backends.backends if matches_platform(one, platform))
    if any(isinstance(getattr(runtime.limits, name), int | float) for name in SYSTEM_LIMITS):
        yield RESOURCE_LIMITS
    if any(isinstance(source, SecretLiteral) for source in runtime.secrets.sources):
        yield LITERAL_SECRETS
    yield from (SCRIPTS[use.kind] for use in script_uses(runtime))
    yield from (MODEL_REVIEWERS for _ in model_reviewers(runtime))
    yield from (HOOKS for _ in hooks(runtime))
