"""ChatMD: prompt documents and transcripts as files; and `chatmd.nrchat`, the message text format."""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatmd.door import *
else:
    __getattr__, __dir__ = _door(__name__)
