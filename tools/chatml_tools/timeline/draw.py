"""A played scenario as a timeline for people: one block per delivered event, what it did, and how it all ended."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator

from chatml.builtins.json_data import write_data
from chatml.diagnostics.model import draw_place
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.outcome import Redirect, RewriteArgs, ToolDecision
from chatml_runtime.scenario.brief import item_line
from chatml_runtime.scenario.records import DECISIONS_AND_REQUESTS, Ending, Record, Status
from chatml_runtime.script.approvals import AskChoice, PendingRequest
from chatml_runtime.script.effects import Approve, EndSession, Reject, RequestTurn
from chatml_tools.console import count
from chatml_tools.palette import paint

STATUS: dict[Status, tuple[str, str]] = {
    "committed": ("●", "good"),
    "suspended": ("◐", "ask"),
    "failed": ("✗", "bad"),
    "refused": ("○", "bad"),
}
"""The mark of each status and its style."""

HEAD, NAME, INDENT, LABEL = 25, 18, 6, 8
NARROWEST = 20


class Timeline:
    """Draws records as they come. Remembers the state shown last, so that only changes are shown."""

    def __init__(self, *, colour: bool = False, width: int | None = None) -> None:
        """`width` is the columns a line may take, by default those of the terminal; 0 sets no bound."""
        self.colour = colour
        self.width = shutil.get_terminal_size((100, 24)).columns if width is None else width
        self.state: str | None = None
        self.number = 0
        self.counts: Counter[str] = Counter()

    def draw(self, record: Record, ran: Iterable[str] = ()) -> Iterator[str]:
        """The lines of one record, with those that tell what ran after the first."""
        self.number += 1
        self.counts[record.status] += 1
        mark, style = STATUS[record.status]
        name = f"{'↳ ' if record.replayed else ''}{record.phase or record.line}".ljust(NAME)
        told = "" if record.status == "committed" else f" {record.status}"
        event = cut(record.brief, self.room(HEAD + len(told)))
        line = f"{self.number:>3} {self.paint(style, mark)} {self.paint('bold', name)} {event}"
        yield f"{line}{self.paint(style, told)}".rstrip()
        yield from ran
        for label, text, text_style in self.details(record):
            yield self.detail(label, text, text_style)

    def details(self, record: Record) -> Iterator[tuple[str, str, str]]:
        """What a record has to say, as label, text and style."""
        for line in record.printed:
            yield "print", line, "plain"
        for level, message in record.logs:
            yield "log", f"{level}: {message}", "dim"
        for effect in record.effects:
            if effect.op not in DECISIONS_AND_REQUESTS:
                yield "effect", effect.brief, "plain"
        if record.decision is not None:
            yield "decided", *decision_text(record.decision)
        for request in record.requests:
            if isinstance(request, EndSession):
                yield "ended", request.reason, "bad"
            else:
                yield "asks for", "another turn" if isinstance(request, RequestTurn) else "compaction", "plain"
        if record.pending is not None and record.status in ("suspended", "refused"):
            yield "asks", pending_text(record.pending, record.expires_ms), "ask"
        if record.state != self.state and record.status == "committed":
            self.state = record.state
            yield "state", record.state, "dim"
        if record.queue and not record.replayed:
            yield "queue", ", ".join(record.queue), "dim"
        if record.error is not None:
            yield "why", record.error.message, "bad"
            if record.error.span is not None:
                place, line, carets = draw_place(record.error.span)
                yield "at", place, "plain"
                yield "", line, "dim"
                yield "", carets, "bad"

    def close(self, ending: Ending) -> Iterator[str]:
        """The lines after the last record."""
        yield ""
        yield self.paint("bold", f"{count(self.number, 'event')}: {self.tally() or 'nothing happened'}")
        yield self.detail("state", ending.state, "plain")
        if ending.queue:
            yield self.detail("queue", ", ".join(ending.queue), "plain")
        if ending.halted:
            yield self.detail("session", "ended", "bad")
        for index, item in enumerate(ending.effective_history):
            yield self.detail("" if index else "history", item_line(item), "plain")

    def tally(self) -> str:
        return ", ".join(
            self.paint(style, f"{self.counts[status]} {status}")
            for status, (_, style) in STATUS.items()
            if self.counts[status]
        )

    def detail(self, label: str, text: str, style: str) -> str:
        """One line under a record; further lines of the text are put below the first."""
        room = self.room(INDENT + LABEL + 1)
        first, *rest = text.split("\n")
        margin = f"{'':{INDENT}}"
        lines = [f"{margin}{self.paint('dim', f'{label:<{LABEL}}')} {self.paint(style, cut(first, room))}".rstrip()]
        lines += [f"{margin}{'':{LABEL}} {self.paint(style, cut(line, room))}".rstrip() for line in rest]
        return "\n".join(lines)

    def room(self, taken: int) -> int:
        """How many columns a text may take beside what a line holds already; 0 sets no bound."""
        return max(NARROWEST, self.width - taken) if self.width else 0

    def paint(self, style: str, text: str) -> str:
        return paint(style, text) if self.colour else text


def decision_text(decision: ToolDecision) -> tuple[str, str]:
    """A decision about a tool call, and its style."""
    match decision:
        case Approve():
            return "approve", "good"
        case Reject(reason=reason):
            return f"reject: {reason}", "bad"
        case RewriteArgs(args=args):
            return f"rewrite_args: {json_text(args)}", "ask"
        case Redirect(name=name, args=args):
            return f"redirect to {name}: {json_text(args)}", "ask"


def pending_text(request: PendingRequest, expires_ms: int | None = None) -> str:
    """A question: its words, what it is about, and when it expires."""
    text = request.prompt
    if isinstance(request, AskChoice):
        text = f"{text} [{' | '.join(request.choices)}]"
        if request.about is not None:
            text = f"{text} about {request.about.name} {json_text(request.about.args)}"
    return text if expires_ms is None else f"{text} until {expires_ms}"


def json_text(data: Json) -> str:
    return write_data(data)


def cut(text: str, room: int) -> str:
    """Text in one line that is no longer than the room, which 0 leaves unbounded."""
    line = text.replace("\n", "⏎").replace("\t", " ")
    return line if not room or len(line) <= room else f"{line[: room - 1]}…"
