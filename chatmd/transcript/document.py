"""Writing a running conversation into its document (chatmd.md section 14).

`TraceWriter` makes the blocks of tool calls in both persistence modes, `AssistantStream` the block of an answer that
arrives in pieces; the host appends what they return to the transcript, in order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from chatmd.elements.trace import CUSTOM_CALL
from chatmd.request.convert import CUSTOM_OUTPUT
from chatmd.sources.files import replace_file
from chatmd.text import markup
from chatmd.text.attributes import WHITE
from chatmd.text.lexer import RAW_END
from chatmd.text.lines import decode
from chatmd.text.markup import Written
from chatmd.transcript.trace_text import flatten_output, message_text

DATA_DIR = ".chatmd"
STUB = "<user>\n\n</user>"
UNSAFE = re.compile(r"[^A-Za-z0-9._-]", re.ASCII)
ItemDict = Mapping[str, Any]


class TraceWriter:
    """Tool calls and their outputs as blocks. With `inline` (the configuration's `show_tool_call`) payloads stand in
    the transcript; without, in files of `.chatmd` in `directory`, the transcript's own.

    >>> writer = TraceWriter(".", inline=True)
    >>> print(writer.call({"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"}), end="")
    <tool_call tool_call_id="c" function_name="f" id="c">
    RAW|
    {}
    |RAW
    </tool_call>
    """

    def __init__(self, directory: str | os.PathLike[str], *, inline: bool, seq: int = 0) -> None:
        self.directory = os.fspath(directory)
        self.inline = inline
        self.seq = seq
        self.numbers: dict[str, int] = {}

    def call(self, item: ItemDict) -> str:
        """The block of a call, which takes the next number. Raises `OSError` when its file cannot be written."""
        custom = item["type"] == CUSTOM_CALL
        call_id = str(item["call_id"])
        number = self.numbers[call_id] = self.seq
        self.seq += 1
        name = ("function_name", str(item["name"]))
        own = ("tool_call_id", call_id)
        given: list[tuple[str, Written]] = [("type", CUSTOM_CALL if custom else None)]
        given += [own, name] if self.inline else [name, own]
        given.append(("id", str(item.get("id") or call_id)))
        return self._block("tool_call", given, number, call_id, str(item["input" if custom else "arguments"]))

    def response(self, item: ItemDict) -> str:
        """The block of an output, under the number of its call. Raises `OSError` as `call` does."""
        call_id = str(item["call_id"])
        number = self.numbers.get(call_id, self.seq)
        given: list[tuple[str, Written]] = [
            ("type", CUSTOM_CALL if item["type"] == CUSTOM_OUTPUT else None),
            ("tool_call_id", call_id),
            ("id", str(number)),
        ]
        return self._block("tool_response", given, number, call_id, flatten_output(item["output"]))

    def _block(self, tag: str, given: list[tuple[str, Written]], number: int, call_id: str, payload: str) -> str:
        if self.inline:
            return markup.element(tag, given, markup.framed(payload)) + "\n"
        kind = "tool-call" if tag == "tool_call" else "tool-call-result"
        name = f"{number}.{kind}.{UNSAFE.sub('_', call_id)}.json"
        folder = os.path.join(self.directory, DATA_DIR)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        replace_file(os.path.join(folder, name), payload.encode("utf-8", "replace"))
        link = markup.empty("doc", [("src", f"./{DATA_DIR}/{name}"), ("local", True)])
        return markup.element(tag, given, f"\n  {link}\n") + "\n"


class AssistantStream:
    """The block of an answer that arrives in pieces: a terminator that is split over two of them is caught.

    >>> stream = AssistantStream("m1")
    >>> "".join([stream.open(), stream.delta("a|R"), stream.delta("AWb"), stream.close()])
    '<assistant id="m1">\\nRAW|\\na|RAW|RAWRAW|b\\n|RAW\\n</assistant>\\n'
    """

    def __init__(self, identity: str, phase: str | None = None) -> None:
        self.identity = identity
        self.phase = phase
        self.held = ""

    def open(self) -> str:
        """The start of the block."""
        return markup.opening("assistant", [("id", self.identity), ("phase", self.phase)]) + ">\nRAW|\n"

    def delta(self, text: str) -> str:
        """What a piece adds; its last characters may be held back until it is clear what follows them."""
        text = self.held + text
        kept = next((n for n in range(3, 0, -1) if text.endswith(RAW_END[:n])), 0)
        self.held = text[len(text) - kept :]
        return markup.inside_raw(text[: len(text) - kept])

    def close(self) -> str:
        """The end of the block: of the answer, or of the turn."""
        return f"{self.held}\n|RAW\n</assistant>\n"


def assistant_block(item: ItemDict) -> str:
    """A finished answer as a block."""
    given: list[tuple[str, Written]] = [
        ("id", item["id"]),
        ("status", item.get("status")),
        ("phase", item.get("phase")),
    ]
    return markup.element("assistant", given, markup.framed(message_text(item))) + "\n"


def reasoning_block(item: ItemDict) -> str:
    """Reasoning as a block, each summary on its own lines.

    >>> print(reasoning_block({"id": "r", "summary": [{"type": "summary_text", "text": "a"}]}), end="")
    <reasoning id="r">
    <summary>
    a
    </summary>
    </reasoning>
    """
    summaries = [f"<summary>\n{markup.text(part['text'])}\n</summary>\n" for part in item["summary"]]
    return markup.element("reasoning", [("id", item["id"])], "\n" + "".join(summaries)) + "\n"


def set_pending_user_text(file: str | os.PathLike[str], text: str) -> None:
    """Put a text into the empty user message at the end of a transcript, or append it as a message (section 14.6).

    Raises `OSError` when the file cannot be read or written.
    """
    with open(file, encoding="utf-8", errors="surrogateescape", newline="") as transcript:
        written = transcript.read().rstrip(WHITE)
    before = written.removesuffix(STUB) if written.endswith(STUB) else f"{written}\n" if written else ""
    body = markup.text(decode(text)) if text else ""
    whole = f"{before}<user>\n{body}\n</user>\n"
    replace_file(file, whole.encode("utf-8", "surrogateescape"), mode=os.stat(file).st_mode & 0o777)
