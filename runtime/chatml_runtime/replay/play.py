"""Replaying a stored conversation: the turn driver delivers the events that would have occurred."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatml.border.python import from_json
from chatml.diagnostics.errors import ChatmlError
from chatml_runtime.host.turns import TurnDriver, TurnInput
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry, Json
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.outcome import (
    AppendItem,
    DeleteItem,
    OverlayOp,
    PrependInstruction,
    Redirect,
    ReplaceItem,
    RewriteArgs,
    ToolDecision,
)
from chatml_runtime.moderation.results import RunRecord
from chatml_runtime.moderation.tool_calls import CALLS, call_of, output_item
from chatml_runtime.moderation.vocabulary import Phase, ToolCall
from chatml_runtime.replay.findings import Finding, Kind, Replayed
from chatml_runtime.replay.stored import StoredItem, StoredTurn, turns_of
from chatml_runtime.scenario.brief import brief_event, item_line, json_text
from chatml_runtime.scenario.host import DataHost
from chatml_runtime.scenario.model import Scenario
from chatml_runtime.script.approvals import PendingRequest
from chatml_runtime.script.effects import Approve, EndSession, Reject, RequestTurn
from chatml_runtime.script.errors import told
from chatml_runtime.script.scripts import ScriptArtifact
from chatml_runtime.script.session import RunStatus

NO_SETTING = Scenario(events=())
"""A session without tools, and a host that answers nothing."""


class UnansweredError(Exception):
    """Nobody is there to answer, or the answer will not do."""


class StandingAnswer:
    """Gives one answer to every question."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def answer(self, request: PendingRequest, problem: str | None) -> str:
        if self.text is None or problem is not None:
            raise UnansweredError
        return self.text


def replay(
    artifact: ScriptArtifact,
    items: Sequence[Json],
    *,
    setting: Scenario = NO_SETTING,
    answer: str | None = None,
) -> Replayed:
    """Replay a conversation of provider items, and tell what the policy would have done.

    The conversation goes on as it is stored, whatever is decided, until the policy ends it; only the call itself is
    carried out as decided: rewritten or redirected it keeps the stored output, rejected its output is the reason. A
    question that `answer` does not answer is dropped with its run; an event that fails is a finding. `setting`
    describes the session and the host, its events play no part; the history of the session comes before the items.

    `ItemDecodeError` for items that are none, `InstantiationError` or `RuntimeFailure` if no session starts.

    >>> from chatml_runtime import ArtifactCache
    >>> policy = ArtifactCache().get("main", '''
    ... let initial_state = 0
    ... let on_event ctx st ev = match ev with
    ...   | `Pre_tool_call(call) -> let* () = Tool.reject("no " ++ call.name) in Task.pure(st)
    ...   | _ -> Task.pure(st)''')
    >>> call = {"type": "function_call", "name": "rm", "arguments": "{}", "call_id": "c1"}
    >>> [(found.kind, found.about, found.detail) for found in replay(policy, [call]).findings]
    [('rejected', 'rm {}', 'no rm')]
    """
    return Player(artifact, setting, answer).play(turns_of(items), len(items))


