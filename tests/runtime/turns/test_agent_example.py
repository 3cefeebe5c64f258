"""The agent of `examples/agent`: a session in the terminal, and the client for a real model."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

from chatml_runtime.moderation.vocabulary import ToolDesc
from chatml_runtime.testing import call, say
from tests.house import ROOT, environment
from tests.runtime.turns.runs import Talk

AGENT = ROOT / "examples/agent"


def play(lines: str) -> str:
    finished = subprocess.run(
        [sys.executable, str(AGENT / "agent.py")],
        env=environment(),
        input=lines,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return finished.stdout


def test_a_session_in_the_terminal(update: bool) -> None:
    played = play((AGENT / "session.txt").read_text(encoding="utf-8"))
    expectation = AGENT / "session.out"
    if update:
        expectation.write_text(played, encoding="utf-8")
    assert played == expectation.read_text(encoding="utf-8")


def test_the_input_may_end_in_the_middle_of_a_question() -> None:
    assert play("Read private/diary.txt\n").endswith("Allow it? (yes/no/always)\n> ")


def test_always_is_remembered_and_the_eleventh_call_ends_the_conversation() -> None:
    played = play("private/diary.txt\nalways\n" + "private/diary.txt\n" * 12)
    assert played.count("Allow it?") == 1
    assert played.count("calls read_file") == 11
    assert "* Session ended by moderator: a conversation may call tools ten times\n" in played
    assert played.endswith('  calls read_file {"path": "private/diary.txt"}\n')  # recorded, not carried out


def test_tools_are_confined() -> None:
    played = play("read ../README.md\ncalculate 1/0\n")
    assert "Only files of the workspace" in played
    assert "ivision by zero" in played


def test_the_client_for_a_real_model() -> None:
    """With a stand-in for the package's client: what is sent, and that finished items are passed on."""
    spec = importlib.util.spec_from_file_location("responses_client", AGENT / "responses_client.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sent: list[Any] = []
    responses = [[call("look", {}, "c1")], [say("done")]]

    class Item:
        def __init__(self, item: Any) -> None:
            self.item = item

        def model_dump(self, *, exclude_none: bool) -> Any:
            return self.item

    async def stream(items: list[Any]) -> Any:
        yield SimpleNamespace(type="response.created")
        for item in items:
            yield SimpleNamespace(type="response.output_item.done", item=Item(item))

    async def create(**request: Any) -> Any:
        sent.append(request)
        return stream(responses[len(sent) - 1])

    client = module.ResponsesClient(SimpleNamespace(responses=SimpleNamespace(create=create)), "some-model")
    talk = Talk(
        None, client, {"look": lambda args: "seen"}, tools_told=[ToolDesc("look", "Looks.", {"type": "object"})]
    )
    talk.run()
    assert talk.kinds == ["user", "call", "output", "assistant"]
    assert sent[1]["input"] == talk.items[:3]
    assert sent[0]["tools"] == [
        {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}}
    ]
    assert (sent[0]["model"], sent[0]["stream"]) == ("some-model", True)
