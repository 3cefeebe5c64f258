"""Preparing one command: the order of review, one step below the other (section 13, P1 to P14).

The order is the security property. Nobody is asked about what is forbidden; an approval adds no capability; what
rewrites a command starts the review again with the new words; the last thing before a plan is that a script is still
the one that was looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import attrs

from chatml_shell.admin.commands import denial
from chatml_shell.approvals.identity import hash_parts, identify
from chatml_shell.approvals.review import approve
from chatml_shell.audit.events import EventName
from chatml_shell.backends.backend import Backend
from chatml_shell.backends.choose import choose
from chatml_shell.effects.capabilities import check_capabilities
from chatml_shell.effects.effect import Effects, joined, unknown
from chatml_shell.effects.table import builtin_effects
from chatml_shell.errors import Refusal
from chatml_shell.executor.job import Job
from chatml_shell.executor.numbers import next_id
from chatml_shell.executor.script_file import check_launcher, check_text
from chatml_shell.live.extension import (
    LENIENT,
    Continue,
    ExtensionFailed,
    LiveAnalyzer,
    LiveBefore,
    Replaced,
    Respond,
    RewriteTo,
)
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.plans.command import Command
from chatml_shell.plans.plan import Order, Plan
from chatml_shell.policy.decide import Decision, failing
from chatml_shell.policy.subject import Stdin, Subject

MOST_REWRITES = 12


@attrs.frozen(kw_only=True)
class Planned:
    """A command that may run, and exactly how; `upstream` is the identity of the stage that writes its input."""

    subject: Subject
    plan: Plan
    backend: Backend
    upstream: str

    @property
    def identity(self) -> str:
        """What stands for the command where a later stage reads its output."""
        return identify(self.subject, self.upstream).command_hash


@attrs.frozen(kw_only=True)
class Synthetic:
    """A command that an interceptor has answered: nothing is started for it."""

    subject: Subject
    response: Respond
    by: str
    identity: str


Prepared = Planned | Synthetic


async def prepare(job: Job, command: Command, stdin: Stdin, upstream: str) -> Prepared:
    """Review a command and plan it. `upstream` is the identity of the stage that writes its input.

    Raises `Refusal`.
    """
    for _ in range(MOST_REWRITES + 1):
        subject = await _subject(job, command, stdin)
        try:
            outcome = await _reviewed(job, subject, upstream)
        except Refusal as refusal:
            await _rejected(job, subject, str(refusal))
            raise
        except asyncio.CancelledError:
            await _rejected(job, subject, "cancelled, or out of time, before it was started")
            raise
        if not isinstance(outcome, Command):
            return outcome
        command = outcome
    raise Refusal("denied", f"the command was rewritten more than {MOST_REWRITES} times")  # P1


async def _subject(job: Job, command: Command, stdin: Stdin) -> Subject:
    """What is known about a command before anybody looks at it: P2 to P5."""
    runtime, request = job.runtime, job.request
    executable = runtime.resolver.resolve(command.program, runtime.cwd)  # P2
    if request.script is not None:
        check_launcher(request.script, executable)  # P3
    subject = Subject(
        request_id=job.request_id,
        runtime_id=runtime.id,
        manifest_sha256=runtime.manifest_sha256,
        session_id=runtime.session_id,
        origin=request.origin,
        rationale=request.rationale,
        kind=request.kind,
        command=command,
        executable=executable,
        cwd=runtime.cwd,
        environment=runtime.environment,
        stdin=stdin,
        script=request.script,
        effects=builtin_effects(command, executable, request.kind, runtime.cwd),  # P4
    )
    for analyzer in runtime.analyzers:  # P5
        effects = await _analyzed(analyzer, subject)
        subject = attrs.evolve(subject, effects=effects)
    return subject


async def _reviewed(job: Job, subject: Subject, upstream: str) -> Prepared | Command:
    """Everything that may refuse a command, in order: P6 to P14. A command is what takes its place."""
    runtime = job.runtime

    async def record(name: EventName, facts: Mapping[str, Any]) -> None:
        await job.record(subject, name, facts)

    _check_administrator(runtime, subject)  # P6
    await record("resolved", {})  # P7
    decision = await runtime.policy.decide(subject)  # P8
    await record("policy_decided", {"policy_action": decision.action, "policy_reason": decision.reason})
    if decision.action == "deny":
        raise Refusal("denied", f"the policy of `{runtime.id}` denies it: {decision.reason}")
    for interceptor in runtime.before:  # P9
        answer = await _intercepted(interceptor, subject, decision)
        if isinstance(answer, RewriteTo):
            return Command(answer.argv[0], answer.argv[1:])
        if isinstance(answer, Respond):
            await record("intercepted", {"interceptor": interceptor.id})
            return Synthetic(
                subject=subject,
                response=answer,
                by=interceptor.id,
                identity=hash_parts((interceptor.id, answer.stdout)),
            )
    check_capabilities(subject.effects, runtime.grants)  # P10
    if decision.action == "ask":  # P11
        other = await approve(subject, decision, runtime.approvals, upstream, job.redactor, record)
        if other is not None:
            return other
    if subject.script is not None:
        check_text(subject.script)  # P12
    backend = choose(runtime.backends, runtime.grants.sandbox)  # P13
    plan = _planned(job, subject, backend)  # P14
    await job.record(subject, "plan_created", {"backend": plan.backend}, plan.plan_id)
    return Planned(subject=subject, plan=plan, backend=backend, upstream=upstream)


def _check_administrator(runtime: LiveRuntime, subject: Subject) -> None:
    effects = frozenset(effect.kind for effect in subject.effects)
    executable, trusted = subject.executable.canonical, subject.executable.trusted
    why = denial(runtime.admin, subject.command, effects, executable=executable, trusted=trusted)
    if why is not None:
        raise Refusal("denied", why)


async def _analyzed(analyzer: LiveAnalyzer, subject: Subject) -> Effects:
    """The effects of a subject after an analyzer has seen it."""
    try:
        answer = await analyzer.analyze(subject)
        if isinstance(answer, Replaced):
            if not analyzer.replaces:
                raise ExtensionFailed(
                    "shell.chatml_codec", "it replaces effects, and its declaration does not allow that"
                )
            return joined((), answer.effects)
        return joined(subject.effects, answer.effects)
    except ExtensionFailed as error:
        if analyzer.failure in LENIENT:
            return subject.effects
        return joined(subject.effects, (unknown(f"the analyzer {analyzer.id} failed: {error}"),))


async def _intercepted(interceptor: LiveBefore, subject: Subject, decision: Decision) -> Continue | RewriteTo | Respond:
    """What an interceptor makes of a command; one that does not match is not asked."""
    if interceptor.match is not None and not await interceptor.match.matches(subject, failing("deny")):
        return Continue()
    try:
        answer = await interceptor.before(subject, decision)
    except ExtensionFailed as error:
        if interceptor.failure in LENIENT:
            return Continue()
        raise Refusal("interceptor_rejected", f"{interceptor.id}: {error}") from None
    if isinstance(answer, RewriteTo) and not (answer.argv and answer.argv[0]):
        raise Refusal("interceptor_rejected", f"{interceptor.id}: it rewrites the command to nothing")
    if isinstance(answer, Continue | RewriteTo | Respond):
        return answer
    raise Refusal("interceptor_rejected", f"{interceptor.id}: {answer.reason}")


def _planned(job: Job, subject: Subject, backend: Backend) -> Plan:
    runtime = job.runtime
    order = Order(
        command=subject.command,
        executable=subject.executable,
        kind=subject.kind,
        cwd=subject.cwd,
        environment=subject.environment,
        grants=runtime.grants,
        bounds=runtime.bounds,
        runner=runtime.runner if runtime.bounds.by_system else None,
    )
    return Plan(
        plan_id=next_id(),
        request_id=job.request_id,
        order=order,
        launch=backend.launch(order),
        backend=backend.name,
    )


async def _rejected(job: Job, subject: Subject, reason: str) -> None:
    """Record that a command was refused; what the audit then refuses changes nothing any more (E-08)."""
    with contextlib.suppress(Refusal):
        await job.record(subject, "rejected", {"reason": reason})
