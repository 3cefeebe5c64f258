"""The way from a manifest to a registry, in the order of section 10.1."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

from chatml_shell.admin.policy import AdminPolicy, load_admin_policy
from chatml_shell.authority.authoriser import Authoriser, Grant, check_grant, reject
from chatml_shell.authority.startup import authorised
from chatml_shell.errors import ShellError
from chatml_shell.extensions.compile import CompiledExtension, compile_extensions
from chatml_shell.extensions.instances import Instances, SnapshotStore
from chatml_shell.instantiate.host import Host
from chatml_shell.instantiate.runtime import Making, make_runtime
from chatml_shell.instantiate.tools import make_tool
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.manifest.record import Manifest
from chatml_shell.problems import fault
from chatml_shell.processes.launcher import Launcher
from chatml_shell.registry.registry import Registry


@contextlib.asynccontextmanager
async def open_registry(
    manifest: Manifest, *, host: Host, authoriser: Authoriser = reject, snapshots: SnapshotStore | None = None
) -> AsyncIterator[Registry]:
    """The runtimes and tools of a manifest, live inside of the `async with`; at its end every process is gone.

    `authoriser` decides about the manifest; without one it is rejected. `snapshots` keep the states of scripts. Raises
    `ShellError` with the findings of the first phase that refuses: authorise or instantiate of shell.md section 23.
    """
    admin = load_admin_policy(host.environment)
    compiled: dict[str, CompiledExtension] = {}
    grant = await authorised(
        manifest,
        admin=admin,
        hosts=host.paths,
        environment=host.environment,
        authoriser=authoriser,
        compile_scripts=lambda: compiled.update(compile_extensions(manifest)),
    )
    async with Launcher() as launcher:
        registry = await instantiate(manifest, grant, host, admin, compiled, launcher, snapshots)
        try:
            yield registry
        finally:
            registry.close()


async def instantiate(
    manifest: Manifest,
    grant: Grant,
    host: Host,
    admin: AdminPolicy,
    compiled: Mapping[str, CompiledExtension],
    launcher: Launcher,
    snapshots: SnapshotStore | None = None,
) -> Registry:
    """A registry under a grant; nothing is published when any part of it cannot be made. Raises `ShellError`."""
    check_grant(grant, manifest)
    manifest.verify()
    material = manifest.material
    making = Making(
        manifest_sha256=manifest.sha256,
        platform=manifest.platform,
        host=host,
        admin=admin,
        instances=Instances(compiled, manifest.sha256, snapshots),
        launcher=launcher,
    )
    runtimes: dict[str, LiveRuntime] = {}
    try:
        for name in material.order:
            try:
                runtimes[name] = await make_runtime(material.runtimes[name], making, runtimes)
            except ShellError:
                raise
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                span, path = material.runtimes[name].span, ("runtime", name)
                raise fault("shell.runtime_instantiation_failed", span, path=path, id=name, why=why) from error
        tools = {name: make_tool(tool, runtimes[tool.runtime], making) for name, tool in material.tools.items()}
    except BaseException:
        for runtime in runtimes.values():
            runtime.recorder.close()
        raise
    return Registry(manifest=manifest, runtimes=runtimes, by_name=tools, launcher=launcher)
