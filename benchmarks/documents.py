"""How fast documents are read, and how much memory that takes.

    python benchmarks/documents.py [RUNS]

Generates transcripts of 1, 10 and 50 MB (messages, tool calls with JSON in RAW blocks, answers, some unknown markup)
and prints one table: MB per second of CPU time for `parse_tree`, `load` and `dumps`, and the peak memory per byte of
text. Every cell is the median of RUNS runs (default 3) in fresh processes.
"""

from __future__ import annotations

import importlib
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
MEGABYTES = (1, 10, 50)
STEPS = ("parse_tree", "load", "dumps")
WORDS = ("the", "model", "reads", "a", "file,", "writes", "a < b", "|", "calls", "<b>tools</b>", "plain", "text\n")


def transcript(characters: int) -> str:
    """A transcript of at least that many characters, always the same one."""
    chance = random.Random(1)
    words = [chance.choice(WORDS) for _ in range(5_000)]
    parts = ['<config model="m" temperature="0.2"/>\n<tool name="read_file"/>\n']
    length = 0
    number = 0
    while length < characters:
        start = chance.randrange(4_000)
        size = chance.choice((20, 60, 200, 800))
        text, short, line = (" ".join(words[start : start + min(size, most)]) for most in (800, 80, 12))
        block = (
            f"<user>\n{short}\n</user>\n"
            f'<tool_call tool_call_id="c{number}" function_name="read_file" id="i{number}">\nRAW|\n'
            f'{{"file": "src/{number}.py", "why": "{line!r}"}}\n|RAW\n</tool_call>\n\n'
            f'<tool_response tool_call_id="c{number}" id="{number}">\nRAW|\n{text}\n|RAW\n</tool_response>\n\n'
            f'<assistant id="m{number}" status="completed">\nRAW|\n{short}\n|RAW\n</assistant>\n\n'
        )
        parts.append(block)
        length += len(block)
        number += 1
    return "".join(parts)


def one(step: str, megabytes: int) -> None:
    """Measure one step in this process; print CPU seconds, bytes of text, and bytes of memory that were added."""
    text = transcript(megabytes * 1_000_000)
    chatmd = importlib.import_module("chatmd")
    load = partial(chatmd.load, text, base_dir=".", environment={})
    actions: dict[str, Callable[[], object]] = {"parse_tree": partial(chatmd.parse_tree, text), "load": load}
    if step == "dumps":
        actions["dumps"] = partial(chatmd.dumps, load())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    kept = actions[step]()
    seconds = time.process_time() - start
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    del kept
    unit = 1024 if sys.platform != "darwin" else 1
    print(seconds, len(text), added * unit)


def measure(step: str, megabytes: int) -> tuple[float, float]:
    """MB per second, and bytes of memory per byte of text, in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # `-P`: this file must not hide the package of the same name.
    command = [sys.executable, "-P", __file__, "--one", step, str(megabytes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds, length, added = (float(field) for field in done.stdout.split())
    return length / seconds / 1e6, added / length


def main(runs: int) -> None:
    """Measure everything, and print the table."""
    print(f"{'':<12}" + "".join(f"{f'{size} MB':>12}" for size in MEGABYTES) + f"{'bytes/byte':>14}")
    measured = {(step, size): [measure(step, size) for _ in range(runs)] for size in MEGABYTES for step in STEPS}
    for step in STEPS:
        speeds = [median(speed for speed, _ in measured[step, size]) for size in MEGABYTES]
        memory = median(added for _, added in measured[step, MEGABYTES[-1]])
        print(f"{step:<12}" + "".join(f"{speed:>12.1f}" for speed in speeds) + f"{memory:>14.2f}")
    print("\nMB per second; added peak memory per byte of text, at the largest size")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], int(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
