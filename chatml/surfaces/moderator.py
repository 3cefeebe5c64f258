"""`MODERATOR`: what the script of a moderator can name besides `CORE` (builtins.md section 5)."""

from __future__ import annotations

from chatml.builtins.context import CONTEXT, CONTEXT_TYPE, TOOL_DESC_TYPE
from chatml.builtins.item import ITEM, ITEM_TYPE
from chatml.builtins.model import MODEL
from chatml.builtins.operations import LOG, PROCESS, RUNTIME, SCHEDULE, TOOL
from chatml.builtins.schemes import JSON, record
from chatml.builtins.tool_call import TOOL_CALL, TOOL_CALL_TYPE
from chatml.builtins.turn import TURN
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Alias, Surface
from chatml.types.model import String

MODERATOR = CORE.combine(
    Surface(
        modules=(LOG, ITEM, TOOL_CALL, CONTEXT, TURN, TOOL, MODEL, SCHEDULE, RUNTIME, PROCESS),
        aliases=(
            Alias("item", ITEM_TYPE),
            Alias("tool_desc", TOOL_DESC_TYPE),
            Alias("tool_call", TOOL_CALL_TYPE),
            Alias("tool_result", record(call_id=String, name=String, result=JSON)),
            Alias("context", CONTEXT_TYPE),
        ),
    )
)
