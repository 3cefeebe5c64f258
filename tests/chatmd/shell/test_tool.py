"""Shell tools: the cases S-005 and S-006, the checks in their order, what the modes say."""

from __future__ import annotations

import pytest

from chatmd import describe, shell_tools
from chatmd.elements.tool import Command
from chatmd.shell.tool import Arguments, CommandLine, Fixed, PathWord, Raw, ScriptFile, SecretWord, Word
from tests.chatmd.documents import finding, load
from tests.chatmd.shell.declarations import EVERYTHING, fault, tool

NAMED = '<tool name="t" runtime="r" {}/>'
LONG = '<tool name="t" type="shell" runtime="r">{}</tool>'


@pytest.mark.parametrize(
    ("text", "code", "path", "pointed"),
    [
        (NAMED.format('mode="structured" command="x"'), "shell.tool_mode_attribute", "tool.command", "command"),
        (
            '<tool name="t" type="shell" runtime="r" mode="chain"><command program="a"/></tool>',
            "shell.tool_mode_child",
            "tool",
            '<command program="a"/>',
        ),
        (NAMED.format('mode="x"'), "shell.tool_invalid_mode", "tool.mode", "x"),
        (NAMED.format('type="y"'), "shell.tool_invalid_type", "tool.type", "y"),
        (
            NAMED.format('executable_ref="a" command="b"'),
            "shell.tool_conflicting_command",
            "tool",
            "command",
        ),
        (
            NAMED.format('mode="raw"'),
            "shell.tool_missing_attribute",
            "tool.executable",
            '<tool name="t" runtime="r" mode="raw"/>',
        ),
    ],
)
def test_s_005(text: str, code: str, path: str, pointed: str) -> None:
    assert fault(text) == (code, path, pointed)


def test_s_006_a_compact_command() -> None:
    found = tool('<tool name="t" runtime="r" command="rg --json"/>')
    assert found.mode == Fixed(command="rg --json")
    assert found.mode.arguments == Arguments(mode="optional")
    assert (found.rationale, found.stdin, found.result, found.nonzero) == ("none", "none", "combined", "result")


def test_s_006_a_legacy_command() -> None:
    document = load('<tool name="t" command="rg" description=" find "/>')
    (declared,) = document.tools
    assert isinstance(declared, Command)
    (found,) = shell_tools(document)
    assert (found.name, found.runtime, found.description) == ("t", "legacy:custom", "find")
    assert (found.mode, found.rationale) == (Fixed(command="rg"), "optional")
    assert found.span == declared.span


@pytest.mark.parametrize(
    ("text", "code", "path", "pointed"),
    [
        ('<tool name="t" type="shell" runtime="r" type="shell"/>', "shell.duplicate_attribute", "tool", "type"),
        (NAMED.format('cmd="x"'), "shell.unknown_attribute", "tool", "cmd"),
        (NAMED.format("command"), "shell.attribute_value_required", "tool.command", "command"),
        (LONG.format("rg"), "shell.unexpected_text", "tool", "rg"),
        (LONG.format('<arg value="x"/>'), "shell.unknown_element", "tool", '<arg value="x"/>'),
        (LONG.format("<command/>"), "shell.tool_missing_command", "tool.command", "<command/>"),
        (
            LONG.format('<command program=""/>'),
            "shell.tool_missing_command",
            "tool.command",
            '<command program=""/>',
        ),
        (
            LONG.format('<command program="a" executable_ref="b"/>'),
            "shell.tool_conflicting_command",
            "tool.command",
            "executable_ref",
        ),
        (
            LONG.format('<command program="a"/><command program="b"/>'),
            "shell.duplicate_section",
            "tool.command",
            '<command program="b"/>',
        ),
        (LONG.format("<arguments/>"), "shell.missing_attribute", "tool.arguments.mode", "<arguments/>"),
        (LONG.format('<arguments mode="some"/>'), "shell.invalid_attribute", "tool.arguments.mode", "some"),
        (
            LONG.format('<arguments mode="none" max_count="x"/>'),
            "shell.invalid_integer",
            "tool.arguments.max_count",
            "x",
        ),
        (
            LONG.format('<command program="a"><arg/></command>'),
            "shell.missing_attribute",
            "command.arg.value",
            "<arg/>",
        ),
        (
            LONG.format('<command program="a"><secret_arg env="A=B"/></command>'),
            "shell.invalid_env_name",
            "command.secret_arg.env",
            "A=B",
        ),
        (
            LONG.format('<command program="a"><path_arg path="x" base="wrkspace"/></command>'),
            "shell.invalid_path",
            "command.path_arg.base",
            "wrkspace",
        ),
        (
            LONG.format('<command program="a"><path_arg base="workspace"/></command>'),
            "shell.missing_attribute",
            "command.path_arg.path",
            '<path_arg base="workspace"/>',
        ),
        (LONG.format('<arguments mode="none"/>'), "shell.tool_missing_command", "tool", LONG.partition("{")[0]),
        (NAMED.format(""), "shell.tool_missing_command", "tool", NAMED.format("")),
        (NAMED.format('command=" "'), "shell.tool_missing_command", "tool", " "),
        (NAMED.format('executable_ref=""'), "shell.tool_missing_command", "tool", ""),
        (
            '<tool name="t" type="shell" runtime="r" command="a"><command program="b"/></tool>',
            "shell.tool_conflicting_command",
            "tool",
            '<command program="b"/>',
        ),
        ('<tool type="shell" runtime="r" mode="chain"/>', "shell.tool_missing_attribute", "tool.name", None),
        (
            '<tool name=" " runtime="r" mode="chain"/>',
            "shell.tool_missing_attribute",
            "tool.name",
            " ",
        ),
        ('<tool name="t" type="shell" mode="chain"/>', "shell.tool_missing_attribute", "tool.runtime", None),
        ('<tool name="t" runtime="" mode="chain"/>', "shell.tool_missing_attribute", "tool.runtime", ""),
        (NAMED.format('mode="script"'), "shell.tool_missing_attribute", "tool.script", None),
        (NAMED.format('mode="chain" stdin="maybe"'), "shell.tool_invalid_attribute", "tool.stdin", "maybe"),
        (
            NAMED.format('mode="raw" executable="sh" arguments_before_script="-c"'),
            "shell.tool_invalid_attribute",
            "tool.arguments_before_script",
            "-c",
        ),
        (
            NAMED.format('mode="script" script="s" max_source_bytes="0"'),
            "shell.tool_invalid_attribute",
            "tool.max_source_bytes",
            "0",
        ),
        (
            NAMED.format('mode="script" script="s" executable="yes"'),
            "shell.tool_invalid_attribute",
            "tool.executable",
            "yes",
        ),
        (
            NAMED.format('mode="script" script="s" verification="md5"'),
            "shell.tool_invalid_attribute",
            "tool.verification",
            "md5",
        ),
        (NAMED.format('mode="raw" executable="${x}"'), "shell.tool_invalid_path", "tool.executable", "${x}"),
        (NAMED.format('mode="script" script="a" interpreter=""'), "shell.tool_invalid_path", "tool.interpreter", ""),
        (
            NAMED.format('mode="script" script="a" interpreter="b" executable="true"'),
            "shell.tool_conflicting_script",
            "tool.executable",
            "true",
        ),
    ],
)
def test_every_finding_has_its_path_and_place(text: str, code: str, path: str, pointed: str | None) -> None:
    assert fault(text) == (code, path, text if pointed is None else pointed)


