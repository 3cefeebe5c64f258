"""A host's loop in memory: it asks a model, reviews and runs tool calls, and answers for a person.

`turns` puts the events around one model request; `conversation` runs a whole exchange, from what a person said to the
last answer; `controller` holds one session in the hands of a person, with questions, interruptions and what is shown.
`jobs` and `scheduler` do what goes on meanwhile and deliver it as events. What follows what is decided by pure
functions (`followups`, `reduction`, `policy`); only this room starts threads or needs an event loop.
"""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatml_runtime.host.door import *
else:
    __getattr__, __dir__ = _door(__name__)
