"""A long conversation: many turns, bounded memory."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

from chatml_runtime.host.controller import Controller
from chatml_runtime.host.policy import RuntimePolicy
from chatml_runtime.host.work import AsyncWork
from chatml_runtime.moderation.capabilities import ModelOk
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.testing import RecordingView, call, say
from tests.runtime.conversations import artifact
from tests.runtime.turns.runs import check_pairs, in_loop

TURNS = int(os.environ.get("CHATML_SOAK_TURNS", "2000"))

SOURCE = """
let initial_state = { turns = 0; timer = ""; finished = 0 }
let on_event ctx st ev =
  match ev with
  | `Turn_start ->
      let* () = Schedule.cancel(st.timer) in
      let* timer = Schedule.after_ms(60000, `Too_slow) in
      let* job = Model.spawn("note", `Null) in
      Task.pure({ st with turns = st.turns + 1; timer = timer })
  | `Pre_tool_call(call) -> let* () = Tool.approve() in Task.pure(st)
  | `Model_job_succeeded(job, recipe, result) -> Task.pure({ st with finished = st.finished + 1 })
  | `Turn_end ->
      if length(ctx.items) > 40 then let* () = Runtime.request_compaction() in Task.pure(st) else Task.pure(st)
  | _ -> Task.pure(st)
"""


class Endless:
    """A model that calls a tool, and speaks when it has the output."""

    def __init__(self) -> None:
        self.asked = 0

    def respond(self, inputs: Sequence[Any], tools: Any) -> Any:
        self.asked += 1
        return [say("done")] if self.asked % 2 == 0 else [call("t", {"n": self.asked}, f"c{self.asked}")]


class Blank(RecordingView):
    """A view that keeps nothing but errors."""

    def show_entry(self, entry: HistoryEntry) -> None:
        pass

    def show_rows(self, rows: Sequence[Any]) -> None:
        pass


def keep_last(entries: Sequence[HistoryEntry]) -> Sequence[HistoryEntry]:
    return entries[-4:]


def test_memory_is_flat_over_many_turns() -> None:
    """After the first tenth, a session with tools, jobs, timers and compactions takes no more memory turn by turn."""

    async def note(payload: Any) -> ModelOk:
        return ModelOk(None)

    async def tool(call: Any) -> str:
        return "found"

    async def compact(entries: Sequence[HistoryEntry]) -> Sequence[HistoryEntry]:
        return keep_last(entries)

    async def main() -> None:
        async with AsyncWork() as work:
            allocator, view = EntryIdAllocator("s1"), Blank()
            moderator = Moderator.create(
                artifact(SOURCE), allocator=allocator, capabilities=work.capabilities("s1", models={"note": note})
            )
            controller = Controller(
                moderator,
                session_id="s1",
                allocator=allocator,
                model=Endless(),
                run_tool=tool,
                view=view,
                policy=RuntimePolicy(honor_request_compaction=True),
                compact=compact,
                work=work,
            )
            blocks = []
            for turn in range(TURNS // 2):  # two model requests each
                if turn in (TURNS // 20, TURNS // 2 - 1):
                    gc.collect()
                    blocks.append(sys.getallocatedblocks())
                controller.submit("go")
                await controller.settle()
            while work.jobs.in_flight or work.post.is_busy or controller.has_work:
                await asyncio.sleep(0)
                await controller.settle()
            assert view.errors == []
            assert moderator.state["turns"] == moderator.state["finished"] == TURNS
            assert len(work.timers) == 1
            check_pairs(controller.history)
            assert blocks[1] - blocks[0] < 1000

    in_loop(main(), seconds=600)
