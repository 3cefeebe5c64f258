"""What a moderated conversation costs: a turn with three tool calls, and many conversations in one event loop.

    python benchmarks/turns.py [RUNS]

Prints one table, the median of RUNS runs (default 7). Times are CPU times of this process; model and tools answer at
once, so that only the loop, the driver and the policy are measured.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import chatml_runtime as runtime
from chatml_runtime.testing import call, say, user

ROOT = Path(__file__).parents[1]
ALLOW_LIST = (ROOT / "examples" / "policies" / "allow_list.chatml").read_text(encoding="utf-8")
SILENT = "let initial_state = 0 let on_event ctx st ev = Task.pure(st)"
CALLS = [call("read_file", {"path": "docs/guide.md"}, f"c{n}") for n in range(3)]
DONE = [say("done")]
SCRIPTS = runtime.ArtifactCache()


class Model:
    """Three calls, then a message."""

    def __init__(self) -> None:
        self.asked = 0

    def respond(self, inputs: Sequence[Any], tools: Any) -> Any:
        self.asked += 1
        return CALLS if self.asked % 2 else DONE


class WaitingModel(Model):
    """The same, over a wire: other conversations go on meanwhile."""

    async def respond(self, inputs: Sequence[Any], tools: Any) -> Any:
        await asyncio.sleep(0)
        return super().respond(inputs, tools)


async def run_tool(given: runtime.ToolCall) -> str:
    return "the contents"


def conversation(source: str | None, session: str = "session", *, model: Any = None, before: int = 0) -> Any:
    """A conversation with some messages before it."""
    allocator = runtime.EntryIdAllocator(session)
    moderator = None
    if source is not None:
        moderator = runtime.Moderator.create(SCRIPTS.get("main", source), allocator=allocator)
    return runtime.Conversation(
        runtime.TurnDriver(moderator, session_id=session),
        history=[runtime.HistoryEntry(allocator.allocate(), user(f"message {n}")) for n in range(before + 1)],
        allocator=allocator,
        model=model or Model(),
        run_tool=run_tool,
    )


def turns(source: str | None, count: int = 200) -> float:
    """Microseconds of a run: two requests, three calls, seven entries; eighteen events if there is a moderator.

    Every run is one of a fresh conversation, so that the length of the history does not count.
    """
    talks = [conversation(source) for _ in range(count + 1)]

    async def main() -> float:
        await talks[0].run()
        start = time.process_time()
        for talk in talks[1:]:
            await talk.run()
        return (time.process_time() - start) / count * 1e6

    return asyncio.run(main())


def long_turns(source: str | None, before: int = 1000, count: int = 20) -> float:
    """Microseconds of a run of a conversation that has got long, and grows."""
    talk = conversation(source, before=before)

    async def main() -> float:
        await talk.run()
        start = time.process_time()
        for _ in range(count):
            await talk.run()
        return (time.process_time() - start) / count * 1e6

    return asyncio.run(main())


def bare_loop(count: int = 200) -> float:
    """Microseconds of the same run as a host without any runtime would write it."""

    async def one() -> list[Any]:
        model, history = Model(), [user("message")]
        while True:
            response = model.respond(tuple(history), ())
            history += response
            calls = [item for item in response if item["type"] == "function_call"]
            if not calls:
                return history
            tasks = [asyncio.create_task(run_tool(runtime.call_of(item))) for item in calls]
            for item, task in zip(calls, tasks, strict=True):
                output = await task
                history.append({"type": "function_call_output", "call_id": item["call_id"], "output": output})

    async def main() -> float:
        await one()
        start = time.process_time()
        for _ in range(count):
            await one()
        return (time.process_time() - start) / count * 1e6

    return asyncio.run(main())


def crowd(source: str | None, conversations: int = 1000, rounds: int = 2) -> float:
    """Model requests per second of many conversations that run at the same time in one event loop."""
    talks = [conversation(source, f"session-{n}", model=WaitingModel()) for n in range(conversations)]

    async def main() -> float:
        start = time.process_time()
        for _ in range(rounds):
            for talk in talks:
                talk.add(user("on"))
            await asyncio.gather(*[talk.run() for talk in talks])
        return sum(talk._model.asked for talk in talks) / (time.process_time() - start)

    return asyncio.run(main())


def main(runs: int) -> None:
    rows: list[tuple[str, Callable[[], float], str]] = [
        ("a run as a host writes it by hand", bare_loop, "µs"),
        ("a run without a moderator", lambda: turns(None), "µs"),
        ("a run under a policy that decides nothing", lambda: turns(SILENT), "µs"),
        ("a run under the allow-list", lambda: turns(ALLOW_LIST), "µs"),
        ("the same, after 1,000 messages", lambda: long_turns(ALLOW_LIST), "µs"),
        ("without a moderator, after 1,000 messages", lambda: long_turns(None), "µs"),
        ("1,000 conversations, no moderator", lambda: crowd(None), "requests/s"),
        ("1,000 conversations, allow-list", lambda: crowd(ALLOW_LIST), "requests/s"),
    ]
    measured: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    for _ in range(runs):
        for name, measure, _ in rows:
            measured[name].append(measure())
    print("| | median | |\n| --- | ---: | --- |")
    for name, _, unit in rows:
        print(f"| {name} | {median(measured[name]):,.0f} | {unit} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
