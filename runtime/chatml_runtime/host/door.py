"""What a host's loop makes public. The package reads this file; type checkers do, too."""

from chatml_runtime.host.background import BackgroundLoop
from chatml_runtime.host.clocks import Clock, ManualClock
from chatml_runtime.host.controller import Controller
from chatml_runtime.host.conversation import Conversation, RunEnd, RunReport, run_conversation
from chatml_runtime.host.followups import AutomaticTurn, FollowupLedger, StartReason
from chatml_runtime.host.hosts import ApprovalProvider, ModelClient, Steering, ToolRunner, View
from chatml_runtime.host.jobs import JobKind, JobRunner, JobState
from chatml_runtime.host.policy import (
    BudgetPolicy,
    PauseCondition,
    RuntimePolicy,
    TurnDecision,
    TurnRateLimit,
    collapse,
    decide_after_turn,
    next_self_triggered,
)
from chatml_runtime.host.post import Post
from chatml_runtime.host.reduction import ControllerActions, reduce_outcomes
from chatml_runtime.host.rows import Row, VisibleHistory
from chatml_runtime.host.scheduler import Scheduler
from chatml_runtime.host.tools import Tool, Toolbox
from chatml_runtime.host.turns import PreparedRequest, TurnDriver, TurnInput
from chatml_runtime.host.work import AsyncWork

__all__ = [
    "ApprovalProvider",
    "AsyncWork",
    "AutomaticTurn",
    "BackgroundLoop",
    "BudgetPolicy",
    "Clock",
    "Controller",
    "ControllerActions",
    "Conversation",
    "FollowupLedger",
    "JobKind",
    "JobRunner",
    "JobState",
    "ManualClock",
    "ModelClient",
    "PauseCondition",
    "Post",
    "PreparedRequest",
    "Row",
    "RunEnd",
    "RunReport",
    "RuntimePolicy",
    "Scheduler",
    "StartReason",
    "Steering",
    "Tool",
    "ToolRunner",
    "Toolbox",
    "TurnDecision",
    "TurnDriver",
    "TurnInput",
    "TurnRateLimit",
    "View",
    "VisibleHistory",
    "collapse",
    "decide_after_turn",
    "next_self_triggered",
    "reduce_outcomes",
    "run_conversation",
]
