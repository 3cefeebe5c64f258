"""From document to Responses-style input items (chatmd.md section 12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from chatmd.document import Document
from chatmd.elements.content import Content, DocItem, ImageItem, Item, TextItem
from chatmd.elements.history_id import HistoryId
from chatmd.elements.message import HistoryEntry, Message
from chatmd.elements.reasoning import Reasoning
from chatmd.elements.trace import CUSTOM_CALL, ToolCall, ToolResponse
from chatmd.report.problems import fault
from chatmd.request.agents import RunAgent, answer
from chatmd.request.resources import Context, document_text, image_url
from chatmd.text.attributes import WHITE

ItemDict = dict[str, Any]
CUSTOM_OUTPUT = "custom_tool_call_output"
INPUT_ROLES = frozenset(["user", "system", "developer"])
ROLES = ("user", "assistant", "system", "developer", "tool")


@attrs.frozen
class IdentifiedItem:
    """An input item with where it comes from: its history identity if it has one, the index of its element in the
    expanded document, and the label of its source."""

    item: ItemDict
    history_id: HistoryId | None
    index: int
    source_context: str | None


def to_input_items(document: Document, ctx: Context | None = None, run_agent: RunAgent | None = None) -> list[ItemDict]:
    """The conversation of a document as input items of a Responses request, in order (section 12).

    `ctx` says where local files are found and what may be fetched; without one, beside the root document, and
    nothing is fetched. `run_agent` runs sub-agents. Declarations and configuration give no item.

    Raises `ChatmdError`: `chatmd.unknown_role`, `chatmd.assistant_status_without_id`, `chatmd.missing_attribute`,
    `chatmd.doc_unavailable`, `chatmd.image_unavailable`, `chatmd.agent_failed`.

    >>> import chatmd
    >>> chatmd.to_input_items(chatmd.load("<user>Hi</user>", base_dir="."))
    [{'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'Hi'}]}]
    """
    return [found.item for found in identified_items(document, ctx, run_agent)]


def identified_items(
    document: Document, ctx: Context | None = None, run_agent: RunAgent | None = None
) -> list[IdentifiedItem]:
    """Like `to_input_items`, each item with its identity (section 12.4)."""
    if ctx is None:
        ctx = Context(dir="." if document.root is None else document.root.prompt_dir)
    converter = _Converter(ctx, run_agent)
    found = []
    for index, element in enumerate(document.elements):
        if isinstance(element, HistoryEntry):
            item = converter.convert(element)
            found.append(IdentifiedItem(item, element.history_id, index, element.source_context))
    return found


def unframed(text: str) -> str:
    """A text without the frame that the writers put around a RAW block (section 12.3).

    >>> unframed("\\nx\\n\\n"), unframed("\\nx\\n")
    ('x', '\\nx\\n')
    """
    return text[1:-2] if len(text) >= 3 and text.startswith("\n") and text.endswith("\n\n") else text


class _Converter:
    """One conversion: where it finds things, and who runs sub-agents."""

    def __init__(self, context: Context, run_agent: RunAgent | None) -> None:
        self.context = context
        self.run_agent = run_agent

    def convert(self, entry: HistoryEntry) -> ItemDict:
        return CONVERTERS[type(entry)](self, entry)

    def message(self, message: Message) -> ItemDict:
        content = message.content
        if isinstance(content, str) and (message.history_id is not None or _is_output(message)):
            content = unframed(content)
        role = message.role.lower() if message.kind == "msg" else message.role
        if role in INPUT_ROLES:
            return _input_message(role, self.parts(content))
        if role == "assistant":
            return self.assistant(message, content)
        if role == "tool":
            return self.tool_message(message, content)
        raise fault(
            "chatmd.unknown_role",
            message.span,
            source=message.source_record,
            value=message.role,
            known=", ".join(f"`{one}`" for one in ROLES),
        )

    def assistant(self, message: Message, content: Content) -> ItemDict:
        """An output message, or an input message for an `<assistant>` that has no id."""
        text = self.text(content)
        if message.kind == "assistant" and message.id is None:
            if message.status is not None:
                raise fault("chatmd.assistant_status_without_id", message.span, source=message.source_record)
            return _input_message("assistant", [] if text is None else [{"type": "output_text", "text": text}])
        item: ItemDict = {
            "type": "message",
            "role": "assistant",
            "id": message.id or "",
            "status": "completed" if message.status is None else message.status,
            "content": [{"type": "output_text", "text": text or "", "annotations": []}],
        }
        if message.kind == "assistant" and message.phase is not None:
            item["phase"] = message.phase
        return item

    def tool_message(self, message: Message, content: Content) -> ItemDict:
        """The trace of a tool in the old form of a `<msg>`."""
        legacy = message.legacy_call
        custom = message.type in (CUSTOM_CALL, CUSTOM_OUTPUT)
        if legacy is not None:
            return _call(legacy.name, legacy.call_id, self.text(content) or "", message.id, custom)
        if not message.tool_call_id:
            raise fault(
                "chatmd.missing_attribute",
                message.span,
                source=message.source_record,
                tag="msg",
                attribute="tool_call_id",
            )
        return _output(message.tool_call_id, self.output(content), custom)

    def tool_call(self, call: ToolCall) -> ItemDict:
        content = _tidied(call.content)
        text = unframed(content) if isinstance(content, str) else self.text(content)
        return _call(call.function_name, call.tool_call_id, text or "", call.id, call.type == CUSTOM_CALL)

    def tool_response(self, response: ToolResponse) -> ItemDict:
        content = _tidied(response.content)
        output: str | list[ItemDict]
        if isinstance(content, str):
            output = unframed(content)
        elif content is not None and len(content) == 1 and not isinstance(content[0], ImageItem):
            output = self.rendered(content[0])
        else:
            output = self.output(content)
        return _output(response.tool_call_id, output, response.type == CUSTOM_CALL)

    def reasoning(self, reasoning: Reasoning) -> ItemDict:
        item: ItemDict = {
            "type": "reasoning",
            "id": reasoning.id,
            "summary": [{"type": summary.type, "text": summary.text} for summary in reasoning.summary],
        }
        if reasoning.status is not None:
            item["status"] = reasoning.status
        return item

    def parts(self, content: Content) -> list[ItemDict]:
        """Content as the parts of an input message."""
        if content is None:
            return []
        if isinstance(content, str):
            return [{"type": "input_text", "text": content}]
        return [self.part(item) for item in content]

    def part(self, item: Item) -> ItemDict:
        if isinstance(item, ImageItem):
            return {"type": "input_image", "image_url": image_url(item, self.context), "detail": "auto"}
        return {"type": "input_text", "text": self.rendered(item)}

    def output(self, content: Content) -> str | list[ItemDict]:
        """Content as the output of a tool."""
        if content is None or isinstance(content, str):
            return content or ""
        return self.parts(content)

    def text(self, content: Content) -> str | None:
        """Content as one text: items joined by line feeds (section 12.1); None when there is none."""
        if content is None or isinstance(content, str):
            return content
        return "\n".join(self.rendered(item) for item in content)

    def rendered(self, item: Item) -> str:
        if isinstance(item, TextItem):
            return item.text
        if isinstance(item, ImageItem):
            local = ' local="true"' if item.local else ""
            return f'<img src="{item.url}"{local}/>'
        if isinstance(item, DocItem):
            return document_text(item, self.context)
        return answer(item, self.context, self.run_agent)


CONVERTERS: dict[type, Callable[[_Converter, Any], ItemDict]] = {
    Message: _Converter.message,
    ToolCall: _Converter.tool_call,
    ToolResponse: _Converter.tool_response,
    Reasoning: _Converter.reasoning,
}


def _is_output(message: Message) -> bool:
    """Whether a message is one that a writer framed for its id (section 12.3)."""
    return message.kind == "assistant" and message.id is not None


def _tidied(content: Content) -> Content:
    """Structured content of a tool trace without the white space around its items (section 12.3)."""
    if not isinstance(content, tuple):
        return content
    return tuple(item for item in content if not (isinstance(item, TextItem) and not item.text.strip(WHITE)))


def _input_message(role: str, parts: list[ItemDict]) -> ItemDict:
    return {"type": "message", "role": role, "content": parts}


def _call(name: str, call_id: str, arguments: str, identity: str | None, custom: bool) -> ItemDict:
    item: ItemDict = {"type": CUSTOM_CALL if custom else "function_call", "name": name}
    item["input" if custom else "arguments"] = arguments
    item["call_id"] = call_id
    if identity is not None:
        item["id"] = identity
    return item


def _output(call_id: str, output: str | list[ItemDict], custom: bool) -> ItemDict:
    return {"type": CUSTOM_OUTPUT if custom else "function_call_output", "call_id": call_id, "output": output}
