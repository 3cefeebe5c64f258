"""A policy at work: every rule is asked, and the strongest answer wins (section 15)."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from chatmd.shell.policy import Action, Policy, ScriptMatcher
from chatml_shell.policy.matcher import Program, Tools, compile_matcher
from chatml_shell.policy.subject import Subject

STRONGEST: tuple[Action, ...] = ("deny", "ask", "allow")


@attrs.frozen
class LiveRule:
    """A rule, ready to be asked."""

    id: str
    action: Action
    program: Program


@attrs.frozen
class RuleMatch:
    """A rule that a subject matches."""

    rule_id: str
    action: Action


@attrs.frozen
class Decision:
    """What a policy says about a subject, and why."""

    action: Action
    reason: str
    matches: tuple[RuleMatch, ...] = ()


@attrs.frozen
class LivePolicy:
    """The rules of a runtime and its default."""

    rules: tuple[LiveRule, ...]
    default: Action

    async def decide(self, subject: Subject) -> Decision:
        """The decision about a subject; it does not depend on the order of the rules."""
        matches = [
            RuleMatch(rule.id, rule.action)
            for rule in self.rules
            if await rule.program.matches(subject, failing(rule.action))
        ]
        for action in STRONGEST:
            reasons = [match.rule_id for match in matches if match.action == action]
            if reasons:
                return Decision(action, "; ".join(reasons), tuple(matches))
        return Decision(self.default, f"no rule matches; the default is {self.default}")


def live_policy(policy: Policy, tools: Tools) -> LivePolicy:
    """The policy of a runtime, ready to decide."""
    rules = tuple(LiveRule(rule.id, rule.action, compile_matcher(rule.matcher, tools)) for rule in policy.rules)
    return LivePolicy(rules, policy.default or "deny")


def failing(action: Action) -> Callable[[ScriptMatcher], bool]:
    """What a script that gives no answer counts as in a rule of this action (section 8.5): as a match where that is
    the stricter outcome, unless its declaration says otherwise.

    >>> failing("deny")(ScriptMatcher(script="m")), failing("allow")(ScriptMatcher(script="m"))
    (True, False)
    """

    def counts(matcher: ScriptMatcher) -> bool:
        if matcher.failure is None:
            return action != "allow"
        return matcher.failure in ("deny", "error") and action == "deny"

    return counts
