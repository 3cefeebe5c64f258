"""What a runtime refers to: matchers, scripts, and programs that extend it, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator
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
from chatmd.shell.policy import Joined, Matcher, Negated, ScriptMatcher
from chatmd.shell.runtime import Runtime
from chatmd.shell.shape import Declared

Path = tuple[str, ...]

ENTRY_POINTS = {
    "shell_matcher": "match_command",
    "shell_reviewer": "review",
    "shell_before_interceptor": "before",
    "shell_after_interceptor": "after",
    "shell_effect_analyzer": "analyze",
    "shell_audit_filter": "filter",
}
"""The function of each kind of script that the shell calls (section 8.1)."""


@attrs.frozen
class Use:
    """A part of a runtime that refers to something: the path of findings about it, and the declaration."""

    path: Path
    declaration: Any


@attrs.frozen
class ScriptUse(Use):
    """A reference to a script, which must be of a kind."""

    script: str
    kind: str


def extensions(runtime: Runtime) -> Iterator[Use]:
    """The reviewers, interceptors, analyzers and the audit filter of a runtime, in order."""
    here = ("runtime", runtime.id)
    for reviewer in runtime.reviewers.reviewers:
        yield Use((*here, "reviewers", reviewer.id), reviewer)
    for interceptor in runtime.interceptors.interceptors:
        yield Use((*here, "interceptors", interceptor.id), interceptor)
    for analyzer in runtime.effect_analysis.analyzers:
        yield Use((*here, "effect_analysis", analyzer.id), analyzer)
    if runtime.audit.filter is not None:
        yield Use((*here, "audit", "filter"), runtime.audit.filter)


def hooks(runtime: Runtime) -> Iterator[Use]:
    """The programs that extend a runtime."""
    return (use for use in extensions(runtime) if isinstance(use.declaration, Hook))


def model_reviewers(runtime: Runtime) -> Iterator[Use]:
    """The models that review commands of a runtime."""
    return (use for use in extensions(runtime) if isinstance(use.declaration, ModelReviewer))


def matchers(runtime: Runtime) -> Iterator[Use]:
    """Every matcher of the rules and of the interceptors, those inside of others included."""
    here = ("runtime", runtime.id)
    for rule in runtime.policy.rules:
        yield from (Use((*here, "policy", rule.id), matcher) for matcher in inside(rule.matcher))
    for interceptor in runtime.interceptors.interceptors:
        if interceptor.match is not None:
            path = (*here, "interceptors", interceptor.id)
            yield from (Use(path, matcher) for matcher in inside(interceptor.match.matcher))


def inside(root: Matcher) -> Iterator[Matcher]:
    """A matcher and all that it holds, in the order of the document, without call stack for their depth."""
    waiting: list[Matcher] = [root]
    while waiting:
        matcher = waiting.pop()
        yield matcher
        if isinstance(matcher, Joined):
            waiting += reversed(matcher.matchers)
        elif isinstance(matcher, Negated):
            waiting.append(matcher.matcher)


def script_uses(runtime: Runtime) -> Iterator[ScriptUse]:
    """The references of a runtime to scripts, with the kind that each must have."""
    for use in matchers(runtime):
        if isinstance(use.declaration, ScriptMatcher):
            yield ScriptUse(use.path, use.declaration, use.declaration.script, "shell_matcher")
    for use in extensions(runtime):
        if isinstance(use.declaration, ScriptRun):
            yield ScriptUse(use.path, use.declaration, use.declaration.script, script_kind(use.declaration))


def script_kind(declaration: Declared) -> str:
    """The kind of script that an extension runs."""
    if isinstance(declaration, ScriptReviewer):
        return "shell_reviewer"
    if isinstance(declaration, ScriptInterceptor):
        return f"shell_{declaration.phase}_interceptor"
    return "shell_effect_analyzer" if isinstance(declaration, ScriptAnalyzer) else "shell_audit_filter"


def hook_kind(declaration: Hook) -> str:
    """The kind of hook that a program is, as its protocol names it (section 17)."""
    if isinstance(declaration, HookReviewer):
        return "reviewer"
    if isinstance(declaration, HookInterceptor):
        return f"{declaration.phase}_interceptor"
    return "effect_analyzer" if isinstance(declaration, HookAnalyzer) else "audit_filter"
