"""What was found in replayed conversations, as text for people and as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from chatml.records import mutable
from chatml_runtime.replay import Finding, Replayed
from chatml_runtime.replay.findings import KINDS
from chatml_tools.console import count
from chatml_tools.replay.work import Result

QUIET = ("approved", "undecided")
"""What is counted, and not shown one by one."""

MOST = 10
"""How many reasons or transcripts are named one by one at the end."""


def show(result: Result) -> Iterator[str]:
    """The lines of one conversation."""
    if result.problem is not None:
        yield f"{result.path}: cannot be replayed"
        yield f"    {one_line(result.problem)}"
        return
    (replayed,) = result.replays
    yield f"{result.path}: {summary(replayed)}"
    yield from (f"    {finding_text(finding)}" for finding in replayed.findings if finding.kind not in QUIET)


def summary(replayed: Replayed) -> str:
    counts = replayed.counts()
    found = "".join(f", {counts[kind]} {kind}" for kind in KINDS if counts[kind])
    return f"{count(replayed.items, 'item')}, {count(replayed.events, 'event')}{found}"


def finding_text(finding: Finding) -> str:
    place = "start" if finding.item is None else f"item {finding.item}"
    about = f" {one_line(finding.about)}" if finding.about else ""
    return f"{place:<9}{finding.kind}{about}{f': {one_line(finding.detail)}' if finding.detail else ''}"


def one_line(text: str) -> str:
    return text.replace("\n", "⏎")


def show_difference(result: Result) -> Iterator[str]:
    """The lines of one conversation that differ between the two scripts; nothing if none does."""
    if result.problem is not None:
        yield from show(result)
        return
    gone, new = difference(result)
    if gone or new:
        yield f"{result.path}:"
        both = [(finding, "-") for finding in gone] + [(finding, "+") for finding in new]
        both.sort(key=lambda change: -1 if change[0].item is None else change[0].item)
        yield from (f"  {sign} {finding_text(finding)}" for finding, sign in both)


def difference(result: Result) -> tuple[list[Finding], list[Finding]]:
    """What only the first script did, and what only the second."""
    first, second = (replayed.findings for replayed in result.replays)
    return only(first, second), only(second, first)


def only(those: Sequence[Finding], others: Sequence[Finding]) -> list[Finding]:
    left = Counter(others)
    found = []
    for finding in those:
        if left[finding]:
            left[finding] -= 1
        else:
            found.append(finding)
    return found


@mutable
class Total:
    """All results together, one count of findings per script. `events` are those of the first.

    `unread` names the first of the transcripts that could not be replayed.
    """

    counts: list[Counter[str]]
    reasons: list[Counter[str]]
    unread: list[str]
    conversations: int = 0
    events: int = 0
    problems: int = 0
    different: int = 0

    @classmethod
    def of(cls, scripts: int) -> Total:
        """An empty total."""
        return cls([Counter() for _ in range(scripts)], [Counter() for _ in range(scripts)], [])

    def add(self, result: Result) -> None:
        self.conversations += 1
        if result.problem is not None:
            self.problems += 1
            if len(self.unread) < MOST:
                self.unread.append(result.path)
            return
        self.events += result.replays[0].events
        for counts, reasons, replayed in zip(self.counts, self.reasons, result.replays, strict=True):
            counts.update(replayed.counts())
            reasons.update(finding.detail for finding in replayed.findings if finding.kind == "rejected")
        if len(result.replays) == 2:
            self.different += any(difference(result))

    @property
    def is_at_fault(self) -> bool:
        """Whether a transcript could not be replayed, or an event failed."""
        return self.problems > 0 or any(counts["failed"] for counts in self.counts)


def show_total(total: Total) -> Iterator[str]:
    """The lines at the end: counts of each kind, for two scripts beside each other, and why calls were rejected."""
    yield f"{count(total.conversations, 'conversation')}, {count(total.events, 'event')}"
    for kind in KINDS:
        numbers = [counts[kind] for counts in total.counts]
        if any(numbers):
            yield f"  {kind:<11}{' → '.join(map(str, numbers))}"
    if total.problems:
        yield f"  {'not read':<11}{total.problems}"
    if len(total.counts) == 2:
        yield f"  {'different':<11}{total.different}"
    elif total.reasons[0]:
        (reasons,) = total.reasons
        yield "why calls were rejected"
        for reason, number in reasons.most_common(MOST):
            yield f"  {number:>6}  {one_line(reason)}"
        if len(reasons) > MOST:
            yield f"          and {count(len(reasons) - MOST, 'other reason')}"
    if total.problems and total.conversations > MOST:
        yield "what could not be replayed"
        yield from (f"  {path}" for path in total.unread)
        if total.problems > len(total.unread):
            yield f"  and {count(total.problems - len(total.unread), 'other')}"


def encode_result(result: Result) -> dict[str, Any]:
    """A result as plain data; for two scripts with what only one of them did."""
    encoded: dict[str, Any] = {"file": result.path, "problem": result.problem}
    if len(result.replays) == 2:
        gone, new = difference(result)
        encoded |= {"only_first": encode_findings(gone), "only_second": encode_findings(new)}
    for replayed in result.replays[:1]:
        encoded |= {
            "items": replayed.items,
            "events": replayed.events,
            "counts": dict(replayed.counts()),
            "findings": encode_findings(replayed.findings),
        }
    return encoded


def encode_findings(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    keys = ("item", "kind", "about", "detail")
    return [{key: getattr(finding, key) for key in keys} for finding in findings]


def encode_total(total: Total, scripts: Sequence[str]) -> dict[str, Any]:
    """The total as plain data."""
    return {
        "conversations": total.conversations,
        "events": total.events,
        "problems": total.problems,
        "different": total.different if len(scripts) == 2 else None,
        "scripts": [
            {"script": script, "counts": dict(counts), "reasons": dict(reasons)}
            for script, counts, reasons in zip(scripts, total.counts, total.reasons, strict=True)
        ],
    }
