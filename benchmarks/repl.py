"""How long a person waits at the REPL with a script of 2,000 lines loaded.

    python -m benchmarks.repl [RUNS]

Prints one table, milliseconds: medians and the worst of RUNS runs (default 30). The rows of completion ask the real
completer, with what its menu shows; the rows of keys type into a real process on a pseudo-terminal, and wait until the
menu, or the answer, is on the screen. Needs the extra `chatml-toolkit[repl]`, and Unix.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from benchmarks.frontend import SEARCH_PATH, script
from chatml.source import Source
from chatml_tools.repl.editor import ReplCompleter
from chatml_tools.repl.session import Session
from chatml_tools.repl.terminal import settle

LINES = 2_000
SHOWN = 20
"""Entries of the menu that a screen shows, with their types."""

TYPED = {
    "a name": "let x = desc",
    "every name": "",
    "a field": "let x = sample_7.",
    "a field inside a half-written function": (
        "let f order =\n  let first = order.lines[0] in\n  match sample_7.state with\n  | `Open -> sample_3.lines[0]."
    ),
    "an export of a module": "print(Report_9.",
    "a tag": "match sample_7.state with | `P",
    "a type": "let x : or",
}
"""What stands before the cursor."""

KEYS = {
    "key: a point, until the fields are on the screen": (b"sample_7", b".", b"state"),
    "key: a letter, until the names are on the screen": (b"let x = (", b"d", b"describe_"),
    "Enter: until the answer is on the screen": (b"total_7(sample_7)", b"\r", b"float"),
}
"""What is typed before, the key, and what appears then."""

ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
CTRL_C, PROMPT = b"\x03", b">"


def main(runs: int) -> None:
    text = script(LINES)
    print(f"{'':<52}{'median':>10}{'worst':>10}")
    completer = ReplCompleter(loaded(text))
    for name, typed in TYPED.items():
        show(f"completion: {name}", timed(lambda typed=typed: menu(completer, typed), runs))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.chatml")
        path.write_text(text, encoding="utf-8")
        with Screen(path, folder) as screen:
            for name, (before, key, awaited) in KEYS.items():
                show(name, list(screen.keys(before, key, awaited, runs)))


def loaded(text: str) -> Session:
    session = Session(None, print=print)
    session.load(Source("script.chatml", text), "script.chatml")
    settle()
    return session


def menu(completer: ReplCompleter, typed: str) -> list[str]:
    """What the menu shows."""
    found = list(completer.get_completions(Document(typed), CompleteEvent(completion_requested=True)))
    assert found, typed
    return [entry.display_text + entry.display_meta_text for entry in found[:SHOWN]]


def timed(action: Callable[[], object], runs: int) -> list[float]:
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return taken


def show(name: str, taken: list[float]) -> None:
    print(f"{name:<52}{median(taken) * 1000:>10.1f}{max(taken) * 1000:>10.1f}")


class Screen:
    """The REPL on a pseudo-terminal."""

    def __init__(self, script: Path, folder: str) -> None:
        self.own, other = pty.openpty()
        settings = {"PYTHONPATH": SEARCH_PATH, "TERM": "xterm", "XDG_STATE_HOME": folder, "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "chatml", "repl", str(script)],
            env={**os.environ, **settings},
            stdin=other,
            stdout=other,
            stderr=other,
        )
        os.close(other)
        self.wait(b"1" + PROMPT)

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.own)

    def wait(self, text: bytes) -> None:
        """Read until a text appears."""
        seen = b""
        while text not in seen:
            seen += ESCAPE.sub(b"", os.read(self.own, 65536))

    def settle(self) -> None:
        """Read until nothing comes for a while."""
        while select.select([self.own], [], [], 0.15)[0]:
            os.read(self.own, 65536)

    def keys(self, before: bytes, key: bytes, awaited: bytes, runs: int) -> Iterator[float]:
        """Type a text, then one key: how long it takes from there until something is on the screen."""
        for _ in range(runs):
            os.write(self.own, before)
            self.settle()
            start = time.perf_counter()
            os.write(self.own, key)
            self.wait(awaited)
            yield time.perf_counter() - start
            self.settle()
            os.write(self.own, CTRL_C)
            self.settle()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
