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

The exceptions are drawn as a tree in `chatml_runtime.script.errors`.
"""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatml_runtime.door import *
    from chatml_runtime.host import *
    from chatml_runtime.moderation import *
    from chatml_runtime.script import *
else:
    __getattr__, __dir__ = _door(__name__, *(f"chatml_runtime.{wing}" for wing in ("script", "moderation", "host")))
