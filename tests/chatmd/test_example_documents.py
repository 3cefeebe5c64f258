"""The example documents: they load without a finding, read back equal, and convert to what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatml
from chatmd import Context, check_tools, describe, dumps, load_file, show, to_input_items
from tests.chatmd.documents import load
from tests.house import ROOT

EXAMPLES = ROOT / "examples" / "chatmd"
DOCUMENTS = sorted(path for path in EXAMPLES.rglob("*.chatmd") if path.is_file() and path.name != "tools.chatmd")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_an_example_loads_and_reads_back(path: Path) -> None:
    document = load_file(path, environment={})
    assert document.warnings == ()
    assert check_tools(document) == []
    assert load(dumps(document), path.parent) == document
    for script in document.scripts:
        assert chatml.check(script.text, surface=chatml.MODERATOR) == ()


def test_both_persistence_modes_say_the_same() -> None:
    transcripts = EXAMPLES / "transcripts"
    ctx = Context(dir=str(transcripts), cwd="/")
    inline, external = (
        to_input_items(load_file(transcripts / f"{name}.chatmd", environment={}), ctx)
        for name in ("inline", "external")
    )
    assert inline == external
    assert [item["type"] for item in inline] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]


def test_the_research_agent_is_described() -> None:
    document = load_file(EXAMPLES / "research" / "agent.chatmd", environment={})
    description = describe(document)
    system, developer, user = (item["content"] for item in description["items"])
    assert "marked <unsourced>" in system[0]["text"]
    assert developer[0]["text"].strip().startswith("Never repeat")
    assert user[1]["text"] == (
        "Fruit\nApples & pears are\npome\nfruit.\nApples keep for months.\nPears ripen from the inside."
    )
    assert description["config"] == {
        "model": "gpt-5",
        "reasoning": {"effort": "medium", "summary": "detailed"},
    }
    (root,) = description["roots"]
    assert root["directory"] == str(EXAMPLES / "research" / "policies")
    (script,) = description["scripts"]
    assert (script["id"], script["kind"], script["src"]) == ("research", "moderator", "moderator.chatml")
    assert description["findings"] == []
    text = show(description)
    assert "0. system: \\nYou are a careful" in text
    assert "notes: ${source_dir}/policies" in text
    assert "search, fetch of https://search.example.com/mcp" in text


def test_what_keeps_a_tool_from_being_offered_is_described() -> None:
    document = load('<tool name="nope"/><tool name="read_file"><read id="a" path="gone"/></tool><doc src="x"/>')
    description = describe(document)
    assert [finding["code"] for finding in description["findings"]] == [
        "chatmd.ignored_top_level",
        "tool.unknown_builtin",
        "shell.directory_unavailable",
    ]
    assert [tool["schema"] for tool in description["tools"]] == [None, None]
    assert description["findings"][2]["path"] == ["tool", "read", "0", "path"]
