"""What scripts see of a shell command, and the answers that they can give (builtins.md section 7).

Each answer is an effect; whoever runs the script decides what its argument may be (section 7.5).
"""

from __future__ import annotations

from chatml.builtins.effects import Effect, effect_module
from chatml.builtins.schemes import option, record
from chatml.surfaces.model import Builtin, Host, Module
from chatml.types.model import Array, Bool, Float, Fun, Int, String, Type
from chatml.values.model import BuiltinFailure, Value

STRINGS = Array(String)

EXECUTABLE_TYPE = record(requested=String, path=String, canonical_path=String, trusted=Bool, sha256=String)

CAPABILITIES_TYPE = record(
    read_roots=STRINGS,
    write_roots=STRINGS,
    network=Bool,
    child_processes=Bool,
    arbitrary_code=Bool,
    privilege_change=Bool,
    sandbox=String,
)

POLICY_TYPE = record(
    version=String,
    action=String,
    reason=String,
    matches=Array(record(rule_id=String, action=String, reason=option(String))),
)

READABLE: dict[str, Type] = {
    "request_id": String,
    "runtime_id": String,
    "manifest_sha256": String,
    "argv": STRINGS,
    "executable": EXECUTABLE_TYPE,
    "cwd": String,
    "origin": String,
    "request_kind": String,
    "stdin_kind": String,
    "stdin_sha256": option(String),
    "stdin_bytes": Int,
    "script_sha256": option(String),
    "script_preview": option(String),
    "effects": STRINGS,
    "capabilities": CAPABILITIES_TYPE,
    "session_id": option(String),
    "policy": option(POLICY_TYPE),
}
"""The fields of a context that have a reader in `Shell`."""

CONTEXT_TYPE = record(version=String, phase=String, **READABLE)

RESULT_TYPE = record(
    version=String,
    phase=String,
    argv=STRINGS,
    status_kind=String,
    status_code=Int,
    stdout=String,
    stderr=String,
    stdout_truncated=Bool,
    stderr_truncated=Bool,
    intercepted_by=option(String),
    untrusted_output=Bool,
)

AUDIT_TYPE = record(
    version=String,
    phase=String,
    sequence=String,
    timestamp=Float,
    session_id=option(String),
    runtime_id=String,
    manifest_sha256=String,
    request_id=String,
    plan_id=option(String),
    event=String,
    fields=Array(record(name=String, value=String)),
)


def reader(field: str) -> Host:
    """A function that reads a field of a context."""

    def read(context: Value) -> Value:
        if type(context) is not dict:
            raise BuiltinFailure("expected a record of type `shell_context`")
        if field not in context:
            raise BuiltinFailure(f"the shell_context has no field `{field}`")
        return context[field]

    return read


SHELL = Module(
    "Shell", tuple([Builtin(field, Fun([CONTEXT_TYPE], type), reader(field)) for field, type in READABLE.items()])
)

MATCH = effect_module("Match", [Effect("yes", [String]), Effect("no", [String])])

REVIEW = effect_module(
    "Review",
    [
        Effect("approve"),
        Effect("approve_for", [String]),
        Effect("deny", [String]),
        Effect("rewrite", [STRINGS]),
        Effect("defer"),
    ],
)

INTERCEPT = effect_module(
    "Intercept",
    [
        Effect("continue"),
        Effect("rewrite", [STRINGS]),
        Effect("respond", [String, String]),
        Effect("reject", [String]),
    ],
)

RESULT = effect_module(
    "Result",
    [
        Effect("keep"),
        Effect("replace", [String, String]),
        Effect("reject_disclosure", [String]),
    ],
)

EFFECT = effect_module(
    "Effect",
    [
        Effect("add", [String]),
        Effect("read_path", [String]),
        Effect("write_path", [String]),
        Effect("network"),
        Effect("child_processes"),
        Effect("arbitrary_code"),
        Effect("privilege_change"),
        Effect("replace", [STRINGS]),
    ],
)

AUDIT = effect_module("Audit", [Effect("keep"), Effect("drop_field", [String]), Effect("replace", [String])])
