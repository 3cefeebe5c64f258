"""Shared shorthands of the document tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chatmd
from chatmd import Diagnostic, Document

QUIET: dict[str, Any] = {"environment": {}}


def load(text: str, base_dir: Path | str = ".", **options: Any) -> Document:
    """A document whose loading does not look at the environment of the test run."""
    return chatmd.load(text, base_dir=base_dir, **{**QUIET, **options})


def findings(action: Callable[[], object]) -> list[Diagnostic]:
    """What an action that must fail reports."""
    with pytest.raises(chatmd.ChatmdError) as raised:
        action()
    return list(raised.value.diagnostics)


def finding(text: str, base_dir: Path | str = ".", **options: Any) -> Diagnostic:
    """The one finding for which a text does not load."""
    (found,) = findings(lambda: load(text, base_dir, **options))
    return found


def write(directory: Path, **files: str) -> Path:
    """Files in a directory; `__` in a name is a slash, `_` before the ending a dot."""
    for name, content in files.items():
        stem, _, ending = name.rpartition("_")
        path = directory / f"{stem.replace('__', '/')}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return directory


def place(diagnostic: Diagnostic) -> tuple[str, int, str]:
    """File, offset and text of what a finding points at."""
    assert diagnostic.span is not None
    return diagnostic.span.source.name, diagnostic.span.left, diagnostic.span.text
