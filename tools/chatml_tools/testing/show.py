"""Outcomes of policy tests as text for people and as plain data."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chatml.diagnostics.model import draw_all, draw_place
from chatml.records import frozen
from chatml.source import Position, Span
from chatml.stack import deep
from chatml_runtime.moderation.identities import Json
from chatml_runtime.scenario.document import show_path
from chatml_runtime.scenario.expectations import ABSENT, Absent, Mismatch
from chatml_runtime.scenario.locate import locate, locate_elements
from chatml_tools.console import count, encode_all
from chatml_tools.coverage import Coverage
from chatml_tools.testing.run import Outcome, Status
from chatml_tools.testing.update import one_line

WORDS: dict[Status, str] = {"passed": "ok", "failed": "FAILED", "error": "ERROR", "updated": "updated"}

CLOSE = 400
"""Texts up to this length are compared character by character."""


def show(outcome: Outcome) -> Iterator[str]:
    """The lines of one outcome; its diagnostics are drawn elsewhere."""
    yield f"{WORDS[outcome.status]:<8}{outcome.path} ({count(len(outcome.records), 'event')})"
    if outcome.message is not None:
        yield f"    {outcome.message}"
    places = Places.of(outcome)
    event: int | None = -1
    for mismatch in outcome.mismatches:
        if mismatch.event != event and places is not None:
            event = mismatch.event
            yield f"    {outcome.path}:{places.of_mismatch(mismatch).place}: {heading(outcome, mismatch)}"
        path = show_path(mismatch.path[1:])
        if path:
            yield f"      {path}"
        yield from difference(mismatch)
        yield from failing_place(outcome, mismatch.event)


def failing_place(outcome: Outcome, event: int | None) -> Iterator[str]:
    """Where in the policy the run of an event failed."""
    error = outcome.records[event].error if event is not None and event < len(outcome.records) else None
    if error is not None and error.span is not None:
        place, *lines = draw_place(error.span)
        yield f"      the policy failed at {place}"
        yield from (f"        {line}" for line in lines)


def describe(outcome: Outcome) -> str:
    """Everything there is to say of an outcome, without colour."""
    return "\n".join([*show(outcome), draw_all(outcome.diagnostics)]).rstrip()


@frozen
class Places:
    """Where in the file the list of expectations begins, and each of them."""

    whole: Position
    elements: list[Position]

    @classmethod
    def of(cls, outcome: Outcome) -> Places | None:
        """The places of an outcome that has mismatches."""
        if outcome.source is None or not outcome.mismatches:
            return None
        elements = [span.start for span in locate_elements(outcome.source, 0, ("expect",))]
        return cls(locate(outcome.source, 0, ("expect",)).start, elements)

    def of_mismatch(self, mismatch: Mismatch) -> Position:
        """That of the expectation, or of the list if the event has none, or the list is written twice."""
        index = int(mismatch.path[0])
        unexpected = mismatch.expected is ABSENT and len(mismatch.path) == 1
        return self.whole if unexpected or index >= len(self.elements) else self.elements[index]


def heading(outcome: Outcome, mismatch: Mismatch) -> str:
    """Which event it is, in words."""
    if mismatch.event is None:
        return "the ending"
    if mismatch.event >= len(outcome.records):
        return f"event {mismatch.event + 1} was expected and did not happen"
    record = outcome.records[mismatch.event]
    unexpected = " was not expected" if mismatch.expected is ABSENT and len(mismatch.path) == 1 else ""
    return (
        f"event {mismatch.event + 1}, {' '.join(filter(None, (record.phase or record.line, record.brief)))}{unexpected}"
    )


def difference(mismatch: Mismatch) -> Iterator[str]:
    """What was expected and what was received, below each other, and where short texts begin to differ."""
    wanted, given = part_text(mismatch.expected), part_text(mismatch.received)
    if wanted is not None and given is not None and max(len(wanted), len(given)) <= CLOSE:
        yield from (f"        {line.rstrip()}" for line in difflib.ndiff([wanted], [given]))
        return
    if wanted is not None:
        yield f"        - {wanted}"
    if given is not None:
        yield f"        + {given}"


def part_text(part: Json | Absent) -> str | None:
    if part is ABSENT:
        return None
    with deep():
        return one_line(part)


def show_coverage(script: str, coverage: Coverage) -> Iterator[str]:
    """How many branches of a script ran, and the first line of each that did not."""
    reached, branches = len(coverage.reached), len(coverage.branches)
    yield f"{script}: {reached} of {branches} branches ran"
    for span in coverage.missed():
        yield f"    {script}:{span.start.place}: {first_line(span)}"


def first_line(span: Span) -> str:
    return span.text.splitlines()[0].rstrip() if span.text else ""


def encode_coverage(script: str, coverage: Coverage) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "script": script,
        "branches": len(coverage.branches),
        "reached": len(coverage.reached),
        "missed": [
            {"line": span.start.line, "column": span.start.column + 1, "text": first_line(span)}
            for span in coverage.missed()
        ],
    }


def encode_outcome(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data; a part that is missing on one side has no key there."""
    places = Places.of(outcome)
    return {
        "file": outcome.path,
        "script": outcome.script,
        "status": outcome.status,
        "events": len(outcome.records),
        "seconds": round(outcome.seconds, 6),
        "mismatches": [encode_mismatch(mismatch, places) for mismatch in outcome.mismatches],
        "diagnostics": encode_all(outcome.diagnostics),
        "message": outcome.message,
    }


def encode_mismatch(mismatch: Mismatch, places: Places | None) -> dict[str, Any]:
    place = None if places is None else places.of_mismatch(mismatch)
    parts = {"expected": mismatch.expected, "received": mismatch.received}
    return {
        "event": mismatch.event,
        "path": list(mismatch.path),
        **{side: part for side, part in parts.items() if part is not ABSENT},
        "line": None if place is None else place.line,
        "column": None if place is None else place.column + 1,
    }


def tally(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many scenarios came to what."""
    found = Counter(outcome.status for outcome in outcomes)
    return {status: found[status] for status in WORDS}


def total_text(outcomes: Sequence[Outcome]) -> str:
    """All of it in one line."""
    parts = [f"{number} {TOLD[status]}" for status, number in tally(outcomes).items() if number or status == "passed"]
    return f"{count(len(outcomes), 'scenario')}: {', '.join(parts)}"


TOLD: dict[str, str] = {
    "passed": "passed",
    "failed": "failed",
    "error": "could not be run",
    "updated": "updated",
}