class Player:
    """A moderator with a turn driver, the history so far, and the findings."""

    def __init__(self, artifact: ScriptArtifact, setting: Scenario, answer: str | None) -> None:
        session = self.session = setting.session
        self.findings: list[Finding] = []
        self.events = 0
        self.at: int | None = None
        self.reviewing: ToolCall | None = None
        self.names: dict[str, ToolCall] = {}
        self.refused: dict[str, str] = {}
        self.reported: ChatmlError | None = None
        self.allocator = EntryIdAllocator(session.id)
        self.history: list[HistoryEntry] = []
        for item in session.history:
            self.join(item)
        self.moderator = Moderator.create(
            artifact,
            allocator=self.allocator,
            capabilities=DataHost(setting.host, session.now_ms).capabilities,
            observer=self.observe,
            print=lambda line: None,
        )
        self.driver = TurnDriver(
            self.moderator, session_id=session.id, session_meta=session.meta, approval=StandingAnswer(answer)
        )

    def play(self, turns: Sequence[StoredTurn], items: int) -> Replayed:
        """Deliver what happens in the turns, until the session has ended."""
        self.step(lambda: self.driver.start(self.given()))
        for turn in turns:
            if self.driver.is_ended:
                break
            for stored in turn.submitted:
                self.at = stored.index
                self.join(stored.item)
            if turn.is_requested:
                self.play_turn(turn)
        if self.driver.is_ended:
            self.find("ended", self.driver.end_reason or "")
        return Replayed(items, self.events, tuple(self.findings))

    def play_turn(self, turn: StoredTurn) -> None:
        self.step(lambda: self.driver.begin_request(self.given()))
        for part, carry_out in (
            (turn.response, self.respond),
            (turn.outputs, self.output),
            (turn.deferred, self.append),
        ):
            for stored in part:
                if self.driver.is_ended:
                    return
                self.at = stored.index
                carry_out(stored)
        if not self.driver.is_ended and (turn.response or turn.outputs):
            self.step(lambda: self.driver.end_turn(self.given()))

    def respond(self, stored: StoredItem) -> None:
        """A finished item of a response; a call is reviewed first."""
        if stored.item.get("type") not in CALLS:
            self.append(stored)
            return
        entry = HistoryEntry(self.allocator.allocate(), stored.item)
        call = self.reviewing = call_of(stored.item)
        self.names[call.id] = call

        def review() -> None:
            nonlocal entry
            reviewed = self.driver.review_tool_call(self.given(), call, entry=entry)
            entry = HistoryEntry(entry.id, reviewed.call_item)
            self.names[call.id] = reviewed.call
            if reviewed.synthetic_output is not None:
                self.refused[call.id] = reviewed.synthetic_output

        self.step(review)
        self.reviewing = None
        self.history.append(entry)
        if not self.driver.is_ended:
            self.step(lambda: self.driver.entry_appended(self.given()))

    def output(self, stored: StoredItem) -> None:
        """What a call gave. Without its call in the conversation it is an item like any other."""
        call = self.names.get(stored.item["call_id"])
        if call is None:
            self.append(stored)
            return
        reason = self.refused.get(call.id)
        item = stored.item if reason is None else output_item(call, reason)
        self.join(item)
        self.step(
            lambda: self.driver.tool_result(self.given(), name=call.name, kind=call.kind, output_item=item),
        )

    def append(self, stored: StoredItem) -> None:
        """An item that joins the history, of which the policy is told."""
        self.join(stored.item)
        self.step(lambda: self.driver.entry_appended(self.given()))

    def join(self, item: Json) -> None:
        self.history.append(HistoryEntry(self.allocator.allocate(), item))

    def given(self) -> TurnInput:
        return TurnInput(tuple(self.history), self.session.tools, self.session.now_ms)

    def step(self, carry_out: Callable[[], object]) -> None:
        """Carry out an operation of the driver. If it fails, that is found, and the conversation goes on."""
        try:
            carry_out()
        except UnansweredError:
            self.moderator.abandon_pending()
        except ChatmlError as error:
            if self.reported is None:  # a decision without a call: its run has committed, and was observed
                self.find("failed", "", told(error))
        self.reported = None

    # What the moderator did

    def observe(self, run: RunRecord) -> None:
        """Note what a run that has just ended did."""
        self.events += 1
        outcome = run.outcome
        if run.error is not None:
            self.reported = run.error
            self.find("failed", f"{run.phase.value} {brief_event(run.event)}".rstrip(), told(run.error))
            return
        if run.status is RunStatus.SUSPENDED:
            self.find("asked", "" if run.pending is None else run.pending.prompt)
            return
        for op in outcome.overlay_ops:
            self.change(op)
        for request in outcome.runtime_requests:
            if not isinstance(request, EndSession):
                self.find("requested", "another turn" if isinstance(request, RequestTurn) else "compaction")
        if self.reviewing is not None and run.phase is Phase.PRE_TOOL_CALL:
            self.decide(self.reviewing, outcome.tool_decision)

    def decide(self, call: ToolCall, decision: ToolDecision | None) -> None:
        about = f"{call.name} {json_of(call.args)}"
        match decision:
            case None:
                self.find("undecided", about)
            case Approve():
                self.find("approved", about)
            case Reject(reason=reason):
                self.find("rejected", about, reason)
            case RewriteArgs(args=args):
                self.find("rewritten", about, json_of(args))
            case Redirect(name=name, args=args):
                self.find("redirected", about, f"{name} {json_of(args)}")

    def change(self, op: OverlayOp) -> None:
        match op:
            case PrependInstruction(text=text):
                self.find("changed", "prepended", f"system: {text}")
            case AppendItem(item=item):
                self.find("changed", "appended", line_of(item.value))
            case ReplaceItem(target_id=target, item=item):
                self.find("changed", f"replaced {target}", line_of(item.value))
            case DeleteItem(target_id=target):
                self.find("changed", f"deleted {target}")

    def find(self, kind: Kind, about: str, detail: str = "") -> None:
        self.findings.append(Finding(self.at, kind, about, detail))


def json_of(data: Json) -> str:
    return json_text(from_json(data))


def line_of(item: Json) -> str:
    return item_line(item) if isinstance(item, dict) else json_of(item)
