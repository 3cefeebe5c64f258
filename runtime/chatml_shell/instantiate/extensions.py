"""The extensions of a runtime made live: scripts, programs, models and people (sections 8, 16 and 17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from chatmd.shell.extensions import (
    Hook,
    HookAnalyzer,
    HookInterceptor,
    HookReviewer,
    ModelReviewer,
    ScriptAnalyzer,
    ScriptInterceptor,
    ScriptReviewer,
    ScriptRun,
)
from chatmd.shell.runtime import Runtime
from chatml_shell.approvals.model_reviewer import model_reviewer
from chatml_shell.approvals.review import LiveReviewer, person
from chatml_shell.audit.recorder import Filter
from chatml_shell.errors import Refusal
from chatml_shell.extensions.adapters import ScriptHost
from chatml_shell.hooks import adapters
from chatml_shell.hooks.call import MAX_INPUT, MAX_OUTPUT, LiveHook
from chatml_shell.instantiate.authority import PathOf
from chatml_shell.instantiate.host import Host
from chatml_shell.live.extension import LiveAfter, LiveAnalyzer, LiveBefore
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.manifest.uses import hook_kind
from chatml_shell.policy.matcher import Program, Tools, compile_matcher
from chatml_shell.problems import fault
from chatml_shell.processes.launcher import Launcher
from chatml_shell.resolver.resolve import Alias, Resolver, pin


@attrs.frozen(kw_only=True)
class Extending:
    """What the extensions of one runtime are made of."""

    runtime: Runtime
    host: Host
    scripts: ScriptHost
    workers: Mapping[str, LiveRuntime]
    launcher: Launcher
    path: PathOf
    matching: Tools

    def reviewers(self) -> list[LiveReviewer]:
        """The reviewers in order."""
        made = []
        for declared in self.runtime.reviewers.reviewers:
            if isinstance(declared, ScriptReviewer):
                made.append(self.scripts.reviewer(declared))
            elif isinstance(declared, ModelReviewer):
                made.append(model_reviewer(declared, self.host.complete))
            elif isinstance(declared, HookReviewer):
                hook = self._hook(declared, declared.id)
                grants, redactor = self.scripts.grants, self.scripts.redactor
                made.append(adapters.reviewer(declared, declared.failure, hook, grants, redactor))
            else:
                made.append(person(declared.id, self.host.provider))
        return made

    def analyzers(self) -> list[LiveAnalyzer]:
        """The analyzers in order."""
        made = []
        for declared in self.runtime.effect_analysis.analyzers:
            if isinstance(declared, ScriptAnalyzer):
                made.append(self.scripts.analyzer(declared))
            elif isinstance(declared, HookAnalyzer):
                hook = self._hook(declared, declared.id)
                made.append(adapters.analyzer(declared, hook, self.scripts.grants, self.scripts.redactor))
        return made

    def interceptors(self) -> tuple[list[LiveBefore], list[LiveAfter]]:
        """The interceptors of both phases, each in order."""
        before: list[LiveBefore] = []
        after: list[LiveAfter] = []
        grants, redactor = self.scripts.grants, self.scripts.redactor
        for declared in self.runtime.interceptors.interceptors:
            hook = self._hook(declared, declared.id) if isinstance(declared, HookInterceptor) else None
            if declared.phase == "before":
                match = self._match(declared)
                if hook is not None:
                    before.append(adapters.before(declared, match, hook, grants, redactor))
                elif isinstance(declared, ScriptInterceptor):
                    before.append(self.scripts.before(declared, match))
            elif hook is not None:
                after.append(adapters.after(declared, hook, redactor))
            elif isinstance(declared, ScriptInterceptor):
                after.append(self.scripts.after(declared))
        return before, after

    def audit_filter(self) -> Filter | None:
        """The filter of the audit."""
        declared = self.runtime.audit.filter
        if declared is None:
            return None
        if isinstance(declared, ScriptRun):
            return self.scripts.audit_filter(declared)
        return adapters.audit_filter(self._hook(declared, "filter"))

    def _match(self, declared: Any) -> Program | None:
        return None if declared.match is None else compile_matcher(declared.match.matcher, self.matching)

    def _hook(self, declared: Hook, name: str) -> LiveHook:
        """A program, pinned to the file that is there now, in a worker that knows it under a name of its own.

        Raises `ShellError`: `shell.worker_runtime_unavailable`, `shell.hook_executable_unavailable`,
        `shell.hook_digest_mismatch`.
        """
        here = ("runtime", self.runtime.id, name)
        worker = self.workers.get(declared.runtime)
        if worker is None:
            raise fault("shell.worker_runtime_unavailable", declared.span, path=here, id=declared.runtime)
        file = self.path(declared.executable)
        try:
            found = pin(file)
        except Refusal as refusal:
            raise fault("shell.hook_executable_unavailable", declared.span, path=here, why=refusal.reason) from None
        if declared.sha256 is not None and declared.sha256.lower() != found.sha256:
            facts = {"file": file, "sha256": found.sha256}
            raise fault("shell.hook_digest_mismatch", declared.span, path=here, **facts)
        aliases = {**worker.resolver.aliases, file: Alias(file, found.sha256)}
        resolver = Resolver(aliases, worker.resolver.search_path, worker.resolver.trusted_roots)
        return LiveHook(
            id=name,
            kind=hook_kind(declared),
            program=file,
            worker=attrs.evolve(worker, resolver=resolver),
            launcher=self.launcher,
            timeout=declared.timeout,
            max_input=declared.max_input or MAX_INPUT,
            max_output=declared.max_output or MAX_OUTPUT,
        )
