"""How long it takes before a script runs: starting up, and checking.

    python benchmarks/frontend.py [RUNS]

Prints one table. Every row is the median of RUNS runs (default 7), all in fresh processes and interleaved, so that a
busy moment of the machine falls on every row alike; ratios compare rows of this one run. `wall`, `cpu` and
`peak` are those of the whole process, `× python` compares processor time, `work` is the processor time of
`chatml.check`, or of the formatter, alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import attrs

ROOT = Path(__file__).parent.parent
SEARCH_PATH = os.pathsep.join([str(ROOT), str(ROOT / "runtime")])
HELLO = 'print("hello")\n'
SHORT = """\
type line = { sku : string; count : int; price : float }
type order = { id : string; lines : line array; state : [ `Open | `Paid(float) ] }

(* The value of an order, before discounts. *)
let total : order -> float = fun order ->
  Array.fold(order.lines, 0.0, fun sum line ->
    if line.count == 0 then sum
    else sum +. line.price *. 1.5)

let describe order =
  match order.state with
  | `Open -> order.id ++ " is open"
  | `Paid(amount) -> order.id ++ " paid " ++ to_string(amount)

let close order = { order with state = `Paid(total(order)); closed = true }
let sample : order = { id = "o1"; lines = [{ sku = "a"; count = 1; price = 2.5 }]; state = `Open }
let closed = close(sample)

print(describe(sample))
print(describe(closed))
"""
POLICY = ROOT / "examples/guard.chatml", ROOT / "examples/guard.json5"
LINES = (1_000, 5_000, 10_000)
LONG = {f"fmt {LINES[-1]:,} lines": LINES[-1], **{f"check {lines:,} lines": lines for lines in LINES}}
"""The rows whose work is measured by the line, and how many lines that is."""

COMMAND = """\
import re
import sys
from chatml_tools.commands import main
sys.exit(main())
"""
"""What the command `chatml` runs where `pip` has installed it."""

BLOCK = """\
type line_{n} = {{ sku : string; count : int; price : float }}
type order_{n} = {{ id : string; lines : line_{n} array; state : [ `Open | `Paid(float) ] }}

(* The value of an order, before discounts. *)
let total_{n} : order_{n} -> float = fun order ->
  Array.fold(order.lines, 0.0, fun sum line ->
    if line.count == 0 then sum
    else sum +. line.price *. {n}.5)

let describe_{n} order =
  match order.state with
  | `Open -> order.id ++ " is open"
  | `Paid(amount) -> order.id ++ " paid " ++ to_string(amount)

let rec countdown_{n} left found =
  if left <= 0 then found
  else
    let next = left - 1 in
    let kept = if left % 2 == 0 then Array.append(found, [left]) else found in
    countdown_{n}(next, kept)

let close_{n} order = {{ order with state = `Paid(total_{n}(order)); closed = true }}

module Report_{n} = struct
  let title = "report {n}"
  let line order = title ++ ": " ++ describe_{n}(order) ++ ", " ++ to_string(length(countdown_{n}(3, [])))
end

let sample_{n} : order_{n} = {{ id = "o{n}"; lines = [{{ sku = "a"; count = 1; price = 2.5 }}]; state = `Open }}
let shown_{n} = Report_{n}.line(sample_{n})
"""

CHECK = """\
import gc, sys, time
from chatml import check
from chatml_tools.program import GARBAGE_AT
gc.set_threshold(GARBAGE_AT)
text = open(sys.argv[1], encoding="utf-8").read()
start = time.process_time()
findings = check(text)
print(time.process_time() - start)
assert findings == (), findings[0]
"""


FORMAT = """\
import sys, time
from chatml.syntax.format import format_script
from chatml.source import Source
text = open(sys.argv[1], encoding="utf-8").read()
start = time.process_time()
format_script(Source("s", text))
print(time.process_time() - start)
"""


def script(lines: int) -> str:
    """A well-typed script of this many lines."""
    per_block = BLOCK.count("\n")
    text = "".join(BLOCK.format(n=n) for n in range(lines // per_block + 1))
    blocks = text.splitlines(keepends=True)
    whole = lines - lines % per_block
    return "".join(blocks[:whole]) + "(* the end *)\n" * (lines - whole)


@attrs.frozen
class Measured:
    """One run of a fresh process: wall and processor seconds, peak memory in MiB, standard output."""

    wall: float
    cpu: float
    memory: float
    output: str


def measure(*command: str) -> Measured:
    """Run Python with these arguments."""
    environment = {**os.environ, "PYTHONPATH": SEARCH_PATH}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # An installed command finds its modules compiled.
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *command], env=environment, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    elapsed = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Measured(elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit, output)


def main(runs: int) -> None:
    """Measure everything, and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        hello, short = Path(folder, "hello.chatml"), Path(folder, "short.chatml")
        hello.write_text(HELLO, encoding="utf-8")
        short.write_text(SHORT, encoding="utf-8")
        policy, scenario = map(str, POLICY)
        scripts = {lines: Path(folder, f"{lines}.chatml") for lines in LINES}
        for lines, path in scripts.items():
            path.write_text(script(lines), encoding="utf-8")
        commands = {
            "python -c pass": ("-c", "pass"),
            "run one line": ("-c", COMMAND, "run", str(hello)),
            "run 20 lines": ("-c", COMMAND, "run", str(short)),
            "check 20 lines": ("-c", COMMAND, "check", str(short)),
            "run --events": ("-c", COMMAND, "run", policy, "--events", scenario),
            f"fmt {LINES[-1]:,} lines": ("-c", FORMAT, str(scripts[LINES[-1]])),
            **{f"check {lines:,} lines": ("-c", CHECK, str(path)) for lines, path in scripts.items()},
        }
        for command in commands.values():
            measure(*command)
        measured: dict[str, list[Measured]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                measured[name].append(measure(*command))
        size = {lines: path.stat().st_size for lines, path in scripts.items()}
    show(measured, size)


def show(measured: dict[str, list[Measured]], size: dict[int, int]) -> None:
    """Print the medians, a row for each command."""
    base = median(run.cpu for run in measured["python -c pass"])
    work = {name: median(float(run.output) for run in runs) for name, runs in measured.items() if name in LONG}
    titles = ("wall ms", "cpu ms", "× python", "peak MiB", "work ms", "µs/line", "lines/s", "KB/s")
    print(f"{'':<24}" + "".join(f"{title:>10}" for title in titles))
    for name, runs in measured.items():
        wall = median(run.wall for run in runs)
        cpu = median(run.cpu for run in runs)
        memory = median(run.memory for run in runs)
        print(f"{name:<24}{wall * 1000:>10.0f}{cpu * 1000:>10.0f}{cpu / base:>10.1f}{memory:>10.1f}", end="")
        if name in work:
            lines, seconds = LONG[name], work[name]
            print(f"{seconds * 1000:>10.0f}{seconds / lines * 1e6:>10.1f}{lines / seconds:>10,.0f}", end="")
            print(f"{size[lines] / seconds / 1000:>10.0f}", end="")
        print()
    growth = work["check 10,000 lines"] / 10 / work["check 1,000 lines"]
    print(f"\na line costs {growth:.2f} times as much in 10,000 lines as in 1,000")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
