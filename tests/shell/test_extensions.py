"""What extends the shell: scripts, programs and models, and what their failures count as (sections 8, 16.6, 17)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmd.elements.script import ScriptLimits, ShellScript
from chatml_shell.approvals.answers import Deny, ForScope, Once, Rewrite
from chatml_shell.approvals.model_reviewer import ReviewFailed, read_decision
from chatml_shell.audit.sinks import Sink
from chatml_shell.authority.authoriser import once
from chatml_shell.errors import ShellError, StorageError
from chatml_shell.extensions.bounds import TooLargeError, check_value
from chatml_shell.extensions.compile import compile_extension
from chatml_shell.extensions.inputs import option
from chatml_shell.extensions.instances import FileSnapshots
from chatml_shell.extensions.session import Extension
from chatml_shell.hooks.protocol import SHAPES, read_reply
from chatml_shell.live.extension import ExtensionFailed
from chatml_shell.registry.opening import open_registry
from chatml_shell.storage.places import session_file
from tests.shell.prompts import ALLOW, DIRECT, load, manifest, runtime, script
from tests.shell.registries import Spawns, called, code, executable, host, output, running

CHAIN = '<tool name="t" mode="chain" runtime="r" result="stdout"/>'
ECHO = {"command": "echo a"}


def matcher(body: str, action: str = "deny", more: str = "", inside: str = "") -> str:
    """A runtime with one rule that a script decides."""
    rule = f"<rule id='x' action='{action}'><chatml_match script='m' {inside}/></rule>"
    default = "allow" if action != "allow" else "deny"
    policy = f"<policy default='{default}'>{rule}</policy>"
    text = script("shell_matcher", "m", f"let initial_state = 0\nlet match_command ctx st = {body}", more)
    return text + runtime(DIRECT + policy) + CHAIN


YES, NO = 'Task.map(Match.yes(""), fun x -> st)', 'Task.map(Match.no(""), fun x -> st)'


def test_matchers_see_the_command() -> None:
    body = f'if Array.get(Shell.argv(ctx), 0) == "echo" then {YES} else {NO}'
    assert code(matcher(body), ECHO) == "denied"
    assert code(matcher(body), {"command": "true"}) is None


def test_s_031_a_crash_is_the_stricter_outcome() -> None:
    """S-031: an allow rule does not match, a deny rule matches, an ask rule matches; `no_match` never does."""
    crash = 'Task.fail("no")'
    assert code(matcher(crash, "allow"), ECHO) == "denied"
    assert code(matcher(crash, "deny"), ECHO) == "denied"
    assert code(matcher(crash, "ask"), ECHO) == "permission_required"
    assert code(matcher(crash, "deny", inside="failure='no_match'"), ECHO) is None
    twice = 'Task.bind(Match.no(""), fun x -> Match.no(""))'
    assert code(matcher(f"Task.map({twice}, fun x -> st)"), ECHO) == "denied"


def declared(text: str) -> ShellScript:
    """The one script of a document."""
    (found,) = load(text).scripts
    assert isinstance(found, ShellScript)
    return found


def extension(kind: str, function: str, body: str, more: str = "") -> Extension:
    """A script that runs."""
    text = script(kind, "x", f"let initial_state = 0\nlet {function} input st = {body}", more)
    return Extension(compile_extension(declared(text)), function)


EVENT: dict[str, Any] = {
    "version": "shell-audit-v1",
    "phase": "shell_audit",
    "sequence": "1",
    "timestamp": 0.0,
    "session_id": option(None),
    "runtime_id": "r",
    "manifest_sha256": "",
    "request_id": "q",
    "plan_id": option(None),
    "event": "started",
    "fields": [],
}


def test_s_031_two_actions_fail_and_leave_the_state() -> None:
    """S-031: and so do none, and a state that is too large; a valid action commits its state."""
    body = (
        "if st == 2 then Task.bind(Audit.keep(), fun x -> Task.map(Audit.keep(), fun y -> 9))"
        " else if st == 3 then Task.pure(9) else Task.map(Audit.keep(), fun x -> st + 1)"
    )
    running_script = extension("shell_audit_filter", "filter", body)
    for expected in (1, 2):
        assert asyncio.run(running_script.call(EVENT)).op == "Audit.keep"
        assert running_script.session.state == expected
    for _ in range(2):
        with pytest.raises(ExtensionFailed, match="2 actions"):
            asyncio.run(running_script.call(EVENT))
        assert running_script.session.state == 2
    running_script.session.restore(3, (), halted=False)
    with pytest.raises(ExtensionFailed, match="0 actions"):
        asyncio.run(running_script.call(EVENT))
    assert running_script.session.state == 3


def test_scripts_are_bounded() -> None:
    """In work, in time, and in what they say."""
    with pytest.raises(ExtensionFailed, match="steps"):
        asyncio.run(
            extension(
                "shell_audit_filter", "filter", "while true do () done; Task.map(Audit.keep(), fun x -> st)"
            ).call(EVENT)
        )
    late = extension("shell_audit_filter", "filter", "Task.map(Audit.keep(), fun x -> st)", 'wall_time="1ms"')
    late.limits = attrs.evolve(late.limits, wall_time=-1.0)
    with pytest.raises(ExtensionFailed, match="wall_time"):
        asyncio.run(late.call(EVENT))
    wide = extension(
        "shell_audit_filter", "filter", 'Task.map(Audit.drop_field("0123456789"), fun x -> st)', 'max_output="4B"'
    )
    with pytest.raises(ExtensionFailed, match="max_output"):
        asyncio.run(wide.call(EVENT))


@given(st.recursive(st.text(max_size=5) | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=10))
def test_values_within_the_bounds_pass(value: Any) -> None:
    """A value passes exactly when no bound is exceeded; a bound of the value's own depth lets it pass."""

    def depth(part: Any) -> int:
        return 1 + max(map(depth, part), default=0) if isinstance(part, list) else 1

    check_value(value, ScriptLimits(max_depth=depth(value)), texts=True)
    with pytest.raises(TooLargeError):
        check_value([value], ScriptLimits(max_depth=depth(value)), texts=True)


