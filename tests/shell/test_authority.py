"""The administrator's ceiling, evidence about a manifest, and who says yes (shell.md section 10)."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from chatmd.sources.paths import HostPaths
from chatml_shell.admin.ceiling import ROWS, violations
from chatml_shell.admin.commands import denial
from chatml_shell.admin.policy import VARIABLE, AdminPolicy, load_admin_policy
from chatml_shell.authority import signatures, sources
from chatml_shell.authority.authoriser import Authoriser, Grant, Reject, Verdict, check_grant, once, only
from chatml_shell.authority.startup import authorised
from chatml_shell.errors import ShellError
from chatml_shell.manifest.record import Manifest
from chatml_shell.plans.command import Command
from chatml_shell.problems import WORDINGS
from tests.shell.prompts import DIRECT, manifest, runtime

HOSTS = HostPaths(workspace="/work", prompt_dir="/", tool_dir="/", home="/home/ada")


def authorise(
    made: Manifest,
    authoriser: Authoriser = once,
    environment: dict[str, str] | None = None,
    admin: AdminPolicy | None = None,
) -> Grant:
    """Authorise a manifest on a machine with these variables."""
    return asyncio.run(
        authorised(
            made,
            admin=admin or AdminPolicy(),
            hosts=HOSTS,
            environment=environment or {},
            authoriser=authoriser,
        )
    )


def refused(made: Manifest, *args: Any, **options: Any) -> list[str]:
    """Why a manifest is not authorised."""
    with pytest.raises(ShellError) as raised:
        authorise(made, *args, **options)
    return [one.code for one in raised.value.diagnostics]


def test_s_014_who_decides() -> None:
    """S-014: a rejection, a grant for another manifest, and a document that asks for nothing."""
    made = manifest(runtime())
    assert refused(made, lambda manifest, summary: Reject("no")) == ["shell.manifest_rejected"]
    with pytest.raises(ShellError) as raised:
        check_grant(Grant("0" * 64), made)
    assert raised.value.diagnostics[0].code == "shell.manifest_grant_mismatch"

    def never(manifest: Manifest, summary: str) -> Verdict:
        raise AssertionError("nobody need be asked")

    assert authorise(manifest("<user>Hi</user>"), never)


def test_only_the_named_manifest_is_authorised() -> None:
    made = manifest(runtime())
    assert authorise(made, only(made.sha256.upper())).manifest_sha256 == made.sha256
    assert refused(made, only("0" * 64)) == ["shell.manifest_rejected"]


def test_an_authoriser_that_fails_has_not_said_yes() -> None:
    def fails(manifest: Manifest, summary: str) -> Verdict:
        raise OSError("the terminal is gone")

    assert refused(manifest(runtime()), fails) == ["shell.manifest_rejected"]


def test_s_015_the_ceiling(tmp_path: Path) -> None:
    """S-015: every violation is reported, and a field that is not known stops the start."""
    path = tmp_path / "admin.json"
    path.write_text(json.dumps({"allow_network": False, "allow_direct_backend": False}))
    admin = load_admin_policy({VARIABLE: str(path)})
    made = manifest(runtime(DIRECT.replace("<capabilities ", '<capabilities network="true" ')))
    assert refused(made, admin=admin) == ["shell.admin_direct_backend_denied", "shell.admin_network_denied"]
    for bad in ('{"allow_netwrok": false}', "{", '{"allow_network": 1}', '{"limits": {"x": 1}}', "[]", '{"a":1,"a":1}'):
        path.write_text(bad)
        with pytest.raises(ShellError) as raised:
            load_admin_policy({VARIABLE: str(path)})
        assert [one.code for one in raised.value.diagnostics] == ["shell.admin_policy_load_failed"]
    with pytest.raises(ShellError, match="cannot be used"):
        load_admin_policy({VARIABLE: str(tmp_path / "missing.json")})


EVERYTHING = (
    '<capabilities sandbox="direct_unsafe" network="true" child_processes="true" arbitrary_code="true" '
    'privilege_change="true"><read path="/etc"/><write path_env="OUT"/></capabilities>'
    '<resolver><executable id="x" path="/bin/true"/></resolver>'
    '<backends merge="replace" accept_declared_confinement="true"><direct/>'
    '<external_backend id="e" executable="/bin/box"><command_argv/></external_backend></backends>'
    '<approvals scopes="once,prefix_session"/><reviewers><reviewer id="p" kind="ui"/></reviewers>'
)


def test_each_row_of_the_ceiling_finds_its_excess() -> None:
    """A runtime that asks for everything violates every row of a policy that allows nothing."""
    names = ("network", "child_processes", "arbitrary_code", "privilege_change", "direct_backend", "hooks", "yolo")
    more = ("declared_confinement", "external_backends", "raw_prefix_grants")
    needs = ("sandbox", "executable_hashes", "trusted_executables", "audit", "durable_audit")
    limits = ("wall_time", "idle_time", "cpu_time", "max_stdin", "stdout", "stderr", "total_output", "memory")
    admin = AdminPolicy(
        **{f"allow_{name}": False for name in (*names, *more)},
        **{f"require_{name}": True for name in needs},
        allowed_read_roots=("/work",),
        allowed_write_roots=(),
        allowed_reviewer_kinds=("model",),
        allowed_approval_scopes=("once",),
        limits=dict.fromkeys((*limits, "file_size", "open_files"), 0.5),
    )
    text = runtime(EVERYTHING) + runtime("", "y", 'extends="builtin:yolo"')
    made = manifest(text + '<tool name="raw" mode="raw" runtime="r" executable="/bin/sh"/>')
    found = violations(admin, made, HOSTS)
    assert {one.code for one in found} == set(ROWS)
    assert violations(AdminPolicy(), made, HOSTS) == []


def test_roots_are_compared_where_their_links_lead(tmp_path: Path) -> None:
    (tmp_path / "in").symlink_to("/etc")
    made = manifest(runtime(f'<capabilities><read path="{tmp_path}/in"/></capabilities>'))
    admin = AdminPolicy(allowed_read_roots=(str(tmp_path),))
    assert [one.code for one in violations(admin, made, HOSTS)] == ["shell.admin_read_root_denied"]


def test_a_program_is_denied_under_every_name() -> None:
    admin = AdminPolicy(denied_programs=("rm",), denied_argument_substrings=("--force",), denied_effects=("network",))
    common: dict[str, Any] = {"executable": "/usr/bin/rm", "trusted": True}
    assert "program_denied" in str(denial(admin, Command("alias"), frozenset(), **common))
    common = {"executable": "/usr/bin/ls", "trusted": True}
    assert "argument_denied" in str(denial(admin, Command("ls", ("a--forced",)), frozenset(), **common))
    assert "effect_denied" in str(denial(admin, Command("ls"), frozenset({"network"}), **common))
    assert denial(admin, Command("ls"), frozenset(), **common) is None


KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
RAW = KEY.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
PUBLIC = base64.b64encode(KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def signed(tmp_path: Path, made: Manifest, **changes: Any) -> dict[str, str]:
    """The variables of a machine with a signature of a manifest, its fields changed."""
    made_signature = signatures.sign(made, RAW, key_id="k", issuer="ops", audience="ochat", issued=1.0)
    (tmp_path / "signature.json").write_text(json.dumps({**made_signature, **changes}))
    (tmp_path / "keys.json").write_text(json.dumps({"keys": {"k": PUBLIC, "bad": "AA=="}}))
    return {signatures.SIGNATURE: str(tmp_path / "signature.json"), signatures.KEYS: str(tmp_path / "keys.json")}


def test_a_signature_is_checked_before_anybody_is_asked(tmp_path: Path) -> None:
    made = manifest(runtime())
    assert authorise(made, environment=signed(tmp_path, made))
    other = manifest(runtime(DIRECT, more='pipefail="true"'))
    assert refused(other, environment=signed(tmp_path, made)) == ["shell.signature_payload_mismatch"]
    payload = signatures.sign(made, RAW, key_id="k", issuer="ops", audience="ochat", issued=1.0)["payload"]
    cases: dict[str, dict[str, Any]] = {
        "shell.signature_algorithm": {"algorithm": "rsa"},
        "shell.signature_key_missing": {"key_id": "other"},
        "shell.signature_public_key": {"key_id": "bad"},
        "shell.signature_encoding": {"signature_base64": "%"},
        "shell.signature_invalid": {"payload": {**payload, "issuer": "somebody"}},
        "shell.signature_load_failed": {"more": 1},
    }
    for code, changes in cases.items():
        assert refused(made, environment=signed(tmp_path, made, **changes)) == [code]


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("shell.signature_audience", {"audience": "others"}),
        ("shell.signature_not_yet_valid", {"issued_at_unix": 1e12}),
        ("shell.signature_expired", {"expires_at_unix": 2.0}),
    ],
)
def test_what_a_true_signature_says_counts(tmp_path: Path, code: str, changes: dict[str, Any]) -> None:
    made = manifest(runtime())
    environment = signed(tmp_path, made)
    document = json.loads((tmp_path / "signature.json").read_text())
    payload = {**document["payload"], **changes}
    signature = base64.b64encode(KEY.sign(signatures.canonical(payload).encode())).decode()
    (tmp_path / "signature.json").write_text(
        json.dumps({**document, "payload": payload, "signature_base64": signature})
    )
    assert refused(made, environment=environment) == [code]


def test_evidence_that_is_required_must_be_configured(tmp_path: Path) -> None:
    made = manifest(runtime())
    code = ["shell.manifest_security_configuration_missing"]
    assert refused(made, environment={signatures.KEYS: "x"}) == code
    assert refused(made, environment={signatures.SIGNATURE: "x"}) == code
    assert refused(made, admin=AdminPolicy(require_signature=True)) == code
    assert refused(made, admin=AdminPolicy(require_trusted_source=True)) == code
    environment = signed(tmp_path, made)
    (tmp_path / "keys.json").write_text("{")
    assert refused(made, environment=environment) == ["shell.signature_keys_load_failed"]


def trusted(tmp_path: Path, **entry: Any) -> dict[str, str]:
    """The variables of a machine with one trusted source."""
    path = tmp_path / "trusted.json"
    path.write_text(json.dumps({"entries": [{"id": "e", "canonical_root": str(tmp_path), **entry}]}))
    return {sources.VARIABLE: str(path)}


def test_sources_are_trusted_up_to_their_powers(tmp_path: Path) -> None:
    made = manifest(runtime(), tmp_path)
    powers = {"child_processes": True, "arbitrary_code": True}
    assert authorise(made, environment=trusted(tmp_path, capabilities=powers))
    mismatch = ["shell.trusted_source_mismatch"]
    assert refused(made, environment=trusted(tmp_path)) == mismatch
    assert refused(made, environment=trusted(tmp_path, capabilities=powers, source_sha256=["00"])) == mismatch
    assert refused(made, environment=trusted(tmp_path, capabilities=powers, repository_identity="x")) == mismatch
    assert refused(made, environment=trusted(tmp_path, capabilities=powers, signer_ids=["k"])) == mismatch
    elsewhere = trusted(tmp_path, capabilities=powers, canonical_root="/nowhere")
    assert refused(made, environment=elsewhere) == mismatch
    assert refused(made, environment=trusted(tmp_path, strange=1)) == ["shell.trusted_source_load_failed"]


def test_every_code_of_the_ceiling_has_words() -> None:
    assert set(ROWS) <= set(WORDINGS)
