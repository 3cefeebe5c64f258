"""From a hook's reply to what the executor works with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chatmd.shell.extensions import Analyzer, Interceptor, Reviewer
from chatml_shell.approvals.review import LiveReviewer, Review, Reviewed
from chatml_shell.audit.recorder import Filter, Verdict
from chatml_shell.hooks import protocol
from chatml_shell.hooks.call import LiveHook, audit_payload, result_payload, review_payload, subject_payload
from chatml_shell.live.extension import (
    Added,
    Continue,
    Finished,
    Keep,
    LiveAfter,
    LiveAnalyzer,
    LiveBefore,
    RejectWith,
    Replaced,
    ReplaceResult,
    Respond,
    RewriteTo,
)
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.grants import Grants
from chatml_shell.policy.decide import Decision
from chatml_shell.policy.matcher import Program
from chatml_shell.policy.subject import Subject


def reviewer(declared: Reviewer, failure: str, hook: LiveHook, grants: Grants, redactor: Redactor) -> LiveReviewer:
    """A reviewer that is a program."""

    async def ask(review: Review) -> Reviewed:
        reply = await hook.ask(review_payload(review.subject, review.decision, grants, redactor))
        return Reviewed(answer=protocol.decision(reply, review.subject.command.argv))

    return LiveReviewer(id=declared.id, kind="executable", failure=failure, ask=ask)


def analyzer(declared: Analyzer, hook: LiveHook, grants: Grants, redactor: Redactor) -> LiveAnalyzer:
    """An analyzer that is a program; any failure adds an unknown effect (section 8.5)."""

    async def analyze(subject: Subject) -> Added | Replaced:
        return protocol.analysis(await hook.ask(subject_payload("effect_analysis", subject, grants, redactor)))

    return LiveAnalyzer(id=declared.id, replaces=declared.replace, failure="unknown", analyze=analyze)


def before(
    declared: Interceptor, match: Program | None, hook: LiveHook, grants: Grants, redactor: Redactor
) -> LiveBefore:
    """An interceptor that is a program and sees commands."""

    async def ask(subject: Subject, decision: Decision) -> Continue | RewriteTo | Respond | RejectWith:
        payload = subject_payload("before_command", subject, grants, redactor, decision)
        return protocol.interception(await hook.ask(payload))

    return LiveBefore(id=declared.id, failure=declared.failure, match=match, before=ask)


def after(declared: Interceptor, hook: LiveHook, redactor: Redactor) -> LiveAfter:
    """An interceptor that is a program and sees results."""

    async def ask(finished: Finished) -> Keep | ReplaceResult | RejectWith:
        return protocol.disclosure(await hook.ask(result_payload(finished, redactor)))

    return LiveAfter(id=declared.id, failure=declared.failure, after=ask)


def audit_filter(hook: LiveHook) -> Filter:
    """A filter of the audit that is a program."""

    async def filter(record: Mapping[str, Any]) -> Verdict:
        return protocol.verdict(await hook.ask(audit_payload(record)))

    return filter
