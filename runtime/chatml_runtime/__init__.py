"""The moderator runtime: scripts at work on conversations, from one event handler to a stored session.

| layer | names |
| --- | --- |
| one script | `compile_script`, `CompiledScript`, `Session`, `OpRegistry`, `OpDef`, `Handlers` |
| one moderated conversation | `Moderator`, `ArtifactCache`, `Capabilities`, `EventInput`, `Outcome`, `Overlay` |
| storage | `ModeratorSnapshot`, `EntryIdAllocator`, `HistoryEntry`, `export_overlay` |
| turns | `TurnDriver`, `run_conversation`, `Conversation`, `RuntimePolicy`, `Toolbox` |
| an interactive host | `Controller`, `AsyncWork`, `JobRunner`, `Scheduler`, `BackgroundLoop` |
| a conversation described as data | `chatml_runtime.scenario` |
| trying policies out | `chatml_runtime.testing` |

The exceptions are drawn as a tree in `chatml_runtime.errors`.
"""

from chatml_runtime.approvals import AskChoice, AskText
from chatml_runtime.background import BackgroundLoop
from chatml_runtime.capabilities import Capabilities, ModelError, ModelOk, ModelRecipe, ModelRefused, ToolError, ToolOk
from chatml_runtime.changes import OverlayChange, Subscription
from chatml_runtime.clocks import Clock, ManualClock
from chatml_runtime.controller import Controller
from chatml_runtime.conversation import Conversation, RunEnd, RunReport, run_conversation
from chatml_runtime.documents import export_overlay, moderator_script, overlay_entries
from chatml_runtime.effects import (
    Approve,
    Effect,
    EndSession,
    Halt,
    Reject,
    RequestCompaction,
    RequestTurn,
    decode_local_effect,
)
from chatml_runtime.entrypoints import Entrypoints
from chatml_runtime.errors import (
    ApprovalResponseError,
    BudgetExceededError,
    CommitRejectedError,
    HandlerContractError,
    HandlerError,
    InstantiationError,
    InvalidContextError,
    ItemDecodeError,
    LimitExceededError,
    ModelResponseError,
    NotSuspendedError,
    OperationFailed,
    ReplayError,
    ScriptRuntimeError,
    SessionBusyError,
    SessionClosedError,
    SessionEndedError,
    SessionSuspendedError,
    SnapshotFormatError,
    SnapshotMismatchError,
    SnapshotSuspendedError,
    TaskFailedError,
    ToolDecisionConflictError,
    UnexpectedToolDecisionError,
    UnknownTargetError,
    UnserializableValueError,
)
from chatml_runtime.followups import AutomaticTurn, FollowupLedger, StartReason
from chatml_runtime.hosts import ApprovalProvider, ModelClient, Steering, ToolRunner, View
from chatml_runtime.identities import EntryId, EntryIdAllocator, HistoryEntry, IdentityError, validate_history
from chatml_runtime.items import Item
from chatml_runtime.jobs import JobKind, JobRunner, JobState
from chatml_runtime.moderator import MODERATOR_LIMITS, Moderator
from chatml_runtime.operations import OpContext, OpDef, OpKind, allow_all_phases, require_phases
from chatml_runtime.outcome import (
    AppendItem,
    DeleteItem,
    Outcome,
    PrependInstruction,
    Redirect,
    ReplaceItem,
    RewriteArgs,
)
from chatml_runtime.overlay import (
    Canonical,
    EffectiveEntry,
    Inserted,
    Insertion,
    Overlay,
    Replacement,
    ReplacementRecord,
    Tombstone,
)
from chatml_runtime.policy import (
    BudgetPolicy,
    PauseCondition,
    RuntimePolicy,
    TurnDecision,
    TurnRateLimit,
    collapse,
    decide_after_turn,
    next_self_triggered,
)
from chatml_runtime.post import Post
from chatml_runtime.reduction import ControllerActions, reduce_outcomes
from chatml_runtime.registry import OpRegistry
from chatml_runtime.results import DrainResult, EventInput, ModerationResult, RunRecord, StopReason
from chatml_runtime.rows import Row, VisibleHistory
from chatml_runtime.scheduler import Scheduler
from chatml_runtime.scripts import ArtifactCache, CompiledScript, ScriptArtifact, compile_script
from chatml_runtime.session import RunResult, RunStatus, Session
from chatml_runtime.snapshots import ModeratorSnapshot
from chatml_runtime.standard import Handlers
from chatml_runtime.tool_calls import ReviewedCall, apply_tool_decision, call_of, output_item, result_of
from chatml_runtime.tools import Tool, Toolbox
from chatml_runtime.turns import PreparedRequest, TurnDriver, TurnInput
from chatml_runtime.vocabulary import (
    InternalEvent,
    ItemAppended,
    ModerationContext,
    Phase,
    PostToolResponse,
    PreToolCall,
    SessionResume,
    SessionStart,
    ToolCall,
    ToolDesc,
    ToolKind,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from chatml_runtime.work import AsyncWork

__all__ = [
    "MODERATOR_LIMITS",
    "AppendItem",
    "ApprovalProvider",
    "ApprovalResponseError",
    "Approve",
    "ArtifactCache",
    "AskChoice",
    "AskText",
    "AsyncWork",
    "AutomaticTurn",
    "BackgroundLoop",
    "BudgetExceededError",
    "BudgetPolicy",
    "Canonical",
    "Capabilities",
    "Clock",
    "CommitRejectedError",
    "CompiledScript",
    "Controller",
    "ControllerActions",
    "Conversation",
    "DeleteItem",
    "DrainResult",
    "Effect",
    "EffectiveEntry",
    "EndSession",
    "EntryId",
    "EntryIdAllocator",
    "Entrypoints",
    "EventInput",
    "FollowupLedger",
    "Halt",
    "HandlerContractError",
    "HandlerError",
    "Handlers",
    "HistoryEntry",
    "IdentityError",
    "Inserted",
    "Insertion",
    "InstantiationError",
    "InternalEvent",
    "InvalidContextError",
    "Item",
    "ItemAppended",
    "ItemDecodeError",
    "JobKind",
    "JobRunner",
    "JobState",
    "LimitExceededError",
    "ManualClock",
    "ModelClient",
    "ModelError",
    "ModelOk",
    "ModelRecipe",
    "ModelRefused",
    "ModelResponseError",
    "ModerationContext",
    "ModerationResult",
    "Moderator",
    "ModeratorSnapshot",
    "NotSuspendedError",
    "OpContext",
    "OpDef",
    "OpKind",
    "OpRegistry",
    "OperationFailed",
    "Outcome",
    "Overlay",
    "OverlayChange",
    "PauseCondition",
    "Phase",
    "Post",
    "PostToolResponse",
    "PreToolCall",
    "PreparedRequest",
    "PrependInstruction",
    "Redirect",
    "Reject",
    "ReplaceItem",
    "Replacement",
    "ReplacementRecord",
    "ReplayError",
    "RequestCompaction",
    "RequestTurn",
    "ReviewedCall",
    "RewriteArgs",
    "Row",
    "RunEnd",
    "RunRecord",
    "RunReport",
    "RunResult",
    "RunStatus",
    "RuntimePolicy",
    "Scheduler",
    "ScriptArtifact",
    "ScriptRuntimeError",
    "Session",
    "SessionBusyError",
    "SessionClosedError",
    "SessionEndedError",
    "SessionResume",
    "SessionStart",
    "SessionSuspendedError",
    "SnapshotFormatError",
    "SnapshotMismatchError",
    "SnapshotSuspendedError",
    "StartReason",
    "Steering",
    "StopReason",
    "Subscription",
    "TaskFailedError",
    "Tombstone",
    "Tool",
    "ToolCall",
    "ToolDecisionConflictError",
    "ToolDesc",
    "ToolError",
    "ToolKind",
    "ToolOk",
    "ToolResult",
    "ToolRunner",
    "Toolbox",
    "TurnDecision",
    "TurnDriver",
    "TurnEnd",
    "TurnInput",
    "TurnRateLimit",
    "TurnStart",
    "UnexpectedToolDecisionError",
    "UnknownTargetError",
    "UnserializableValueError",
    "View",
    "VisibleHistory",
    "allow_all_phases",
    "apply_tool_decision",
    "call_of",
    "collapse",
    "compile_script",
    "decide_after_turn",
    "decode_local_effect",
    "export_overlay",
    "moderator_script",
    "next_self_triggered",
    "output_item",
    "overlay_entries",
    "reduce_outcomes",
    "require_phases",
    "result_of",
    "run_conversation",
    "validate_history",
]
