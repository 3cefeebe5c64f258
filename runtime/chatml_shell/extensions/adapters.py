"""From a script's action to what the executor works with (sections 8.1 and 8.5).

The arguments of actions are checked here: the script decides which action, and the shell what it may say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from chatmd.shell.extensions import ScriptAnalyzer, ScriptInterceptor, ScriptReviewer, ScriptRun
from chatmd.shell.policy import ScriptMatcher
from chatml.values.model import Value
from chatml_runtime.script.effects import Effect as Action
from chatml_shell.approvals.answers import Answer, Defer, Deny, ForScope, Once, Rewrite
from chatml_shell.approvals.review import LiveReviewer, Review, Reviewed
from chatml_shell.audit.recorder import DropField, Filter, Keep, ReplaceFields, Verdict
from chatml_shell.effects.effect import CHILDREN, CODE, NETWORK, PRIVILEGE, Effect, parse_effect
from chatml_shell.extensions.inputs import audit_record, context_record, result_record
from chatml_shell.extensions.instances import Instances
from chatml_shell.live.extension import (
    Added,
    Continue,
    ExtensionFailed,
    Finished,
    LiveAfter,
    LiveAnalyzer,
    LiveBefore,
    RejectWith,
    Replaced,
    ReplaceResult,
    Respond,
    RewriteTo,
)
from chatml_shell.live.extension import Keep as KeepResult
from chatml_shell.manifest.uses import ENTRY_POINTS
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.command import Command
from chatml_shell.plans.grants import Grants
from chatml_shell.plans.outcome import Exited
from chatml_shell.policy.decide import Decision
from chatml_shell.policy.matcher import MatchFailed, Program
from chatml_shell.policy.subject import Subject


@attrs.frozen
class ScriptHost:
    """A runtime as its scripts meet it."""

    instances: Instances
    runtime: str
    grants: Grants
    redactor: Redactor = attrs.field(repr=False)

    async def matches(self, matcher: ScriptMatcher, subject: Subject) -> bool:
        """Ask a matcher. Raises `MatchFailed`."""
        record = context_record(subject, self.grants, self.redactor, "shell_matcher")
        try:
            action = await self.instances.call(matcher.script, matcher.function, self.runtime, "invocation", record)
        except ExtensionFailed as error:
            raise MatchFailed(str(error)) from None
        return action.op == "Match.yes"

    def reviewer(self, declared: ScriptReviewer) -> LiveReviewer:
        """A reviewer that is a script."""
        self._open(declared, "shell_reviewer")

        async def ask(review: Review) -> Reviewed:
            grants, redactor = self.grants, self.redactor
            record = context_record(review.subject, grants, redactor, "shell_reviewer", review.decision)
            action = await self._call(declared, "shell_reviewer", record)
            return Reviewed(answer=review_answer(action, review.subject.command.argv))

        return LiveReviewer(id=declared.id, kind="chatml", failure=declared.failure, ask=ask)

    def analyzer(self, declared: ScriptAnalyzer) -> LiveAnalyzer:
        """An analyzer that is a script."""
        self._open(declared, "shell_effect_analyzer")

        async def analyze(subject: Subject) -> Added | Replaced:
            record = context_record(subject, self.grants, self.redactor, "shell_effect")
            return analysis(await self._call(declared, "shell_effect_analyzer", record))

        return LiveAnalyzer(id=declared.id, replaces=declared.replace, failure=declared.failure, analyze=analyze)

    def before(self, declared: ScriptInterceptor, match: Program | None) -> LiveBefore:
        """An interceptor that is a script and sees commands."""
        kind = "shell_before_interceptor"
        self._open(declared, kind)

        async def before(subject: Subject, decision: Decision) -> Continue | RewriteTo | Respond | RejectWith:
            record = context_record(subject, self.grants, self.redactor, "shell_before", decision)
            return interception(await self._call(declared, kind, record))

        return LiveBefore(id=declared.id, failure=declared.failure, match=match, before=before)

    def after(self, declared: ScriptInterceptor) -> LiveAfter:
        """An interceptor that is a script and sees results."""
        kind = "shell_after_interceptor"
        self._open(declared, kind)

        async def after(finished: Finished) -> KeepResult | ReplaceResult | RejectWith:
            return disclosure(await self._call(declared, kind, result_record(finished, self.redactor)))

        return LiveAfter(id=declared.id, failure=declared.failure, after=after)

    def audit_filter(self, declared: ScriptRun) -> Filter:
        """A filter of the audit that is a script."""
        self._open(declared, "shell_audit_filter")

        async def filter(record: Mapping[str, Any]) -> Verdict:
            return verdict(await self._call(declared, "shell_audit_filter", audit_record(record)))

        return filter

    def _open(self, declared: ScriptRun, kind: str) -> None:
        self.instances.open(declared.script, ENTRY_POINTS[kind], self.runtime, declared.lifecycle)

    async def _call(self, declared: ScriptRun, kind: str, record: Value) -> Action:
        return await self.instances.call(declared.script, ENTRY_POINTS[kind], self.runtime, declared.lifecycle, record)


def review_answer(action: Action, argv: tuple[str, ...]) -> Answer:
    """What a reviewer has decided; a prefix that a script approves is the whole command."""
    name, args = _taken(action)
    if name == "approve":
        return Once()
    if name == "defer":
        return Defer()
    if name == "deny":
        return Deny(args[0])
    if name == "rewrite":
        words = _words(args[0])
        return Rewrite(Command(words[0], words[1:]))
    return scoped(args[0], argv)


def scoped(scope: str, argv: tuple[str, ...], expires_at: float | None = None) -> Answer:
    """The approval of a scope by its name. Raises `ExtensionFailed` for a name that is none."""
    if scope == "once":
        return Once()
    if scope == "exact_session":
        return ForScope("exact_session", expires_at=expires_at)
    if scope == "prefix_session":
        return ForScope("prefix_session", argv, expires_at)
    if scope == "durable_exact":
        return ForScope("durable_exact", expires_at=expires_at)
    raise ExtensionFailed("shell.chatml_codec", f"unknown scope `{scope}`")


POWERS: dict[str, Effect] = {
    "network": NETWORK,
    "child_processes": CHILDREN,
    "arbitrary_code": CODE,
    "privilege_change": PRIVILEGE,
}


def analysis(action: Action) -> Added | Replaced:
    """What an analyzer has found out."""
    name, args = _taken(action)
    if name in POWERS:
        return Added((POWERS[name],))
    if name == "replace":
        return Replaced(tuple(map(parse_effect, args[0])))
    prefix = {"read_path": "read:", "write_path": "write:"}.get(name, "")
    return Added((parse_effect(prefix + args[0]),))


def interception(action: Action) -> Continue | RewriteTo | Respond | RejectWith:
    """What an interceptor makes of a command."""
    name, args = _taken(action)
    if name == "continue":
        return Continue()
    if name == "rewrite":
        return RewriteTo(_words(args[0]))
    if name == "respond":
        return Respond(Exited(0), args[0], args[1])
    return RejectWith(args[0])


def disclosure(action: Action) -> KeepResult | ReplaceResult | RejectWith:
    """What an interceptor makes of a result."""
    name, args = _taken(action)
    if name == "keep":
        return KeepResult()
    return ReplaceResult(args[0], args[1]) if name == "replace" else RejectWith(args[0])


def verdict(action: Action) -> Verdict:
    """What a filter makes of a record. Raises `ExtensionFailed` for fields that are no JSON object of texts."""
    name, args = _taken(action)
    if name == "keep":
        return Keep()
    if name == "drop_field":
        return DropField(args[0])
    try:
        fields = json.loads(args[0])
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise ExtensionFailed("shell.chatml_codec", "`Audit.replace` takes the text of a JSON object of strings")
    return ReplaceFields(fields)


def _taken(action: Action) -> tuple[str, tuple[Any, ...]]:
    """The name of an action and its arguments."""
    return action.op.partition(".")[2], action.args


def _words(argv: Any) -> tuple[str, ...]:
    """The words of a command that a script gives. Raises `ExtensionFailed`."""
    words = tuple(argv) if isinstance(argv, list) else ()
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise ExtensionFailed("shell.chatml_codec", "a command has words, the first one not empty, none with NUL")
    return words
