"""nr-chat: a plain text format for storing and moving chat messages, and JSON5 (nrchat.md, docs/nrchat.md).

A line that begins with `%` opens a message; what follows, up to the next such line, is its body.

>>> from chatmd.nrchat import Message, parse, stringify
>>> messages = parse("%user Bob {id: 7}\\nWhat is 2+2?\\n%assistant\\n4.\\n")
>>> messages[0].name, messages[0].meta, messages[1].body
('Bob', {'id': 7}, '4.')
>>> stringify([*messages, Message("user", body="%thanks")])
'%user Bob {id: 7}\\nWhat is 2+2?\\n%assistant\\n4.\\n%user\\n\\\\%thanks\\n'

Text in, text out: `parse`, `stringify`, `check`. Edit in place: `replace_span` and the functions beside it.
Quote: `escape_body`, `fence_for`. Files: `ChatFile`, `iter_messages`, `follow`. Provider items: `to_item`,
`from_item`. JSON5: `parse_json5`, `stringify_json5`. Offsets in other units: `to_utf16_offsets` and its kin.
Every error is an `NrChatError`, so a `ValueError`; `chatmd.nrchat.errors` draws their tree.
"""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatmd.nrchat.door import *
else:
    __getattr__, __dir__ = _door(__name__)