COUNTING = script(
    "shell_reviewer",
    "c",
    "let initial_state = 0\n"
    "let review ctx st = if st < 2 then Task.map(Review.approve(), fun x -> st + 1)"
    ' else Task.map(Review.deny("enough"), fun x -> st)',
)


def counting(lifecycle: str) -> str:
    """A runtime whose reviewer approves twice in a lifetime."""
    reviewers = f'<reviewers><reviewer id="c" kind="chatml" script="c" lifecycle="{lifecycle}"/></reviewers>'
    return COUNTING + runtime(DIRECT + "<policy default='ask'/>" + reviewers) + CHAIN


@pytest.mark.parametrize(("lifecycle", "last"), [("session", "denied"), ("runtime", "denied"), ("invocation", None)])
def test_s_031_how_long_a_state_lives(lifecycle: str, last: str | None) -> None:
    """S-031: a counter goes on in a session and begins anew with each invocation."""
    assert [one.code for one in called(counting(lifecycle), ECHO, ECHO, ECHO)] == [None, None, last]


def test_a_state_outlives_the_process(tmp_path: Path) -> None:
    """And one that cannot be kept is not counted."""
    snapshots = FileSnapshots(session_file(str(tmp_path)))

    async def call() -> str | None:
        text = counting("session")
        opened = open_registry(manifest(text), host=host(), authoriser=once, snapshots=snapshots)
        async with opened as registry:
            return (await registry.run("t", json.dumps(ECHO))).code

    assert [asyncio.run(call()) for _ in range(3)] == [None, None, "denied"]
    path = Path(session_file(str(tmp_path)).path)
    held = json.loads(path.read_text())
    held["state"]["extension_snapshots"] *= 2
    path.write_text(json.dumps(held))
    with pytest.raises(ShellError) as raised:
        asyncio.run(call())
    assert raised.value.diagnostics[0].code == "shell.extension_snapshot_duplicate"


def test_scripts_are_compiled_before_anybody_is_asked() -> None:
    """With the place of the mistake, and by the contract of their kind."""

    def never(*args: Any) -> Any:
        raise AssertionError("nobody need be asked")

    for body in ("let initial_state = 0", "let initial_state = 0\nlet match_command ctx = 1", "let initial_state = "):
        text = script("shell_matcher", "m", body) + runtime(
            DIRECT + "<policy><rule id='x' action='deny'><chatml_match script='m'/></rule></policy>"
        )

        async def work(registry: Any) -> None:
            raise AssertionError("no registry is opened")

        with pytest.raises(ShellError) as raised:
            running(text, work, authoriser=never)
        assert {one.code for one in raised.value.diagnostics} == {"shell.chatml_compile"}


ANALYZER = '<effect_analysis><analyzer id="a" script="a" {}/></effect_analysis>'


@pytest.mark.parametrize(
    ("body", "more", "expected"),
    [
        ("Effect.network()", "", "capability_violation"),
        ('Effect.add("magic")', "", None),
        ("Effect.replace([])", "", "denied"),
        ('Effect.replace(["network"])', 'replace="true"', "capability_violation"),
        ('Task.fail("x")', "", "denied"),
        ('Task.fail("x")', 'failure="keep"', None),
    ],
)
def test_analyzers(body: str, more: str, expected: str | None) -> None:
    """A failure adds an unknown effect, which a rule here denies; `keep` adds nothing."""
    text = script(
        "shell_effect_analyzer", "a", f"let initial_state = 0\nlet analyze c st = Task.map({body}, fun x -> st)"
    )
    rule = "<policy default='allow'><rule id='u' action='deny'><effect name='unknown'/></rule></policy>"
    if "magic" in body:
        rule = ALLOW
    assert code(text + runtime(DIRECT + rule + ANALYZER.format(more)) + CHAIN, ECHO) == expected


