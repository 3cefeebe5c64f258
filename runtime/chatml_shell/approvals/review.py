"""Asking: a grant that is there already, else the reviewers in their order, else a person (sections 16.2 and 16.3).

Whatever goes wrong on the way ends as a refusal: a lookup that fails, a reviewer that raises, a scope that was not
offered, a grant that cannot be stored.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs

from chatml_shell.approvals.answers import AUDITED, Answer, Defer, Deny, ForScope, Once, Rewrite, scope_of
from chatml_shell.approvals.grants import ApprovalGrant, GrantStore, make_grant
from chatml_shell.approvals.identity import Identity, identify
from chatml_shell.approvals.question import Provider, Question, Unanswered, ask_about
from chatml_shell.audit.events import EventName
from chatml_shell.errors import NoAnswerError, Refusal, StorageError
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.command import Command
from chatml_shell.policy.decide import Decision
from chatml_shell.policy.subject import Subject

Facts = Mapping[str, Any]
Record = Callable[[EventName, Facts], Awaitable[None]]
"""Records an event of the audit about the subject at hand: its name and its own fields."""

LENIENT = ("keep", "no_match")
"""The failures that leave the decision to the next reviewer (section 8.5)."""


@attrs.frozen(kw_only=True)
class Review:
    """What a reviewer is asked: the subject, the policy's decision, and what a person would be shown."""

    subject: Subject
    decision: Decision
    question: Question


@attrs.frozen(kw_only=True)
class Reviewed:
    """A reviewer's answer, with what a model used for it."""

    answer: Answer
    metadata: Facts = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class LiveReviewer:
    """A reviewer, ready to be asked. `ask` raises when it fails; `failure` says what that counts as."""

    id: str
    kind: str
    failure: str = "deny"
    model: str | None = None
    ask: Callable[[Review], Awaitable[Reviewed]]


@attrs.frozen(kw_only=True)
class Approvals:
    """How a runtime's commands are approved. `asks_person` is whether a person may be asked when no reviewers are
    declared; `provider` is the host's way to ask one, or None; `scopes` are the scopes that count."""

    reviewers: Sequence[LiveReviewer]
    asks_person: bool
    provider: Provider | None
    scopes: tuple[str, ...]
    session: GrantStore
    durable: GrantStore | None
    session_id: str | None
    clock: Callable[[], float] = time.time


async def approve(
    subject: Subject, decision: Decision, approvals: Approvals, upstream: str, redactor: Redactor, record: Record
) -> Command | None:
    """See that somebody approves a subject: None to go on with it, or the command that takes its place.

    Raises `Refusal`: `denied`, `permission_required`.
    """
    identity = identify(subject, upstream)
    if await _granted(identity, approvals) is not None:
        return None
    await record("approval_requested", {})
    question = ask_about(subject, identity, decision, approvals.scopes, redactor)
    reviewer, reviewed = await _ask(Review(subject=subject, decision=decision, question=question), approvals)
    answer = reviewed.answer
    scope = scope_of(answer)
    if scope is not None and scope not in approvals.scopes:
        answer = Deny(f"the scope `{scope}` is not one that this runtime offers")
    await record("approval_answered", {"approval_answer": AUDITED[type(answer)]})
    if reviewed.metadata:
        await record("reviewer_completed", {"reviewer_id": reviewer, **reviewed.metadata})
    if isinstance(answer, Rewrite):
        return answer.command
    if isinstance(answer, ForScope):
        await _store(answer, identity, approvals, reviewer, redactor)
    elif not isinstance(answer, Once):
        reason = answer.reason if isinstance(answer, Deny) else "no reviewer decided"
        raise Refusal("denied", f"{reviewer}: {redactor.redact(reason)}")
    return None


async def _ask(review: Review, approvals: Approvals) -> tuple[str, Reviewed]:
    """The first answer that decides, and who gave it."""
    for reviewer in approvals.reviewers:
        try:
            reviewed = await reviewer.ask(review)
        except Exception as error:
            if reviewer.failure in LENIENT:
                continue
            return reviewer.id, Reviewed(answer=Deny(f"the reviewer failed: {why(error)}"))
        if not isinstance(reviewed.answer, Defer):
            return reviewer.id, reviewed
    if approvals.reviewers:
        return "reviewers", Reviewed(answer=Deny("no reviewer decided"))
    if not approvals.asks_person or approvals.provider is None:
        raise Refusal("permission_required", "this command needs an approval, and there is nobody to ask")
    try:
        return "ui", Reviewed(answer=await approvals.provider(review.question))
    except Unanswered as error:
        raise Refusal("permission_required", f"this command needs an approval: {error}") from None
    except Exception as error:
        return "ui", Reviewed(answer=Deny(f"asking failed: {why(error)}"))


def why(error: Exception) -> str:
    """What is said of a failure: the words of one of ours, of another only its class, which cannot hold a secret."""
    return str(error) if isinstance(error, NoAnswerError | Refusal | StorageError) else type(error).__name__


async def _granted(identity: Identity, approvals: Approvals) -> ApprovalGrant | None:
    """A grant that approves this already. Files are read in a thread: asking must not hold up anything else."""
    now = approvals.clock()
    for store in (approvals.session, approvals.durable):
        if store is None:
            continue
        try:
            grants = await asyncio.to_thread(store.grants)
        except StorageError as error:
            raise Refusal("denied", f"grants cannot be looked up: {error}") from error
        for grant in grants:
            offered = grant.scope in approvals.scopes
            if offered and grant.fits(identity, approvals.session_id, now):
                return grant
    return None


async def _store(answer: ForScope, identity: Identity, approvals: Approvals, reviewer: str, redactor: Redactor) -> None:
    """Keep a grant, before anything runs under it."""
    store = approvals.durable if answer.scope == "durable_exact" else approvals.session
    if store is None:
        raise Refusal("denied", "this host has no place for durable approvals")
    if answer.scope != "durable_exact" and approvals.session_id is None:
        raise Refusal("denied", "no session is open for this approval to last for")
    session_id, now = approvals.session_id, approvals.clock()
    grant = make_grant(answer, identity, session_id=session_id, reviewer=reviewer, now=now, redactor=redactor)
    try:
        await asyncio.to_thread(store.add, grant)
    except StorageError as error:
        raise Refusal("denied", f"the approval cannot be stored: {error}") from error


def person(reviewer_id: str, provider: Provider | None) -> LiveReviewer:
    """A reviewer that is a person; without a way to ask one it says no (section 16.3)."""

    async def ask(review: Review) -> Reviewed:
        if provider is None:
            return Reviewed(answer=Deny("there is nobody to ask"))
        return Reviewed(answer=await provider(review.question))

    return LiveReviewer(id=reviewer_id, kind="ui", ask=ask)
