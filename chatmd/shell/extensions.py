"""Extensions: reviewers, interceptors, analyzers and audit filters (shell.md section 3.8).

Each is a script of the document, or a program that runs in a worker runtime; a reviewer may also be a person or a
model.
"""

from __future__ import annotations

from typing import Literal

from chatmd.shell.policy import Failure, Match
from chatmd.shell.shape import ByPresence, ByValue, Declared, attribute, child, children, declared, needed
from chatmd.shell.values import BOOL, BYTES, DURATION, MERGE, PATH, REFERENCE, TEXT, Merge, choice
from chatmd.sources.paths import PathExpr
from chatml.source import Span

Lifecycle = Literal["invocation", "session", "runtime"]
Protocol = Literal["shell-hook-json-v1"]
Strategy = Literal["first_terminal"]
Phase = Literal["before", "after"]
Format = Literal["none", "stderr", "jsonl", "session"]
AuditContent = Literal["metadata", "redacted", "full"]
AuditFailure = Literal["continue", "deny_start", "terminate"]

INVALID_EXTENSION = "shell.invalid_extension"


@declared
class ScriptRun(Declared):
    """A script that extends the shell, and how long its state lives."""

    script: str = needed(REFERENCE)
    lifecycle: Lifecycle = attribute(choice(Lifecycle), "session")


@declared
class Hook(Declared):
    """A program that extends the shell and runs in the worker runtime `runtime`: seconds and bytes."""

    executable: PathExpr = needed(PATH)
    runtime: str = needed(REFERENCE)
    sha256: str | None = attribute(TEXT)
    protocol: Protocol = attribute(choice(Protocol), "shell-hook-json-v1")
    timeout: float | None = attribute(DURATION)
    max_input: int | None = attribute(BYTES)
    max_output: int | None = attribute(BYTES)


@declared
class Reviewer(Declared):
    """Who is asked about a command that the policy leaves open."""

    id: str = needed(TEXT)


@declared
class UiReviewer(Reviewer):
    """A person decides."""


@declared
class ModelReviewer(Reviewer):
    """A model decides, prompted by `agent`."""

    agent: str = needed(TEXT)
    model: str | None = attribute(TEXT)
    failure: Failure = attribute(choice(Failure), "deny")


@declared
class ScriptReviewer(ScriptRun, Reviewer):
    """A script decides."""

    failure: Failure = attribute(choice(Failure), "deny")


@declared
class HookReviewer(Hook, Reviewer):
    """A program decides."""

    failure: Failure = attribute(choice(Failure), "deny")


@declared
class Reviewers(Declared):
    """The reviewers, in the order in which they are asked: the first that decides, decides."""

    strategy: Strategy = attribute(choice(Strategy), "first_terminal")
    merge: Merge = attribute(MERGE, "append")
    reviewers: tuple[Reviewer, ...] = children(
        {
            "reviewer": ByValue(
                "kind",
                {"ui": UiReviewer, "chatml": ScriptReviewer, "model": ModelReviewer, "executable": HookReviewer},
            )
        }
    )


@declared
class Interceptor(Declared):
    """Sees commands before they run, or their results after: a `ScriptRun` or a `Hook` with a place in the order."""

    id: str = needed(TEXT)
    phase: Phase = needed(choice(Phase))
    failure: Failure = attribute(choice(Failure), "deny")
    match: Match | None = child("match", Match)

    def contradiction(self) -> tuple[str, Span | None] | None:
        if self.phase == "after" and self.match is not None:
            return "shell.after_interceptor_match", self.match.span
        return None


@declared
class ScriptInterceptor(ScriptRun, Interceptor):
    """An interceptor that is a script."""


@declared
class HookInterceptor(Hook, Interceptor):
    """An interceptor that is a program."""


@declared
class Interceptors(Declared):
    """The interceptors, in order."""

    merge: Merge = attribute(MERGE, "append")
    interceptors: tuple[Interceptor, ...] = children(
        {
            "interceptor": ByPresence(
                {"script": ScriptInterceptor, "executable": HookInterceptor}, INVALID_EXTENSION, INVALID_EXTENSION
            )
        }
    )


@declared
class Analyzer(Declared):
    """Adds to what is known about the effects of a command; with `replace` it may also take away."""

    id: str = needed(TEXT)
    replace: bool = attribute(BOOL, False)
    failure: Failure = attribute(choice(Failure), "unknown")


@declared
class ScriptAnalyzer(ScriptRun, Analyzer):
    """An analyzer that is a script."""

    lifecycle: Lifecycle = attribute(choice(Lifecycle), "invocation")


@declared
class HookAnalyzer(Hook, Analyzer):
    """An analyzer that is a program."""


@declared
class EffectAnalysis(Declared):
    """The analyzers, in order."""

    merge: Merge = attribute(MERGE, "append")
    analyzers: tuple[Analyzer, ...] = children(
        {"analyzer": ByValue("kind", {"chatml": ScriptAnalyzer, "executable": HookAnalyzer}, "chatml")}
    )


@declared
class Audit(Declared):
    """What is recorded about commands, and where; `filter` sees every record before it is written."""

    format: Format = needed(choice(Format))
    path: PathExpr | None = attribute(PATH)
    content: AuditContent = attribute(choice(AuditContent), "redacted")
    failure: AuditFailure = attribute(choice(AuditFailure), "continue")
    filter: ScriptRun | Hook | None = child(
        "filter", ByPresence({"script": ScriptRun, "executable": Hook}, INVALID_EXTENSION, INVALID_EXTENSION)
    )

    def contradiction(self) -> tuple[str, Span | None] | None:
        if self.format == "jsonl" and self.path is None:
            return "shell.audit_path_required", self.span
        return None