AFTER = '<interceptors><interceptor id="i" phase="after" script="a" {}/></interceptors>'


@pytest.mark.parametrize(
    ("body", "more", "expected"),
    [
        ("Result.keep()", "", (None, "a\n")),
        ('Result.replace("b", "")', "", (None, "b")),
        ('Result.reject_disclosure("secret")', "", ("interceptor_rejected", None)),
        ('Task.fail("x")', "", ("interceptor_rejected", None)),
        ('Task.fail("x")', 'failure="keep"', (None, "a\n")),
    ],
)
def test_results_are_seen_before_anybody_else_sees_them(
    body: str, more: str, expected: tuple[str | None, str | None]
) -> None:
    text = script(
        "shell_after_interceptor", "a", f"let initial_state = 0\nlet after r st = Task.map({body}, fun x -> st)"
    )
    (found,) = called(text + runtime(DIRECT + ALLOW + AFTER.format(more)) + CHAIN, ECHO)
    assert found.code == expected[0]
    assert expected[1] is None or found.output == expected[1]


class BrokenSink:
    """A sink that cannot be written."""

    def append(self, fields: Mapping[str, Any]) -> None:
        raise StorageError("shell.audit_write_failed", "the disk is full")

    def next_sequence(self) -> int:
        return 1

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("failure", "expected"),
    [("continue", None), ("deny_start", "audit_unavailable"), ("terminate", "audit_unavailable")],
)
def test_s_030_a_sink_that_fails(
    failure: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spawns: Spawns
) -> None:
    """S-030: by the declared policy; with `deny_start` and `terminate` nothing is started."""
    audit = f'<audit format="jsonl" path="{tmp_path}/a.jsonl" failure="{failure}"/>'

    async def work(registry: Any) -> str | None:
        broken: Sink = BrokenSink()
        registry.runtimes["r"].recorder.sink = broken
        found: str | None = (await registry.run("t", json.dumps(ECHO))).code
        return found

    assert running(runtime(DIRECT + ALLOW + audit) + CHAIN, work) == expected
    assert spawns.count == (1 if expected is None else 0)


def test_filters_of_the_audit(tmp_path: Path) -> None:
    audit = f'<audit format="jsonl" path="{tmp_path}/a.jsonl" failure="terminate"><filter script="f"/></audit>'

    def run(body: str) -> str | None:
        text = script(
            "shell_audit_filter", "f", f"let initial_state = 0\nlet filter e st = Task.map({body}, fun x -> st)"
        )
        return code(text + runtime(DIRECT + ALLOW + audit) + CHAIN, ECHO)

    assert run('Audit.drop_field("command")') is None
    assert "echo" not in (tmp_path / "a.jsonl").read_text()
    assert run('Audit.drop_field("sequence")') == "audit_unavailable"
    assert run('Audit.replace("nonsense")') == "audit_unavailable"


HOOK = """#!/usr/bin/python3 -I
import json, sys, time
asked = json.load(sys.stdin)
reply = {"version": 1, "request_id": asked["request_id"]}
%s
print(json.dumps(reply))
"""


def hooked(path: Path, body: str, attributes: str = "") -> str:
    """A runtime whose reviewer is a program."""
    executable(path, HOOK % body)
    worker = runtime(DIRECT + ALLOW, "w")
    reviewer = f'<reviewer id="h" kind="executable" executable="{path}" runtime="w" {attributes}/>'
    return worker + runtime(DIRECT + f"<policy default='ask'/><reviewers>{reviewer}</reviewers>") + CHAIN


def test_a_program_reviews(tmp_path: Path) -> None:
    """It sees the command and the names of variables, and its word counts."""
    seen = tmp_path / "seen.json"
    body = f'open("{seen}", "w").write(json.dumps(asked))\nreply["decision"] = "approve_once"'
    assert output(hooked(tmp_path / "hook", body), ECHO) == "a\n"
    payload = json.loads(seen.read_text())["payload"]
    assert payload["command"] == {"program": "echo", "arguments": ["a"]}
    assert (payload["event"], payload["policy"]["action"]) == ("approval_request", "ask")
    assert "PATH" in payload["environment_keys"]
    assert "environment" not in payload
    deny = hooked(tmp_path / "deny", 'reply |= {"decision": "deny", "reason": "not today"}')
    (found,) = called(deny, ECHO)
    assert found.code == "denied"
    assert "not today" in found.output


