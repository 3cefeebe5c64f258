"""The conformance cases of `parse_tree`, M-001 to M-028, and its limits."""

from __future__ import annotations

import contextlib
import time

import pytest

from chatmd.report.problems import ChatmdError, Diagnostic
from chatmd.text.parse import parse_tree
from chatmd.text.tree import Element, Node, Text, show


def finding(text: str) -> Diagnostic:
    with pytest.raises(ChatmdError) as raised:
        parse_tree(text)
    (diagnostic,) = raised.value.diagnostics
    return diagnostic


def only(text: str) -> Element:
    (node,) = parse_tree(text)
    assert isinstance(node, Element)
    return node


def body(text: str) -> str:
    """The one text that the one element of a document holds."""
    (child,) = only(text).children
    assert isinstance(child, Text)
    return child.text


TREES = [
    ("M-001", "<user>hi &amp; <b>x</b></user>", "user['hi &amp; <b>x</b>']"),
    ("M-006", "\n <!-- <assistant> --> <user/>\n", "user[]"),
    ("M-007", "<!-->x--><user/>", "user[]"),
    ("M-008", "\v\f", ""),
    ("M-009", "<user>1 < 2 <<< 3 <4> </> <- x</user>", "user['1 < 2 <<< 3 <4> </> <- x']"),
    (
        "M-012",
        """<img src = 'a"b' alt="x &lt;&#65;&quot;&nbsp;" ,, local/>""",
        """img{src='a"b', alt='x <&#65;"&nbsp;', local}[]""",
    ),
    ("M-013", r'<img alt="say \"hi\"" src="p"/>', """img{alt='say "hi"', src='p'}[]"""),
    ("M-013", r"""<img alt='a\"b\'c\d' src="p"/>""", """img{alt='a\\\\"b\\'c\\\\d', src='p'}[]"""),
    ("M-015", r"<img src=C:\ local/>", r"img{src='C:\\', local}[]"),
    ("M-016", "<img src=a&amp;b/>", "img{src='a&amp;b'}[]"),
    ("M-016", '<img src="a & b; c"/>', "img{src='a & b; c'}[]"),
    ("M-016", "<img src=/>", "img{src}[]"),
    ("M-017", '<img\nsrc="x"\nlocal/>', "img{src='x', local}[]"),
    ("M-017", '<img src="x"local/>', "img{src='x', local}[]"),
    ("M-018", "<user>see RAW|<assistant>|RAW.</user>", "user['see <assistant>.']"),
    ("M-019", "<user>\n\tRAW|x|RAW\n</user>", "user['x\\n']"),
    ("M-019", "<user>preRAW|x|RAW</user>", "user['prex']"),
    ("M-020", "<user>RAW|a|RAW RAW|b|RAW</user>", "user['ab']"),
    ("M-020", "<user>RAW||RAW</user>", "user['']"),
    ("M-021", "<user>RAW|a|RAW|RAWRAW|b|RAW</user>", "user['a|RAWb']"),
    ("M-021", "<user>RAW|a||RAW</user>", "user['a|']"),
    ("M-023", "<user>RAW|<!-- k -->|RAW<!-- d -->z</user>", "user['<!-- k -->z']"),
    ("M-024", "<user>a|b||c raw|d|raw</user>", "user['a|b||c raw|d|raw']"),
    ("M-025", '<user><set name="x"/></user>', """user['<set name="x"/>']"""),
    (
        "M-025",
        '<shell_access id="s"><set name="x"/></shell_access><user><set/></user>',
        "shell_access{id='s'}[set{name='x'}[]], user['<set/>']",
    ),
    (
        "M-026",
        '<tool name="x" runtime="r"><command program="rg"/></tool>',
        """tool{name='x', runtime='r'}['<command program="rg"/>']""",
    ),
    (
        "M-026",
        '<tool name="x" runtime="r" type="shell"><command program="rg"/></tool>',
        "tool{name='x', runtime='r', type='shell'}[command{program='rg'}[]]",
    ),
    ("M-027", '<tool name="read_file"/><user><read/></user>', "tool{name='read_file'}[], user['<read/>']"),
]


@pytest.mark.parametrize(("text", "tree"), [case[1:] for case in TREES], ids=[case[0] for case in TREES])
def test_the_tree_is_the_one_of_the_case(text: str, tree: str) -> None:
    assert show(parse_tree(text)) == tree


