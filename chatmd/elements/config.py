"""The configuration of a conversation (chatmd.md section 6)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import attrs

from chatmd.elements.reading import Placed, Reading, lenient
from chatmd.report.problems import fault
from chatmd.text.attributes import place_of
from chatmd.text.tree import Element
from chatml.diagnostics.suggest import did_you_mean

WHOLE = re.compile(r"[+-]?[0-9](?:_*[0-9])*", re.ASCII)
DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
LONGEST_NUMBER = 400
WANTED = {"max_tokens": "a whole number", "temperature": "a finite decimal number"}
N = TypeVar("N", int, float)
EFFORTS = ("none", "minimal", "low", "medium", "high")


@attrs.frozen
class Config(Placed):
    """Which model answers, and how. None is unset; `show_tool_call` asks for inline tool payloads in
    transcripts.
    """

    model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    id: str | None = None
    show_tool_call: bool = False

    def request_options(self) -> dict[str, Any]:
        """The parameters of a Responses request that this configuration sets.

        Raises `ChatmdError` (`chatmd.invalid_reasoning_effort`) for an effort that no model knows.

        >>> Config(model="m", reasoning_effort="low").request_options()
        {'model': 'm', 'reasoning': {'effort': 'low', 'summary': 'detailed'}}
        """
        effort = self.reasoning_effort
        if effort is not None and effort not in EFFORTS:
            raise fault(
                "chatmd.invalid_reasoning_effort",
                self.span,
                source=self.source_record,
                help=did_you_mean(effort, EFFORTS),
                value=effort,
                known=", ".join(f"`{known}`" for known in EFFORTS),
            )
        options = {
            "model": self.model,
            "max_output_tokens": self.max_tokens,
            "temperature": self.temperature,
            "reasoning": None if effort is None else {"effort": effort, "summary": "detailed"},
        }
        return {name: option for name, option in options.items() if option is not None}


def effective_config(elements: Iterable[object]) -> Config:
    """The first configuration among the elements of a document; an empty one when there is none."""
    return next((element for element in elements if isinstance(element, Config)), Config())


def read_config(element: Element, reading: Reading) -> Config:
    """A configuration. Raises `ChatmdError` (`chatmd.invalid_config`) for a number that is none."""
    given = lenient(element)
    tokens = given.get("max_tokens")
    temperature = given.get("temperature")
    return Config(
        given.get("model"),
        None if tokens is None else _number(element, "max_tokens", tokens, _whole, reading),
        None if temperature is None else _number(element, "temperature", temperature, _decimal, reading),
        given.get("reasoning_effort"),
        given.get("id"),
        "show_tool_call" in given,
        span=element.span,
        source_record=reading.record,
    )


def _number(element: Element, name: str, written: str, parse: Callable[[str], N | None], reading: Reading) -> N:
    number = parse(written) if len(written) <= LONGEST_NUMBER else None
    if number is None:
        span = place_of(element, name)
        raise reading.fault("chatmd.invalid_config", span, attribute=name, value=written, wanted=WANTED[name])
    return number


def _whole(text: str) -> int | None:
    return int(text.replace("_", "")) if WHOLE.fullmatch(text) else None


def _decimal(text: str) -> float | None:
    number = float(text) if DECIMAL.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None
