"""Declarations as plain data for the manifest (sections 9.3 and 9.4).

The table of each record's shape says what there is to encode, so a new attribute cannot be forgotten. A duration is a
text in seconds, a size a text in bytes, a path its expression as the root document would write it. A setting, which a
runtime may inherit, tells apart that it is set, inherited, or cleared.
"""

from __future__ import annotations

from typing import Any

from chatmd.elements.script import Script, ScriptLimits
from chatmd.report.provenance import SourceRecord
from chatmd.shell.access import ShellAccess
from chatmd.shell.policy import Policy
from chatmd.shell.runtime import Runtime
from chatmd.shell.sections import Approvals, Capabilities, Environment, Limits, Resolver, SecretLiteral, Secrets
from chatmd.shell.shape import ByValue, Declared, Shape, shape
from chatmd.shell.tool import LEGACY_RUNTIME, ShellTool, mode_of
from chatmd.shell.values import CLEAR, Value
from chatmd.text.quantities import show_bytes, show_duration
from chatml_shell.manifest.uses import ENTRY_POINTS

PLACEHOLDER = "<literal-secret>"
"""What stands in the manifest for a secret that the document spells out."""

SURFACE = "v1"
"""The version of the surfaces and input records that scripts of the shell are compiled against (section 8.1)."""

SETTINGS: tuple[type[Declared], ...] = (Capabilities, Resolver, Environment, Limits, Policy, Approvals, Secrets)
"""The sections whose attributes a runtime may leave to the one that it extends."""

PASSED_OVER = {"merge", "override"}
"""Attributes that say how a section joins an inherited one; a settled runtime has done that."""

Json = dict[str, Any]


def encode_runtime(runtime: Runtime) -> Json:
    """A settled runtime as plain data."""
    encoded: Json = {
        "id": runtime.id,
        "source": None if runtime.id == LEGACY_RUNTIME else encode_source(runtime.source_record),
        "requested_profile": runtime.requested_profile,
        "resolved_profile": runtime.resolved_profile,
        "cwd": {"set": runtime.cwd.from_root},
        "pipefail": {"set": runtime.pipefail},
    }
    for name in shape(ShellAccess).slots:
        encoded[name] = encode(getattr(runtime, name))
    return encoded


def encode_tool(tool: ShellTool) -> Json:
    """A tool as plain data."""
    encoded = encode(tool)
    return {**encoded, "source": encode_source(tool.source_record), "mode": {mode_of(tool): encode(tool.mode)}}


def encode_script(script: Script) -> Json:
    """A script that extends the shell: what it is, not where it stands."""
    return {
        "id": script.id,
        "kind": script.kind,
        "source_sha256": script.source_sha256,
        "surface": f"{script.kind}-{SURFACE}",
        "entry_point": ENTRY_POINTS[script.kind],
        "limits": encode_limits(script.limits),
    }


def encode_limits(limits: ScriptLimits) -> Json:
    """The bounds of a script."""
    return {
        "wall_time": show_duration(limits.wall_time),
        "fuel": limits.fuel,
        "max_tasks": limits.max_tasks,
        "max_value": show_bytes(limits.max_value),
        "max_output": show_bytes(limits.max_output),
        "max_array_items": limits.max_array_items,
        "max_depth": limits.max_depth,
    }


def encode_source(record: SourceRecord | None) -> Json | None:
    """The file of a declaration: no absolute path, so that a tree that is moved keeps its hash (E-03)."""
    if record is None:
        return None
    return {
        "file": record.file,
        "source_dir": record.within or ".",
        "namespace": record.namespace,
        "source_sha256": record.source_sha256,
    }


def encode(root: Declared) -> Json:
    """A declaration and all that it holds as plain data, without call stack for its depth."""
    encoded: Json = {}
    waiting: list[tuple[Declared, Json]] = [(root, encoded)]
    while waiting:
        record, target = waiting.pop()
        known = shape(record.__class__)
        _encode_attributes(record, known, target)
        for field, slot in known.slots.items():
            held = getattr(record, field)
            children = [held] if slot.single and held is not None else list(held or ())
            inside = [_tagged(child, known, field) for child in children]
            target[field] = inside if not slot.single else inside[0] if inside else None
            waiting += zip(children, inside, strict=True)
    return encoded


def _tagged(child: Declared, known: Shape, field: str) -> Json:
    """The beginning of a child's data: which element it is, and of which kind where an attribute decides that."""
    own = shape(child.__class__).tag
    tag = known.tags[field][child.__class__] if own is None else getattr(child, own)
    form = known.slots[field].tags[tag]
    started: Json = {"element": tag}
    if isinstance(form, ByValue):
        started[form.attribute] = next(name for name, made in form.records.items() if made is child.__class__)
    return started


def _encode_attributes(record: Declared, known: Shape, target: Json) -> None:
    is_section = isinstance(record, SETTINGS)
    for name, attribute in known.attributes.items():
        if name in PASSED_OVER:
            continue
        value = getattr(record, name)
        if isinstance(record, SecretLiteral):
            target[name] = PLACEHOLDER
        elif not is_section:
            target[name] = None if value is None else encode_value(value, attribute.value)
        elif value is None:
            target[name] = "inherit"
        else:
            target[name] = "clear" if value is CLEAR else {"set": encode_value(value, attribute.value)}


def encode_value(value: Any, kind: Value) -> Any:
    """A value of an attribute: texts, truths and counts as themselves, lists as lists, else its canonical text."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, tuple):
        return list(value)
    text = kind.show(value)
    return value if isinstance(value, int) and text == str(value) else text
