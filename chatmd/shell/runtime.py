"""Shell runtimes in full: what a declaration amounts to on top of what it extends (shell.md sections 7.3 and 7.4)."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from chatmd.elements.reading import Placed
from chatmd.report.problems import ChatmdError, fault
from chatmd.shell.access import ShellAccess
from chatmd.shell.backends import Backends
from chatmd.shell.extensions import Audit, EffectAnalysis, Interceptors, Reviewers
from chatmd.shell.policy import Policy
from chatmd.shell.sections import Approvals, Capabilities, Environment, Limits, Resolver, Secrets
from chatmd.shell.shape import Declared, Slot, shape
from chatmd.sources.paths import PathExpr

Platform = Literal["macos", "linux", "any"]
"""What a host runs on; `any` is one without a sandbox that is known here."""

REPLACES = 'write `override="true"` to replace it, or `merge="replace"` to begin anew'


@attrs.frozen(kw_only=True)
class Runtime(Placed):
    """A shell runtime whose every section is settled, and every setting that must be.

    `requested_profile` is the built-in profile that it comes from, as it was spelled, `resolved_profile` the version
    that this meant; both are None when there is none.
    """

    id: str
    cwd: PathExpr
    pipefail: bool
    capabilities: Capabilities
    resolver: Resolver
    environment: Environment
    limits: Limits
    backends: Backends
    policy: Policy
    approvals: Approvals
    reviewers: Reviewers
    interceptors: Interceptors
    effect_analysis: EffectAnalysis
    secrets: Secrets
    audit: Audit
    requested_profile: str | None = None
    resolved_profile: str | None = None


def merge(base: Runtime, child: ShellAccess) -> Runtime:
    """A runtime on top of the one that it extends (section 7.4).

    Raises `ChatmdError` (`shell.duplicate_named_entry`) for an entry whose id is already there.
    """
    known = shape(ShellAccess)
    settled: dict[str, Any] = {}
    for name in ("cwd", "pipefail", *known.slots):
        mine, inherited = getattr(child, name), getattr(base, name)
        slot = known.slots.get(name)
        if mine is None:
            settled[name] = inherited
        elif slot is None or slot.whole:
            settled[name] = mine
        else:
            settled[name] = _merge_section(inherited, mine, name, child)
    return attrs.evolve(base, id=child.id, span=child.span, source_record=child.source_record, **settled)


def _merge_section(base: Any, child: Any, section: str, access: ShellAccess) -> Any:
    """A section on top of an inherited one: settings that are set win, entries join."""
    known = shape(child.__class__)
    replaces = getattr(child, "merge", "append") == "replace"
    settled: dict[str, Any] = {}
    for name in known.attributes:
        mine = getattr(child, name)
        settled[name] = getattr(base, name) if mine is None else mine
    for name, slot in known.slots.items():
        kept = () if replaces else getattr(base, name)
        settled[name] = _join(kept, getattr(child, name), slot, (section, access))
    if "merge" in settled:
        settled["merge"] = "append"
    return attrs.evolve(child, **settled)


def _join(kept: tuple[Any, ...], added: tuple[Any, ...], slot: Slot, where: tuple[str, ShellAccess]) -> tuple[Any, ...]:
    """Inherited entries and a section's own, in order."""
    if slot.join == "append":
        return (*kept, *added)
    entries = list(kept)
    places = {entry.id: index for index, entry in enumerate(entries) if entry.id is not None}
    for entry in added:
        override = slot.join == "named" and entry.override
        index = places.get(entry.id)
        if index is not None and not override:
            raise _duplicate(entry, entries[index], slot, where)
        if override:
            entry = attrs.evolve(entry, override=False)
        if index is not None:
            entries[index] = entry
            continue
        if entry.id is not None:
            places[entry.id] = len(entries)
        entries.append(entry)
    return tuple(entries)


def _duplicate(entry: Any, first: Declared, slot: Slot, where: tuple[str, ShellAccess]) -> ChatmdError:
    section, access = where
    tag = entry.element.tag if entry.element is not None else section
    own = first.span is not None and entry.span is not None and first.span.source.name == entry.span.source.name
    return fault(
        "shell.duplicate_named_entry",
        entry.place("id"),
        path=("runtime", access.id, section, entry.id),
        source=entry.source_record,
        labels=[(first.span, "the first one is here")] if own and first.span is not None else [],
        runtime=access.id,
        tag=tag,
        id=entry.id,
        remedy=REPLACES if slot.join == "named" else 'give it another id, or write `merge="replace"` to begin anew',
    )
