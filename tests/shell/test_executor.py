"""The executor: one order of review, pipelines, results, and a refusal that starts nothing (shell.md section 13)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from chatml_shell.admin.policy import VARIABLE
from chatml_shell.approvals.answers import Answer, Deny, ForScope, Once
from chatml_shell.approvals.broker import ApprovalBroker, GivenAnswers
from chatml_shell.approvals.grants import MemoryStore
from chatml_shell.approvals.question import Question, deny_all
from chatml_shell.audit.events import Event
from chatml_shell.errors import Refusal, ShellError
from chatml_shell.executor.run import execute
from chatml_shell.plans.command import Command
from chatml_shell.plans.outcome import Exited
from chatml_shell.plans.plan import Plan
from chatml_shell.plans.request import Request, of_command
from chatml_shell.registry.registry import ProcessError, Registry, UnknownToolError
from tests.shell.prompts import ALLOW, DIRECT, runtime
from tests.shell.registries import Spawns, called, code, executable, fake, host, names, opened, output, running

CHAIN = '<tool name="t" mode="chain" runtime="r" result="stdout"/>'
STRUCTURED = '<tool name="t" mode="structured" runtime="r"/>'
ASK = '<policy default="ask"/>'


def chain(line: str) -> dict[str, Any]:
    """The arguments of a chain."""
    return {"command": line}


def run(program: str, *arguments: str) -> dict[str, Any]:
    """The arguments of a structured call."""
    return {"program": program, "arguments": list(arguments)}


def test_s_017_literal_words_reach_the_program() -> None:
    """S-017: no shell reads them."""
    text = runtime() + '<tool name="t" runtime="r" command="/bin/echo" result="stdout"/>'
    assert output(text, {"arguments": ["a; rm -rf /", "$(id)"]}) == "a; rm -rf / $(id)\n"


def test_s_020_pipelines_that_are_not_selected_are_not_prepared() -> None:
    """S-020: `nosuch` is not even resolved; the output is the last pipeline's, the records are all."""
    (found,) = called(runtime() + CHAIN, chain("false && nosuch a || echo x"), backends=fake())
    assert found.output == "x"
    assert [record.argv[0] for record in found.records] == ["false", "echo"]
    (found,) = called(runtime() + CHAIN, chain("printf 1; printf 2"), backends=fake())
    assert (found.output, len(found.records)) == ("2", 2)
    assert code(runtime() + CHAIN, chain("true && nosuch"), backends=fake()) == "resolution_error"


@pytest.mark.parametrize(
    ("exits", "pipefail", "expected"),
    [((7, 0), "false", 0), ((7, 0), "true", 7), ((3, 5, 0), "true", 5), ((0, 0), "true", 0)],
)
def test_s_021_pipefail(exits: tuple[int, ...], pipefail: str, expected: int) -> None:
    """S-021: the right-most failure counts, if it counts at all."""
    text = runtime(more=f'pipefail="{pipefail}"') + CHAIN.replace('"stdout"', '"structured"')

    def answer(plan: Plan, stdin: bytes) -> Any:
        return Exited(int(plan.order.command.arguments[-1])), b"", b""

    line = " | ".join(f"true {status}" for status in exits)
    assert json.loads(output(text, chain(line), backends=fake(answer)))["status"] == {"exited": expected}
    real = " | ".join(f"sh -c 'exit {status}'" for status in exits)
    assert json.loads(output(text, chain(real)))["status"] == {"exited": expected}


def test_s_022_real_pipelines(spawns: Spawns) -> None:
    """S-022: pipes of the kernel; a reader that ends early; complaints do not flow on."""
    text = runtime() + CHAIN
    assert output(text, chain("printf abc | wc -c")).strip() == "3"
    assert output(text, chain("yes | head -n 1")) == "y\n"
    assert output(text, chain("sh -c 'echo no >&2; echo yes' | cat")) == "yes\n"
    assert spawns.count == 6


def test_s_023_limits() -> None:
    """S-023: time, silence, and output by channel and in all."""

    def limited(limits: str, line: str) -> tuple[str | None, str]:
        (found,) = called(runtime(DIRECT + ALLOW + f"<limits {limits}/>") + CHAIN, chain(line))
        return found.code, found.output

    assert limited('wall_time="50ms"', "sleep 5")[0] == "timed_out"
    assert limited('idle_time="50ms"', "sleep 5")[0] == "idle_timed_out"
    assert limited('stdout="3B" total_output="100B"', "printf abcdef") == (None, "abc")
    assert limited('total_output="3B"', "printf abcdef")[0] == "output_limit_exceeded"


