"""The commands: `chatmd tools`, `chatmd call`, `chatmd shell …`, each in a process of its own."""

from __future__ import annotations

import base64
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.house import COMMANDS, environment
from tests.shell.prompts import ALLOW, DIRECT, runtime

ECHO = '<tool name="t" runtime="r" command="/bin/echo" result="stdout"/>'
ASK = '<policy default="ask"/><approvals scopes="once,exact_session,prefix_session"/><audit format="session"/>'


def chatmd(*arguments: str, cwd: Path, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """One call of the command line. The user's own state is in the test's directory."""
    return subprocess.run(
        [sys.executable, "-c", COMMANDS["chatmd"], *arguments],
        cwd=cwd,
        env=environment(XDG_STATE_HOME=str(cwd / "state"), **variables),
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.fixture(name="prompt")
def written(tmp_path: Path) -> Path:
    """A prompt whose one tool runs at once."""
    path = tmp_path / "prompt.md"
    path.write_text(runtime(DIRECT + ALLOW) + ECHO)
    return path


@pytest.fixture(name="asking")
def asking_prompt(tmp_path: Path) -> Path:
    """A prompt whose one tool needs approvals."""
    path = tmp_path / "asking.md"
    path.write_text(runtime(DIRECT + ASK) + ECHO)
    return path


def sha256(prompt: Path) -> str:
    """The hash that `inspect` shows."""
    found = chatmd("shell", "inspect", prompt.name, "--json", cwd=prompt.parent)
    assert found.returncode == 0, found.stderr
    value: str = json.loads(found.stdout)["manifest_sha256"]
    return value


def test_tools_as_a_model_sees_them(prompt: Path) -> None:
    found = chatmd("tools", prompt.name, "--json", cwd=prompt.parent)
    (tool,) = [json.loads(line) for line in found.stdout.splitlines()]
    assert (tool["name"], tool["kind"]) == ("t", "shell")
    assert tool["parameters"]["properties"] == {"arguments": {"type": "array", "items": {"type": "string"}}}
    assert "t(arguments?): shell" in chatmd("tools", prompt.name, cwd=prompt.parent).stdout


def call(prompt: Path, *arguments: str, **variables: str) -> tuple[int, Any]:
    """The exit status and the object of a call."""
    found = chatmd("call", prompt.name, "t", *arguments, "--json", cwd=prompt.parent, **variables)
    return found.returncode, json.loads(found.stdout)


def test_nothing_starts_without_authority(prompt: Path) -> None:
    status, found = call(prompt, '{"arguments": ["x"]}')
    assert (status, found["output"], found["code"]) == (1, None, "shell.manifest_rejected")
    assert call(prompt, "--authorize", "0" * 64)[1]["codes"] == ["shell.manifest_rejected"]
    assert found["manifest_sha256"] == sha256(prompt)


def test_the_named_manifest_runs(prompt: Path) -> None:
    status, found = call(prompt, '{"arguments": ["a; b"]}', "--authorize", sha256(prompt))
    assert (status, found["output"], found["code"]) == (0, "a; b\n", None)
    assert found["records"] == [
        {
            "argv": ["/bin/echo", "a; b"],
            "status": {"exited": 0},
            "backend": "direct-unsafe",
            "intercepted_by": None,
        }
    ]
    plain = chatmd("call", prompt.name, "t", "-", "--authorize", "once", cwd=prompt.parent, stdin='{"arguments":["y"]}')
    assert (plain.returncode, plain.stdout) == (0, "y\n")


def test_wrong_calls_and_unusable_ones(prompt: Path) -> None:
    status, found = call(prompt, '{"zzz": 1}', "--authorize", "once")
    assert (status, found["code"]) == (1, "shell.tool_unknown_input")
    once = ("--authorize", "once")
    arguments: tuple[str, ...]
    for arguments in (("x", *once), ("t", "{}", "--answer", "perhaps", *once), ("t", "{}", "--authorize", "abc")):
        assert chatmd("call", prompt.name, *arguments, cwd=prompt.parent).returncode == 2
    (prompt.parent / "bad.md").write_text('<tool name="t" runtime="none" command="x"/>')
    status, found = call(prompt.parent / "bad.md", "--authorize", "once")
    assert (status, found["codes"]) == (1, ["shell.unknown_runtime"])


def test_answers_in_order_and_a_session_that_remembers(asking: Path) -> None:
    """A grant of the session is found by a later process; without a session it is forgotten."""
    options = ("--authorize", "once", "--session", "s")
    assert call(asking, '{"arguments":["a"]}', *options)[1]["code"] == "permission_required"
    assert call(asking, '{"arguments":["a"]}', *options, "--answer", "deny:no")[1]["code"] == "denied"
    assert call(asking, '{"arguments":["a"]}', *options, "--answer", "session")[1]["output"] == "a\n"
    assert call(asking, '{"arguments":["a"]}', "--session", "s")[1]["output"] == "a\n"
    assert call(asking, '{"arguments":["b"]}', "--session", "s")[1]["code"] == "permission_required"
    prefix = ("--answer", "prefix:/bin/echo b")
    assert call(asking, '{"arguments":["b"]}', "--session", "s", *prefix)[1]["output"] == "b\n"
    assert call(asking, '{"arguments":["b", "c"]}', "--session", "s")[1]["output"] == "b c\n"


def test_grants_are_listed_explained_and_taken_back(asking: Path) -> None:
    call(asking, '{"arguments":["a"]}', "--authorize", "once", "--session", "s", "--answer", "session")

    def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
        return chatmd("shell", *arguments, "--session", "s", cwd=asking.parent)

    (grant,) = json.loads(shell("grants", "list", "--json").stdout)
    assert grant["argv"] == ["/bin/echo", "a"]
    assert json.loads(shell("grants", "explain", grant["id"]).stdout) == grant
    assert shell("grants", "revoke", grant["id"]).returncode == 2
    assert shell("grants", "revoke", grant["id"], "--yes", "--reason", "enough").returncode == 0
    assert call(asking, '{"arguments":["a"]}', "--session", "s")[1]["code"] == "permission_required"
    assert shell("grants", "explain", "nope").returncode == 1
    (manifest,) = json.loads(shell("manifest-grants", "list", "--json").stdout)
    assert manifest["facts"]["manifest_sha256"] == sha256(asking)
    assert shell("manifest-grants", "revoke", manifest["id"], "--yes").returncode == 0
    assert call(asking, '{"arguments":["a"]}', "--session", "s")[1]["code"] == "shell.manifest_rejected"
    audit = asking.parent / "s/.chatmd/shell-audit.jsonl"
    assert "grant_revoked" in audit.read_text()
    assert chatmd("shell", "audit", "validate", str(audit), cwd=asking.parent).returncode == 0


def test_a_manifest_that_has_changed_is_asked_about_again(asking: Path) -> None:
    call(asking, '{"arguments":["a"]}', "--authorize", "once", "--session", "s", "--answer", "session")
    asking.write_text(asking.read_text() + "\n")
    assert call(asking, '{"arguments":["a"]}', "--session", "s")[1]["code"] == "shell.manifest_rejected"


def test_audits_are_read(asking: Path) -> None:
    call(asking, '{"arguments":["a"]}', "--authorize", "once", "--session", "s", "--answer", "once")
    audit = str(asking.parent / "s/.chatmd/shell-audit.jsonl")

    def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
        return chatmd("shell", *arguments, cwd=asking.parent)

    assert "whole" in shell("audit", "validate", audit).stdout
    (trail,) = json.loads(shell("audit", "replay", audit, "--json").stdout)
    assert trail["complete"]
    events = [record["event"] for record in trail["records"] if record["event"] != "output"]
    assert events == [
        "resolved",
        "policy_decided",
        "approval_requested",
        "approval_answered",
        "plan_created",
        "started",
        "finished",
    ]
    assert "approval_requested" in shell("audit", "request", trail["request_id"], audit).stdout
    assert shell("audit", "request", "shell-99999999", audit).returncode == 1
    assert shell("interrupted", "list", "--session", "s").stdout == "no request was interrupted\n"
    data = Path(audit).read_bytes()
    Path(audit).write_bytes(data.replace(b"resolved", b"resolvee", 1))
    assert "shell.audit_chain_digest" in shell("audit", "validate", audit).stderr


def test_manifests_are_inspected_signed_and_verified(prompt: Path) -> None:
    shown = chatmd("shell", "inspect", prompt.name, cwd=prompt.parent)
    assert "1 runtime, 1 tool" in shown.stdout
    assert "sandbox direct_unsafe" in shown.stdout
    canonical = chatmd("shell", "inspect", prompt.name, "--canonical", cwd=prompt.parent).stdout
    assert json.loads(canonical)["encoding_version"] == "ochat.shell.manifest.v1"
    (prompt.parent / "yolo.md").write_text(runtime("", more='extends="builtin:yolo"'))
    assert "CRITICAL" in chatmd("shell", "inspect", "yolo.md", cwd=prompt.parent).stdout
    raw = b"k" * 32
    public = Ed25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw()
    (prompt.parent / "key").write_bytes(base64.b64encode(raw))
    (prompt.parent / "keys.json").write_text(json.dumps({"keys": {"ops": base64.b64encode(public).decode()}}))
    arguments = ("shell", "sign", prompt.name, "key", "--key-id", "ops", "--issuer", "me")
    (prompt.parent / "signature.json").write_text(chatmd(*arguments, cwd=prompt.parent).stdout)
    variables = {
        "OCHAT_SHELL_MANIFEST_SIGNATURE": "signature.json",
        "OCHAT_SHELL_MANIFEST_PUBLIC_KEYS": "keys.json",
    }
    assert "signed by ops" in chatmd("shell", "verify", prompt.name, cwd=prompt.parent, **variables).stdout
    assert call(prompt, '{"arguments":["x"]}', "--authorize", "once", **variables)[0] == 0
    prompt.write_text(prompt.read_text() + "\n")
    assert call(prompt, "--authorize", "once", **variables)[1]["code"] == "shell.signature_payload_mismatch"


def test_a_person_at_a_terminal_is_asked_twice(asking: Path) -> None:
    """On a terminal of its own: first about the manifest, then about the command, which is shown."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            COMMANDS["chatmd"],
            "call",
            asking.name,
            "t",
            '{"arguments":["hello"]}',
            "--session",
            "s",
        ],
        cwd=asking.parent,
        env=environment(XDG_STATE_HOME=str(asking.parent / "state")),
        stdin=child,
        stdout=subprocess.PIPE,
        stderr=child,
        start_new_session=True,
    )
    os.close(child)
    os.write(parent, b"y\n")
    shown = b""
    while b"approval needed" not in shown or b"deny:REASON]" not in shown:
        shown += os.read(parent, 4_096)
    os.write(parent, b"once\n")
    output, _ = process.communicate(timeout=60)
    os.close(parent)
    assert b"Authorise this manifest" in shown
    assert b"/bin/echo hello" in shown
    assert (process.returncode, output) == (0, b"hello\n")


MODERATED = """
<script language="chatml" kind="moderator">RAW|
let initial_state = ""
let on_event ctx st ev =
  match ev with
  | `Turn_start -> Task.catch(Process.run("/bin/echo", ["real"]), fun why -> Task.pure(why))
  | _ -> Task.pure(st)
|RAW</script>
<moderator_runtime shell_runtime="r"/>
"""


def chatml(*arguments: str, cwd: Path) -> tuple[int, str]:
    """The exit status of a call of `chatml run`, and the state after its first event."""
    found = subprocess.run(
        [sys.executable, "-c", COMMANDS["chatml"], "run", *arguments, "--json"],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    first = found.stdout.splitlines()[0] if found.stdout else found.stderr
    return found.returncode, json.loads(first)["state"] if found.stdout else first


def test_processes_of_a_moderator_are_real_when_they_are_authorised(tmp_path: Path) -> None:
    """Without authority the data of the scenario answers, as ever."""
    (tmp_path / "prompt.md").write_text(MODERATED + runtime(DIRECT + ALLOW))
    (tmp_path / "denied.md").write_text(MODERATED + runtime(DIRECT + "<policy default='deny'/>"))
    (tmp_path / "events.json5").write_text(
        "{ host: { processes: { '/bin/echo': { ok: 'data' } } }, events: [{ phase: 'turn_start' }] }"
    )
    events = ("--events", "events.json5")
    assert chatml("prompt.md", *events, cwd=tmp_path) == (0, "data")
    assert chatml("prompt.md", *events, "--authorize", "once", cwd=tmp_path) == (0, "real\n")
    status, state = chatml("denied.md", *events, "--authorize", "once", cwd=tmp_path)
    assert (status, "[denied]" in state) == (0, True)
    assert chatml("prompt.md", *events, "--authorize", "0" * 64, cwd=tmp_path)[0] == 1
