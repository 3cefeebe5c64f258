"""Tool calls: from provider items to what scripts review, and back with the decision carried out (sections 9.4, 12)."""

from __future__ import annotations

import attrs

from chatml.builtins.json_data import read_data, write_data
from chatml.builtins.json_reader import JsonError
from chatml.diagnostics.errors import BoundaryError
from chatml_runtime.moderation.carrying import carry_integers
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.items import Mismatch, check_output_part
from chatml_runtime.moderation.outcome import Outcome, Redirect, RewriteArgs, RuntimeRequest
from chatml_runtime.moderation.vocabulary import ToolCall, ToolKind, ToolResult
from chatml_runtime.script import problems
from chatml_runtime.script.effects import Reject
from chatml_runtime.script.errors import ItemDecodeError, OperationFailed

PAYLOADS = {ToolKind.FUNCTION: "arguments", ToolKind.CUSTOM: "input"}
CALLS = {"function_call": ToolKind.FUNCTION, "custom_tool_call": ToolKind.CUSTOM}
OUTPUTS = {ToolKind.FUNCTION: "function_call_output", ToolKind.CUSTOM: "custom_tool_call_output"}


def parse_payload(text: str) -> Json:
    """The data of a payload: parsed as JSON, or the text itself if it is none.

    >>> parse_payload('{"n": 1}'), parse_payload("free text")
    ({'n': 1}, 'free text')
    """
    try:
        return read_data(text).data
    except JsonError:
        return text


def call_of(item: Json) -> ToolCall:
    """The call that a provider item of type `function_call` or `custom_tool_call` makes.

    Whoever reads it reads the same (X-53, X-60): the payload of a function without arguments is `{}`, and one that
    repeats a key has the key once, with the value that counts, the first.

    >>> call = call_of({"type": "function_call", "name": "f", "call_id": "c", "arguments": '{"a": 1, "a": 2}'})
    >>> call.payload, call.args
    ('{"a":1}', {'a': 1})
    """
    kind = CALLS.get(item.get("type"))
    if kind is None:
        raise ItemDecodeError(f"an item of type {item.get('type')!r} is not a tool call; expected {' or '.join(CALLS)}")
    payload = item[PAYLOADS[kind]]
    named = item["call_id"], item["name"]
    if kind is ToolKind.FUNCTION and not payload.strip():
        return ToolCall(*named, {}, kind, "{}", item.get("id"))
    try:
        read = read_data(payload)
    except JsonError:
        return ToolCall(*named, payload, kind, payload, item.get("id"))
    if not read.repeats:
        return ToolCall(*named, read.data, kind, payload, item.get("id"))
    return ToolCall(*named, read.data, kind, write_data(read.data), item.get("id"), payload)


def result_of(name: str, item: Json) -> ToolResult:
    """What a provider item of type `…_output` reports; `name` is the tool that ran.

    Several parts become `{"kind": "content", "parts": […]}` (section 9.4).
    """
    kind = ToolKind.FUNCTION if item.get("type") == OUTPUTS[ToolKind.FUNCTION] else ToolKind.CUSTOM
    output = item["output"]
    if isinstance(output, str):
        return ToolResult(item["call_id"], name, parse_payload(output), kind, output)
    parts = [
        {"type": "text", "text": part["text"]}
        if part["type"] == "input_text"
        else {"type": "image", "image_url": part["image_url"], "detail": part.get("detail")}
        for part in output
    ]
    return ToolResult(item["call_id"], name, {"kind": "content", "parts": parts}, kind)


@attrs.frozen
class ReviewedCall:
    """A call after its review. With a `synthetic_output` it is not to be run: that text is its output."""

    call: ToolCall
    call_item: Json
    synthetic_output: str | None = None
    requests: tuple[RuntimeRequest, ...] = ()


def with_integers(outcome: Outcome, call: ToolCall | None) -> Outcome:
    """An outcome whose decision carries over the integers of the call that it is about (X-53)."""
    decision = outcome.tool_decision
    if call is None or not isinstance(decision, RewriteArgs | Redirect):
        return outcome
    op = "Tool.rewrite_args" if isinstance(decision, RewriteArgs) else "Tool.redirect"
    args = carry_integers(decision.args, call.args, op)
    return attrs.evolve(outcome, tool_decision=attrs.evolve(decision, args=args))


def apply_tool_decision(call: ToolCall, outcome: Outcome, call_item: Json = None) -> ReviewedCall:
    """Carry out the decision of a review. Call id and item id are kept; so are other fields of `call_item`.

    >>> call = ToolCall("c1", "read", {"path": "/a"}, payload='{"path": "/a"}')
    >>> reviewed = apply_tool_decision(call, Outcome(tool_decision=RewriteArgs({"path": "/b"})))
    >>> reviewed.call_item["arguments"], reviewed.call.args
    ('{"path":"/b"}', {'path': '/b'})
    """
    decision = outcome.tool_decision
    match decision:
        case RewriteArgs(args=args):
            call = with_args(call, call.name, args)
        case Redirect(name=name, args=args):
            call = with_args(call, name, args)
    reason = decision.reason if isinstance(decision, Reject) else None
    return ReviewedCall(call, item_of(call, call_item), reason, outcome.runtime_requests)


def with_args(call: ToolCall, name: str, args: Json) -> ToolCall:
    """A call with another payload: compact JSON, or for a custom call a string as it is."""
    raw = call.kind is ToolKind.CUSTOM and isinstance(args, str)
    payload = args if raw else write_data(args)
    return attrs.evolve(call, name=name, args=args, payload=payload, repeated_payload=None)


def item_of(call: ToolCall, original: Json = None) -> Json:
    """The provider item of a call, with what else an original item holds."""
    kind = next(kind for kind, of in CALLS.items() if of is call.kind)
    named = {"type": kind, "name": call.name, PAYLOADS[call.kind]: call.payload, "call_id": call.id}
    if call.item_id is not None:
        named["id"] = call.item_id
    return {**(original or {}), **named}


def output_item(call: ToolCall, output: Json) -> Json:
    """The provider item of a tool's output, or of the reason for which a call was rejected."""
    return {"type": OUTPUTS[call.kind], "call_id": call.id, "output": output}


def output_of(tool: str, answer: Json) -> Json:
    """The `output` of an item: a text, a list of parts, or the JSON text of anything else.

    `OperationFailed` names the tool whose answer is not JSON.

    >>> output_of("add", "3"), output_of("add", {"sum": 3}), output_of("see", [{"type": "input_text", "text": "a"}])
    ('3', '{"sum":3}', [{'type': 'input_text', 'text': 'a'}])
    """
    try:
        text = write_data(answer)
        return answer if isinstance(answer, str) or is_parts(answer) else text
    except (BoundaryError, ValueError) as error:
        raise OperationFailed(problems.foreign_output(tool, str(error))) from error


def is_parts(answer: Json) -> bool:
    """Whether an answer is a list of parts as items have them."""
    if not isinstance(answer, list) or not answer:
        return False
    try:
        for part in answer:
            check_output_part(part, "")
    except Mismatch:
        return False
    return True