def test_s_023_too_much_input() -> None:
    """S-023: a call is told so; whoever uses the executor itself is refused."""
    text = runtime(DIRECT + ALLOW + '<limits max_stdin="3B"/>') + STRUCTURED.replace("/>", ' stdin="optional"/>')
    assert code(text, {**run("cat"), "stdin": "1234"}) == "shell.tool_stdin_too_large"

    async def work(registry: Registry) -> str:
        request = Request(chain=of_command(Command("cat")), stdin=b"1234")
        with pytest.raises(Refusal) as raised:
            await execute(registry.runtimes["r"], request, registry.launcher)
        return raised.value.code

    assert running(text, work) == "stdin_limit_exceeded"


SECRET = '<environment><pass name="T" required="true" secret="true"/></environment>'


def test_s_024_secrets_stay_inside(tmp_path: Path) -> None:
    """S-024: in results, in the audit file, in errors, in what an interceptor adds; colours are taken out."""
    audit = f'<audit format="jsonl" path="{tmp_path}/audit.jsonl" content="full"/>'
    after = (
        '<script language="chatml" kind="shell_after_interceptor" id="a">RAW|\nlet initial_state = 0\n'
        'let after r st = Task.map(Result.replace(Shell_text.add(r), ""), fun x -> st)\n|RAW</script>'
    ).replace("Shell_text.add(r)", 'r.stdout ++ "K" ++ "3Y"')
    interceptors = '<interceptors><interceptor id="i" phase="after" script="a"/></interceptors>'
    environment = {"PATH": "/usr/bin:/bin", "T": "K3Y"}
    text = after + runtime(DIRECT + ALLOW + SECRET + audit + interceptors) + CHAIN
    found = called(
        text, chain("sh -c 'printf \"\\033[31mred \"; printenv T'"), chain("echo K3Y"), environment=environment
    )
    assert found[0].output == "red [REDACTED]\n[REDACTED]"
    assert found[1].output == "[REDACTED]\n[REDACTED]"
    assert found[1].records[0].argv == ("echo", "[REDACTED]")
    assert "K3Y" not in (tmp_path / "audit.jsonl").read_text()
    refused = called(text, chain("K3Y"), environment=environment)[0]
    assert refused.code == "resolution_error"
    assert "K3Y" not in refused.output


def test_s_025_capabilities_come_before_anybody_is_asked(tmp_path: Path, spawns: Spawns, events: list[Event]) -> None:
    """S-025: and nothing is started."""
    (tmp_path / "e").symlink_to("/etc")
    executable(tmp_path / "mystery-tool")
    inside = f'<capabilities sandbox="direct_unsafe"><read path="{tmp_path}"/></capabilities>'
    text = runtime(inside + '<backends merge="replace"><direct/></backends>' + ASK, more=f'cwd="{tmp_path}"')
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Once()

    for line in ("cat e/passwd", "./mystery-tool", "git status"):
        assert code(text + CHAIN, chain(line), directory=tmp_path, provider=ask) == "capability_violation"
    assert (asked, spawns.count) == ([], 0)
    assert names(events)[-1] == "rejected"
    assert code(text + CHAIN, chain("ls"), directory=tmp_path, provider=ask) is None
    assert (len(asked), spawns.count) == (1, 1)


def test_s_027_nobody_to_ask(spawns: Spawns) -> None:
    """S-027: without a provider an approval is missing; one that always denies denies."""
    text = runtime(DIRECT + ASK) + STRUCTURED
    assert code(text, run("echo", "x")) == "permission_required"
    assert code(text, run("echo", "x"), provider=deny_all) == "denied"
    none = runtime(DIRECT + ASK + '<approvals provider="none"/>') + STRUCTURED
    assert code(none, run("echo", "x"), provider=deny_all) == "permission_required"
    assert code(text, run("echo", "x"), run("echo", "x"), provider=GivenAnswers([Once()])) == "permission_required"
    assert spawns.count == 1


