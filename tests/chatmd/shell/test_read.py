"""Strict reading: the cases S-001 to S-003, and every code with its path and its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatmd import ChatmdError, load_file
from chatmd.report.problems import WORDINGS
from chatmd.shell.extensions import (
    HookAnalyzer,
    HookInterceptor,
    HookReviewer,
    ScriptAnalyzer,
    ScriptInterceptor,
    ScriptReviewer,
    UiReviewer,
)
from chatmd.shell.policy import Joined, Negated, TextMatcher
from chatmd.shell.values import CLEAR
from tests.chatmd.documents import finding, load, write
from tests.chatmd.shell.declarations import EVERYTHING, access, fault, policy, section, shell

GONE = {
    "read_file.invalid_element",
    "agent.tool_construction_failed",
    "shell.invalid_moderator_runtime",
    "shell.limit_out_of_range",
    "shell.source_dir_unavailable",
    "shell.tool_missing",
    "shell.tool_runtime_missing",
    "shell.tool_script_missing",
}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('<shell_access id="x"><wat/></shell_access>', "shell.unexpected_text"),
        ('<shell_access id="x"><limits/><limits/></shell_access>', "shell.duplicate_section"),
        ('<shell_access id="x" id="y"/>', "shell.duplicate_attribute"),
        ('<shell_access id="x"><limits wall_time/></shell_access>', "shell.attribute_value_required"),
        ('<shell_access id="x"><capabilities><read/></capabilities></shell_access>', "shell.invalid_root"),
        ('<shell_access id="9a"/>', "shell.invalid_runtime_id"),
    ],
)
def test_s_001(text: str, code: str) -> None:
    assert finding(text).code == code


@pytest.mark.parametrize(
    ("attribute", "code"),
    [
        ('wall_time="0s"', "shell.invalid_duration"),
        ('wall_time="5"', "shell.invalid_duration"),
        ('wall_time="5 s"', "shell.invalid_duration"),
        ('wall_time="-5s"', "shell.invalid_duration"),
        ('wall_time="infs"', "shell.invalid_duration"),
        (f'wall_time="{"9" * 400}s"', "shell.invalid_duration"),
        ('wall_time="NONE"', "shell.invalid_duration"),
        ('stdout="1kb"', "shell.invalid_bytes"),
        ('stdout="-1"', "shell.invalid_bytes"),
        ('stdout="9223372036854775808"', "shell.invalid_bytes"),
        ('stdout="1 KiB"', "shell.invalid_bytes"),
        ('memory="none"', "shell.invalid_bytes"),
        ('open_files="-1"', "shell.invalid_integer"),
        ('open_files="1.5"', "shell.invalid_integer"),
        ('open_files="none"', "shell.invalid_integer"),
        ('open_files="٣"', "shell.invalid_integer"),
    ],
)
def test_s_002_bad_values(attribute: str, code: str) -> None:
    name, _, value = attribute.partition("=")
    assert fault(shell(f"<limits {attribute}/>")) == (code, f"shell_access.limits.{name}", value.strip('"'))


def test_s_002_values() -> None:
    limits = section('<limits wall_time="2.5m" idle_time="none" stdout="4KiB" stderr="0" open_files="0"/>', "limits")
    assert (limits.wall_time, limits.idle_time, limits.cpu_time) == (150.0, CLEAR, None)
    assert (limits.stdout, limits.stderr, limits.open_files, limits.memory) == (4096, 0, 0, None)
    found = finding(shell('<capabilities network="yes"/>'))
    assert (found.code, found.path) == ("shell.invalid_attribute", ("shell_access", "capabilities", "network"))
    assert section('<capabilities network="true"/>', "capabilities").network is True
    assert section("<capabilities/>", "capabilities").network is None


@pytest.mark.parametrize(
    ("text", "code", "path", "pointed"),
    [
        (policy(""), "shell.rule_matcher_arity", "policy.rule", '<rule id="r" action="ask">'),
        (
            policy('<program value="a"/><raw_shell/>'),
            "shell.rule_matcher_arity",
            "policy.rule",
            '<rule id="r" action="ask">',
        ),
        (policy("<any/>"), "shell.empty_matcher", "policy.rule.any", "<any/>"),
        (policy("<not><all> </all></not>"), "shell.empty_matcher", "policy.rule.not.all", "<all>"),
        (policy("<not><raw_shell/><raw_shell/></not>"), "shell.matcher_arity", "policy.rule.not", "<not>"),
        (policy("<not/>"), "shell.matcher_arity", "policy.rule.not", "<not/>"),
        (
            policy('<argv_prefix values="git,,x"/>'),
            "shell.invalid_list",
            "policy.rule.argv_prefix.values",
            "git,,x",
        ),
        (
            shell(
                '<interceptors><interceptor id="i" phase="after" script="s"><match><raw_shell/></match></interceptor>'
                "</interceptors>"
            ),
            "shell.after_interceptor_match",
            "interceptors.interceptor",
            "<match>",
        ),
    ],
)
def test_s_003(text: str, code: str, path: str, pointed: str) -> None:
    assert fault(text) == (code, path, pointed)


BACKEND = '<backends><external_backend executable="x">{}</external_backend></backends>'
INTERCEPTOR = '<interceptors><interceptor id="i" phase="before" {}</interceptors>'
MATCH = 'script="s"><match>{}</match></interceptor>'


@pytest.mark.parametrize(
    ("text", "code", "path", "pointed"),
    [
        # attributes: repeated, unknown, without value, missing
        (shell("", 'id="x" id="y"'), "shell.duplicate_attribute", "shell_access", "id"),
        (shell("", 'id="x" idd="y"'), "shell.unknown_attribute", "shell_access", "idd"),
        (shell("", "id cwd"), "shell.attribute_value_required", "shell_access.id", "id"),
        (shell("", ""), "shell.missing_attribute", "shell_access.id", "<shell_access >"),
        (shell("", 'id=""'), "shell.missing_attribute", "shell_access.id", ""),
        (
            shell("<policy><rule id='a'><raw_shell/></rule></policy>"),
            "shell.missing_attribute",
            "policy.rule.action",
            "<rule id='a'>",
        ),
        (
            shell(BACKEND.format("<arg value=''/>")),
            "shell.missing_attribute",
            "backends.external_backend.arg.value",
            "",
        ),
        (
            shell("<reviewers><reviewer id='a'/></reviewers>"),
            "shell.missing_attribute",
            "reviewers.reviewer.kind",
            "<reviewer id='a'/>",
        ),
        (
            shell("<reviewers><reviewer id='a' kind='chatml'/></reviewers>"),
            "shell.missing_attribute",
            "reviewers.reviewer.script",
            "<reviewer id='a' kind='chatml'/>",
        ),
        (
            shell("<effect_analysis><analyzer id='a'/></effect_analysis>"),
            "shell.missing_attribute",
            "effect_analysis.analyzer.script",
            "<analyzer id='a'/>",
        ),
        ("<moderator_runtime/>", "shell.missing_attribute", "moderator_runtime.shell_runtime", "<moderator_runtime/>"),
        (
            "<moderator_runtime shell_runtime='a' id='b'/>",
            "shell.unknown_attribute",
            "moderator_runtime",
            "id",
        ),
        # what an element holds
        (shell(" <!-- c --> \n nonsense \n<limits/>"), "shell.unexpected_text", "shell_access", "nonsense"),
        (shell("\n <wat>\n<limits/></wat>"), "shell.unexpected_text", "shell_access", "<wat>"),
        (shell("<limits>x</limits>"), "shell.unexpected_text", "shell_access.limits", "x"),
        (shell('<import src="x"/>'), "shell.unexpected_text", "shell_access", '<import src="x"/>'),
        (shell("RAW|<limits/>|RAW"), "shell.unexpected_text", "shell_access", "<limits/>"),
        (shell("<user>x</user>"), "shell.unknown_element", "shell_access", "<user>"),
        (shell("<policy><limits/></policy>"), "shell.unknown_element", "shell_access.policy", "<limits/>"),
        (
            shell(INTERCEPTOR.format('script="s"><raw_shell/></interceptor>')),
            "shell.unknown_element",
            "interceptors.interceptor",
            "<raw_shell/>",
        ),
        (policy("<arg value='x'/>"), "shell.unknown_matcher", "policy.rule", "<arg value='x'/>"),
        (policy("<not><rule/></not>"), "shell.unknown_matcher", "policy.rule.not", "<rule/>"),
        (
            shell(INTERCEPTOR.format(MATCH.format("<match/>"))),
            "shell.unknown_matcher",
            "interceptors.interceptor.match",
            "<match/>",
        ),
        (shell("<limits><limits/></limits>"), "shell.unexpected_child", "shell_access.limits", "<limits/>"),
        (
            policy("<program value='x'><raw_shell/></program>"),
            "shell.unexpected_child",
            "policy.rule.program",
            "<raw_shell/>",
        ),
        (shell("<audit format='none'/><audit/>"), "shell.duplicate_section", "shell_access.audit", "<audit/>"),
        (
            shell("<audit format='none'><filter script='a'/><filter script='b'/></audit>"),
            "shell.duplicate_section",
            "audit.filter",
            "<filter script='b'/>",
        ),
        (
            "<moderator_runtime shell_runtime='a'> x</moderator_runtime>",
            "shell.moderator_runtime_content",
            "moderator_runtime",
            "x",
        ),
        (
            "<moderator_runtime shell_runtime='a'><user/></moderator_runtime>",
            "shell.moderator_runtime_content",
            "moderator_runtime",
            "<user/>",
        ),
        # values
        (shell("", 'id="s" pipefail="True"'), "shell.invalid_attribute", "shell_access.pipefail", "True"),
        (shell("<limits/>", 'id="s" cwd=""'), "shell.invalid_path", "shell_access.cwd", ""),
        (shell('<capabilities sandbox="no"/>'), "shell.invalid_attribute", "shell_access.capabilities.sandbox", "no"),
        (shell('<policy merge="add"/>'), "shell.invalid_attribute", "shell_access.policy.merge", "add"),
        (policy("<effect name='read'/>"), "shell.invalid_attribute", "policy.rule.effect.name", "read"),
        (
            shell("<reviewers strategy='all'/>"),
            "shell.invalid_attribute",
            "shell_access.reviewers.strategy",
            "all",
        ),
        (
            shell("<reviewers><reviewer id='a' kind='person'/></reviewers>"),
            "shell.invalid_attribute",
            "reviewers.reviewer.kind",
            "person",
        ),
        (
            shell('<approvals scopes="once,twice"/>'),
            "shell.invalid_attribute",
            "shell_access.approvals.scopes",
            "once,twice",
        ),
        (shell('<approvals scopes="once,"/>'), "shell.invalid_list", "shell_access.approvals.scopes", "once,"),
        (
            shell("<capabilities><read path='${hom}/x'/></capabilities>"),
            "shell.invalid_path",
            "capabilities.read.path",
            "${hom}/x",
        ),
        (
            policy("<resolved_path value='${home}x'/>"),
            "shell.invalid_path",
            "policy.rule.resolved_path.value",
            "${home}x",
        ),
        (
            shell("<environment><set name='A=B' value='c'/></environment>"),
            "shell.invalid_env_name",
            "environment.set.name",
            "A=B",
        ),
        (
            shell("<capabilities><write path_env=''/></capabilities>"),
            "shell.invalid_env_name",
            "capabilities.write.path_env",
            "",
        ),
        (shell("<secrets><from_env name='A\0'/></secrets>"), "shell.invalid_env_name", "secrets.from_env.name", "A\0"),
        (shell("", 'id="a b"'), "shell.invalid_runtime_id", "shell_access.id", "a b"),
        # attributes that depend on each other
        (
            shell("<capabilities><read path='a' path_env='B'/></capabilities>"),
            "shell.invalid_root",
            "capabilities.read",
            "path_env",
        ),
        (shell("<environment><path/></environment>"), "shell.invalid_path_operation", "environment.path", "<path/>"),
        (
            shell("<environment><path prepend='a' append='b'/></environment>"),
            "shell.invalid_path_operation",
            "environment.path",
            "append",
        ),
        (
            shell(INTERCEPTOR.format("/>")),
            "shell.invalid_extension",
            "interceptors.interceptor",
            '<interceptor id="i" phase="before" />',
        ),
        (
            shell("<audit format='none'><filter executable='a' script='b'/></audit>"),
            "shell.invalid_extension",
            "audit.filter",
            "script",
        ),
        (
            shell(INTERCEPTOR.format(MATCH.format(""))),
            "shell.matcher_arity",
            "interceptors.interceptor.match",
            "<match>",
        ),
        (
            shell("<audit format='jsonl'/>"),
            "shell.audit_path_required",
            "shell_access.audit",
            "<audit format='jsonl'/>",
        ),
    ],
)
def test_every_finding_has_its_path_and_place(text: str, code: str, path: str, pointed: str) -> None:
    assert fault(text) == (code, path, pointed)


def test_findings_of_a_section_come_from_left_to_right() -> None:
    assert fault(shell("<limits stdout='x' wall_time='y'/><wat/>"))[2] == "x"
    assert fault(shell("<limits wall_time='y' stdout='x'/><wat/>"))[2] == "y"
    assert fault(shell("<limits stdout='x' stdin='y'/>"))[0] == "shell.unknown_attribute"
    assert fault(shell("x<limits/><limits/>"))[0] == "shell.unexpected_text"


def test_what_must_be_there_comes_before_what_decides() -> None:
    assert fault(shell("<interceptors><interceptor id='i'/></interceptors>"))[1] == "interceptors.interceptor.phase"
    assert fault(shell("<reviewers><reviewer/></reviewers>"))[1] == "reviewers.reviewer.id"
    assert fault(shell("<effect_analysis><analyzer kind='x'/></effect_analysis>"))[1] == "effect_analysis.analyzer.id"


def test_misspelt_names_are_recognised() -> None:
    assert finding(shell("<limitz/>")).help == "an unknown tag is text: did you mean `limits`?"
    assert finding(shell('<limits wall_tim="1s"/>')).help == "did you mean `wall_time`?"
    assert finding(shell('<capabilities sandbox="prefered"/>')).help == "did you mean `preferred`?"
    assert "`<search_path>`" in str(finding(shell("<resolver>x</resolver>")).help)
    assert "`home`" in finding(shell("", 'id="s" cwd="${hom}"')).message


def test_codes_that_no_rule_uses_do_not_exist() -> None:
    assert set(WORDINGS) & GONE == set()


def test_kinds_decide_on_records() -> None:
    runtime = access(
        shell(
            '<reviewers><reviewer id="a" kind="ui"/><reviewer id="b" kind="chatml" script="s"/>'
            '<reviewer id="c" kind="executable" executable="x" runtime="w"/></reviewers>'
            '<interceptors><interceptor id="a" phase="after" script="s"/>'
            '<interceptor id="b" phase="before" executable="x" runtime="w"/></interceptors>'
            '<effect_analysis><analyzer id="a" script="s"/>'
            '<analyzer id="b" kind="executable" executable="x" runtime="w"/></effect_analysis>'
        )
    )
    assert runtime.reviewers is not None
    assert runtime.interceptors is not None
    assert runtime.effect_analysis is not None
    ui, script, hook = runtime.reviewers.reviewers
    assert isinstance(ui, UiReviewer)
    assert isinstance(script, ScriptReviewer)
    assert (script.script, script.lifecycle, script.failure) == ("s", "session", "deny")
    assert isinstance(hook, HookReviewer)
    assert (hook.executable.canonical, hook.runtime, hook.protocol) == ("${source_dir}/x", "w", "shell-hook-json-v1")
    after, before = runtime.interceptors.interceptors
    assert isinstance(after, ScriptInterceptor)
    assert (after.phase, after.failure, after.match) == ("after", "deny", None)
    assert isinstance(before, HookInterceptor)
    first, second = runtime.effect_analysis.analyzers
    assert isinstance(first, ScriptAnalyzer)
    assert (first.lifecycle, first.failure, first.replace) == ("invocation", "unknown", False)
    assert isinstance(second, HookAnalyzer)


def test_an_attribute_of_another_kind_is_ignored_with_a_warning() -> None:
    document = load(shell('<reviewers><reviewer id="a" kind="ui" model="m" timeout="never"/></reviewers>'))
    assert [(one.code, one.span and one.span.text, one.path) for one in document.warnings] == [
        ("shell.ignored_attribute", "model", ("reviewers", "reviewer")),
        ("shell.ignored_attribute", "timeout", ("reviewers", "reviewer")),
    ]
    (plain,) = load(shell('<reviewers><reviewer id="a" kind="ui"/></reviewers>')).elements
    assert document.elements == (plain,)


def test_matchers_keep_their_order_and_nesting() -> None:
    found = section(
        '<policy><rule id="r" action="ask"><any><program value="a"/><not><all><basename value="b"/></all></not>'
        "</any></rule></policy>",
        "policy",
    )
    (rule,) = found.rules
    assert isinstance(rule.matcher, Joined)
    first, second = rule.matcher.matchers
    assert isinstance(first, TextMatcher)
    assert (rule.matcher.kind, first.kind, first.value) == ("any", "program", "a")
    assert isinstance(second, Negated)
    assert isinstance(second.matcher, Joined)
    assert second.matcher.kind == "all"


def test_matchers_may_be_nested_deeper_than_any_call_stack() -> None:
    depth = 20_000
    text = policy("<not>" * depth + "<raw_shell/>" + "</not>" * depth)
    document = load(text)
    again = load(text)
    assert document == again
    assert hash(document.elements) == hash(again.elements)
    assert repr(document.elements).count("Negated") == depth
    other = load(policy("<not>" * depth + "<any_command/>" + "</not>" * depth))
    assert document != other
    found = finding(policy("<not>" * depth + "</not>" * depth))
    assert (found.code, len(found.path)) == ("shell.matcher_arity", 7)


def test_s_004_everything_is_read() -> None:
    document = load(EVERYTHING)
    base, worker = document.shell_runtimes
    assert not document.warnings
    assert (base.id, base.extends, worker.id) == ("base", "builtin:workspace-readonly@1", "worker")
    assert document.moderator_runtime is not None
    assert document.moderator_runtime.shell_runtime == "base"


def test_m_057_ids_and_references_are_qualified(tmp_path: Path) -> None:
    write(
        tmp_path,
        lib__x_chatmd='<shell_access id="r" extends="builtin:yolo">'
        '<reviewers><reviewer id="a" kind="chatml" script="s"/>'
        '<reviewer id="b" kind="executable" executable="x" runtime="w"/></reviewers>'
        '<policy><rule id="q" action="ask"><chatml_match script="m"/></rule></policy></shell_access>'
        '<shell_access id="w" extends="r"/><tool name="t" runtime="r" command="ls"/>'
        '<moderator_runtime shell_runtime="r"/>',
        y_chatmd='<import src="lib/x.chatmd" namespace="sub"/>',
    )
    document = load('<import src="y.chatmd" namespace="team"/>', tmp_path)
    first, second = document.shell_runtimes
    assert (first.id, first.extends, second.extends) == ("team:sub:r", "builtin:yolo", "team:sub:r")
    assert first.reviewers is not None
    script, hook = first.reviewers.reviewers
    assert isinstance(script, ScriptReviewer)
    assert isinstance(hook, HookReviewer)
    assert (script.id, script.script, hook.runtime) == ("a", "team:sub:s", "team:sub:w")
    assert hook.executable.from_root == "${source_dir}/lib/x"
    assert first.policy is not None
    assert (first.policy.rules[0].id, first.policy.rules[0].matcher.script) == ("q", "team:sub:m")
    (tool,) = document.tools
    assert (tool.name, tool.runtime) == ("t", "team:sub:r")
    assert document.moderator_runtime is not None
    assert document.moderator_runtime.shell_runtime == "team:sub:r"


def test_an_id_is_checked_after_qualification(tmp_path: Path) -> None:
    write(tmp_path, x_chatmd='<shell_access id="9a"/>')
    (runtime,) = load('<import src="x.chatmd" namespace="team"/>', tmp_path).shell_runtimes
    assert runtime.id == "team:9a"
    with pytest.raises(ChatmdError):
        load_file(tmp_path / "x.chatmd")
