"""What a document may run: its manifest, and the evidence about it."""

from __future__ import annotations

import base64
import binascii
import os
import sys
import time
from types import SimpleNamespace
from typing import Any

from chatmd.shell.authority import authority, show_authority
from chatml_shell.admin.ceiling import violations
from chatml_shell.admin.policy import AdminPolicy, load_admin_policy
from chatml_shell.authority.signatures import SIGNATURE, sign
from chatml_shell.authority.startup import gather_evidence
from chatml_shell.errors import ShellError
from chatml_shell.extensions.compile import compile_extensions
from chatml_shell.instantiate.host import host_paths
from chatml_shell.manifest.record import Manifest
from chatml_tools.console import UsageError, print_json, read_bytes, report, write
from chatml_tools.documents.reading import load_document
from chatml_tools.shell.hosting import manifest_of


def one_file(words: list[str], usage: str) -> str:
    """The one word of a call."""
    if len(words) != 1:
        raise UsageError(f"usage: chatmd shell {usage}")
    return words[0]


def inspect(args: SimpleNamespace, words: list[str]) -> int:
    """Show the manifest of a document, and what would keep it from being authorised. Starts nothing."""
    manifest = manifest_of(load_document(one_file(words, "inspect PROMPT.md [--json|--canonical]")))
    if args.canonical:
        write(sys.stdout, manifest.canonical_text)
        return 0
    admin = load_admin_policy(os.environ)
    compile_extensions(manifest)
    found = violations(admin, manifest, host_paths(manifest, os.getcwd()))
    signature, refused = evidence(manifest, admin)
    if args.json:
        print_json(
            {
                "manifest_sha256": manifest.sha256,
                "summary": manifest.summary,
                "admin_source": admin.source,
                "signature": signature,
                "runtimes": [authority(one) for one in manifest.material.runtimes.values()],
                "tools": sorted(manifest.material.tools),
                "codes": [one.code for one in (*found, *refused)],
            }
        )
    else:
        lines = [manifest.summary, f"administrator's policy: {admin.source}", f"signature: {signature}"]
        lines += [show_authority(authority(one)) for one in manifest.material.runtimes.values()]
        write(sys.stdout, "\n".join(lines))
    report([*manifest.warnings, *found, *refused])
    return 1 if found or refused else 0


def evidence(manifest: Manifest, admin: AdminPolicy) -> tuple[str, list[Any]]:
    """The state of the signature in a word or two, and why the evidence is refused."""
    try:
        found = gather_evidence(manifest, admin, os.environ)
    except ShellError as error:
        return "refused", list(error.diagnostics)
    return f"by {found.signer}" if found.signer else "none", []


def verify_manifest(args: SimpleNamespace, words: list[str]) -> int:
    """Check the signature and the sources of a document as a start would."""
    manifest = manifest_of(load_document(one_file(words, "verify PROMPT.md")))
    if SIGNATURE not in os.environ:
        raise UsageError(f"name the signature in {SIGNATURE}, and the public keys beside it")
    found = gather_evidence(manifest, load_admin_policy(os.environ), os.environ)
    write(sys.stdout, f"manifest {manifest.sha256} is signed by {found.signer}")
    return 0


def sign_manifest(args: SimpleNamespace, words: list[str]) -> int:
    """Sign the manifest of a document with a private key: 32 bytes, in base64, in a file."""
    if len(words) != 2 or not args.key_id or not args.issuer:
        raise UsageError("usage: chatmd shell sign PROMPT.md KEY --key-id ID --issuer WHO")
    manifest = manifest_of(load_document(words[0]))
    try:
        key = base64.b64decode(read_bytes(words[1]).strip(), validate=True)
        made = sign(manifest, key, key_id=args.key_id, issuer=args.issuer, audience=args.audience, issued=time.time())
    except (binascii.Error, ValueError):
        raise UsageError(f"{words[1]} is not a private key: 32 bytes in base64") from None
    except ImportError:
        raise UsageError("signatures need the package `cryptography`: install the extra `shell`") from None
    print_json(made)
    return 0
