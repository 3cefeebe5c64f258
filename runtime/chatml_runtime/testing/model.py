"""A model client that says what it was told to say, and the items that a model says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import attrs

from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.vocabulary import ToolDesc


def say(text: str, item_id: str = "msg") -> Json:
    """A message of the assistant."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "id": item_id, "status": "completed", "content": [part]}


def think(text: str, item_id: str = "rs") -> Json:
    """A reasoning item with one summary."""
    return {"type": "reasoning", "id": item_id, "summary": [{"type": "summary_text", "text": text}]}


def call(name: str, args: Json, call_id: str = "call") -> Json:
    """A function call; arguments that are a string are taken as the text that the model wrote."""
    text = args if isinstance(args, str) else json.dumps(args)
    return {"type": "function_call", "name": name, "arguments": text, "call_id": call_id}


def custom_call(name: str, text: str, call_id: str = "call") -> Json:
    """A call of a custom tool, which takes text."""
    return {"type": "custom_tool_call", "name": name, "input": text, "call_id": call_id}


def user(text: str) -> Json:
    """A message of the user."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


Response: TypeAlias = "Iterable[Json | Exception] | Callable[[Sequence[Json]], Iterable[Json | Exception]]"
"""One response: its items in order, an exception where the connection breaks; or a function of the request's inputs."""


@attrs.frozen
class Request:
    """What a scripted model was asked."""

    inputs: tuple[Json, ...]
    tools: tuple[ToolDesc, ...]


class ScriptedModel:
    """A model client that gives one response after another, and keeps what it was asked.

    `LookupError` for a request beyond the last response: a test says how often the model is asked.
    """

    def __init__(self, responses: Iterable[Response] = ()) -> None:
        self._responses = iter(responses)
        self.requests: list[Request] = []

    async def respond(self, inputs: Sequence[Json], tools: Sequence[ToolDesc]) -> Any:
        """Stream the items of the next response."""
        self.requests.append(Request(tuple(inputs), tuple(tools)))
        response = next(self._responses, None)
        if response is None:
            raise LookupError(f"the scripted model has no response for request {len(self.requests)}")
        for item in response(inputs) if callable(response) else response:
            if isinstance(item, Exception):
                raise item
            await asyncio.sleep(0)
            yield item
