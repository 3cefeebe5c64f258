"""Serialising: the cases M-058, M-062, M-063, and one document of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatmd import dumps, parse_tree
from chatmd.elements.message import Message
from chatmd.text import markup
from chatmd.text.tree import Element
from tests.chatmd.documents import finding, findings, load, write

EVERYTHING = """
<config model="m" max_tokens="+1_0" temperature="1e-7" reasoning_effort="low" id="c" show_tool_call="no"/>
<tool name="apply_patch"/>
<tool name="get_contents" description="d"><read id="a" path="x y"/><read id="b" path="${home}" description="h"/></tool>
<tool name="rg" command="rg -n" description="&quot;find&quot;"/>
<tool name="ask" agent="a.chatmd" local/>
<tool mcp_server="stdio:s" includes="a,b" strict client_id_env="I" client_secret_env=""/>
<tool mcp_server="s" name="n"/>
<tool mcp_server="s"/>
<tool name="sh" type="shell" runtime="r"><command program="a"><arg value="1 &lt; 2"/></command></tool>
<shell_access id="s"> <limits wall_time="2s"/> </shell_access>
<script language="chatml" kind="moderator" fuel="7" wall_time="1ms" max_value="1KiB">RAW|let x = 1 < 2|RAW</script>
<script language="chatml" kind="shell_audit_filter" id="f">let y = 2</script>
<system>a &amp; <b></system>
<developer name="" id phase="p">x</developer>
<user>RAW||RAW</user>
<user/>
<user>a<doc src="d" strip/><img src="i" local/>RAW||RAW<agent src="s" local>q<agent src="t"/></agent></user>
<msg role="tool" tool_call function_name="f" tool_call_id="c" type="t">{}</msg>
<msg role="odd" status="s"> </msg>
<assistant id="m" status="completed" ochat-history-id="1:a:0" ochat-source-context="x">
RAW|
hi |RA W
|RAW
</assistant>
<tool_call type="custom_tool_call" function_name="f" tool_call_id="c" id="i" status="s">x</tool_call>
<tool_response tool_call_id="c" name="n"/>
<reasoning id="r" status="s">one<summary type="t"/><summary>two < three</summary></reasoning>
<reasoning id=""/>
"""


def test_a_document_of_every_kind_reads_back_equal() -> None:
    document = load(EVERYTHING)
    assert load(dumps(document)) == document
    assert dumps(load(dumps(document))) == dumps(document)
    contexts = [one.source_context for one in load(dumps(document)).elements if isinstance(one, Message)]
    assert contexts[-1] == "x"


def test_m_058_paths_of_imports_are_written_from_the_root(tmp_path: Path) -> None:
    write(
        tmp_path,
        lib__x_chatmd='<script language="chatml" kind="moderator" src="m.chatml"/>'
        '<tool name="read_file"><read id="s" path="${source_dir}/a"/><read id="t" path="b"/></tool>',
        lib__m_chatml="1",
    )
    document = load('<import src="lib/x.chatmd"/>', tmp_path)
    text = dumps(document)
    assert 'src="lib/m.chatml"' in text
    assert 'path="${source_dir}/lib/a"' in text
    assert 'path="${tool_dir}/b"' in text
    assert load(text, tmp_path) == document


def test_paths_outside_of_the_root_are_written_too(tmp_path: Path) -> None:
    write(tmp_path, s__x_chatmd='<script language="chatml" kind="moderator" src="m.chatml"/>', s__m_chatml="1")
    (tmp_path / "in").mkdir()
    document = load(f'<import src="{tmp_path}/s/x.chatmd"/>', tmp_path / "in")
    assert 'src="../s/m.chatml"' in dumps(document)
    assert load(dumps(document), tmp_path / "in") == document


def test_m_062_texts_and_attributes_are_escaped() -> None:
    (message,) = load('<user name="x &amp; &quot;y&quot; &lt;z&gt;\'">RAW|a<b|RAW|RAWRAW|c RAW|d|RAW</user>').elements
    assert isinstance(message, Message)
    assert (message.name, message.content) == ('x & "y" <z>\'', "a<b|RAWc RAW|d")
    document = load("<user/>")
    assert load(dumps(document)) == document
    assert markup.empty("img", [("src", "C:\\")]) == "<img src=C:\\/>"
    odd = load("<user><img src=a='\"&amp;\\ local/></user>")
    assert dumps(odd) == "<user><img src=a='\"&amp;\\ local/></user>"
    assert load(dumps(odd)) == odd


@pytest.mark.parametrize("value", ["a b\\", "a>\\", '"\\', "'\\"])
def test_m_062_some_values_have_no_text(value: str) -> None:
    document = load("<user>x</user>")
    (diagnostic,) = findings(lambda: markup.empty("img", [("src", value)], document.elements[0].span))
    assert diagnostic.code == "chatmd.unserialisable_attribute"
    assert diagnostic.data == {"attribute": "src", "value": value}
    assert diagnostic.span is not None


def test_m_063_flags_are_bare_or_absent() -> None:
    document = load('<config model="m"/><user><doc src="x" local="false"/></user>')
    assert dumps(document) == '<config model="m"/>\n<user><doc src="x" local/></user>'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", "RAW||RAW"),
        ("a|RAW", "a|RAW"),
        ("a RAW|", "RAW|a RAW||RAW"),
        ("<|RAW", "RAW|<|RAW|RAW"),
        ("|RAW<|RAW|RAW", "RAW||RAW|RAWRAW|<|RAW|RAWRAW||RAW|RAW"),
    ],
)
def test_texts_are_wrapped_only_where_they_must_be(text: str, written: str) -> None:
    assert markup.text(text) == written
    (element,) = parse_tree(f"<user>{written}</user>")
    assert isinstance(element, Element)
    assert [str(getattr(child, "text", None)) for child in element.children] == [text]


def test_agents_are_written_without_call_stack() -> None:
    deep = load("<user>" + '<agent src="a">' * 5000 + "</agent>" * 5000 + "</user>")
    assert load(dumps(deep)) == deep


def test_what_is_written_is_one_element_a_line() -> None:
    assert dumps(load(" <user>a</user> <user/>")) == "<user>a</user>\n<user/>"
    assert dumps(load("")) == ""
    assert finding("<user").code == "chatmd.top_level_text"
