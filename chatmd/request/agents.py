"""Running sub-agents through the host (chatmd.md section 13.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from chatmd.document import Document
from chatmd.elements.content import AgentItem, Content, TextItem
from chatmd.elements.message import Message
from chatmd.loading.loader import load
from chatmd.report.problems import ChatmdError, fault
from chatmd.request.resources import Context, fetch

DEEPEST = 16
"""How many sub-agents may be inside of each other."""

RunAgent = Callable[[Document, Context], str | Iterable[Mapping[str, Any]]]
"""Runs a prompt to its end, tools included, and returns the output items, or the answer as text."""


def answer(item: AgentItem, context: Context, run_agent: RunAgent | None) -> str:
    """What a sub-agent answers: from the cache, else by loading its prompt and letting the host run it.

    The prompt runs with one more user message, which holds the items of the `<agent>` element, in a context with its
    own directory.

    Raises `ChatmdError`: `chatmd.doc_unavailable` without a prompt, `chatmd.agent_failed` without a
    runner or when the run fails.
    """
    known = context.agent_cache.get(item)
    if known is not None:
        return known
    if run_agent is None:
        raise _failed(item, "this host runs no sub-agents")
    if context.depth >= DEEPEST:
        raise _failed(item, f"more than {DEEPEST} sub-agents are inside of each other")
    directory, data = fetch(item.url, item.local, item.span, context)
    try:
        prompt = load(data, base_dir=directory, source=item.url, reader=context.reader)
    except ChatmdError as error:
        first = error.diagnostics[0]
        raise _failed(item, f"its prompt is not valid: {first.message}", notes=[str(first)]) from None
    question = Message("user", "user", _content(item), span=item.span)
    whole = attrs.evolve(prompt, elements=(*prompt.elements, question))
    inner = attrs.evolve(context, dir=directory, depth=context.depth + 1)
    try:
        outcome = run_agent(whole, inner)
    except Exception as error:
        # The runner is the host's, and so may be anything that it raises.
        why = str(error).partition("\n")[0] or type(error).__name__
        raise _failed(item, why) from error
    text = outcome if isinstance(outcome, str) else final_text(outcome)
    context.agent_cache.put(item, text)
    return text


def final_text(items: Iterable[Mapping[str, Any]]) -> str:
    """The text of the assistant's output messages: parts joined by a space, messages by a line feed.

    >>> final_text([{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}])
    'yes'
    """
    messages = []
    for item in items:
        if item.get("type") == "message" and item.get("role") == "assistant":
            parts = [str(part["text"]) for part in item.get("content") or () if "text" in part]
            messages.append(" ".join(parts))
    return "\n".join(messages)


def _content(item: AgentItem) -> Content:
    """The items of a call as the content of a message."""
    if not item.items:
        return None
    only = item.items[0]
    return only.text if len(item.items) == 1 and isinstance(only, TextItem) else item.items


def _failed(item: AgentItem, why: str, notes: Iterable[str] = ()) -> ChatmdError:
    return fault("chatmd.agent_failed", item.span, notes=list(notes), src=item.url, why=why)