@pytest.mark.parametrize(
    ("body", "attributes", "reason"),
    [
        ('reply |= {"decision": "approve_once", "more": 1}', "", "hook_protocol"),
        ('print("{\\"version\\":1,\\"version\\":1}"); sys.exit(0)', "", "hook_protocol"),
        ('reply |= {"decision": "approve_once", "request_id": "x"}', "", "hook_request_id"),
        ('sys.stdout.buffer.write(b"\\xff"); reply["decision"] = "approve_once"', "", "hook_protocol"),
        ("sys.exit(7)", "", "hook_nonzero_exit"),
        ("time.sleep(5)", 'timeout="100ms"', "hook_execution"),
        ('reply |= {"decision": "deny", "reason": "x" * 200}', 'max_output="100B"', "hook_output_limit"),
        ('reply["decision"] = "approve_once"', 'max_input="10B"', "hook_input_limit"),
        ('reply["decision"] = "perhaps"', "", "hook_action"),
        ('reply |= {"decision": "approve_scope", "scope": "all"}', "", "hook_scope"),
        ('reply |= {"decision": "rewrite", "program": "", "arguments": []}', "", "hook_rewrite"),
        ('reply |= {"decision": "deny", "reason": " "}', "", "hook_reject"),
    ],
)
def test_s_032_a_bad_reply_approves_nothing(tmp_path: Path, body: str, attributes: str, reason: str) -> None:
    """S-032: each with its code in the reason."""
    (found,) = called(hooked(tmp_path / "hook", body, attributes), ECHO)
    assert found.code == "denied"
    assert f"shell.{reason}" in found.output


def test_a_hook_that_is_swapped_is_not_run(tmp_path: Path) -> None:
    text = hooked(tmp_path / "hook", 'reply["decision"] = "approve_once"')

    async def work(registry: Any) -> str:
        executable(tmp_path / "hook", HOOK % 'reply["decision"] = "approve_once" # swapped')
        found: str = (await registry.run("t", json.dumps(ECHO))).output
        return found

    assert "executable_changed" in running(text, work)


@given(st.sampled_from(sorted(SHAPES)), st.dictionaries(st.sampled_from(["version", "action", "x"]), st.integers()))
def test_replies_are_exactly_their_shape(kind: str, reply: dict[str, Any]) -> None:
    """Whatever object a hook prints, it is a reply of a known action or a failure of the protocol."""
    with pytest.raises(ExtensionFailed):
        read_reply(kind, json.dumps(reply), "q")


def reviewed(answer: str | Exception, command: dict[str, Any] = ECHO, failure: str = "deny") -> str | None:
    """What a runtime says whose reviewer is a model that always answers the same."""

    async def complete(prompt: str, model: str | None) -> str:
        assert "BEGIN COMMAND" in prompt
        assert model == "m"
        if isinstance(answer, Exception):
            raise answer
        return answer

    reviewers = f'<reviewers><reviewer id="x" kind="model" agent="a" model="m" failure="{failure}"/></reviewers>'
    return code(runtime(DIRECT + "<policy default='ask'/>" + reviewers) + CHAIN, command, complete=complete)


def test_a_model_reviews() -> None:
    assert reviewed('{"decision": "allow_once"}') is None
    assert reviewed('{"decision": "deny", "reason": "no"}') == "denied"
    assert reviewed("Sure! {}") == "denied"
    assert reviewed(OSError("the network is down")) == "denied"
    assert reviewed(OSError("the network is down"), failure="keep") == "denied"
    assert reviewed('{"decision": "allow_prefix_session", "prefix": ["echo"]}') == "denied"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"decision": "allow", "decision": "deny", "reason": "x"}',
        '{"decision": "allow", "reason": "x"}',
        '{"decision": "deny"}',
        '{"decision": "deny", "reason": " "}',
        '{"decision": "allow_session", "expires_at": NaN}',
        '{"decision": "allow_session", "expires_at": true}',
        '{"decision": "allow_prefix_session", "prefix": []}',
        '{"decision": "rewrite", "program": "x"}',
        '{"decision": "allow"} and more',
        json.dumps({"decision": "deny", "reason": "x" * 9_000}),
    ],
)
def test_what_is_no_decision(text: str) -> None:
    with pytest.raises(ReviewFailed):
        read_decision(text)


def test_what_decisions_mean() -> None:
    assert read_decision('{"decision": "allow"}') == Once()
    assert read_decision('{"decision": "deny", "reason": "x"}') == Deny("x")
    assert read_decision('{"decision": "allow_session", "expires_at": 5}') == ForScope("exact_session", expires_at=5.0)
    rewritten = read_decision('{"decision": "rewrite", "program": "ls", "arguments": ["-l"]}')
    assert isinstance(rewritten, Rewrite)
    assert rewritten.command.argv == ("ls", "-l")
