"""The order of authorisation: ceiling, evidence, decision (section 10.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from chatmd.sources.paths import HostPaths
from chatml_shell.admin.ceiling import violations
from chatml_shell.admin.policy import AdminPolicy
from chatml_shell.authority.authoriser import Authoriser, Grant, authorise
from chatml_shell.authority.signatures import AUDIENCE, DEFAULT_AUDIENCE, KEYS, SIGNATURE, load_keys, load_signature
from chatml_shell.authority.signatures import verify as verify_signature
from chatml_shell.authority.sources import IDENTITY, VARIABLE, check_sources, load_trusted_sources
from chatml_shell.errors import ShellError
from chatml_shell.manifest.record import Manifest
from chatml_shell.problems import fault


@attrs.frozen
class Evidence:
    """What was found out about a manifest before anybody was asked: who signed it, and whether its files were held
    against trusted sources."""

    signer: str | None
    sources_checked: bool


def gather_evidence(manifest: Manifest, admin: AdminPolicy, environment: Mapping[str, str]) -> Evidence:
    """Check the signature and the sources of a manifest, as far as this machine asks for it.

    Raises `ShellError`: `shell.manifest_security_configuration_missing`, `shell.signature_*`,
    `shell.trusted_source_*`.
    """
    signature, keys, trusted = (environment.get(name) for name in (SIGNATURE, KEYS, VARIABLE))
    missing = [
        name
        for name, value, is_needed in (
            (SIGNATURE, signature, admin.require_signature or keys),
            (KEYS, keys, admin.require_signature or signature),
            (VARIABLE, trusted, admin.require_trusted_source),
        )
        if is_needed and not value
    ]
    if missing:
        names = ", ".join(missing)
        raise fault("shell.manifest_security_configuration_missing", None, path=("manifest",), variables=names)
    signer = None
    if signature and keys:
        audience = environment.get(AUDIENCE) or DEFAULT_AUDIENCE
        signer = verify_signature(manifest, load_signature(signature), load_keys(keys), audience=audience)
    if trusted:
        check_sources(manifest, load_trusted_sources(trusted), environment.get(IDENTITY), signer)
    return Evidence(signer, bool(trusted))


async def authorised(
    manifest: Manifest,
    *,
    admin: AdminPolicy,
    hosts: HostPaths,
    environment: Mapping[str, str],
    authoriser: Authoriser,
    compile_scripts: Callable[[], object] = lambda: None,
) -> Grant:
    """A grant for a manifest, or `ShellError` with every reason of the first stage that refuses it.

    A manifest that asks for nothing is granted without asking anybody. `compile_scripts` compiles the scripts that
    extend the shell; nobody is asked about a document whose scripts do not compile.
    """
    manifest.verify()
    if manifest.is_empty:
        return Grant(manifest.sha256)
    excess = violations(admin, manifest, hosts)
    if excess:
        raise ShellError(excess)
    compile_scripts()
    gather_evidence(manifest, admin, environment)
    return await authorise(manifest, authoriser)