CHECKS = [
    ('unknown="1"', "shell.unknown_attribute"),
    ("", "shell.unexpected_text"),
    ('type="other"', "shell.tool_invalid_type"),
    ('mode="other"', "shell.tool_invalid_mode"),
    ('script="s"', "shell.tool_mode_attribute"),
    ('result="other"', "shell.tool_invalid_attribute"),
    ('runtime=""', "shell.tool_missing_attribute"),
    ("", "shell.tool_missing_command"),
]
"""What is wrong with a tool, in the order of section 6.3."""


@pytest.mark.parametrize("first", range(len(CHECKS)))
def test_the_checks_have_an_order(first: int) -> None:
    wrong = [attribute for attribute, _ in CHECKS[first:] if attribute]
    runtime = [] if any("runtime" in one for one in wrong) else ['runtime="r"']
    inside = "text" if first <= 1 else ""
    text = f'<tool name="t" {" ".join([*reversed(wrong), *runtime])}>{inside}</tool>'
    assert finding(text).code == CHECKS[first][1]


def test_elements_inside_of_a_tool_need_its_type() -> None:
    found = finding('<tool name="x" runtime="r"><command program="rg"/></tool>')
    assert found.code == "shell.unexpected_text"
    assert found.help == 'write `type="shell"`: only then `<command>` is read as an element'


def test_modes_have_defaults() -> None:
    raw = tool(NAMED.format('mode="raw" executable="/bin/sh"'))
    assert isinstance(raw.mode, Raw)
    assert (raw.mode.arguments_before_script, raw.rationale) == (("-c",), "optional")
    script = tool(NAMED.format('mode="script" script="s"'))
    assert isinstance(script.mode, ScriptFile)
    assert (script.mode.executable, script.mode.interpreter, script.mode.fixed_arguments) == (True, None, ())
    assert (script.mode.verification, script.mode.max_source_bytes) == ("sha256", 1_048_576)
    interpreted = tool(NAMED.format('mode="script" script="s" interpreter="/bin/sh"'))
    assert isinstance(interpreted.mode, ScriptFile)
    assert interpreted.mode.executable is False


def test_words_of_a_command_keep_their_order() -> None:
    found = tool(
        LONG.format(
            '<command program="git"><path_arg path="a"/><arg value="log"/><secret_arg env="T"/>'
            '<path_arg path="${home}/x" base="workspace"/><path_arg path="/a" base="workspace"/></command>'
        )
    )
    assert isinstance(found.mode, Fixed)
    assert isinstance(found.mode.line, CommandLine)
    kinds = [type(word) for word in found.mode.line.words]
    assert kinds == [PathWord, Word, SecretWord, PathWord, PathWord]
    paths = [word.path.canonical for word in found.mode.line.words if isinstance(word, PathWord)]
    assert paths == ["${source_dir}/a", "${workspace}/${home}/x", "${workspace}//a"]


@pytest.mark.parametrize("text", ["[" * 100_000, '["\\ud800"]', "[1]", '{"a": 1}', "[1e999999]", "['a']", "[NaN]", ""])
def test_lists_are_json_arrays_of_strings(text: str) -> None:
    quoted = text.replace('"', "&quot;")
    found = finding(NAMED.format(f'mode="raw" executable="sh" arguments_before_script="{quoted}"'))
    assert found.code == "shell.tool_invalid_attribute"


def test_tools_are_described() -> None:
    kinds = [tool["kind"] for tool in describe(load(EVERYTHING))["tools"]]
    assert kinds[0] == "shell tool of mode fixed in runtime `base`"
    assert [kind.split()[4] for kind in kinds] == ["fixed"] * 4 + ["structured", "chain", "raw", "raw"] + ["script"] * 2