FAULTS = [
    ("M-002", "<User>x</User>", "chatmd.top_level_text", 0, {"token": "<User>"}),
    ("M-003", "<user>x</user >", "chatmd.unclosed_element", 0, {"open": "user"}),
    (
        "M-004",
        "<user>a<assistant>b</user></assistant>",
        "chatmd.mismatched_tag",
        19,
        {"open": "assistant", "close": "user"},
    ),
    ("M-005", "<user/></user>", "chatmd.unexpected_end_tag", 7, {"close": "user"}),
    ("M-007", "<user/><!-- never", "chatmd.unterminated_comment", 7, {}),
    ("M-008", "<user/> tail", "chatmd.top_level_text", 8, {"token": " tail"}),
    ("M-008", "\u00a0", "chatmd.top_level_text", 0, {"token": "\u00a0"}),
    ("M-010", "<<user>x</user>", "chatmd.top_level_text", 0, {"token": "<<"}),
    (
        "M-011",
        '<user><doc src="q" local></user>',
        "chatmd.mismatched_tag",
        25,
        {"open": "doc", "close": "user"},
    ),
    (
        "M-014",
        '<user><x t="a>b">y</x></user>',
        "chatmd.unterminated_attribute",
        11,
        {"attribute": "t", "quote": '"', "attr_offset": 3},
    ),
    (
        "M-015",
        '<img src="C:\\"/>',
        "chatmd.unterminated_attribute",
        9,
        {"attribute": "src", "quote": '"', "attr_offset": 5},
    ),
    ("M-022", "<user>RAW|oops</user>", "chatmd.unterminated_raw", 6, {}),
    ("rule 5", " | x", "chatmd.top_level_text", 1, {"token": "|"}),
    ("rule 5", " \t a|b", "chatmd.top_level_text", 3, {"token": " \t a"}),
    ("rule 6", "<user/> RAW| \n x |RAW", "chatmd.top_level_text", 15, {"token": " \n x "}),
    ("rule 6", "before RAW|oops", "chatmd.top_level_text", 0, {"token": "before "}),
    ("rule 4", "<<!-- x -->", "chatmd.top_level_text", 0, {"token": "<<"}),
    ("rule 2", 'text <x t="a>', "chatmd.top_level_text", 0, {"token": "text "}),
    ("2.4", "<user><doc></user", "chatmd.unclosed_element", 6, {"open": "doc"}),
]


@pytest.mark.parametrize(
    ("text", "code", "offset", "facts"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS]
)
def test_the_first_problem_is_reported_where_it_is(text: str, code: str, offset: int, facts: dict[str, object]) -> None:
    diagnostic = finding(text)
    assert (diagnostic.code, diagnostic.severity) == (code, "error")
    assert diagnostic.span is not None
    assert diagnostic.span.left == offset
    assert diagnostic.data == facts


def test_m_002_has_line_and_column() -> None:
    diagnostic = finding("\n<User>x</User>")
    assert diagnostic.span is not None
    assert diagnostic.span.start == (2, 0, 1)
    assert str(diagnostic).startswith("<prompt>:2:1: error[chatmd.top_level_text]: ")


def test_m_004_points_at_the_start_tag_too() -> None:
    (label,) = finding("<user>a<assistant>b</user></assistant>").labels
    assert (label.span.left, label.span.text) == (7, "<assistant>")


def test_m_028_ten_thousand_levels() -> None:
    deep = '<agent src="a">' * 10_000 + "</agent>" * 10_000
    tree = parse_tree(deep)
    depth = 0
    node: Node = tree[0]
    while isinstance(node, Element):
        depth += 1
        if not node.children:
            break
        (node,) = node.children
    assert depth == 10_000
    assert tree == parse_tree(deep)
    assert tree != parse_tree(deep.replace('"a"', '"b"', 1))
    assert hash(tree) == hash(parse_tree(deep))
    assert repr(tree[0]).endswith("]" * 10_000)


def test_a_fragment_may_hold_text() -> None:
    assert show(parse_tree("a <b> <doc/> c", fragment=True)) == "'a <b> ', doc[], ' c'"
    assert show(parse_tree("RAW||RAW", fragment=True)) == "''"


def test_a_text_knows_where_each_character_was_written() -> None:
    text = "<user>ab<!-- c -->cRAW|<d>|RAW e</user>"
    (child,) = only(text).children
    assert isinstance(child, Text)
    assert child.text == "abc<d> e"
    assert [text[child.offset(index)] for index in range(len(child.text))] == list(child.text)
    assert child.span.text == "ab<!-- c -->cRAW|<d>|RAW e"
    assert child.span_of(1, 3).text == "b<!-- c -->c"


HOSTILE = {
    "no end of tag": "<a" * 500_000,
    "angles": "< " * 500_000 + ">",
    "a far end of tag": "</ " * 300_000 + "<4" * 300_000 + ">",
    "ampersands": '<user t="' + "&" * 1_000_000 + '"/>',
    "backslashes": '<user t="' + '\\"' * 500_000 + '"/>',
    "pipes": "<user>" + "|RAW" * 250_000 + "</user>",
    "openers": "<user>" + " RAW|" * 200_000,
    "white space": "<user>" + " \n" * 500_000 + "RAW||RAW</user>",
    "attributes": "<user " + "a " * 500_000 + "/>",
    "punctuation": "<user " + "=," * 500_000 + "/>",
    "names": "<user " + "a" * 1_000_000 + "/>",
    "comments": "<!---->" * 150_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_take_linear_time(text: str) -> None:
    begin = time.process_time()
    with contextlib.suppress(ChatmdError):
        parse_tree(text)
    assert time.process_time() - begin < 3


def test_a_report_of_a_long_text_is_short() -> None:
    with pytest.raises(ChatmdError) as raised:
        parse_tree("x" * 1_000_000)
    assert len(str(raised.value)) < 1_000
