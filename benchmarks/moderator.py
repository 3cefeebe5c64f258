"""What moderation costs: events per second, memory per idle session, snapshots.

    python benchmarks/moderator.py [RUNS]

Prints one table, the median of RUNS runs (default 7). Times are CPU times of this process.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import chatml_runtime as runtime

ROOT = Path(__file__).parents[1]
ALLOW_LIST = (ROOT / "examples" / "policies" / "allow_list.chatml").read_text(encoding="utf-8")
LOOKING = """
let initial_state = 0
let on_event ctx st ev =
  match ev with
  | `Pre_tool_call(call) -> let* () = Tool.approve() in Task.pure(st + length(Context.items_by_role(ctx, "user")))
  | _ -> Task.pure(st)
"""
COUNTING = """
let calls = Hashtbl.create()
let initial_state = 0
let on_event ctx st ev =
  match ev with
  | `Pre_tool_call(call) ->
    let n = Option.get_or(Hashtbl.get(calls, call.name), 0) + 1 in
    Hashtbl.set(calls, call.name, n); let* () = Tool.approve() in Task.pure(n)
  | _ -> Task.pure(st)
"""
APPENDING = """
let initial_state = 0
let on_event ctx st ev = let* () = Turn.append_notice("noted") in Task.pure(st + 1)
"""


def message(number: int) -> dict[str, Any]:
    text = f"Message {number}: " + "some words of ordinary length " * 4
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


class Conversation:
    """A moderator with a history of some items."""

    def __init__(self, source: str, items: int, **options: Any) -> None:
        self.artifact = runtime.ArtifactCache().get("main", source)
        self.allocator = runtime.EntryIdAllocator("session")
        self.history = [runtime.HistoryEntry(self.allocator.allocate(), message(n)) for n in range(items)]
        self.moderator = runtime.Moderator.create(self.artifact, allocator=self.allocator, **options)

    def send(self, event: Any) -> None:
        self.moderator.handle_event(event, runtime.EventInput("session", 0, self.history))


CALL = runtime.PreToolCall(runtime.ToolCall("c1", "read_file", {"path": "docs/guide.md"}))


def events_per_second(source: str, items: int, *, growing: bool = False) -> float:
    """How many tool calls a policy reviews per second, over a history of some items."""
    talk = Conversation(source, items)
    talk.send(CALL)
    count = 400
    start = time.process_time()
    for n in range(count):
        if growing:
            talk.history.append(runtime.HistoryEntry(talk.allocator.allocate(), message(n)))
        talk.send(CALL)
    return count / (time.process_time() - start)


def first_event(items: int) -> float:
    """Milliseconds of the first event, which makes the values of the history."""
    talk = Conversation(ALLOW_LIST, items)
    start = time.process_time()
    talk.send(CALL)
    return (time.process_time() - start) * 1e3


def idle_session() -> float:
    """KiB that one more session of a shared script takes."""
    artifact = runtime.ArtifactCache().get("main", ALLOW_LIST)
    bundle = runtime.Capabilities()

    def create(n: int) -> runtime.Moderator:
        return runtime.Moderator.create(
            artifact, allocator=runtime.EntryIdAllocator(f"session-{n}"), capabilities=bundle
        )

    kept = [create(0)]
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept += [create(n) for n in range(1, 201)]
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / 200 / 1024


def big_overlay(entries: int) -> Conversation:
    talk = Conversation(APPENDING, 0)
    for _ in range(entries):
        talk.send(runtime.TurnStart())
    return talk


def timed(action: Callable[[], Any]) -> float:
    """CPU milliseconds of an action."""
    start = time.process_time()
    action()
    return (time.process_time() - start) * 1e3


def main(runs: int) -> None:
    talk = big_overlay(10_000)
    text = json.dumps(talk.moderator.snapshot().to_json())

    def restore() -> None:
        snapshot = runtime.ModeratorSnapshot.from_json(json.loads(text))
        runtime.Moderator.create(talk.artifact, allocator=talk.allocator, snapshot=snapshot)

    rows: list[tuple[str, Callable[[], float], str]] = [
        ("allow-list, history of 50 items", lambda: events_per_second(ALLOW_LIST, 50), "events/s"),
        ("allow-list, history of 1,000 items", lambda: events_per_second(ALLOW_LIST, 1000), "events/s"),
        ("the same, one item more per event", lambda: events_per_second(ALLOW_LIST, 1000, growing=True), "events/s"),
        ("looks at all of 1,000 items", lambda: events_per_second(LOOKING, 1000), "events/s"),
        ("writes a table, 1,000 items", lambda: events_per_second(COUNTING, 1000), "events/s"),
        ("first event, 1,000 items", lambda: first_event(1000), "ms"),
        ("one more idle session", idle_session, "KiB"),
        ("one more event, overlay of 10,000", lambda: timed(lambda: talk.send(runtime.TurnStart())), "ms"),
        (
            "snapshot to text, overlay of 10,000",
            lambda: timed(lambda: json.dumps(talk.moderator.snapshot().to_json())),
            "ms",
        ),
        ("restore from text, overlay of 10,000", lambda: timed(restore), "ms"),
    ]
    measured: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    for _ in range(runs):
        for name, measure, _ in rows:
            measured[name].append(measure())
    print("| | median | |\n| --- | ---: | --- |")
    for name, _, unit in rows:
        print(f"| {name} | {median(measured[name]):,.1f} | {unit} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
