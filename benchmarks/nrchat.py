"""How fast nr-chat is read and written, beside the plainest pass over the same text in the same run.

    python benchmarks/nrchat.py

Prints one table. Times are the best of several runs, in milliseconds of processor time. The memory is what Python
objects took at most in a process that does nothing else, traced in a second run.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from chatmd.nrchat import parse, stringify

MEGABYTE = 1_000_000
SIZE = 10 * MEGABYTE
LARGE = 100 * MEGABYTE
RUNS = 5
WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "and", "nothing", "is", "100%", "sure")
META = " {{id: 'm{0:06}', ts: '2026-07-15T10:22:45.901Z', tokens: {{in: {1}, out: {2}}}, model: 'gpt-4o'}}"
IMPORT = "import sys, tracemalloc; from chatmd.nrchat import iter_messages; "
COUNT = "print(sum(1 for _ in iter_messages(sys.argv[1])))"
TRACE = "tracemalloc.start(); "
PEAK = "; print(tracemalloc.get_traced_memory()[1])"
ROOT = Path(__file__).parents[1]


def log(size: int, *, meta: bool, lines: int = 10) -> str:
    """A chat of about `size` characters, some of whose bodies hold ladders and fence zones; canonical text."""
    draw = random.Random(1)
    pieces: list[str] = []
    length = 0
    while length < size:
        number = len(pieces)
        role = ("user Bob", "assistant", "tool_result get_weather")[number % 3]
        header = META.format(number, draw.randrange(4000), draw.randrange(900)) if meta else ""
        body = [" ".join(draw.choices(WORDS, k=draw.randrange(4, 18))) for _ in range(draw.randrange(1, 2 * lines))]
        if number % 10 == 0:
            body.append("\\%user said this")
        if number % 25 == 0:
            body += ["```` chat", "%user", "as it was", "````"]
        piece = f"%{role}{header}\n" + "\n".join(body) + "\n"
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)


def best(work: Callable[[], object], runs: int = RUNS) -> float:
    """The shortest time of several runs, in milliseconds of processor time."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1000


def row(name: str, text: str) -> str:
    """One line of the table."""
    found = parse(text)
    canonical = [message.with_meta(message.meta) for message in found]
    if stringify(found) != text or stringify(canonical) != text:
        raise SystemExit(f"{name}: the text does not come back")
    plain = best(text.splitlines)
    reading = best(lambda: parse(text))
    writing = best(lambda: stringify(found))
    anew = best(lambda: stringify(canonical))
    size = len(text) / MEGABYTE
    return (
        f"{name:<22}{size:>6.1f}{len(found):>10,}{plain:>12.0f}{reading:>9.0f}{size / reading * 1000:>8.0f}"
        f"{reading / plain:>9.1f}{writing:>10.0f}{size / writing * 1000:>8.0f}{anew:>11.0f}"
    )


def memory() -> str:
    """What `iter_messages` needs for a large file."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "large.chat"
        text = log(SIZE, meta=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            for _ in range(LARGE // SIZE):
                file.write(text)
        before = os.times()
        run(IMPORT + COUNT, path)
        after = os.times()
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        count, most = run(IMPORT + TRACE + COUNT + PEAK, path)
        return (
            f"iter_messages on {path.stat().st_size / MEGABYTE:.0f} MB, {count:,} messages: "
            f"{seconds:.1f} s, at most {most / MEGABYTE:.1f} MB of memory"
        )


def run(program: str, path: Path) -> list[int]:
    """The numbers that a program prints about a file, in a process of its own."""
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return [int(word) for word in done.stdout.split()]


def main() -> None:
    print(
        f"{'text':<22}{'MB':>6}{'messages':>10}{'splitlines':>12}{'parse':>9}{'MB/s':>8}{'ratio':>9}"
        f"{'stringify':>10}{'MB/s':>8}{'canonical':>11}"
    )
    print(row("no metas", log(SIZE, meta=False)))
    print(row("a meta on each", log(SIZE, meta=True)))
    print(row("short, a meta on each", log(SIZE, meta=True, lines=1)))
    openers = "%u\n" + "```` x\n" * 40_000
    print(row("40,000 open fences", openers))
    print(memory())


if __name__ == "__main__":
    main()
