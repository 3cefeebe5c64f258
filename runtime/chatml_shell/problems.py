"""The findings of the shell runtime: facts in, one wording per code out (shell.md section 23).

A phase says `raise fault("shell.backend_unavailable", span, path=…, runtime=…)`; the sentence and the help are decided
here. Each code has an entry in `chatml_shell/catalogue/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chatmd.report import problems as documents
from chatmd.report.problems import Diagnostic, worded
from chatmd.report.wording import Wording
from chatml.source import Span
from chatml_shell.errors import ShellError

FILES_CHANGE = "if the change is meant, update the digest in the declaration and authorise the new manifest"

EXCESS = Wording(
    "the administrator does not allow this: `{runtime}` asks for {requested}, allowed is {ceiling} (says {policy})",
    "ask for less, or have the administrator's policy changed",
)
"""One sentence for every excess over the administrator's ceiling: the facts differ, and the code says which it is."""

WORDINGS: dict[str, Wording] = {
    # the manifest
    "shell.duplicate_tool": Wording("another shell tool is called `{id}`", "give each tool its own name"),
    "shell.duplicate_script": Wording("another script has the id `{id}`", "give each script its own id"),
    "shell.unresolved_setting": Wording("the runtime `{runtime}` has no value for `{name}`"),
    "shell.incompatible_backend": Wording(
        "no backend of `{runtime}` gives it `sandbox={sandbox}` on platform {platform}",
        "`required` needs a backend that confines, `direct_unsafe` one that does not; `when` must fit the platform",
    ),
    "shell.empty_matcher": documents.WORDINGS["shell.empty_matcher"],
    "shell.empty_regex": Wording("this regular expression is empty and would match every program"),
    "shell.invalid_argv_prefix": Wording("this prefix of words has an empty word, or none"),
    "shell.external_backend_command_argv": Wording(
        "an external backend runs the command with `<command_argv/>` exactly once, not {count} times"
    ),
    "shell.external_backend_unverifiable": Wording(
        "the confinement of an external backend cannot be verified",
        'write `confinement="declared"` and decide about it with `accept_declared_confinement`',
    ),
    "shell.unknown_runtime": documents.WORDINGS["shell.unknown_runtime"],
    "shell.unknown_executable": Wording(
        "the runtime `{runtime}` has no executable `{id}`", "declare it in `<resolver>` with `<executable>`"
    ),
    "shell.invalid_argument_bounds": Wording("at least {least} arguments and at most {most} fit nothing"),
    "shell.unknown_worker_runtime": Wording("unknown runtime `{id}` for this hook to run in"),
    "shell.runtime_dependency_cycle": Wording(
        "the runtime of a hook needs itself: {route}", "run hooks in a runtime without hooks of that kind"
    ),
    "shell.unknown_script": Wording("unknown shell script `{id}`", 'declare it with `<script id="...">`'),
    "shell.script_kind_mismatch": Wording("the script `{id}` is of kind `{kind}`; this place takes `{wanted}`"),
    "shell.unsupported_feature": Wording("this host has not the feature `{feature}`, which the document needs"),
    "shell.manifest_material_mismatch": Wording("the manifest {sha256} does not describe the runtimes at hand"),
    "chatmd.unused_script": Wording(
        "no runtime refers to the script `{id}`", "refer to it, or take it out: it never runs", "warning"
    ),
    # authorisation
    "shell.admin_policy_load_failed": Wording(
        "the administrator's policy {file} cannot be used: {why}",
        "nothing starts under a ceiling that cannot be read: mend the file, or unset OCHAT_SHELL_ADMIN_POLICY",
    ),
    "shell.admin_network_denied": EXCESS,
    "shell.admin_child_processes_denied": EXCESS,
    "shell.admin_arbitrary_code_denied": EXCESS,
    "shell.admin_privilege_change_denied": EXCESS,
    "shell.admin_sandbox_required": EXCESS,
    "shell.admin_read_root_denied": EXCESS,
    "shell.admin_write_root_denied": EXCESS,
    "shell.admin_direct_backend_denied": EXCESS,
    "shell.admin_declared_confinement_denied": EXCESS,
    "shell.admin_external_backend_denied": EXCESS,
    "shell.admin_executable_hash_required": EXCESS,
    "shell.admin_trusted_executable_required": EXCESS,
    "shell.admin_reviewer_denied": EXCESS,
    "shell.admin_approval_scope_denied": EXCESS,
    "shell.admin_audit_required": EXCESS,
    "shell.admin_durable_audit_required": EXCESS,
    "shell.admin_limit_wall_time": EXCESS,
    "shell.admin_limit_idle_time": EXCESS,
    "shell.admin_limit_cpu_time": EXCESS,
    "shell.admin_limit_max_stdin": EXCESS,
    "shell.admin_limit_stdout": EXCESS,
    "shell.admin_limit_stderr": EXCESS,
    "shell.admin_limit_total_output": EXCESS,
    "shell.admin_limit_memory": EXCESS,
    "shell.admin_limit_file_size": EXCESS,
    "shell.admin_limit_open_files": EXCESS,
    "shell.admin_yolo_denied": EXCESS,
    "shell.admin_hooks_denied": EXCESS,
    "shell.admin_raw_prefix_grant_denied": EXCESS,
    "shell.manifest_rejected": Wording(
        "the manifest {sha256} was not authorised: {why}",
        "look at it with `chatmd shell inspect` and authorise its hash",
    ),
    "shell.manifest_grant_mismatch": Wording(
        "the manifest {granted} was authorised, and this is {sha256}", "authorise this one"
    ),
    "shell.manifest_security_configuration_missing": Wording(
        "the evidence that is required about the manifest is not configured: {variables}",
        "name the files in these environment variables; a signature and its public keys belong together",
    ),
    "shell.trusted_source_load_failed": Wording("the trusted sources {file} cannot be used: {why}"),
    "shell.trusted_source_mismatch": Wording(
        "no trusted source covers {file}, which asks for these powers: {powers}",
        "add an entry whose root, digests, signers and capabilities cover it",
    ),
    "shell.signature_load_failed": Wording("the signature {file} cannot be used: {why}"),
    "shell.signature_keys_load_failed": Wording("the public keys {file} cannot be used: {why}"),
    "shell.signature_encoding": Wording("the signature in {file} is not base64"),
    "shell.signature_algorithm": Wording("the signature is of algorithm `{algorithm}`; only `ed25519` is known"),
    "shell.signature_key_missing": Wording("the key `{key}` has signed, and is not among the public keys"),
    "shell.signature_public_key": Wording("the public key `{key}` is not {bytes} bytes in base64"),
    "shell.signature_invalid": Wording("the signature of `{key}` is not one of this payload"),
    "shell.signature_audience": Wording("the signature is for `{found}`, and this is `{audience}`"),
    "shell.signature_not_yet_valid": Wording("the signature counts from {issued} (Unix time), which is to come"),
    "shell.signature_expired": Wording("the signature counted until {expires} (Unix time)"),
    "shell.signature_payload_mismatch": Wording(
        "the signature is of another `{field}` than that of the manifest {sha256}", "have this manifest signed"
    ),
    # instantiation
    "shell.directory_unavailable": Wording(
        "the directory {directory} cannot be used: {why}", "make it, or have the host supply it"
    ),
    "shell.capability_path_missing": Wording(
        "the variable `{name}` names no absolute path, and a root is declared by it",
        "set it, or declare the root as `optional`",
    ),
    "shell.environment_missing": Wording("the variable `{name}` is required and not set on this host"),
    "shell.environment_nul": Wording("the value of `{name}` holds the character NUL"),
    "shell.secret_file_missing": Wording(
        "the secret file {file} does not exist", "make it, or declare it as `optional`"
    ),
    "shell.secret_load_failed": Wording("the secret file {file} cannot be read: {why}"),
    "shell.executable_unavailable": Wording("the executable `{id}` cannot be used: {why}"),
    "shell.executable_digest_mismatch": Wording(
        "the executable `{id}` is {file}, whose digest is {sha256}, not the declared one", FILES_CHANGE
    ),
    "shell.required_limit_disabled": Wording("the runtime must have a limit `{name}` that is more than 0"),
    "shell.invalid_program_regex": Wording("the expression `{value}` cannot be used: {why}"),
    "shell.backend_unavailable": Wording("no backend of `{runtime}` gives it `sandbox={sandbox}` here: {why}"),
    "shell.external_backend_unavailable": Wording("the program of this backend cannot be used: {why}"),
    "shell.external_backend_digest_mismatch": Wording(
        "the program of this backend is {file}, whose digest is {sha256}, not the declared one", FILES_CHANGE
    ),
    "shell.hook_executable_unavailable": Wording("the program of this hook cannot be used: {why}"),
    "shell.hook_digest_mismatch": Wording(
        "the program of this hook is {file}, whose digest is {sha256}, not the declared one", FILES_CHANGE
    ),
    "shell.worker_runtime_unavailable": Wording("the runtime `{id}`, in which this hook runs, has not been made"),
    "shell.chatml_compile": Wording("the script `{id}` does not compile: {why}"),
    "shell.chatml_instantiate": Wording("the script `{id}` does not start: {why}"),
    "shell.chatml_restore": Wording(
        "the stored state of the script `{id}` cannot be restored: {why}", "begin a new session"
    ),
    "shell.extension_snapshot_duplicate": Wording(
        "the script `{id}` has several stored states: {why}", "begin a new session"
    ),
    "shell.script_unavailable": Wording("the script file {file} cannot be read: {why}"),
    "shell.script_too_large": Wording("the script file {file} has more than {limit} bytes"),
    "shell.script_executable_unavailable": Wording("the interpreter {file} cannot be used: {why}"),
    "shell.script_not_executable": Wording("the script {file} cannot be executed: {why}", "make it executable"),
    "shell.audit_open_failed": Wording(
        "the audit cannot be opened: {why}",
        'make the place writable, name another one, or declare `<audit format="none"/>`',
    ),
    "shell.runtime_instantiation_failed": Wording("the runtime `{id}` could not be made: {why}"),
}


def problem(code: str, span: Span | None, **facts: Any) -> Diagnostic:
    """The finding of a code of this package. Keywords as in `chatmd.report.problems.worded`."""
    return worded(WORDINGS[code], code, span, **facts)


def fault(code: str, span: Span | None, **facts: Any) -> ShellError:
    """The exception for one finding, ready to be raised."""
    return ShellError([problem(code, span, **facts)])


def sorted_findings(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings without repetitions in the order of reports: by code, path and message (section 9.1)."""
    found = {(one.code, one.path, one.message): one for one in findings}
    return [found[key] for key in sorted(found)]
