"""Tool declarations: the cases M-045 to M-050, the registry, and calls of `read_file`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chatmd import HostPaths, ReadFileTool, check_tools, declared_tools, open_read_file
from chatmd.elements.read_file import ReadFile, ReadRoot
from chatmd.elements.tool import AgentTool, Builtin, Command, McpTool
from chatmd.request.read_file import LINES_BUDGET
from chatmd.request.tools import agent_schema, schema
from chatmd.sources.paths import parse_path
from tests.chatmd.documents import finding, findings, load, place, write


def tool(text: str) -> object:
    (element,) = load(text).elements
    return element


@pytest.mark.parametrize(
    ("attributes", "code", "at"),
    [
        ('name="x" command="a" agent="b"', "tool_conflicting_attributes", "agent"),
        ('name="x" mcp_server command="b"', "tool_conflicting_attributes", "command"),
        ('name=" " command="ls"', "tool_empty_name", " "),
        ('command="ls"', "tool_empty_name", '<tool command="ls"/>'),
        ('name=""', "tool_empty_name", ""),
        ('name="x" command=" "', "tool_empty_command", " "),
        ('name="x" agent', "tool_empty_agent", "agent"),
        ('mcp_server="" ', "tool_empty_mcp_server", ""),
        ('mcp_server="s" include=" , ,"', "tool_empty_selector", " , ,"),
    ],
)
def test_m_045_a_declaration_is_complete(attributes: str, code: str, at: str) -> None:
    diagnostic = finding(f"<tool {attributes}/>")
    assert diagnostic.code == f"chatmd.{code}"
    assert place(diagnostic)[2] == at


def test_m_046_a_selector_names_tools() -> None:
    assert tool('<tool mcp_server="stdio:s" includes="a, b,,c"/>') == McpTool("stdio:s", ("a", "b", "c"))
    assert tool('<tool mcp_server="stdio:s" includes="a" include="z"/>') == McpTool("stdio:s", ("z",))
    assert tool('<tool mcp_server="s" includes="a" include="z" name="n"/>') == McpTool("s", ("n",))
    assert tool('<tool mcp_server="s" include=" " name=" "/>') == McpTool("s", None)
    assert tool('<tool mcp_server=" s " strict="no" client_id_env="I" client_secret_env="S"/>') == McpTool(
        "s", None, None, True, "I", "S"
    )


def test_the_other_shapes() -> None:
    assert tool('<tool name=" a " command=" ls -l " description=" d "/>') == Command("a", "ls -l", "d")
    assert tool('<tool name="a" agent="p.chatmd" local description=" "/>') == AgentTool("a", "p.chatmd", None, True)


def test_m_047_the_old_name_is_the_same_tool() -> None:
    declared = tool('<tool name="get_contents"/>')
    assert isinstance(declared, ReadFile)
    assert declared == tool('<tool name="read_file"/>')
    (root,) = declared.roots
    assert (root.id, root.path.canonical, declared.name) == ("cwd", "${tool_dir}", "read_file")


def roots(inside: str, attributes: str = 'name="read_file"') -> str:
    return f"<tool {attributes}>{inside}</tool>"


def test_m_048_roots_are_path_expressions(tmp_path: Path) -> None:
    declared = tool(roots('\n<read id="s" path="lib" description=" l "/><read id="d" path="${workspace}/docs"/>'))
    assert isinstance(declared, ReadFile)
    assert [root.path.canonical for root in declared.roots] == ["${tool_dir}/lib", "${workspace}/docs"]
    assert declared.roots[0].description == "l"
    (tmp_path / "lib").mkdir()
    (tmp_path / "docs").mkdir()
    hosts = HostPaths(tool_dir=str(tmp_path), workspace=str(tmp_path))
    offered = schema(declared, hosts)
    assert offered is not None
    assert offered["name"] == "read_file"
    assert offered["parameters"]["properties"]["root"]["enum"] == ["s", "d"]
    assert offered["parameters"]["additionalProperties"] is False
    assert offered["parameters"]["required"] == ["file"]
    assert f"- s ({tmp_path}/lib): l" in offered["description"]


@pytest.mark.parametrize(
    ("text", "code", "path", "at"),
    [
        (
            roots('<read id="d" path="a"/><read id=" d " path="b"/>'),
            "read_file.duplicate_root",
            "tool.read",
            " d ",
        ),
        (roots('<read id="a" path="${nope}/x"/>'), "read_file.invalid_path", "tool.read.0.path", "${nope}/x"),
        (roots('<read id="a" path="${home}x"/>'), "read_file.invalid_path", "tool.read.0.path", "${home}x"),
        (
            roots('<read id="b" path="b"/><read id=" " path="a"/>'),
            "read_file.invalid_root_id",
            "tool.read.1.id",
            " ",
        ),
        (roots('<read id="a"/>'), "shell.missing_attribute", "tool.read.0.path", '<read id="a"/>'),
        (roots('<read id="" path="a"/>'), "shell.missing_attribute", "tool.read.0.id", ""),
        (roots('<read id="a" path="b" x="1"/>'), "shell.unknown_attribute", "tool.read.0", "x"),
        (roots("", 'name="read_file" local'), "shell.unknown_attribute", "tool", "local"),
        (
            roots("", 'name="read_file" description="a" description="b"'),
            "shell.duplicate_attribute",
            "tool",
            "description",
        ),
        (
            roots("", 'name="read_file" description'),
            "shell.attribute_value_required",
            "tool.description",
            "description",
        ),
        (roots("", 'name=" read_file"'), "read_file.invalid_name", "tool.name", " read_file"),
        (roots("<write/>"), "read_file.unexpected_child", "tool", "<write/>"),
        (roots("<user/>"), "read_file.unexpected_child", "tool", "<user/>"),
        (roots(" x"), "read_file.unexpected_text", "tool", " x"),
        (roots("<b>"), "read_file.unexpected_text", "tool", "<b>"),
        (roots('<import src="q"/>'), "read_file.unexpected_text", "tool", '<import src="q"/>'),
        (
            roots('<read id="a" path="b"><read/></read>'),
            "read_file.unexpected_child",
            "tool.read.0",
            "<read/>",
        ),
        (roots('<read id="a" path="b">x</read>'), "read_file.unexpected_text", "tool.read.0", "x"),
    ],
)
def test_m_048_the_declaration_is_strict(text: str, code: str, path: str, at: str) -> None:
    diagnostic = finding(text)
    assert (diagnostic.code, ".".join(diagnostic.path)) == (code, path)
    assert place(diagnostic)[2] == at
    assert f"[{path}]" in str(diagnostic)


@pytest.fixture
def reader(tmp_path: Path) -> ReadFileTool:
    """A tool with root `p`, the launch directory, which holds files and links that lead out of it."""
    inside = write(tmp_path / "p", in_txt="one line\n", sub__two_txt="a\nb\nc")
    write(tmp_path / "o", x_txt="secret")
    (tmp_path / "o" / "x").write_text("secret")
    (inside / "esc").symlink_to(tmp_path / "o")
    (inside / "good").symlink_to("in.txt")
    (inside / "bin").write_bytes(b"\x7fELF\0\0")
    (inside / "noise").write_bytes(bytes(range(128, 256)) * 4)
    os.mkfifo(inside / "pipe")
    declaration = ReadFile((ReadRoot("p", parse_path("${tool_dir}", "tool_dir")),))
    return open_read_file(declaration, HostPaths(tool_dir=str(inside)))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"file": "../o/x"}, "outside the configured read roots"),
        ({"root": "p", "file": "esc/x"}, "outside the configured read roots"),
        ({"file": "/etc/hostname"}, "outside the configured read roots"),
        ({"file": "gone/../../o/x"}, "outside the configured read roots"),
        ({"root": "p", "file": "."}, "refusing non-regular file"),
        ({"file": "pipe"}, "refusing non-regular file"),
        ({"root": "p", "file": "/in.txt"}, "absolute"),
        ({"file": "in.txt", "offset": -1}, "offset"),
        ({"file": "in.txt", "line_count": True}, "line_count"),
        ({"file": "in.txt", "line_count": "1"}, "line_count"),
        ({"file": ""}, "file"),
        ({}, "file"),
        ({"file": 3}, "file"),
        ({"file": "a\0b"}, "NUL"),
        ({"root": "q", "file": "in.txt"}, "unknown root"),
        ({"file": "gone.txt"}, "no such file"),
        ({"file": "in.txt/x"}, "no such file"),
        ({"file": "bin"}, "text file"),
        ({"file": "noise"}, "text file"),
    ],
)
def test_m_049_calls_are_refused(arguments: dict[str, object], why: str, reader: ReadFileTool) -> None:
    answer = reader.call(arguments)
    assert answer.startswith("error running read_file: ")
    assert why in answer


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"file": "in.txt"}, "in.txt:1-1:\n[total_lines=1]\none line"),
        ({"path": "good"}, "good:1-1:\n[total_lines=1]\none line"),
        ({"root": "p", "file": "sub/../sub/two.txt", "offset": 1}, "sub/../sub/two.txt:2-3:\n[total_lines=3]\nb\nc"),
        ({"file": "sub/two.txt", "offset": 1, "line_count": 1}, "sub/two.txt:2-2:\n[total_lines=3]\nb"),
        ({"file": "sub/two.txt", "offset": 9}, "sub/two.txt:10-10:\n[total_lines=3]"),
        ({"file": "sub/two.txt", "line_count": 0}, "sub/two.txt:1-1:\n[total_lines=3]"),
    ],
)
def test_m_049_calls_are_answered(arguments: dict[str, object], answer: str, reader: ReadFileTool) -> None:
    assert reader.call(arguments) == answer


def test_what_a_call_returns_is_bounded(reader: ReadFileTool) -> None:
    line = "x" * 999
    (Path(reader.launch_dir) / "long.txt").write_text(f"{line}\n" * 500)
    answer = reader.call({"file": "long.txt"})
    header, _, *lines = answer.split("\n")
    shown = lines.index("")
    assert header == f"long.txt:1-{shown}:"
    assert LINES_BUDGET - 1000 < len("\n".join(lines[:shown])) <= LINES_BUDGET
    assert lines[shown:] == ["", "---", f"[File truncated: {500 - shown} more lines not shown]"]


def test_roots_must_exist(tmp_path: Path) -> None:
    write(tmp_path, file_txt="x")
    declared = tool(roots('<read id="a" path="gone"/><read id="b" path="file.txt"/><read id="c" path="${home}"/>'))
    assert isinstance(declared, ReadFile)
    found = findings(lambda: open_read_file(declared, HostPaths(tool_dir=str(tmp_path))))
    assert [(one.code, one.path[2]) for one in found] == [
        ("shell.directory_unavailable", "0"),
        ("shell.directory_unavailable", "1"),
        ("shell.directory_unavailable", "2"),
    ]


def test_m_050_builtins_are_checked_by_the_registry() -> None:
    assert tool('<tool name="apply_patch">junk</tool>') == Builtin("apply_patch")
    document = load('<tool name="apply_pacth"/>')
    (diagnostic,) = check_tools(document)
    assert (diagnostic.code, diagnostic.help) == ("tool.unknown_builtin", "did you mean `apply_patch`?")


def test_exposed_names_are_unique() -> None:
    document = load(
        '<tool name="read_dir"/><tool name="read_directory" command="ls"/>'
        '<tool mcp_server="s" includes="a,b"/><tool name="b" agent="x"/>'
        '<tool name="read_file"/><tool name="get_contents"/><tool mcp_server="s"/>'
        '<tool name="sh" type="shell" mode="chain" runtime="r"/>'
    )
    names = [one.names for one in declared_tools(document)]
    assert names == [
        ("read_directory",),
        ("read_directory",),
        ("a", "b"),
        ("b",),
        ("read_file",),
        ("read_file",),
        (),
        ("sh",),
    ]
    found = check_tools(document)
    assert [(one.code, one.data["name"]) for one in found] == [
        ("agent.duplicate_tool_name", name) for name in ("read_directory", "b", "read_file")
    ]


def test_an_agent_tool_takes_one_text() -> None:
    offered = agent_schema(AgentTool("ask", "a.chatmd", "Ask me"))
    assert offered["description"] == "Ask me"
    assert offered["parameters"]["required"] == ["input"]
    assert offered["parameters"]["additionalProperties"] is False
