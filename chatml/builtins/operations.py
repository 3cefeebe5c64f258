"""The modules whose builtins are nothing but effects (builtins.md sections 5.6 to 5.12 and 6)."""

from __future__ import annotations

from chatml.builtins.effects import Effect, effect_module
from chatml.builtins.schemes import JSON, A, record, variant
from chatml.builtins.tool_call import TOOL_CALL_TYPE
from chatml.types.model import Array, Int, String, Unit

OUTCOME = variant(Ok=JSON, Error=String)

LOG = effect_module(
    "Log",
    [
        Effect("debug", [String]),
        Effect("info", [String]),
        Effect("warn", [String]),
        Effect("error", [String]),
    ],
)

TOOL = effect_module(
    "Tool",
    [
        Effect("approve"),
        Effect("reject", [String]),
        Effect("rewrite_args", [JSON]),
        Effect("redirect", [String, JSON]),
        Effect("call", [String, JSON], OUTCOME),
        Effect("spawn", [String, JSON], String, spawned=True),
    ],
)

PROCESS = effect_module("Process", [Effect("run", [String, Array(String)], String, spawned=True)])

SCHEDULE = effect_module(
    "Schedule",
    [
        Effect("after_ms", [Int, A], String, spawned=True),
        Effect("cancel", [String]),
    ],
)

RUNTIME = effect_module(
    "Runtime",
    [
        Effect("emit", [A]),
        Effect("request_compaction"),
        Effect("request_turn"),
        Effect("end_session", [String]),
    ],
)

UI = effect_module("Ui", [Effect("notify", [String])])

REPLY = variant(Answered=record(answer=String, by=String, at_ms=Int), Expired=Unit)
"""The alias `reply`: what comes of a question that has a time (live.md section D.4)."""

APPROVAL = effect_module(
    "Approval",
    [
        Effect("ask_text", [String], String),
        Effect("ask_choice", [String, Array(String)], String),
        Effect("ask_text_within", [String, Int], REPLY),
        Effect("ask_choice_within", [String, Array(String), Int], REPLY),
        Effect("ask_about", [TOOL_CALL_TYPE, String, Array(String), Int], REPLY),
    ],
)
