"""The answers of sub-agents, kept between calls and, in a file, between runs (chatmd.md section 13.4)."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import OrderedDict
from collections.abc import Callable

from chatmd.elements.content import AgentItem, flatten
from chatmd.sources.files import MIB, read_regular, replace_file

DAY = 24 * 60 * 60.0
MOST = 1000
FILE_BYTES = 256 * MIB
FORMAT = "chatmd-agent-cache-1"


class AgentCache:
    """Answers by URL, locality and items of the call; the least recently used go first, the old ones expire.

    `path` is the file that keeps them between runs (None: none does); one that cannot be read counts as empty.
    `clock` tells seconds since the epoch. The text of the agent's prompt is not part of the key.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        seconds: float = DAY,
        most: int = MOST,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.seconds = seconds
        self.most = most
        self.clock = clock
        self.answers: OrderedDict[str, tuple[float, str]] = OrderedDict()
        if path is not None:
            self._read(path)

    def get(self, item: AgentItem) -> str | None:
        """The answer that is kept for a call, unless it is too old."""
        name = key(item)
        found = self.answers.get(name)
        if found is None:
            return None
        kept, answer = found
        if self.clock() - kept > self.seconds:
            del self.answers[name]
            return None
        self.answers.move_to_end(name)
        return answer

    def put(self, item: AgentItem, answer: str) -> None:
        """Keep an answer, in the file too. Raises `OSError` when the file cannot be written."""
        self.answers[key(item)] = self.clock(), answer
        self.answers.move_to_end(key(item))
        while len(self.answers) > self.most:
            self.answers.popitem(last=False)
        if self.path is not None:
            self._write(self.path)

    def _read(self, path: str | os.PathLike[str]) -> None:
        try:
            content = json.loads(read_regular(os.fspath(path), FILE_BYTES))
            if content["format"] == FORMAT:
                for name, kept, answer in content["answers"][-self.most :]:
                    self.answers[str(name)] = float(kept), str(answer)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            self.answers.clear()

    def _write(self, path: str | os.PathLike[str]) -> None:
        answers = [[name, kept, answer] for name, (kept, answer) in self.answers.items()]
        directory = os.path.dirname(os.path.abspath(path))
        os.makedirs(directory, mode=0o700, exist_ok=True)
        content = json.dumps({"format": FORMAT, "answers": answers})
        replace_file(path, content.encode("ascii"))


def key(item: AgentItem) -> str:
    """What identifies a call: equal calls have equal keys."""
    return hashlib.sha256(repr(list(flatten([item]))).encode("utf-8", "surrogatepass")).hexdigest()
