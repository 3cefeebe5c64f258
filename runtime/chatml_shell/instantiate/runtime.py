"""One runtime made live, in the order of section 11.2."""

from __future__ import annotations

import os
from collections.abc import Mapping

import attrs

from chatmd.shell.runtime import Platform, Runtime
from chatmd.sources.paths import InvalidPathError, PathExpr
from chatml_shell.admin.policy import AdminPolicy
from chatml_shell.approvals.review import Approvals
from chatml_shell.audit.recorder import open_recorder
from chatml_shell.backends.backend import Backend
from chatml_shell.backends.choose import fitting, why_not
from chatml_shell.backends.limits import enforceable, prepare_runner
from chatml_shell.backends.opening import open_backends
from chatml_shell.extensions.adapters import ScriptHost
from chatml_shell.extensions.instances import Instances
from chatml_shell.instantiate.authority import PathOf, bounds_of, grants_of, resolver_of
from chatml_shell.instantiate.environment import build_variables
from chatml_shell.instantiate.extensions import Extending
from chatml_shell.instantiate.host import Host
from chatml_shell.instantiate.secrets import load_secrets
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.manifest.features import RESOURCE_LIMITS
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.grants import Bounds
from chatml_shell.policy.decide import live_policy
from chatml_shell.policy.expressions import compile_expression
from chatml_shell.policy.matcher import Tools
from chatml_shell.problems import fault
from chatml_shell.processes.launcher import Launcher
from chatml_shell.resolver.files import canonical

RUNNER = "OCHAT_SHELL_RESOURCE_RUNNER"


@attrs.frozen(kw_only=True)
class Making:
    """What all runtimes of a registry are made of."""

    manifest_sha256: str
    platform: Platform
    host: Host
    admin: AdminPolicy
    instances: Instances
    launcher: Launcher

    def path(self, expression: PathExpr) -> str:
        """Where an expression leads here. Raises `ShellError` (`shell.directory_unavailable`)."""
        try:
            return self.host.paths.resolve(expression)
        except InvalidPathError as error:
            facts = {"directory": expression.canonical, "why": str(error)}
            raise fault("shell.directory_unavailable", None, path=("host",), **facts) from None


async def make_runtime(runtime: Runtime, making: Making, workers: Mapping[str, LiveRuntime]) -> LiveRuntime:
    """A live runtime; `workers` are those that have been made. Raises `ShellError` (phase *instantiate*)."""
    host, path = making.host, making.path
    variables = build_variables(runtime.environment, host.environment, path, runtime.id)
    secrets = load_secrets(runtime.secrets, host.environment, path, runtime.id)
    redactor = Redactor((*variables.secrets, *secrets), runtime.secrets.replacement or "[REDACTED]")
    cwd = _directory(runtime, path)
    grants = grants_of(runtime, host.environment, path)
    bounds = bounds_of(runtime)
    resolver = resolver_of(runtime, variables.values["PATH"], path)
    scripts = ScriptHost(making.instances, runtime.id, grants, redactor)
    matching = Tools(path, compile_expression, scripts.matches)
    policy = live_policy(runtime.policy, matching)
    backends = await _backends(runtime, making)
    runner = _runner(runtime, bounds, host)
    extending = Extending(
        runtime=runtime,
        host=host,
        scripts=scripts,
        workers=workers,
        launcher=making.launcher,
        path=path,
        matching=matching,
    )
    before, after = extending.interceptors()
    analyzers, approvals = extending.analyzers(), _approvals(runtime, host, extending)
    recorder = open_recorder(
        runtime.audit,
        path=path,
        session_dir=host.paths.session_dir,
        filter=extending.audit_filter(),
        clock=host.clock,
        runtime=runtime.id,
    )
    return LiveRuntime(
        id=runtime.id,
        manifest_sha256=making.manifest_sha256,
        session_id=host.session_id,
        cwd=cwd,
        pipefail=runtime.pipefail,
        grants=grants,
        bounds=bounds,
        resolver=resolver,
        environment=variables.values,
        redactor=redactor,
        admin=making.admin,
        policy=policy,
        approvals=approvals,
        analyzers=analyzers,
        before=before,
        after=after,
        backends=backends,
        runner=runner,
        recorder=recorder,
    )


def _approvals(runtime: Runtime, host: Host, extending: Extending) -> Approvals:
    return Approvals(
        reviewers=extending.reviewers(),
        asks_person=runtime.approvals.provider == "ui",
        provider=host.provider,
        scopes=runtime.approvals.scopes or (),
        session=host.session_grants,
        durable=host.durable_grants,
        session_id=host.session_id,
        clock=host.clock,
    )


def _directory(runtime: Runtime, path: PathOf) -> str:
    directory = canonical(path(runtime.cwd))
    if not os.path.isdir(directory):
        facts = {"directory": directory, "why": "it is not a directory that exists"}
        raise fault("shell.directory_unavailable", runtime.span, path=("runtime", runtime.id, "cwd"), **facts)
    return directory


async def _backends(runtime: Runtime, making: Making) -> tuple[Backend, ...]:
    """The backends that may run commands here; one of the class that the runtime asks for must be there (E-21)."""
    if making.host.backends is not None:
        backends = tuple(making.host.backends)
    else:
        backends = await open_backends(runtime.backends, making.platform, making.path)
    sandbox = runtime.capabilities.sandbox or "required"
    if fitting(backends, sandbox) is None:
        facts = {"runtime": runtime.id, "sandbox": sandbox, "why": why_not(backends)}
        raise fault("shell.backend_unavailable", runtime.span, path=("runtime", runtime.id, "backends"), **facts)
    return backends


def _runner(runtime: Runtime, bounds: Bounds, host: Host) -> Executable | None:
    """What keeps the limits that only the system can keep; a machine that cannot keep them is found out now (E-04)."""
    if not bounds.by_system:
        return None
    runner = prepare_runner(host.environment.get(RUNNER))
    why = enforceable(bounds, runner)
    if why is not None:
        path = ("features", RESOURCE_LIMITS)
        raise fault("shell.unsupported_feature", runtime.limits.span, path=path, feature=f"{RESOURCE_LIMITS} ({why})")
    return runner
