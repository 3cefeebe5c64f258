"""A real model in place of the small one: any client with the `responses` interface of the OpenAI package."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from chatml_runtime import ToolDesc


class ResponsesClient:
    """Streams a response item by item, so that each is moderated as soon as it is finished.

    `client` is an `openai.AsyncOpenAI()`. Items travel as they are: the runtime speaks the same provider format.
    """

    def __init__(self, client: Any, model: str) -> None:
        self._client = client
        self._model = model

    async def respond(self, inputs: Sequence[Any], tools: Sequence[ToolDesc]) -> AsyncIterator[Any]:
        """The finished items of one response."""
        stream = await self._client.responses.create(
            model=self._model,
            input=list(inputs),
            tools=[describe(tool) for tool in tools],
            stream=True,
        )
        async for event in stream:
            if event.type == "response.output_item.done":
                yield event.item.model_dump(exclude_none=True)


def describe(tool: ToolDesc) -> Any:
    """A tool as the provider wants to hear of it."""
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema}
