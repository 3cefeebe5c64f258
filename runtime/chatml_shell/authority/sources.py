"""Trusted sources: the files that may declare a manifest, and how much each may ask for (section 10.4)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from chatmd.report.problems import Diagnostic
from chatmd.report.provenance import SourceRecord
from chatmd.shell.backends import ExternalBackend
from chatmd.shell.runtime import Runtime
from chatml_shell.authority.records import check_fields, check_texts, read_json
from chatml_shell.errors import ShellError
from chatml_shell.manifest.record import Manifest
from chatml_shell.manifest.uses import hooks, model_reviewers
from chatml_shell.problems import fault, problem, sorted_findings
from chatml_shell.resolver.files import within

VARIABLE = "OCHAT_SHELL_TRUSTED_SOURCES"
IDENTITY = "OCHAT_SHELL_REPOSITORY_IDENTITY"
POWERS = (
    "network",
    "child_processes",
    "arbitrary_code",
    "privilege_change",
    "external_backends",
    "executable_hooks",
    "model_reviewers",
    "durable_approvals",
)


@attrs.frozen(kw_only=True)
class TrustedSource:
    """Files below a directory that are trusted up to some powers. An empty list of digests or of signers restricts
    nothing; a power that is not named is not granted."""

    id: str
    canonical_root: str
    repository_identity: str | None
    source_sha256: tuple[str, ...]
    signer_ids: tuple[str, ...]
    powers: frozenset[str]

    def covers(self, record: SourceRecord, asked: frozenset[str], identity: str | None, signer: str | None) -> bool:
        """Whether a file is trusted to ask for some powers."""
        place = record.path or record.source_dir
        return (
            within(place, (self.canonical_root,))
            and self.repository_identity in (None, identity)
            and (not self.source_sha256 or record.source_sha256 in self.source_sha256)
            and (not self.signer_ids or signer in self.signer_ids)
            and asked <= self.powers
        )


def load_trusted_sources(path: str) -> tuple[TrustedSource, ...]:
    """The entries of a file. Raises `ShellError` (`shell.trusted_source_load_failed`)."""
    try:
        given = check_fields(read_json(path), {"entries": list}, "the file")
        return tuple(_entry(one) for one in given["entries"])
    except OSError as error:
        why = os.strerror(error.errno or 0)
    except ValueError as error:
        why = str(error)
    raise fault("shell.trusted_source_load_failed", None, path=("trusted_sources",), file=path, why=why)


def _entry(given: Any) -> TrustedSource:
    fields = {
        "id": str,
        "canonical_root": str,
        "repository_identity?": str,
        "source_sha256?": list,
        "signer_ids?": list,
        "capabilities?": dict,
    }
    entry = check_fields(given, fields, "an entry")
    powers = check_fields(entry["capabilities"] or {}, {f"{name}?": bool for name in POWERS}, "`capabilities`")
    if not os.path.isabs(entry["canonical_root"]):
        raise ValueError("`canonical_root` is not an absolute path")
    return TrustedSource(
        id=entry["id"],
        canonical_root=entry["canonical_root"],
        repository_identity=entry["repository_identity"],
        source_sha256=check_texts(entry["source_sha256"], "`source_sha256`"),
        signer_ids=check_texts(entry["signer_ids"], "`signer_ids`"),
        powers=frozenset(name for name, granted in powers.items() if granted),
    )


def check_sources(
    manifest: Manifest, entries: tuple[TrustedSource, ...], identity: str | None, signer: str | None
) -> None:
    """See that every file of a manifest is trusted as far as its runtimes go.

    Raises `ShellError` (`shell.trusted_source_mismatch`) with a finding for each that is not.
    """
    found: list[Diagnostic] = []
    for record, asked in _asked(manifest):
        if not any(entry.covers(record, asked, identity, signer) for entry in entries):
            facts = {"file": record.file, "powers": ", ".join(sorted(asked)) or "none"}
            found.append(problem("shell.trusted_source_mismatch", None, path=("source", record.file), **facts))
    if found:
        raise ShellError(sorted_findings(found))


def _asked(manifest: Manifest) -> Iterator[tuple[SourceRecord, frozenset[str]]]:
    """Each file of a manifest with what is asked for in it: a tool asks for what its runtime may do."""
    runtimes: Mapping[str, Runtime] = manifest.material.runtimes
    material = manifest.material
    for runtime in runtimes.values():
        if runtime.source_record is not None and runtime.source_record.source_sha256:
            yield runtime.source_record, powers_of(runtime)
    for tool in material.tools.values():
        if tool.source_record is not None and tool.runtime in runtimes:
            yield tool.source_record, powers_of(runtimes[tool.runtime])
    for script in material.scripts.values():
        if script.source_record is not None:
            yield script.source_record, frozenset()


def powers_of(runtime: Runtime) -> frozenset[str]:
    """What a runtime asks for, in the words of trusted sources."""
    capabilities = runtime.capabilities
    asked = {name for name in POWERS[:4] if getattr(capabilities, name)}
    if any(isinstance(backend, ExternalBackend) for backend in runtime.backends.backends):
        asked.add("external_backends")
    if any(hooks(runtime)):
        asked.add("executable_hooks")
    if any(model_reviewers(runtime)):
        asked.add("model_reviewers")
    if "durable_exact" in (runtime.approvals.scopes or ()):
        asked.add("durable_approvals")
    return frozenset(asked)
