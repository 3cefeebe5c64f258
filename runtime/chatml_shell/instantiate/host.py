"""What a host brings along: directories, variables, a session, and whom to ask (section 11.1)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

import attrs

from chatmd.sources.paths import HostPaths
from chatml_shell.approvals.grants import GrantStore, MemoryStore
from chatml_shell.approvals.model_reviewer import Completion
from chatml_shell.approvals.question import Provider
from chatml_shell.backends.backend import Backend
from chatml_shell.manifest.record import Manifest


@attrs.frozen(kw_only=True, eq=False)
class Host:
    """The surroundings of a registry. A directory that is None is one that this host has not: a document that needs it
    is refused. `environment` are the variables that runtimes may pass on, the process's own by default. `provider` asks
    a person; None is nobody. `backends` take the place of the declared ones in every runtime, for tests."""

    paths: HostPaths
    environment: Mapping[str, str] = attrs.field(factory=lambda: dict(os.environ), repr=False)
    session_id: str | None = None
    provider: Provider | None = None
    session_grants: GrantStore = attrs.field(factory=MemoryStore)
    durable_grants: GrantStore | None = None
    complete: Completion | None = None
    clock: Callable[[], float] = time.time
    backends: Sequence[Backend] | None = None


def host_paths(manifest: Manifest, workspace: str, session_dir: str | None = None) -> HostPaths:
    """The usual directories: the prompt's own from where its declarations stand, the others below the user's home."""
    material = manifest.material
    declared = (*material.runtimes.values(), *material.tools.values())
    records = [one.source_record for one in declared if one.source_record is not None]
    prompt = next((record.prompt_dir for record in records if record.prompt_dir != "/"), workspace)
    home = os.path.expanduser("~")
    return HostPaths(
        workspace=workspace,
        prompt_dir=prompt,
        tool_dir=prompt,
        session_dir=session_dir,
        cache_dir=os.path.join(home, ".cache/chatmd"),
        home=home,
    )
