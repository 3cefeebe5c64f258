"""A live runtime: everything that decides about its commands, and everything that they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from chatml_shell.admin.policy import AdminPolicy
from chatml_shell.approvals.review import Approvals
from chatml_shell.audit.recorder import Recorder
from chatml_shell.backends.backend import Backend
from chatml_shell.live.extension import LiveAfter, LiveAnalyzer, LiveBefore
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.grants import Bounds, Grants
from chatml_shell.policy.decide import LivePolicy
from chatml_shell.resolver.resolve import Resolver


@attrs.frozen(kw_only=True, eq=False)
class LiveRuntime:
    """One runtime of an authorised manifest. `environment` is what every command gets, complete."""

    id: str
    manifest_sha256: str
    session_id: str | None
    cwd: str
    pipefail: bool
    grants: Grants
    bounds: Bounds
    resolver: Resolver
    environment: Mapping[str, str] = attrs.field(repr=False)
    redactor: Redactor = attrs.field(repr=False)
    admin: AdminPolicy
    policy: LivePolicy
    approvals: Approvals
    analyzers: Sequence[LiveAnalyzer]
    before: Sequence[LiveBefore]
    after: Sequence[LiveAfter]
    backends: Sequence[Backend]
    runner: Executable | None
    recorder: Recorder
