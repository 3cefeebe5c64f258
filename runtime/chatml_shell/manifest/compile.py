"""From a document to its manifest, in the order of section 9.1."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from chatmd.document import Document
from chatmd.elements.script import ShellScript
from chatmd.loading.shell_tools import resolve_runtimes, shell_tools
from chatmd.report.problems import ChatmdError, Diagnostic
from chatmd.shell.access import ModeratorRuntime
from chatmd.shell.runtime import Platform, Runtime
from chatmd.shell.tool import ShellTool
from chatml_shell.errors import ShellError
from chatml_shell.manifest import checks
from chatml_shell.manifest.canonical import canonical, digest
from chatml_shell.manifest.encoding import encode_runtime, encode_script, encode_tool
from chatml_shell.manifest.features import ALL, required_features
from chatml_shell.manifest.graph import order, workers
from chatml_shell.manifest.record import Manifest, Material
from chatml_shell.manifest.uses import script_uses
from chatml_shell.problems import problem, sorted_findings

ENCODING_VERSION = "ochat.shell.manifest.v1"
PLATFORMS: Mapping[str, Platform] = {"linux": "linux", "darwin": "macos"}


def this_platform() -> Platform:
    """The platform of this machine."""
    return PLATFORMS.get(sys.platform, "any")


def compile_manifest(
    document: Document, *, platform: Platform | None = None, supported: Collection[str] = ALL
) -> Manifest:
    """The manifest of a document; it starts nothing and reads no file.

    `platform` is this machine's unless it is given, `supported` are the features that the host has. Raises
    `ShellError` with every finding, sorted: the codes of phase *compile* in shell.md section 23.

    >>> import chatmd
    >>> text = '<shell_access id="r" extends="builtin:workspace-readonly"/><tool name="ls" runtime="r" command="ls"/>'
    >>> manifest = compile_manifest(chatmd.load(text, base_dir="."), platform="linux")
    >>> len(manifest.sha256), manifest.summary.splitlines()[0]
    (64, '1 runtime, 1 tool')
    """
    here = this_platform() if platform is None else platform
    tools = shell_tools(document)
    scripts = [one for one in document.scripts if isinstance(one, ShellScript)]
    runtimes = _resolved(document, here, _named_twice(tools, scripts))
    material, findings, warnings = _assembled(runtimes, tools, scripts, document.moderator_runtime, here)
    features = required_features(material.runtimes.values(), material.tools.values(), here)
    findings += [
        problem("shell.unsupported_feature", None, path=("features", feature), feature=feature)
        for feature in features
        if feature not in supported
    ]
    if findings:
        raise ShellError(sorted_findings(findings))
    payload = _payload(material, features, here)
    text = canonical(payload)
    return Manifest(
        platform=here,
        payload=payload,
        canonical_text=text,
        sha256=digest(text),
        material=material,
        warnings=tuple(warnings),
    )


def _named_twice(tools: Iterable[ShellTool], scripts: Iterable[ShellScript]) -> list[Diagnostic]:
    return [
        *checks.duplicates("shell.duplicate_tool", ((tool.name, tool) for tool in tools), "tool"),
        *checks.duplicates("shell.duplicate_script", ((script.id, script) for script in scripts), "script"),
    ]


def _resolved(document: Document, platform: Platform, twice: list[Diagnostic]) -> dict[str, Runtime]:
    """The settled runtimes, sorted by id. Duplicates of any kind are reported before anything else is looked at."""
    try:
        runtimes = resolve_runtimes(document, platform)
    except ChatmdError as error:
        found = [*twice, *error.diagnostics]
        duplicate = [one for one in found if one.code.startswith("shell.duplicate_") and "entry" not in one.code]
        raise ShellError(sorted_findings(duplicate or found)) from None
    if twice:
        raise ShellError(sorted_findings(twice))
    return {name: runtimes[name] for name in sorted(runtimes)}


def _assembled(
    runtimes: Mapping[str, Runtime],
    tools: Iterable[ShellTool],
    scripts: Iterable[ShellScript],
    moderator: ModeratorRuntime | None,
    platform: Platform,
) -> tuple[Material, list[Diagnostic], list[Diagnostic]]:
    """The material, what is wrong with it, and what is declared for nothing."""
    declared = {script.id: script for script in scripts}
    named = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
    findings: list[Diagnostic] = []
    for runtime in runtimes.values():
        findings += checks.check_runtime(runtime, platform)
        findings += checks.check_workers(runtime, runtimes)
        findings += checks.check_scripts(runtime, declared)
    for tool in named.values():
        findings += checks.check_tool(tool, runtimes)
    if moderator is not None:
        findings += checks.check_moderator(moderator, runtimes)
    in_order, cycle = order(runtimes)
    if cycle:
        runtime, path = runtimes[cycle[0]], ("runtime", cycle[0])
        findings.append(checks.report("shell.runtime_dependency_cycle", runtime, path, route=" -> ".join(cycle)))
    used = {use.script for runtime in runtimes.values() for use in script_uses(runtime)}
    material = Material(
        runtimes=runtimes,
        order=tuple(in_order),
        tools=named,
        scripts={name: declared[name] for name in sorted(used) if name in declared},
        moderator_runtime=None if moderator is None else moderator.shell_runtime,
    )
    unused = [script for name, script in declared.items() if name not in used]
    warnings = [checks.report("chatmd.unused_script", one, ("script", one.id), id=one.id) for one in unused]
    return material, findings, warnings


def _payload(material: Material, features: list[str], platform: Platform) -> dict[str, Any]:
    """What the canonical text says (section 9.3)."""
    return {
        "encoding_version": ENCODING_VERSION,
        "platform": platform,
        "runtimes": [encode_runtime(runtime) for runtime in material.runtimes.values()],
        "tools": [encode_tool(tool) for tool in material.tools.values()],
        "moderator_runtime": material.moderator_runtime,
        "extension_scripts": [encode_script(script) for script in material.scripts.values()],
        "dependencies": _dependencies(material),
        "required_features": features,
    }


def _dependencies(material: Material) -> list[dict[str, str]]:
    """Who needs whom, sorted, each once."""
    edges = {(f"tool:{tool.name}", tool.runtime, "tool") for tool in material.tools.values()}
    if material.moderator_runtime is not None:
        edges.add(("moderator", material.moderator_runtime, "moderator"))
    for runtime in material.runtimes.values():
        edges.update((runtime.id, worker, "worker") for worker in workers(runtime))
        edges.update((runtime.id, f"script:{use.script}", "script") for use in script_uses(runtime))
    return [{"from": source, "to": target, "kind": kind} for source, target, kind in sorted(edges)]
