"""Writing shell declarations: the case S-004, what is written and what is not, paths of imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatmd import dumps
from chatmd.text.tags import SHELL_TAGS
from tests.chatmd.documents import load, write
from tests.chatmd.shell.declarations import EVERYTHING, policy, shell


def test_s_004_everything_reads_back_equal() -> None:
    document = load(EVERYTHING)
    written = dumps(document)
    assert load(written) == document
    assert dumps(load(written)) == written
    assert all(f"<{tag}" in written for tag in SHELL_TAGS)


def test_s_004_nothing_is_taken_for_equal() -> None:
    """Every attribute and every child counts: a document without it is another one."""
    document = load(EVERYTHING)
    for old, new in [
        ('values="git, push"', 'values="git, pull"'),
        ('failure="no_match"', 'failure="deny"'),
        ('wall_time="none"', 'wall_time="1s"'),
        ("<resource_limit_args/>", ""),
        ('strip="false"', ""),
        ('max_source_bytes="4096"', ""),
        ('base="workspace"', ""),
        ('<filter script="f"', '<filter script="g"'),
    ]:
        assert EVERYTHING.count(old) == 1
        assert load(EVERYTHING.replace(old, new)) != document


def lines(*written: str) -> str:
    return "\n".join(written)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (shell("  "), '<shell_access id="s"/>'),
        (shell("", 'pipefail="false" id="s"'), '<shell_access id="s" pipefail="false"/>'),
        (
            shell('<limits wall_time="1.5m" idle_time="none" memory="1KiB" open_files="07"/>'),
            lines(
                '<shell_access id="s">',
                '  <limits wall_time="90s" idle_time="none" memory="1024B" open_files="7"/>',
                "</shell_access>",
            ),
        ),
        (
            shell('<audit format="none"/><policy merge="append"/><capabilities merge="replace"/>'),
            lines(
                '<shell_access id="s">',
                '  <capabilities merge="replace"/>',
                "  <policy/>",
                '  <audit format="none"/>',
                "</shell_access>",
            ),
        ),
        (
            policy('<chatml_match script="m"/>'),
            lines(
                '<shell_access id="s">',
                "  <policy>",
                '    <rule id="r" action="ask">',
                '      <chatml_match script="m"/>',
                "    </rule>",
                "  </policy>",
                "</shell_access>",
            ),
        ),
        (
            shell("<interceptors><interceptor id='i' phase='before' script='s' failure='deny'/></interceptors>"),
            lines(
                '<shell_access id="s">',
                "  <interceptors>",
                '    <interceptor id="i" phase="before" script="s"/>',
                "  </interceptors>",
                "</shell_access>",
            ),
        ),
        (
            "<tool name='t' runtime='r' command='rg'/>",
            '<tool name="t" type="shell" mode="fixed" runtime="r" rationale="none" command="rg"/>',
        ),
        (
            "<tool name='t' type='shell' runtime='r'><command program='rg'/><arguments mode='optional'/></tool>",
            lines(
                '<tool name="t" type="shell" mode="fixed" runtime="r" rationale="none">',
                '  <command program="rg"/>',
                "</tool>",
            ),
        ),
        (
            "<tool name='t' mode='raw' runtime='r' executable='sh'/>",
            '<tool name="t" type="shell" mode="raw" runtime="r" rationale="optional" executable="${source_dir}/sh" '
            'arguments_before_script="[&quot;-c&quot;]"/>',
        ),
        ("<moderator_runtime shell_runtime='r'></moderator_runtime>", '<moderator_runtime shell_runtime="r"/>'),
    ],
)
def test_only_what_is_set_is_written(text: str, written: str) -> None:
    document = load(text)
    assert dumps(document) == written
    assert load(written) == document


def test_paths_of_imports_are_written_from_the_root(tmp_path: Path) -> None:
    """X-43, chatmd.md section 15."""
    write(
        tmp_path,
        lib__x_chatmd=shell('<capabilities><read path="a"/><read path="${tool_dir}/b"/></capabilities>')
        + '<tool name="t" mode="script" runtime="s" script="run.sh"/>'
        + '<tool name="u" type="shell" runtime="s">'
        + '<command program="x"><path_arg path="c" base="source_dir"/></command></tool>',
    )
    document = load('<import src="lib/x.chatmd" namespace="n"/>', tmp_path)
    text = dumps(document)
    for path in ("${source_dir}/lib/a", "${tool_dir}/b", "${source_dir}/lib/run.sh", "${source_dir}/lib/c"):
        assert f'="{path}"' in text
    assert load(text, tmp_path) == document


def test_deep_matchers_are_written_in_linear_space() -> None:
    depth = 5_000
    document = load(policy("<not>" * depth + "<raw_shell/>" + "</not>" * depth))
    text = dumps(document)
    assert len(text) < depth * 60
    assert load(text) == document
