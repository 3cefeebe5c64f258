"""Signatures over manifests: Ed25519, checked before anybody is asked (section 10.5).

A signature is a JSON document beside the prompt; the bytes that are signed are the canonical JSON of its `payload`,
which names the hash of one manifest, who it is for, and from when until when it counts.
"""

from __future__ import annotations

import base64
import binascii
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from chatml.lazy import lazy
from chatml_shell.authority.records import check_fields, check_texts, read_json
from chatml_shell.errors import ShellError
from chatml_shell.manifest.canonical import canonical
from chatml_shell.manifest.compile import ENCODING_VERSION
from chatml_shell.manifest.record import Manifest
from chatml_shell.problems import fault

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives.asymmetric import ed25519
else:
    exceptions = lazy("cryptography.exceptions")
    ed25519 = lazy("cryptography.hazmat.primitives.asymmetric.ed25519")

SIGNATURE = "OCHAT_SHELL_MANIFEST_SIGNATURE"
KEYS = "OCHAT_SHELL_MANIFEST_PUBLIC_KEYS"
AUDIENCE = "OCHAT_SHELL_SIGNATURE_AUDIENCE"
DEFAULT_AUDIENCE = "ochat"
ALGORITHM = "ed25519"
KEY_BYTES = 32
INSTALL = "signatures need the package `cryptography`: install the extra `shell`"

ENVELOPE = {"key_id": str, "algorithm": str, "payload": dict, "signature_base64": str}
PAYLOAD = {
    "canonical_manifest_sha256": str,
    "encoding_version": str,
    "builtin_versions": list,
    "issuer": str,
    "audience": str,
    "issued_at_unix": (int, float),
    "expires_at_unix?": (int, float),
    "imported_source_sha256": list,
}
Json = dict[str, Any]


@attrs.frozen(kw_only=True)
class Signature:
    """A signature document, its fields checked and nothing else."""

    key_id: str
    algorithm: str
    payload: Json
    signature: bytes


def signed_facts(manifest: Manifest) -> Json:
    """What a signature says about a manifest: its hash, the profiles that it uses, and the files that declare it."""
    material = manifest.material
    declared = (*material.runtimes.values(), *material.tools.values(), *material.scripts.values())
    records = [one.source_record for one in declared if one.source_record is not None]
    profiles = {one.resolved_profile for one in material.runtimes.values() if one.resolved_profile is not None}
    return {
        "canonical_manifest_sha256": manifest.sha256,
        "encoding_version": ENCODING_VERSION,
        "builtin_versions": sorted(profiles),
        "imported_source_sha256": sorted({one.source_sha256 for one in records if one.source_sha256}),
    }


def sign(manifest: Manifest, key: bytes, *, key_id: str, issuer: str, audience: str, issued: float) -> Json:
    """A signature document for a manifest. `key` is the 32 bytes of a private key. Raises `ValueError` for another."""
    payload = {**signed_facts(manifest), "issuer": issuer, "audience": audience, "issued_at_unix": issued}
    private = ed25519.Ed25519PrivateKey.from_private_bytes(key)
    made = private.sign(canonical(payload).encode("utf-8"))
    return {
        "key_id": key_id,
        "algorithm": ALGORITHM,
        "payload": payload,
        "signature_base64": base64.b64encode(made).decode("ascii"),
    }


def load_signature(path: str) -> Signature:
    """A signature document. Raises `ShellError` (`shell.signature_load_failed`, `_encoding`)."""
    try:
        given = check_fields(read_json(path), ENVELOPE, "the signature")
        payload = check_fields(given["payload"], PAYLOAD, "the payload")
        check_texts(payload["builtin_versions"], "`builtin_versions`")
        check_texts(payload["imported_source_sha256"], "`imported_source_sha256`")
    except (OSError, ValueError) as error:
        raise _fault("shell.signature_load_failed", file=path, why=_why(error)) from None
    try:
        signature = base64.b64decode(given["signature_base64"], validate=True)
    except (binascii.Error, ValueError):
        raise _fault("shell.signature_encoding", file=path) from None
    return Signature(
        key_id=given["key_id"], algorithm=given["algorithm"], payload=given["payload"], signature=signature
    )


def load_keys(path: str) -> dict[str, str]:
    """Public keys by their ids, in base64, from `{"keys": {ID: BASE64}}`. Raises `ShellError`
    (`shell.signature_keys_load_failed`)."""
    try:
        keys = check_fields(read_json(path), {"keys": dict}, "the file")["keys"]
        check_texts(list(keys.values()), "`keys`")
    except (OSError, ValueError) as error:
        raise _fault("shell.signature_keys_load_failed", file=path, why=_why(error)) from None
    return dict(keys)


def verify(
    manifest: Manifest,
    signature: Signature,
    keys: Mapping[str, str],
    *,
    audience: str,
    clock: Callable[[], float] = time.time,
) -> str:
    """The id of the key that has signed a manifest. Raises `ShellError` with the code of the first check that fails:
    algorithm, key, signature, then what it says."""
    payload = signature.payload
    if signature.algorithm != ALGORITHM:
        raise _fault("shell.signature_algorithm", algorithm=signature.algorithm)
    if signature.key_id not in keys:
        raise _fault("shell.signature_key_missing", key=signature.key_id)
    try:
        public = ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(keys[signature.key_id], validate=True))
    except (binascii.Error, ValueError):
        raise _fault("shell.signature_public_key", key=signature.key_id, bytes=KEY_BYTES) from None
    except ImportError:
        raise _fault("shell.signature_load_failed", file=signature.key_id, why=INSTALL) from None
    try:
        public.verify(signature.signature, canonical(payload).encode("utf-8"))
    except exceptions.InvalidSignature:
        raise _fault("shell.signature_invalid", key=signature.key_id) from None
    if payload["audience"] != audience:
        raise _fault("shell.signature_audience", found=payload["audience"], audience=audience)
    now = clock()
    if payload["issued_at_unix"] > now:
        raise _fault("shell.signature_not_yet_valid", issued=payload["issued_at_unix"])
    expires = payload.get("expires_at_unix")
    if expires is not None and expires <= now:
        raise _fault("shell.signature_expired", expires=expires)
    for name, expected in signed_facts(manifest).items():
        if payload[name] != expected:
            raise _fault("shell.signature_payload_mismatch", field=name, sha256=manifest.sha256)
    return signature.key_id


def _fault(code: str, **facts: Any) -> ShellError:
    return fault(code, None, path=("signature",), **facts)


def _why(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
