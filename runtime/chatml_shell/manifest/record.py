"""The manifest as a record: its text and hash, and the material that it describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from chatmd.elements.script import ShellScript
from chatmd.report.problems import Diagnostic
from chatmd.shell.runtime import Platform, Runtime
from chatmd.shell.tool import ShellTool
from chatml_shell.manifest.canonical import canonical, digest
from chatml_shell.problems import fault

YOLO = "builtin:yolo@1"
CRITICAL = "CRITICAL: {ids} resolves to builtin:yolo@1: any command, nothing confined, nobody asked"


@attrs.frozen(kw_only=True, eq=False)
class Material:
    """What a manifest describes, with the secrets that documents spell out. `order` has workers before those that
    need them."""

    runtimes: Mapping[str, Runtime]
    order: tuple[str, ...]
    tools: Mapping[str, ShellTool]
    scripts: Mapping[str, ShellScript]
    moderator_runtime: str | None


@attrs.frozen(kw_only=True, eq=False)
class Manifest:
    """What a document asks for on a platform (section 9).

    `payload` is plain data without secrets, `canonical_text` its one text and `sha256` the text's digest, which is
    what somebody authorises. `material` is what that is made of; `warnings` are findings that change nothing.
    """

    platform: Platform
    payload: Mapping[str, Any]
    canonical_text: str
    sha256: str
    material: Material = attrs.field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the document asks for nothing, so that nobody need be asked (section 10.1)."""
        material = self.material
        return not (material.runtimes or material.tools or material.moderator_runtime)

    @property
    def summary(self) -> str:
        """What is asked for in a few lines, for whoever decides: warnings first, then how much, and the hash."""
        unconfined = [one.id for one in self.material.runtimes.values() if one.resolved_profile == YOLO]
        runtimes, tools = len(self.material.runtimes), len(self.material.tools)
        lines = [CRITICAL.format(ids=", ".join(unconfined))] if unconfined else []
        lines += [f"{counted(runtimes, 'runtime')}, {counted(tools, 'tool')}", f"manifest {self.sha256}"]
        return "\n".join(lines)

    def verify(self) -> None:
        """See that the text, the hash and the payload belong together. Raises `ShellError`
        (`shell.manifest_material_mismatch`)."""
        if canonical(self.payload) != self.canonical_text or digest(self.canonical_text) != self.sha256:
            raise fault("shell.manifest_material_mismatch", None, path=("manifest",), sha256=self.sha256)


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "tool"), counted(2, "tool")
    ('1 tool', '2 tools')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
