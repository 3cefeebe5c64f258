"""A model that needs no network: it looks for file names and sums in what the user says."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from chatml_runtime import ToolDesc

FILE = re.compile(r"[\w./-]+\.(?:md|txt)")
SUM = re.compile(r"\d[\d\s+*/()-]*[+*/-][\d\s+*/()-]*\d")


class SmallModel:
    """Calls `read_file` for every file that the user names and `calculate` for every sum, and then says what came."""

    def __init__(self) -> None:
        self._calls = 0

    async def respond(self, inputs: Sequence[Any], tools: Sequence[ToolDesc]) -> AsyncIterator[Any]:
        """One response: calls if the user has just spoken and there is something to look up, else a message."""
        spoken = max(n for n, item in enumerate(inputs) if item.get("role") == "user")
        outputs = [item["output"] for item in inputs[spoken:] if item["type"] == "function_call_output"]
        if outputs:
            yield self.message("\n".join(f"- {output.strip()}" for output in outputs))
            return
        text = inputs[spoken]["content"][0]["text"]
        calls = [("read_file", {"path": path}) for path in FILE.findall(text)]
        calls += [("calculate", {"expression": found.strip()}) for found in SUM.findall(text)]
        for name, args in calls:
            yield self.call(name, args)
        if not calls:
            yield self.message("Name a file (notes.md, private/diary.txt) or a sum (6 * 7).")

    def call(self, name: str, args: Any) -> Any:
        self._calls += 1
        arguments = json.dumps(args)
        return {"type": "function_call", "name": name, "arguments": arguments, "call_id": f"call-{self._calls}"}

    def message(self, text: str) -> Any:
        part = {"type": "output_text", "text": text, "annotations": []}
        return {"type": "message", "role": "assistant", "id": "msg", "status": "completed", "content": [part]}