class Asked:
    """A provider that counts its questions and always gives the same answer."""

    def __init__(self, answer: Answer) -> None:
        self.given = answer
        self.questions: list[Question] = []

    async def __call__(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.given


SCOPES = '<approvals scopes="once,exact_session,prefix_session,durable_exact"/>'


def test_s_027_a_session_grant_covers_the_same_command_and_no_other(tmp_path: Path) -> None:
    """S-027: one changed word, directory, variable, manifest or session asks again."""
    provider = Asked(ForScope("exact_session"))
    store = MemoryStore()
    text = runtime(DIRECT + ASK) + STRUCTURED

    def asked(*calls: dict[str, Any], text: str = text, **options: Any) -> int:
        before = len(provider.questions)
        found = called(
            text, *calls, **{"provider": provider, "session_grants": store, "directory": tmp_path, **options}
        )
        assert [one.code for one in found] == [None] * len(calls)
        return len(provider.questions) - before

    assert asked(run("echo", "x"), run("echo", "x")) == 1
    assert asked(run("echo", "x")) == 0
    assert asked(run("echo", "y")) == 1
    assert asked(run("echo", "x"), session_id="other") == 1
    assert asked(run("echo", "x"), environment={"PATH": "/usr/bin:/bin", "A": "b"}) == 1
    assert asked(run("echo", "x"), text=text.replace('id="r"', 'id="r" cwd="/tmp"')) == 1
    assert asked(run("echo", "x"), text=text + "<user>hi</user>") == 1


def test_a_prefix_grant_covers_what_begins_with_its_words() -> None:
    provider = Asked(ForScope("prefix_session", ("echo", "a")))
    text = runtime(DIRECT + ASK + SCOPES) + STRUCTURED
    called(text, run("echo", "a"), run("echo", "a", "b"), run("echo", "ab"), provider=provider)
    assert [question.argv for question in provider.questions] == [("echo", "a"), ("echo", "ab")]


def test_s_027_a_scope_that_is_not_offered_is_no_approval(spawns: Spawns) -> None:
    """S-027: whoever answers; and a durable one needs a place where it is kept."""
    text = runtime(DIRECT + ASK + '<approvals scopes="once"/>') + STRUCTURED
    assert code(text, run("echo", "x"), provider=Asked(ForScope("durable_exact"))) == "denied"
    offered = runtime(DIRECT + ASK + SCOPES) + STRUCTURED
    assert code(offered, run("echo", "x"), provider=Asked(ForScope("durable_exact"))) == "denied"
    assert spawns.count == 0


def test_a_broker_is_asked_and_nothing_else_waits() -> None:
    """Two calls wait for answers at once; closing the broker denies what is pending."""

    async def main() -> list[str | None]:
        broker = ApprovalBroker()
        async with opened(runtime(DIRECT + ASK) + STRUCTURED, provider=broker) as registry:
            tasks = [asyncio.create_task(registry.run("t", json.dumps(run("echo", word)))) for word in "abc"]
            while len(broker.pending) < 3:
                await asyncio.sleep(0.01)
            by_word = {question.argv[1]: question.id for question in broker.pending}
            broker.answer(by_word["b"], Once())
            broker.answer(by_word["a"], Deny("no"))
            await tasks[1]
            broker.close()
            return [(await task).code for task in tasks]

    assert asyncio.run(main()) == ["denied", None, "denied"]


def test_what_a_person_is_shown_is_redacted_and_harmless() -> None:
    provider = Asked(Deny("no"))
    text = runtime(DIRECT + ASK + SECRET) + '<tool name="t" mode="raw" runtime="r" executable="/bin/sh"/>'
    script = "echo K3Y \x1b[2K\u202e" + "x" * 1_000
    environment = {"PATH": "/usr/bin:/bin", "T": "K3Y"}
    called(text, {"script": script, "rationale": "trust \x1b]me K3Y"}, provider=provider, environment=environment)
    (question,) = provider.questions
    shown = repr(question)
    assert "K3Y" not in shown
    assert "\\x1b" not in shown
    assert "\\u202e" not in shown
    assert len(question.command) < 400


BEFORE = '<interceptors><interceptor id="i" phase="before" script="b"/></interceptors>'


def before(action: str) -> str:
    """A script that intercepts every command."""
    body = f"let initial_state = 0\nlet before ctx st = Task.map({action}, fun x -> st)"
    return f'<script language="chatml" kind="shell_before_interceptor" id="b">RAW|\n{body}\n|RAW</script>'


def test_s_028_interceptors(spawns: Spawns, events: list[Event]) -> None:
    """S-028: rewriting has an end; a response starts nothing and asks nobody; a denied command is not shown."""
    ask = runtime(DIRECT + ASK + BEFORE) + CHAIN
    provider = Asked(Once())
    assert code(before('Intercept.rewrite(["echo", "x"])') + ask, chain("echo a"), provider=provider) == "denied"
    (found,) = called(before('Intercept.respond("hi", "")') + ask, chain("echo a"), provider=provider)
    assert (found.output, found.records[0].intercepted_by) == ("hi", "i")
    assert (provider.questions, spawns.count) == ([], 0)
    assert names(events)[-2:] == ["intercepted", "finished"]
    deny = runtime(DIRECT + '<policy default="deny"/>' + BEFORE) + CHAIN
    assert code(before('Task.fail("never")') + deny, chain("echo a")) == "denied"
    rejecting = before('Intercept.reject("no")') + runtime(DIRECT + ALLOW + BEFORE) + CHAIN
    assert code(rejecting, chain("echo a")) == "interceptor_rejected"
    assert spawns.count == 0


def test_s_028_a_rewrite_of_a_reviewer_is_looked_at_from_the_start() -> None:
    """S-028: what a reviewer writes is denied by the rules like anything else."""
    body = 'let initial_state = 0\nlet review ctx st = Task.map(Review.rewrite(["rm", "x"]), fun x -> st)'
    reviewer = f'<script language="chatml" kind="shell_reviewer" id="w">RAW|\n{body}\n|RAW</script>'
    rule = '<policy default="ask"><rule id="no-rm" action="deny"><basename value="rm"/></rule></policy>'
    reviewers = '<reviewers><reviewer id="w" kind="chatml" script="w"/></reviewers>'
    (found,) = called(reviewer + runtime(DIRECT + rule + reviewers) + CHAIN, chain("echo a"))
    assert found.code == "denied"
    assert "no-rm" in found.output


def test_synthetic_and_real_stages_join() -> None:
    """A stage that is answered hands its text on; the others really run."""
    match = BEFORE.replace("/></interceptors>", '><match><basename value="ls"/></match></interceptor></interceptors>')
    text = before('Intercept.respond("one\\ntwo\\n", "")') + runtime(DIRECT + ALLOW + match) + CHAIN
    assert output(text, chain("ls | wc -l")).strip() == "2"
    assert output(text, chain("echo x | ls | cat")) == "one\ntwo\n"


def script_tool(path: Path, more: str = "") -> str:
    """A script tool."""
    return f'<tool name="t" mode="script" runtime="r" script="{path}" {more}/>'


def test_s_029_a_script_is_what_it_was(tmp_path: Path, spawns: Spawns) -> None:
    """S-029: edited after the start, edited during the review, its interpreter replaced, too large."""
    path = executable(tmp_path / "run.sh", "#!/bin/sh\necho hi\n")
    interpreter = tmp_path / "interpreter"
    interpreter.write_bytes(Path("/bin/sh").read_bytes())
    interpreter.chmod(0o755)
    text = runtime(DIRECT + ASK) + script_tool(path, f'interpreter="{interpreter}"')

    def edits(target: Path) -> Any:
        async def ask(question: Question) -> Answer:
            target.write_bytes(target.read_bytes() + b"\n# more")
            return Once()

        return ask

    assert output(text, {}, provider=Asked(Once())) == "hi\n"
    assert code(text, {}, provider=edits(path)) == "script_changed"
    assert code(text, {}, {}, provider=edits(path)) == "script_changed"
    assert code(text, {}, {}, provider=edits(interpreter)) == "executable_changed"
    started = spawns.count
    with pytest.raises(ShellError, match="more than 4 bytes"):
        code(runtime() + script_tool(path, 'max_source_bytes="4"'), {})
    assert started == spawns.count
    assert output(runtime() + script_tool(path), {"arguments": []}) == "hi\n"


def test_an_executable_that_is_swapped_during_the_review_does_not_run(tmp_path: Path) -> None:
    program = executable(tmp_path / "tool", "#!/bin/sh\necho old\n")

    async def swaps(question: Question) -> Answer:
        program.unlink()
        executable(program, "#!/bin/sh\necho evil\n")
        return Once()

    text = runtime(DIRECT + ASK) + STRUCTURED
    assert code(text, run(str(program)), provider=swaps) == "executable_changed"


def test_s_030_events_of_a_command(events: list[Event], tmp_path: Path) -> None:
    """S-030: what an allowed command leaves; a refusal ends with `rejected`."""
    called(runtime() + STRUCTURED, run("echo", "x"), backends=fake())
    assert names(events) == ["resolved", "policy_decided", "plan_created", "started", "finished"]
    events.clear()
    called(runtime() + STRUCTURED, run("cat", "x"))
    assert set(names(events)) >= {"started", "output", "finished"}
    events.clear()
    inside = '<capabilities sandbox="direct_unsafe"/><backends merge="replace"><direct/></backends>' + ALLOW
    called(runtime(inside) + STRUCTURED, run("sh"))
    assert names(events) == ["resolved", "policy_decided", "rejected"]


def test_s_034_a_sandbox_that_is_not_there_is_not_replaced(spawns: Spawns) -> None:
    """S-034: an executor that requires a sandbox and has only the direct backend starts nothing."""

    async def work(registry: Registry) -> str:
        live = registry.runtimes["r"]
        strict = attrs.evolve(live, grants=attrs.evolve(live.grants, sandbox="required"))
        with pytest.raises(Refusal) as raised:
            await execute(strict, Request(chain=of_command(Command("echo"))), registry.launcher)
        return raised.value.code

    assert running(runtime() + STRUCTURED, work) == "sandbox_unavailable"
    assert spawns.count == 0


def test_s_015_the_administrator_denies_before_the_rules(tmp_path: Path, spawns: Spawns) -> None:
    """S-015: `rm` is denied although the policy allows it, under an alias too."""
    (tmp_path / "admin.json").write_text('{"denied_programs": ["rm"]}')
    environment = {"PATH": "/usr/bin:/bin", VARIABLE: str(tmp_path / "admin.json")}
    alias = '<resolver><executable id="clean" path="/bin/rm"/></resolver>'
    text = runtime(DIRECT + ALLOW + alias) + STRUCTURED
    for program in ("rm", "/bin/rm", "clean"):
        assert code(text, run(program, "x"), environment=environment) == "denied"
    assert spawns.count == 0


def test_s_033_processes_of_a_moderator(spawns: Spawns) -> None:
    """S-033: only with a declaration; by the same rules; with the codes in the text."""

    def process(text: str, program: str, args: Any) -> str:
        async def work(registry: Registry) -> str:
            try:
                return await registry.process_run(program, args)
            except ProcessError as error:
                return f"failed: {error}"

        return running(text, work)

    declared = '<moderator_runtime shell_runtime="r"/>'
    assert "not configured" in process(runtime(), "/bin/echo", ["x"])
    assert process(runtime() + declared, "/bin/echo", ["x"]) == "x\n"
    assert "shell.moderator_invalid_arguments" in process(runtime() + declared, "/bin/echo", "x")
    assert "shell.moderator_invalid_arguments" in process(runtime() + declared, "/bin/echo", [1])
    deny = runtime(DIRECT + '<policy default="deny"/>') + declared
    assert process(deny, "/bin/echo", ["x"]).startswith("failed: [denied]")
    assert spawns.count == 1


def test_a_tool_that_is_not_there() -> None:
    async def work(registry: Registry) -> None:
        with pytest.raises(UnknownToolError, match="known: t"):
            await registry.call("x", "{}")

    running(runtime() + STRUCTURED, work)


def test_results_by_declaration() -> None:
    line = "sh -c 'echo out; echo err >&2; exit 3'"
    assert output(runtime() + CHAIN, chain(line)) == "out\n"
    combined = runtime() + '<tool name="t" mode="chain" runtime="r"/>'
    assert output(combined, chain(line)) == "out\nerr\n"
    error = runtime() + '<tool name="t" mode="chain" runtime="r" nonzero="error" result="structured"/>'
    (found,) = called(error, chain(line))
    assert found.code == "shell.tool_nonzero"
    result = json.loads(found.output)["error"]["result"]
    assert (result["status"], result["stdout"], result["stderr"]) == ({"exited": 3}, "out\n", "err\n")


def test_secret_arguments_are_registered() -> None:
    """E-05: they do not come back, neither in the output nor in the records."""
    text = runtime() + (
        '<tool name="t" type="shell" runtime="r" result="structured">'
        '<command program="echo"><secret_arg env="T" prefix="--key="/></command></tool>'
    )
    (found,) = called(text, {}, environment={"PATH": "/usr/bin:/bin", "T": "K3Y"})
    assert "K3Y" not in found.output
    assert found.records[0].argv == ("echo", "--key=[REDACTED]")


def test_a_call_that_is_cancelled_leaves_nothing() -> None:
    """The host gets its cancellation when the processes are gone."""

    async def main() -> float:
        async with opened(runtime() + STRUCTURED) as registry:
            task = asyncio.create_task(registry.run("t", json.dumps(run("sleep", "30"))))
            await asyncio.sleep(0.3)
            task.cancel()
            before = asyncio.get_running_loop().time()
            with pytest.raises(asyncio.CancelledError):
                await task
            return asyncio.get_running_loop().time() - before

    assert asyncio.run(main()) < 5


def test_hosts_of_tests_have_few_variables() -> None:
    assert "SHELL" not in host().environment
