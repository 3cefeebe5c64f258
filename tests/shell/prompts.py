"""Documents of the tests of the shell runtime, and shorthands to compile them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import chatmd
from chatmd.shell.runtime import Platform
from chatml_shell.errors import ShellError
from chatml_shell.manifest.compile import compile_manifest
from chatml_shell.manifest.record import Manifest

DIRECT = (
    '<capabilities sandbox="direct_unsafe" arbitrary_code="true" child_processes="true">'
    '<read path="/"/><write path="/"/></capabilities><backends merge="replace"><direct/></backends>'
)
"""The sections that the conformance cases call D."""

ALLOW = '<policy default="allow"/>'


def runtime(inside: str = DIRECT + ALLOW, name: str = "r", more: str = "") -> str:
    """A runtime around some sections."""
    return f'<shell_access id="{name}" {more}>{inside}</shell_access>'


def script(kind: str, name: str, body: str, more: str = "") -> str:
    """A script that extends the shell."""
    return f'<script language="chatml" kind="{kind}" id="{name}" {more}>RAW|\n{body}\n|RAW</script>'


def load(text: str, base_dir: Path | str = ".", **options: Any) -> chatmd.Document:
    """A document whose loading does not look at the environment of the test run."""
    return chatmd.load(text, base_dir=base_dir, environment={}, **options)


def manifest(text: str, base_dir: Path | str = ".", platform: Platform = "linux") -> Manifest:
    """The manifest of a document."""
    return compile_manifest(load(text, base_dir), platform=platform)


def codes(text: str, platform: Platform = "linux") -> list[str]:
    """Why a document has no manifest."""
    with pytest.raises(ShellError) as raised:
        manifest(text, platform=platform)
    return [one.code for one in raised.value.diagnostics]
