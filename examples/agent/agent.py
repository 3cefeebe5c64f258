"""A small agent in the terminal, under the policy beside it.

    python examples/agent/agent.py [DIRECTORY]

The person types; the model answers, and may read files of the directory and calculate; the policy says what it may,
and asks the person when it does not know. An empty line or the end of the input ends the conversation.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from model import SmallModel

import chatml
from chatml_runtime import (
    ArtifactCache,
    AskChoice,
    AskText,
    AsyncWork,
    Controller,
    EntryIdAllocator,
    HistoryEntry,
    Moderator,
    Row,
)
from tools import toolbox

HERE = Path(__file__).parent


class Terminal:
    """Shows the conversation line by line."""

    def show_entry(self, entry: HistoryEntry) -> None:
        match entry.item:
            case {"type": "message", "role": "assistant", "content": [{"text": text}, *_]}:
                print(f"model: {text}")
            case {"type": "function_call", "name": name, "arguments": arguments}:
                print(f"  calls {name} {arguments}")

    def show_rows(self, rows: Sequence[Row]) -> None:
        """A terminal scrolls: what is printed stays. A screen would draw the rows anew."""

    def show_notice(self, text: str) -> None:
        print(f"* {text}")

    def show_error(self, error: Exception) -> None:
        print(f"! {error}")

    def ask(self, request: AskText | AskChoice, problem: str | None) -> None:
        choices = f" ({'/'.join(request.choices)})" if isinstance(request, AskChoice) else ""
        print(f"? {request.prompt}{choices}" if problem is None else f"? {problem}")


async def read_line() -> str:
    """The next line that the person types; empty at the end of the input."""
    print("> ", end="", flush=True)
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


async def main(directory: Path) -> None:
    session = "terminal"
    tools = toolbox(directory)
    source = (HERE / "policy.chatml").read_text(encoding="utf-8")
    artifact = ArtifactCache().get("agent", source, name="policy.chatml", surface=chatml.UI_MODERATOR)
    allocator = EntryIdAllocator(session)
    async with AsyncWork() as work:
        capabilities = work.capabilities(session, tools=tools.capability)
        controller = Controller(
            Moderator.create(artifact, allocator=allocator, capabilities=capabilities),
            session_id=session,
            allocator=allocator,
            model=SmallModel(),
            tools=tools.descriptions,
            run_tool=tools,
            view=Terminal(),
            work=work,
        )
        serving = asyncio.create_task(controller.serve())
        while True:
            await controller.ready()
            if serving.done():
                break
            line = await read_line()
            if not line:
                break
            controller.submit(line)
        controller.close()
        await serving


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "workspace"))
