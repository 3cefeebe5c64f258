"""The guards that are there to be copied (README, docs, `examples/`, `chatml new`) withstand the first attacks.

Each is played in the project's own host, where a submission has no event of its own and a tool runs unless it is
refused: a scenario that only its author has thought of proves less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.script.scripts import ScriptArtifact, compile_script
from chatml_runtime.testing import ScriptedHost, call, say
from tests.house import ROOT
from tests.snippets import snippets

POLICY = re.compile(r'^policy = """\n(.*?)"""', re.DOTALL | re.MULTILINE)
EXAMPLES = ROOT / "examples"


def text_of(name: str) -> str:
    """The text of a guard: a script, or the first policy of a document."""
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".chatml":
        return text
    if found := POLICY.search(text):
        return found[1]
    blocks = (each.text for each in snippets(path) if each.language == "chatml" and "moderator" in each.options)
    return next(blocks)


@cache
def guard(name: str) -> ScriptArtifact:
    return ScriptArtifact("main", compile_script(text_of(name), name=name, surface=UI_MODERATOR))


def ran(name: str, tool: str, args: Any, *, answers: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
    """The calls that run when the model makes one, in a conversation of its own."""
    tools: dict[str, Any] = {each: lambda args: "done" for each in TOOLS}
    model = [[call(tool, args)], [say("I am done.")]]
    with ScriptedHost(guard(name), model=model, tools=tools, answers=answers) as host:
        host.send("Go on.")
        assert len(host.outputs) == 1
        return host.calls


TOOLS = (
    "read_file",
    "write_file",
    "list_files",
    "search",
    "search_docs",
    "search_web",
    "send_mail",
    "delete_file",
    "run",
)


def disguises(folder: str) -> Iterator[str]:
    """Ways to write a file of a folder of the workspace."""
    yield from (f"{folder}/key", f"./{folder}/key", f"{folder}//key", f"docs/../{folder}/key", f".//{folder}/./key")
    yield from (f"{folder}/", folder, f"x/../{folder}/a/../key", f"docs/../../{ROOT.name}/{folder}/key")


OUTSIDE = ["/etc/passwd", "//etc/passwd", "../key", "docs/../../key", "..", "./../key", "docs/../../../etc/passwd"]
NO_PATH: list[Any] = [
    *(
        {"path": ["docs/a"]},
        {"path": {"path": "docs/a"}},
        {"path": None},
        {"path": 1},
        {"path": ""},
        {"path": "docs/a\0b"},
    ),
    *({}, {"file": "docs/a"}, {"Path": "docs/a"}, {"paths": ["docs/a"]}),
    *('{"path":"docs/a', '""', "", "null", "[]", '"docs/a"', "docs/a", "[1", '[{"path":"docs/a"}]'),
]
FOREIGN_SIGNS = ["docs/%2e%2e/%2e%2e/key", "docs%2f..%2fkey", "docs\\..\\..\\key", "%73ecrets/key", "secrets\\key"]

ALLOWING = {
    "README.md": ["docs/guide.md", "./docs/a", "src/../docs/a"],
    "docs/embedding.md": ["docs/guide.md", "./docs/a"],
    "docs/turns.md": ["docs/guide.md", "./docs/a"],
    "examples/guard.chatml": ["docs/guide.md", "Makefile", "secretsauce/a", "./a/../b"],
    "examples/policies/allow_list.chatml": ["docs/guide.md", "src//a"],
    "examples/agent/policy.chatml": ["notes.md", "./privateer/a"],
    "tools/chatml_tools/templates/policy/policy.chatml": ["docs/guide.md", "./docs/a"],
}
"""The guards of paths, each with paths that it lets pass."""
ONLY_DOCS = [name for name in ALLOWING if name not in ("examples/guard.chatml", "examples/agent/policy.chatml")]


@pytest.mark.parametrize("name", ALLOWING)
def test_what_is_allowed_runs(name: str) -> None:
    for path in ALLOWING[name]:
        assert ran(name, "read_file", {"path": path}) == [("read_file", {"path": path})]


@pytest.mark.parametrize("name", ALLOWING)
def test_nothing_outside_is_read(name: str) -> None:
    for path in OUTSIDE:
        assert ran(name, "read_file", {"path": path}) == [], path


@pytest.mark.parametrize("name", ALLOWING)
def test_what_names_no_path_is_not_run(name: str) -> None:
    for args in NO_PATH:
        assert ran(name, "read_file", args) == [], args


@pytest.mark.parametrize("name", ONLY_DOCS)
def test_only_the_folder_is_read(name: str) -> None:
    for path in [*disguises("secrets"), "DOCS/a", "docsx/a", "docs../a", ".docs/a", "a/docs/b", "doc", "."]:
        assert ran(name, "read_file", {"path": path}) == [], path
    assert ran(name, "run", {"path": "docs/a"}) == []


@pytest.mark.parametrize("folder", ["secrets", "Secrets", "SECRETS", "\u017fecrets"])
def test_the_guard_keeps_a_folder_closed(folder: str) -> None:
    """In whatever case: not every file system tells them apart."""
    for path in disguises(folder):
        assert ran("examples/guard.chatml", "read_file", {"path": path}) == [], path
    assert ran("examples/guard.chatml", "run", {"path": f"{folder}/key"}) == []


@pytest.mark.parametrize("folder", ["private", "Private", "PRIVATE"])
def test_the_agent_asks_for_private_files(folder: str) -> None:
    for path in disguises(folder):
        if ".." in path and ROOT.name in path:
            continue
        args = {"path": path}
        assert ran("examples/agent/policy.chatml", "read_file", args, answers=("no",)) == [], path
        assert ran("examples/agent/policy.chatml", "read_file", args, answers=("yes",)) == [("read_file", args)], path


@pytest.mark.parametrize(
    "name", ["examples/guard.chatml", "examples/policies/allow_list.chatml", "examples/agent/policy.chatml"]
)
def test_what_a_tool_may_read_as_another_path_is_refused(name: str) -> None:
    for path in FOREIGN_SIGNS:
        assert ran(name, "read_file", {"path": path}) == [], path


@pytest.mark.parametrize("name", ONLY_DOCS)
def test_of_repeated_keys_the_first_is_judged_and_run(name: str) -> None:
    assert ran(name, "read_file", '{"path":"secrets/key","path":"docs/a"}') == []
    assert ran(name, "read_file", '{"path":"docs/a","path":"secrets/key"}') == [("read_file", {"path": "docs/a"})]


def test_the_allow_list_refuses_further_arguments() -> None:
    args = {"path": "docs/a", "also": "/etc/passwd"}
    assert ran("examples/policies/allow_list.chatml", "read_file", args) == []


@pytest.mark.parametrize(
    "args",
    [
        *({"file": ".env"}, {"file": "a/.ENV"}, {"file": "Secrets/a"}, {"path": "secrets/a"}, {"files": ["a", ".env"]}),
        *({"file": {"name": "x/secrets"}}, {"file": "%2eenv"}, '{"file":".env', '".env"', {"file": "%73ecrets/a"}),
    ],
)
def test_the_research_agent_reads_no_secrets(args: Any) -> None:
    assert ran("examples/chatmd/research/moderator.chatml", "read_file", args) == []
    assert len(ran("examples/chatmd/research/moderator.chatml", "read_file", {"file": "citing.md"})) == 1


# Secrets

KEY = "sk-abcdefghijklmnop"
PACKAGES = [
    *(f"my key is {KEY}", f"OPENAI_API_KEY={KEY}", f'"{KEY}"', f"'{KEY}'", f"\t{KEY}", f"a\n{KEY}\nb", f"<{KEY}>"),
    *(f"({KEY})", f"{KEY},", f"x{KEY}", f'{{"token":"{KEY}"}}', f'{{"t":"a\\n{KEY}"}}', f"token:{KEY};", f"{KEY}{KEY}"),
    *(KEY.upper(), f"\u00a0{KEY}", f"é{KEY}"),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_key_reaches_the_model(package: str) -> None:
    """Whoever says it: the user, the model, a tool; now, or in the history that a conversation began with."""
    name = "examples/policies/redaction.chatml"
    model = [[say(package), call("read_file", {"note": package})], [say("Read.")], [say("Bye.")]]
    history = [{"type": "message", "role": "user", "content": package}]
    tools = {"read_file": lambda args: package}
    with ScriptedHost(guard(name), model=model, tools=tools, history=history) as host:
        host.send(package)
        host.send(f"again: {package}")
        assert host.errors == []
        assert len(host.model.requests) == 3
        for request in host.model.requests:
            assert KEY.lower() not in str(request.inputs).lower()
        assert sum(KEY.lower() in str(item).lower() for item in host.history) == 6
        assert len(set(host.state["hidden"])) == len(host.state["hidden"]) == 6


def test_redaction_leaves_other_words_alone() -> None:
    said = "The task-force asks: is sk-short a key? AKIA? 1 + 2 = 3"
    with ScriptedHost(guard("examples/policies/redaction.chatml"), model=[[say("No.")]]) as host:
        host.send(said)
        assert said in str(host.model.requests[0].inputs)
        assert host.state == {"hidden": []}


@pytest.mark.parametrize("text", ["password: x", "PASSWORD=x", '{"Password":"x"}', "the passWord"])
def test_the_agent_hides_passwords(text: str) -> None:
    model = [[call("read_file", {"path": "door.txt"})], [say("Read.")]]
    with ScriptedHost(
        guard("examples/agent/policy.chatml"), model=model, tools={"read_file": lambda args: text}
    ) as host:
        host.send("Read it.")
        assert text not in str(host.model.requests[1].inputs)


# Policies with a memory


def play_calls(name: str, calls: list[Any], *, answers: tuple[str, ...] = ()) -> ScriptedHost:
    tools: dict[str, Any] = {each: lambda args: "done" for each in TOOLS}
    model = [*[[each] for each in calls], [say("I am done.")]]
    host = ScriptedHost(guard(name), model=model, tools=tools, answers=answers)
    host.send("Go on.")
    return host


def test_a_loop_is_seen_through_another_order_of_keys() -> None:
    turned = [call("search", '{"a":1,"b":{"c":2,"d":3}}'), call("search", '{"b":{"d":3.0,"c":2},"a":1}')]
    with play_calls("examples/policies/loop_breaker.chatml", turned * 2) as host:
        assert len(host.calls) == 2
        assert host.outputs[2].startswith("You have made this very call 2 times")


def test_a_loop_begins_anew_when_the_user_speaks() -> None:
    again = [call("search", {"a": 1})]
    with ScriptedHost(
        guard("examples/policies/loop_breaker.chatml"),
        model=[again, again, again, [say("Hm.")], again, [say("Now.")]],
        tools={"search": lambda args: "done"},
    ) as host:
        host.send("Look it up.")
        assert len(host.calls) == 2
        host.send("Keep trying.")
        assert len(host.calls) == 3


def test_the_clock_of_a_task_starts_with_what_the_user_says() -> None:
    with ScriptedHost(
        guard("examples/policies/deadline.chatml"),
        model=[[say("I have begun.")], [say("I have begun anew.")], [say("Nearly done.")]],
        models={"summarise": "half of it"},
    ) as host:
        host.send("Write the report.")
        host.advance(100_000)
        host.send("No, a letter.")
        assert host.state["task"] == 2
        host.advance(100_000)
        assert len(host.model.requests) == 2
        host.advance(20_000)
        assert len(host.model.requests) == 3
        assert "Two minutes are over" in str(host.model.requests[2].inputs)
        host.advance(180_000)
        assert host.end_reason == "out of time; so far: half of it"


def test_the_budget_counts_every_call() -> None:
    costly = [call("render", args) for args in ("{}", "", '{"a', "null", "[]")]
    with play_calls("examples/policies/budget.chatml", costly) as host:
        assert host.state == {"spent": 90, "refused": 3}


@pytest.mark.parametrize("args", [{"path": "a"}, "", '{"path', "null", ["a"]])
def test_a_person_decides_whatever_the_arguments(args: Any) -> None:
    name = "examples/policies/escalation.chatml"
    assert ran(name, "delete_file", args, answers=("no",)) == []
    with play_calls(name, [call("delete_file", args), call("send_mail", args)], answers=("always", "no")) as host:
        assert [tool for tool, _ in host.calls if tool == "send_mail"] == []


@pytest.mark.parametrize(
    "review",
    [
        {"verdict": "Allow"},
        {"verdict": ["allow"]},
        {"verdict": None},
        "allow",
        None,
        {},
        {"verdict": "rewrite"},
        ["allow"],
    ],
)
def test_a_review_that_makes_no_sense_denies(review: Any) -> None:
    with ScriptedHost(
        guard("examples/policies/second_opinion.chatml"),
        model=[[call("delete_file", {"path": "a"})], [say("I may not.")]],
        tools={"delete_file": lambda args: "done"},
        models={"reviewer": review},
    ) as host:
        host.send("Delete it.")
        assert host.calls == []
        assert host.state == {"reviewed": 1, "denied": 1}


def test_every_policy_to_copy_is_attacked_here() -> None:
    told = Path(__file__).read_text(encoding="utf-8")
    for script in [*(EXAMPLES / "policies").glob("*.chatml"), EXAMPLES / "guard.chatml"]:
        assert f"{script.relative_to(ROOT).as_posix()}" in told
