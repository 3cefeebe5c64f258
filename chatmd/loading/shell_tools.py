"""Inheritance: from declared runtimes to settled ones (shell.md section 7.3)."""

from __future__ import annotations

from typing import Any

import attrs

from chatmd.document import Document
from chatmd.elements.tool import Command
from chatmd.report.problems import ChatmdError, Diagnostic, problem
from chatmd.shell.access import ShellAccess
from chatmd.shell.profiles import HERE, PREFIX, defaults, legacy, profile, profiles
from chatmd.shell.runtime import Platform, Runtime, merge
from chatmd.shell.tool import LEGACY_RUNTIME, ShellTool, desugared
from chatmd.shell.values import one_of
from chatml.diagnostics.suggest import did_you_mean


def resolve_runtimes(document: Document, platform: Platform = "any") -> dict[str, Runtime]:
    """The shell runtimes of a document by their ids, in the order declared, each with what it extends merged in.

    `platform` decides which backends a built-in profile brings along. Tools that are declared by a `command` alone add
    the runtime `legacy:custom`.

    Raises `ChatmdError` with all findings: `shell.duplicate_runtime`, `shell.unknown_runtime`,
    `shell.unknown_builtin_profile`, `shell.inheritance_cycle`, `shell.duplicate_named_entry`.

    >>> import chatmd
    >>> document = chatmd.load('<shell_access id="dev" extends="builtin:yolo"/>', base_dir=".")
    >>> runtime = resolve_runtimes(document)["dev"]
    >>> runtime.policy.default, runtime.requested_profile, runtime.resolved_profile
    ('allow', 'builtin:yolo', 'builtin:yolo@1')
    """
    resolution = _Resolution(platform)
    has_legacy = any(isinstance(tool, Command) for tool in document.tools)
    for access in document.shell_runtimes:
        resolution.declare(access, reserved=has_legacy and access.id == LEGACY_RUNTIME)
    for access in resolution.declared.values():
        resolution.settle(access)
    if resolution.findings:
        raise ChatmdError(resolution.findings)
    runtimes = {identity: resolution.settled[identity] for identity in resolution.declared}
    return {**runtimes, LEGACY_RUNTIME: legacy()} if has_legacy else runtimes


def shell_tools(document: Document) -> tuple[ShellTool, ...]:
    """The shell tools of a document in order, those that are declared by a `command` alone included (section 6.4).

    >>> import chatmd
    >>> [tool.runtime for tool in shell_tools(chatmd.load('<tool name="t" command="rg"/>', base_dir="."))]
    ['legacy:custom']
    """
    tools = (desugared(tool) if isinstance(tool, Command) else tool for tool in document.tools)
    return tuple(tool for tool in tools if isinstance(tool, ShellTool))


@attrs.define
class _Resolution:
    """One resolution: what is declared, what is settled, what cannot be settled (and why, unless its parent cannot)."""

    platform: Platform
    declared: dict[str, ShellAccess] = attrs.field(factory=dict)
    settled: dict[str, Runtime] = attrs.field(factory=dict)
    failed: set[str] = attrs.field(factory=set)
    findings: list[Diagnostic] = attrs.field(factory=list)

    def declare(self, access: ShellAccess, *, reserved: bool) -> None:
        """Add a runtime; its id must be its own."""
        first = self.declared.setdefault(access.id, access)
        if first is access and not reserved:
            return
        labels = [] if first is access or first.span is None else [(first.span, "the first one is here")]
        notes = [f"tools with a `command` alone run in `{LEGACY_RUNTIME}`"] if reserved else []
        self.report("shell.duplicate_runtime", access, "id", labels=labels, notes=notes, id=access.id)

    def settle(self, access: ShellAccess) -> None:
        """Settle a runtime and all that it extends, without call stack for the length of that chain."""
        chain: dict[str, ShellAccess] = {}
        base: Runtime | None = None
        while access.id not in self.settled and access.id not in self.failed:
            if access.id in chain:
                route = " -> ".join([*list(chain)[list(chain).index(access.id) :], access.id])
                self.report("shell.inheritance_cycle", access, "extends", route=route)
                break
            chain[access.id] = access
            if access.extends is None:
                base = defaults()
                break
            if access.extends not in self.declared:
                base = self.built_in(access, access.extends)
                break
            access = self.declared[access.extends]
        else:
            base = self.settled.get(access.id)
        for one in reversed(chain.values()):
            base = self.merged(base, one)

    def merged(self, base: Runtime | None, access: ShellAccess) -> Runtime | None:
        """Settle one runtime on its settled base; None when either is at fault."""
        if base is not None:
            try:
                self.settled[access.id] = merge(base, access)
                return self.settled[access.id]
            except ChatmdError as error:
                self.findings += error.diagnostics
        self.failed.add(access.id)
        return None

    def built_in(self, access: ShellAccess, name: str) -> Runtime | None:
        """The profile that a runtime extends; None, and a finding, when no such thing exists."""
        found = profile(name, self.platform, access.source_record or HERE)
        if found is None:
            known = profiles()
            is_profile = name.startswith(PREFIX)
            self.report(
                "shell.unknown_builtin_profile" if is_profile else "shell.unknown_runtime",
                access,
                "extends",
                help=did_you_mean(name, known if is_profile else [*self.declared, *known]),
                id=name,
                known=one_of(tuple(known)),
            )
        return found

    def report(self, code: str, access: ShellAccess, attribute: str, **facts: Any) -> None:
        """Add a finding about an attribute of a runtime."""
        path = ("runtime", access.id, attribute)
        source = access.source_record
        self.findings.append(problem(code, access.place(attribute), path=path, source=source, **facts))
