"""What `chatml replay` does in a second: short conversations, replayed to the allow-list in one process and in two.

    python benchmarks/replay.py [RUNS]

Prints one table, medians of RUNS runs (default 3) of the command as a user starts it, its start included. Memory is
that of its largest process at its peak.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
POLICY = ROOT / "examples" / "policies" / "allow_list.chatml"
NUMBERS = (1_000, 10_000)
JOBS = (1, 2)


def conversation(number: int) -> list[dict[str, object]]:
    """A question, two calls with their outputs, one of them outside of what is allowed, and an answer."""
    items: list[dict[str, object]] = [{"type": "message", "role": "user", "content": f"Summarise page {number}."}]
    for path in (f"docs/page_{number}.md", f"/tmp/{number % 100}"):
        call = {"name": "read_file", "arguments": json.dumps({"path": path}), "call_id": path}
        items.append({"type": "function_call", **call})
        items.append({"type": "function_call_output", "call_id": path, "output": "What stands there. " * 10})
    text = {"type": "output_text", "text": "That is what it says.", "annotations": []}
    message = {"type": "message", "role": "assistant", "id": f"m{number}", "status": "completed", "content": [text]}
    return [*items, message]


def write_conversations(folder: Path, number: int) -> None:
    """So many files, a thousand to a folder."""
    for index in range(number):
        path = folder / f"{index // 1_000}" / f"{index}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(conversation(index)), encoding="utf-8")


def measure(folder: Path, jobs: int) -> tuple[float, float, float]:
    """Seconds, seconds of processor time, and MiB of one run."""
    command = [sys.executable, "-m", "chatml", "replay", str(POLICY), str(folder), "--jobs", str(jobs)]
    search_path = os.pathsep.join([str(ROOT), str(ROOT / "runtime")])
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": search_path})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("| conversations | jobs | s | conversations/s | CPU ms each | peak MiB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as directory:
        for number in NUMBERS:
            folder = Path(directory, str(number))
            write_conversations(folder, number)
            for jobs in JOBS:
                taken = [measure(folder, jobs) for _ in range(runs)]
                seconds, busy, memory = (median(values) for values in zip(*taken, strict=True))
                figures = f"{number / seconds:,.0f} | {busy / number * 1000:.2f} | {memory:.1f}"
                print(f"| {number:,} | {jobs} | {seconds:.1f} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
