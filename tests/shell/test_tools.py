"""Tools as models meet them: schemas, what is refused, and the words that come of it (shell.md section 12)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmd.shell.tool import ShellTool
from chatmd.sources.paths import HostPaths
from chatml_shell.plans.request import Request
from chatml_shell.tools.inputs import InputError, read_inputs
from chatml_shell.tools.requests import Surroundings, build_request
from chatml_shell.tools.schema import describe, schema
from tests.shell.prompts import load, runtime

HOSTS = HostPaths(workspace="/w", prompt_dir="/p", tool_dir="/t")
AROUND = Surroundings({"TOKEN": "s3cret"}, HOSTS.resolve)


def tool(text: str) -> ShellTool:
    """The one shell tool of a document."""
    (found,) = load(runtime() + text).tools
    assert isinstance(found, ShellTool)
    return found


def called(text: str, **given: Any) -> Request:
    """The request of a call."""
    declared = tool(text)
    return build_request(declared, read_inputs(declared, json.dumps(given), 10), AROUND)


def argv(request: Request) -> tuple[str, ...]:
    """The words of a request of one command."""
    assert request.chain.single is not None
    return request.chain.single.argv


def refused(text: str, arguments_json: str) -> str:
    """Why a call is refused."""
    declared = tool(text)
    with pytest.raises(InputError) as raised:
        build_request(declared, read_inputs(declared, arguments_json, 10), AROUND)
    return raised.value.code


FIXED = '<tool name="t" runtime="r" command="/bin/echo"/>'
STRUCTURED = '<tool name="t" mode="structured" runtime="r" rationale="none"/>'
CHAIN = '<tool name="t" mode="chain" runtime="r"/>'
RAW = '<tool name="t" mode="raw" runtime="r" executable="/bin/sh" stdin="required"/>'
SCRIPT = '<tool name="t" mode="script" runtime="r" script="run.py" interpreter="/bin/py" fixed_arguments=\'["-I"]\'/>'


def test_s_016_schemas() -> None:
    """S-016: what must be there, in each mode."""
    assert set(schema(tool(STRUCTURED))["required"]) == {"program", "arguments"}
    none = '<tool name="t" type="shell" runtime="r"><command program="ls"/><arguments mode="none"/></tool>'
    assert schema(tool(none))["properties"] == {}
    raw = schema(tool(RAW))
    assert set(raw["properties"]) == {"script", "stdin", "rationale"}
    assert set(raw["required"]) == {"script", "stdin"}
    assert raw["additionalProperties"] is False


def test_s_017_fields() -> None:
    """S-017: literal words, and fields that do not belong."""
    assert argv(called(FIXED, arguments=["a; rm -rf /", "$(id)"])) == ("/bin/echo", "a; rm -rf /", "$(id)")
    assert refused(FIXED, '{"script": "x"}') == "shell.tool_field_forbidden"
    assert refused(FIXED, '{"zzz": 1}') == "shell.tool_unknown_input"
    assert refused(FIXED, "[]") == "shell.tool_invalid_input"


BOUNDED = (
    '<tool name="t" type="shell" runtime="r"><command program="ls"/>'
    '<arguments mode="required" min_count="1" max_count="2" max_item_bytes="3"/></tool>'
)


def test_s_018_bounds() -> None:
    """S-018: too few, too many, and bytes of UTF-8."""
    assert refused(BOUNDED, '{"arguments": []}') == "shell.tool_too_few_arguments"
    assert refused(BOUNDED, '{"arguments": ["a", "b", "c"]}') == "shell.tool_too_many_arguments"
    assert refused(BOUNDED, '{"arguments": ["éé"]}') == "shell.tool_argument_too_large"
    assert argv(called(BOUNDED, arguments=["é"])) == ("ls", "é")


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        (FIXED, "{", "tool_invalid_input"),
        (FIXED, '{"arguments": "x"}', "tool_invalid_input"),
        (FIXED, '{"arguments": [1]}', "tool_invalid_input"),
        (FIXED, '{"arguments": ["\\ud800"]}', "tool_invalid_input"),
        (FIXED, '{"arguments": ["a\\u0000"]}', "tool_invalid_input"),
        (FIXED, "[" * 100_000, "tool_invalid_input"),
        (FIXED, '{"arguments": [], "arguments": ["x"]}', "tool_duplicate_input"),
        (FIXED, '{"stdin": "x"}', "tool_stdin_forbidden"),
        (FIXED, '{"rationale": "x"}', "tool_rationale_forbidden"),
        (FIXED.replace("/bin/echo", "a | b"), "{}", "tool_invalid_fixed_command"),
        (FIXED.replace("/bin/echo", "a &gt; b"), "{}", "tool_invalid_fixed_command"),
        (STRUCTURED, '{"arguments": []}', "tool_program_required"),
        (STRUCTURED, '{"program": "x"}', "tool_arguments_required"),
        (STRUCTURED, '{"program": "", "arguments": []}', "tool_invalid_input"),
        (STRUCTURED, '{"program": "x", "arguments": [], "command": "y"}', "tool_field_forbidden"),
        (CHAIN, "{}", "tool_command_required"),
        (CHAIN, '{"command": "a > b"}', "tool_chain_parse"),
        (CHAIN, '{"command": "\'\' a"}', "tool_invalid_input"),
        (CHAIN, '{"command": "a", "arguments": []}', "tool_field_forbidden"),
        (RAW, '{"stdin": "x"}', "tool_script_required"),
        (RAW, '{"script": "x"}', "tool_stdin_required"),
        (RAW, '{"script": "x", "stdin": ""}', "tool_stdin_required"),
        (RAW, '{"script": "x", "stdin": "01234567890"}', "tool_stdin_too_large"),
        (RAW, '{"script": "x", "stdin": "x", "arguments": []}', "tool_field_forbidden"),
        (STRUCTURED.replace("none", "required"), '{"program": "x", "arguments": []}', "tool_rationale_required"),
    ],
)
def test_what_is_refused(text: str, arguments: str, code: str) -> None:
    assert refused(text, arguments) == f"shell.{code}"


def test_the_words_of_each_mode() -> None:
    assert argv(called(STRUCTURED, program="git", arguments=["log", "*"])) == ("git", "log", "*")
    raw = called(RAW, script="echo $HOME", stdin="in")
    assert (argv(raw), raw.kind, raw.stdin) == (("/bin/sh", "-c", "echo $HOME"), "raw_shell", b"in")
    script = called(SCRIPT, arguments=["a"])
    assert (argv(script), script.kind) == (("/bin/py", "-I", "/p/run.py", "a"), "script_file")
    itself = '<tool name="t" mode="script" runtime="r" script="run.py" fixed_arguments=\'["-I"]\'/>'
    assert argv(called(itself, arguments=["a"])) == ("/p/run.py", "-I", "a")
    alias = '<tool name="t" runtime="r" executable_ref="rg"/>'
    assert argv(called(alias, arguments=["x"])) == ("rg", "x")


def test_declared_words_and_their_secrets() -> None:
    text = (
        '<tool name="t" type="shell" runtime="r"><command program="curl"><arg value="-s"/>'
        '<secret_arg env="TOKEN" prefix="--key="/><path_arg base="workspace" path="a"/></command></tool>'
    )
    request = called(text, arguments=["x"])
    assert argv(request) == ("curl", "-s", "--key=s3cret", "/w/a", "x")
    assert request.secrets == ("s3cret",)
    assert "s3cret" not in repr(request)
    assert refused(text.replace("TOKEN", "NONE"), "{}") == "shell.tool_secret_missing"


def test_empty_arguments_are_an_empty_object() -> None:
    declared = tool(FIXED)
    assert read_inputs(declared, "", 10) == read_inputs(declared, "{}", 10)


def test_descriptions_say_what_runs_and_end_with_the_guidance() -> None:
    for text in (FIXED, STRUCTURED, CHAIN, RAW, SCRIPT):
        said = describe(tool(text.replace('name="t"', 'name="t" description=" Use it well. "')))
        assert said.endswith("\n\nAdditional tool guidance: Use it well.")
        assert "policy, approvals, sandbox, limits" in said
    assert "`/bin/echo`" in describe(tool(FIXED))


@given(st.text(max_size=60))
def test_every_text_is_a_call_or_an_input_error(text: str) -> None:
    """Whatever a model writes becomes fields or an `InputError`, never another exception."""
    for declared in DECLARED:
        try:
            read = read_inputs(declared, text, 10)
        except InputError:
            continue
        assert not read.stdin or declared.stdin != "none"


DECLARED = [tool(text) for text in (FIXED, STRUCTURED, CHAIN, RAW, SCRIPT)]
