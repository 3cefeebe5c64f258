"""Replies of hooks: which fields each may have, and what they mean."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from chatml_shell.approvals.answers import Answer, Defer, Deny, Once, Rewrite
from chatml_shell.audit.recorder import DropField, Keep, ReplaceFields, Verdict
from chatml_shell.effects.effect import Effects, parse_effect
from chatml_shell.extensions.adapters import scoped
from chatml_shell.live.extension import (
    Added,
    Continue,
    ExtensionFailed,
    RejectWith,
    Replaced,
    ReplaceResult,
    Respond,
    RewriteTo,
)
from chatml_shell.live.extension import Keep as KeepResult
from chatml_shell.plans.command import Command
from chatml_shell.plans.outcome import Exited, Signaled, Status

VERSION = 1
REPLACEMENT = "\ufffd"
"""What bytes that are no UTF-8 have become before they get here."""

Json = dict[str, Any]
SHAPES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "before_interceptor": {
        "continue": (),
        "rewrite": ("program", "arguments"),
        "respond": ("status", "stdout", "stderr"),
        "reject": ("reason",),
    },
    "after_interceptor": {"continue": (), "replace_result": ("status", "stdout", "stderr"), "reject": ("reason",)},
    "reviewer": {
        "defer": (),
        "approve_once": (),
        "deny": ("reason",),
        "rewrite": ("program", "arguments"),
        "approve_scope": ("scope", "expires_at?"),
    },
    "effect_analyzer": {"add_effects": ("effects",), "replace_effects": ("effects",)},
    "audit_filter": {"keep": (), "drop_field": ("field",), "replace_fields": ("fields",)},
}
"""The actions of each kind of hook, and the fields that a reply has beside version, request id and action."""


def read_reply(kind: str, text: str, request_id: str) -> Json:
    """A reply, its fields those of its action. Raises `ExtensionFailed`: `shell.hook_protocol`, `_request_id`,
    `_action`."""
    if REPLACEMENT in text:
        raise broken("shell.hook_protocol", "the reply is not UTF-8")
    try:
        reply = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise broken("shell.hook_protocol", "the reply is not one JSON object without repeated keys") from None
    if not isinstance(reply, dict) or reply.get("version") is not VERSION:
        raise broken("shell.hook_protocol", f"the reply is not an object of version {VERSION}")
    if reply.get("request_id") != request_id:
        raise broken("shell.hook_request_id", "the reply is to another request")
    name = "decision" if kind == "reviewer" else "action"
    action = reply.get(name)
    if not isinstance(action, str) or action not in SHAPES[kind]:
        raise broken("shell.hook_action", f"`{name}` is none of {', '.join(SHAPES[kind])}")
    fields = SHAPES[kind][action]
    known = {"version", "request_id", name, *(field.removesuffix("?") for field in fields)}
    needed = {field for field in fields if not field.endswith("?")}
    if not needed <= reply.keys() <= known:
        raise broken("shell.hook_protocol", f"`{action}` has the fields {', '.join(sorted(known))} and no others")
    return {**reply, "action": action}


def _once(pairs: list[tuple[str, Any]]) -> Json:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key is there twice")
    return record


def broken(code: str, why: str) -> ExtensionFailed:
    """The failure of a hook."""
    return ExtensionFailed(code, why)


def interception(reply: Json) -> Continue | RewriteTo | Respond | RejectWith:
    """What a hook makes of a command."""
    action = reply["action"]
    if action == "continue":
        return Continue()
    if action == "rewrite":
        return RewriteTo(_words(reply))
    if action == "respond":
        return Respond(_status(reply), _text(reply, "stdout"), _text(reply, "stderr"))
    return RejectWith(_reason(reply))


def disclosure(reply: Json) -> KeepResult | ReplaceResult | RejectWith:
    """What a hook makes of a result."""
    action = reply["action"]
    if action == "continue":
        return KeepResult()
    if action == "replace_result":
        return ReplaceResult(_text(reply, "stdout"), _text(reply, "stderr"), _status(reply))
    return RejectWith(_reason(reply))


def decision(reply: Json, argv: tuple[str, ...]) -> Answer:
    """What a hook decides about a command."""
    action = reply["action"]
    if action == "defer":
        return Defer()
    if action == "approve_once":
        return Once()
    if action == "deny":
        return Deny(_reason(reply))
    if action == "rewrite":
        program, *arguments = _words(reply)
        return Rewrite(Command(program, tuple(arguments)))
    expires = reply.get("expires_at")
    if expires is not None and (isinstance(expires, bool) or not isinstance(expires, int | float)):
        raise broken("shell.hook_scope", "`expires_at` is not a Unix time")
    if expires is not None and not math.isfinite(expires):
        raise broken("shell.hook_scope", "`expires_at` is not finite")
    try:
        return scoped(_text(reply, "scope"), argv, expires)
    except ExtensionFailed:
        raise broken("shell.hook_scope", "`scope` is not the name of a scope") from None


def analysis(reply: Json) -> Added | Replaced:
    """What a hook has found out about effects."""
    effects: Effects = tuple(map(parse_effect, _texts(reply, "effects")))
    return Added(effects) if reply["action"] == "add_effects" else Replaced(effects)


def verdict(reply: Json) -> Verdict:
    """What a hook makes of a record."""
    if reply["action"] == "keep":
        return Keep()
    if reply["action"] == "drop_field":
        return DropField(_text(reply, "field"))
    fields = reply["fields"]
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise broken("shell.hook_protocol", "`fields` is not an object of texts")
    return ReplaceFields(fields)


def _text(reply: Json, name: str) -> str:
    value = reply[name]
    if not isinstance(value, str):
        raise broken("shell.hook_protocol", f"`{name}` is not a text")
    return value


def _texts(reply: Json, name: str) -> tuple[str, ...]:
    value = reply[name]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise broken("shell.hook_protocol", f"`{name}` is not an array of texts")
    return tuple(value)


def _reason(reply: Json) -> str:
    reason = reply["reason"]
    if not isinstance(reason, str) or not reason.strip():
        raise broken("shell.hook_reject", "`reason` is not a text that says something")
    return reason


def _words(reply: Json) -> tuple[str, ...]:
    program, arguments = reply["program"], reply["arguments"]
    is_list = isinstance(arguments, list) and all(isinstance(one, str) for one in arguments)
    if not isinstance(program, str) or not program or not is_list or "\0" in "".join((program, *arguments)):
        raise broken("shell.hook_rewrite", "`program` and `arguments` are not the words of a command")
    return (program, *arguments)


def _status(reply: Json) -> Status:
    status = reply["status"]
    if isinstance(status, dict) and len(status) == 1:
        ((name, number),) = status.items()
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 255:
            if name == "exited":
                return Exited(number)
            if name == "signaled":
                return Signaled(number)
    raise broken("shell.hook_protocol", '`status` is not `{"exited": N}` or `{"signaled": N}`')
