"""What most hosts need. The package reads this file, and looks in `script`, `moderation` and `host` for the rest."""

from chatml_runtime.host.background import BackgroundLoop
from chatml_runtime.host.controller import Controller
from chatml_runtime.host.conversation import Conversation, RunReport, run_conversation
from chatml_runtime.host.policy import RuntimePolicy
from chatml_runtime.host.rows import Row
from chatml_runtime.host.tools import Tool, Toolbox
from chatml_runtime.host.work import AsyncWork
from chatml_runtime.moderation.capabilities import Capabilities, ModelError, ModelOk, ModelRefused, ToolError, ToolOk
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.items import Item
from chatml_runtime.moderation.moderator import MODERATOR_LIMITS, Moderator
from chatml_runtime.moderation.outcome import Outcome, Redirect, RewriteArgs
from chatml_runtime.moderation.results import EventInput
from chatml_runtime.moderation.snapshots import ModeratorSnapshot
from chatml_runtime.moderation.tool_calls import apply_tool_decision
from chatml_runtime.moderation.vocabulary import (
    InternalEvent,
    ItemAppended,
    PostToolResponse,
    PreToolCall,
    SessionResume,
    SessionStart,
    ToolCall,
    ToolDesc,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from chatml_runtime.script.approvals import Answered, AskChoice, AskText, Expired
from chatml_runtime.script.effects import Approve, Reject
from chatml_runtime.script.errors import CommitRejectedError, HandlerError, OperationFailed, SessionSuspendedError
from chatml_runtime.script.operations import OpDef
from chatml_runtime.script.recording import Recording
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.scripts import ArtifactCache, CompiledScript, ScriptArtifact, compile_script
from chatml_runtime.script.session import Session
from chatml_runtime.script.steps import ParkedStep, arun_step, run_step

__all__ = [
    "MODERATOR_LIMITS",
    "Answered",
    "Approve",
    "ArtifactCache",
    "AskChoice",
    "AskText",
    "AsyncWork",
    "BackgroundLoop",
    "Capabilities",
    "CommitRejectedError",
    "CompiledScript",
    "Controller",
    "Conversation",
    "EntryIdAllocator",
    "EventInput",
    "Expired",
    "HandlerError",
    "HistoryEntry",
    "InternalEvent",
    "Item",
    "ItemAppended",
    "ModelError",
    "ModelOk",
    "ModelRefused",
    "Moderator",
    "ModeratorSnapshot",
    "OpDef",
    "OpRegistry",
    "OperationFailed",
    "Outcome",
    "ParkedStep",
    "PostToolResponse",
    "PreToolCall",
    "Recording",
    "Redirect",
    "Reject",
    "RewriteArgs",
    "Row",
    "RunReport",
    "RuntimePolicy",
    "ScriptArtifact",
    "Session",
    "SessionResume",
    "SessionStart",
    "SessionSuspendedError",
    "Tool",
    "ToolCall",
    "ToolDesc",
    "ToolError",
    "ToolOk",
    "ToolResult",
    "Toolbox",
    "TurnEnd",
    "TurnStart",
    "apply_tool_decision",
    "arun_step",
    "compile_script",
    "run_conversation",
    "run_step",
]
