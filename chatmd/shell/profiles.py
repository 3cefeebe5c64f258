"""The built-in profiles (shell.md section 7.2), read from `profiles.chatmd` when first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import attrs

from chatmd.elements.reading import Reading
from chatmd.report.provenance import SourceRecord
from chatmd.shell.access import ShellAccess
from chatmd.shell.read import read_shell_access
from chatmd.shell.runtime import Platform, Runtime, merge
from chatmd.shell.shape import shape
from chatmd.shell.tool import LEGACY_RUNTIME
from chatmd.sources.source import Sources
from chatmd.text.lines import decode
from chatmd.text.parse import parse_tree
from chatmd.text.tree import Element
from chatml.source import Source

FILE = "profiles.chatmd"
PREFIX = "builtin:"
VERSION = "@1"
DEFAULTS = "defaults"
HERE = SourceRecord(FILE, None, "/", "/")


@cache
def _trees() -> dict[str, Element]:
    """The declarations of the built-in runtimes by their ids."""
    text = decode(files("chatmd.shell").joinpath(FILE).read_bytes())
    trees = [node for node in parse_tree(Source(FILE, text)) if isinstance(node, Element)]
    return {str(dict(tree.attrs)["id"]): tree for tree in trees}


def profiles() -> Sequence[str]:
    """The names of the built-in profiles, with their version.

    >>> for name in profiles():
    ...     print(name)
    builtin:workspace-readonly@1
    builtin:workspace-development@1
    builtin:yolo@1
    builtin:hook-worker@1
    """
    return [name + VERSION for name in _trees() if name.startswith(PREFIX)]


def defaults() -> Runtime:
    """What a runtime is that extends nothing (section 7.1)."""
    access = _read(DEFAULTS, HERE)
    names = ("cwd", "pipefail", *shape(ShellAccess).slots)
    return Runtime(id=access.id, **{name: getattr(access, name) for name in names})


def profile(name: str, platform: Platform, record: SourceRecord = HERE) -> Runtime | None:
    """A built-in profile by its name, with or without the version; None when no such profile exists.

    `record` is the file of the runtime that extends it: `${source_dir}` in the profile means the directory of that
    file. Of the backends only those of the platform are there.

    >>> runtime = profile("builtin:yolo", "linux")
    >>> runtime.resolved_profile, runtime.capabilities.sandbox, [backend.id for backend in runtime.backends.backends]
    ('builtin:yolo@1', 'direct_unsafe', ['builtin-direct'])
    """
    plain = name.removesuffix(VERSION)
    if not plain.startswith(PREFIX) or plain not in _trees():
        return None
    runtime = _built(plain, record)
    fitting = tuple(one for one in runtime.backends.backends if one.when in ("any", platform))
    return attrs.evolve(
        runtime,
        backends=attrs.evolve(runtime.backends, backends=fitting),
        requested_profile=name,
        resolved_profile=plain + VERSION,
    )


def legacy() -> Runtime:
    """The runtime of tools that are declared by a `command` alone (section 7.6)."""
    return _built(LEGACY_RUNTIME, HERE)


def _built(name: str, record: SourceRecord) -> Runtime:
    access = _read(name, record)
    return merge(defaults() if access.extends is None else _built(access.extends, record), access)


def _read(name: str, record: SourceRecord) -> ShellAccess:
    place = SourceRecord(FILE, None, record.source_dir, record.prompt_dir)
    return read_shell_access(_trees()[name], Reading(place, FILE, Sources(record.prompt_dir), []))
