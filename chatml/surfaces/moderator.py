"""`MODERATOR`: what the script of a moderator can name besides `CORE` (builtins.md section 5)."""

from __future__ import annotations

from collections.abc import Mapping

from chatml.builtins.context import CONTEXT, CONTEXT_TYPE, TOOL_DESC_TYPE
from chatml.builtins.item import ITEM, ITEM_TYPE
from chatml.builtins.model import MODEL
from chatml.builtins.operations import LOG, PROCESS, RUNTIME, SCHEDULE, TOOL
from chatml.builtins.schemes import JSON, record, variant
from chatml.builtins.tool_call import TOOL_CALL, TOOL_CALL_TYPE
from chatml.builtins.turn import TURN
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Alias, Surface
from chatml.types.environment import HostTypes
from chatml.types.model import String, Tuple, Type, Unit

TOOL_RESULT_TYPE = record(call_id=String, name=String, result=JSON)

EVENTS: Mapping[str, Type] = {
    "Session_start": Unit,
    "Session_resume": Unit,
    "Turn_start": Unit,
    "Item_appended": ITEM_TYPE,
    "Pre_tool_call": TOOL_CALL_TYPE,
    "Post_tool_response": TOOL_RESULT_TYPE,
    "Turn_end": Unit,
}
"""The standard events and what they carry (runtime.md 9.1)."""

JOB_EVENTS: Mapping[str, Type] = {
    "Model_job_succeeded": Tuple([String, String, JSON]),
    "Model_job_failed": Tuple([String, String, String]),
    "Tool_job_succeeded": Tuple([String, String, JSON]),
    "Tool_job_failed": Tuple([String, String, String]),
}
"""The events that tell how a spawned job ended: its id, what was called, and the result or the message."""

MODERATOR = CORE.combine(
    Surface(
        modules=(LOG, ITEM, TOOL_CALL, CONTEXT, TURN, TOOL, MODEL, SCHEDULE, RUNTIME, PROCESS),
        aliases=(
            Alias("item", ITEM_TYPE),
            Alias("tool_desc", TOOL_DESC_TYPE),
            Alias("tool_call", TOOL_CALL_TYPE),
            Alias("tool_result", TOOL_RESULT_TYPE),
            Alias("context", CONTEXT_TYPE),
            Alias("event", variant(**EVENTS)),
            Alias("job_event", variant(**JOB_EVENTS)),
        ),
        host=HostTypes(CONTEXT_TYPE, EVENTS, JOB_EVENTS),
    )
)
