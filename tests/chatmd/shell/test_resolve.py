"""What declarations amount to: the cases S-007 to S-010, defaults, profiles, inheritance, merge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from chatmd import Runtime, check, describe, resolve_runtimes, show
from chatmd.shell.policy import Joined
from chatmd.shell.profiles import defaults, legacy, profile, profiles
from chatmd.shell.runtime import Platform
from chatmd.shell.values import CLEAR
from tests.chatmd.documents import findings, load, place, write
from tests.chatmd.shell.declarations import shell

RULE = '<rule id="{}" action="{}"{}><any_command/></rule>'


def resolved(text: str, base_dir: Path | str = ".", platform: Platform = "linux") -> dict[str, Runtime]:
    return resolve_runtimes(load(text, base_dir), platform)


def derived(base: str, child: str, extends: str = "base") -> Runtime:
    """A runtime on top of another one."""
    return resolved(shell(base, f'id="{extends}"') + shell(child, f'id="child" extends="{extends}"'))["child"]


def problems(text: str) -> list[tuple[str, str, str]]:
    """Why the runtimes of a document do not resolve: code, path, and the text that the finding points at."""
    document = load(text)
    return [
        (one.code, ".".join(one.path), "" if one.span is None else one.span.text)
        for one in findings(lambda: resolve_runtimes(document))
    ]


def policy(*rules: tuple[str, str, str], merge: str = "append") -> str:
    return f'<policy merge="{merge}">{"".join(RULE.format(*rule) for rule in rules)}</policy>'


def rules(runtime: Runtime) -> list[tuple[str, str]]:
    assert not any(rule.override for rule in runtime.policy.rules)
    return [(rule.id, rule.action) for rule in runtime.policy.rules]


def test_s_007_rules_have_names() -> None:
    base = policy(("a", "ask", ""), ("b", "ask", ""))
    text = shell(base, 'id="base"') + shell(policy(("a", "deny", "")), 'id="child" extends="base"')
    assert problems(text) == [("shell.duplicate_named_entry", "runtime.child.policy.a", "a")]
    override = (("a", "deny", ' override="true"'), ("c", "allow", ' override="true"'))
    assert rules(derived(base, policy(*override))) == [("a", "deny"), ("b", "ask"), ("c", "allow")]
    assert rules(derived(base, policy(("a", "deny", ""), merge="replace"))) == [("a", "deny")]
    assert rules(derived(base, policy(("c", "deny", "")))) == [("a", "ask"), ("b", "ask"), ("c", "deny")]
    assert rules(derived(base, "")) == [("a", "ask"), ("b", "ask")]


def test_s_008_reviewers_are_replaced() -> None:
    def reviewers(identity: str, merge: str) -> str:
        return f'<reviewers merge="{merge}"><reviewer id="{identity}" kind="ui"/></reviewers>'

    for merge in ("append", "replace"):
        runtime = derived(reviewers("x", "append"), reviewers("y", merge))
        assert [reviewer.id for reviewer in runtime.reviewers.reviewers] == ["y"]
    assert [one.id for one in derived(reviewers("x", "append"), "<limits/>").reviewers.reviewers] == ["x"]


def test_s_009_inheritance_must_end() -> None:
    text = shell("", 'id="a" extends="b"') + shell("", 'id="b" extends="a"') + shell("", 'id="c" extends="b"')
    assert problems(text) == [("shell.inheritance_cycle", "runtime.a.extends", "b")]
    (found,) = findings(lambda: resolve_runtimes(load(text)))
    assert "a -> b -> a" in found.message
    assert problems(shell("", 'id="a" extends="a"')) == [("shell.inheritance_cycle", "runtime.a.extends", "a")]
    assert problems(shell("", 'id="a" extends="b"') + shell("", 'id="b" extends="b"')) == [
        ("shell.inheritance_cycle", "runtime.b.extends", "b")
    ]


def test_s_009_what_is_extended_exists() -> None:
    assert problems(shell("", 'id="a" extends="builtin:nope"')) == [
        ("shell.unknown_builtin_profile", "runtime.a.extends", "builtin:nope")
    ]
    assert problems(shell("", 'id="a" extends="nope"') + shell("", 'id="b" extends="a"')) == [
        ("shell.unknown_runtime", "runtime.a.extends", "nope")
    ]
    assert problems(shell("", 'id="a" extends="builtin:yolo@2"'))[0][0] == "shell.unknown_builtin_profile"
    assert problems(shell("", 'id="a" extends="builtin:yolo@1@1"'))[0][0] == "shell.unknown_builtin_profile"
    assert problems(shell("", 'id="a" extends="legacy:custom"'))[0][0] == "shell.unknown_runtime"
    (found,) = findings(lambda: resolve_runtimes(load(shell("", 'id="a" extends="builtin:yollo"'))))
    assert found.help == "did you mean `builtin:yolo@1`?"


def test_s_010_a_profile_has_an_alias() -> None:
    both = resolved(shell("", 'id="a" extends="builtin:yolo"') + shell("", 'id="b" extends="builtin:yolo@1"'))
    first, second = both["a"], both["b"]
    assert (first.requested_profile, second.requested_profile) == ("builtin:yolo", "builtin:yolo@1")
    assert first.resolved_profile == second.resolved_profile == "builtin:yolo@1"
    assert attrs.evolve(first, id="b", requested_profile="builtin:yolo@1") == second


def test_the_first_finding_of_each_runtime_is_reported() -> None:
    text = shell("", 'id="a"') * 2 + shell("", 'id="b" extends="x"') + shell(policy(("r", "ask", ""), ("r", "ask", "")))
    assert [code for code, _, _ in problems(text)] == [
        "shell.duplicate_runtime",
        "shell.unknown_runtime",
        "shell.duplicate_named_entry",
    ]


def test_a_long_chain_takes_no_call_stack() -> None:
    length = 3_000
    chain = "".join(shell("", f'id="r{index}" extends="r{index + 1}"') for index in range(length))
    runtimes = resolved(chain + shell("<limits stdout='1'/>", f'id="r{length}" extends="builtin:yolo"'))
    assert runtimes["r0"].limits.stdout == 1
    assert runtimes["r0"].resolved_profile == "builtin:yolo@1"


def paths(entries: Any) -> list[str]:
    return [entry.path.canonical for entry in entries]


def test_defaults() -> None:
    """Section 7.1."""
    runtime = defaults()
    powers = runtime.capabilities
    assert (runtime.cwd.canonical, runtime.pipefail) == ("${tool_dir}", False)
    assert powers.sandbox == "required"
    assert (powers.network, powers.child_processes, powers.arbitrary_code, powers.privilege_change) == (False,) * 4
    assert (powers.read, powers.write) == ((), ())
    assert runtime.resolver.allow_relative_search_path is False
    assert runtime.resolver.search_path == runtime.resolver.trusted_root == runtime.resolver.executables == ()
    assert (runtime.environment.inherit, runtime.environment.operations) == ("safe", ())
    limits = runtime.limits
    assert (limits.wall_time, limits.idle_time, limits.cpu_time) == (180.0, 60.0, None)
    assert (limits.max_stdin, limits.stdout, limits.stderr) == (2**20, 1_000_000, 1_000_000)
    assert (limits.total_output, limits.memory, limits.file_size, limits.open_files) == (1_500_000, None, None, None)
    assert [(one.id, one.when) for one in runtime.backends.backends] == [
        ("builtin-seatbelt", "macos"),
        ("builtin-bubblewrap", "linux"),
    ]
    assert runtime.backends.accept_declared_confinement is False
    assert (runtime.policy.default, runtime.policy.rules) == ("ask", ())
    approvals = runtime.approvals
    assert (approvals.provider, approvals.unavailable, approvals.durable) == ("ui", "deny", False)
    assert approvals.scopes == ("once", "exact_session")
    assert runtime.reviewers.reviewers == runtime.interceptors.interceptors == runtime.effect_analysis.analyzers == ()
    assert (runtime.secrets.replacement, runtime.secrets.sources, runtime.audit.format) == ("[REDACTED]", (), "none")
    assert (runtime.requested_profile, runtime.resolved_profile) == (None, None)
    assert attrs.evolve(resolved(shell())["s"], id="defaults") == runtime


def built(name: str, platform: Platform = "linux") -> Runtime:
    runtime = profile(name, platform)
    assert runtime is not None
    return runtime


SYSTEM = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]


def test_the_profile_workspace_readonly() -> None:
    runtime = built("builtin:workspace-readonly")
    powers = runtime.capabilities
    assert (runtime.cwd.canonical, powers.sandbox) == ("${workspace}", "required")
    assert (paths(powers.read), powers.write) == (["${workspace}"], ())
    assert not any((powers.network, powers.child_processes, powers.arbitrary_code, powers.privilege_change))
    assert paths(runtime.resolver.search_path) == SYSTEM
    assert paths(runtime.resolver.trusted_root) == ["/usr", "/bin"]
    assert rules(runtime) == [("builtin-deny-destructive", "deny"), ("builtin-allow-read-tools", "allow")]
    names = []
    for rule in runtime.policy.rules:
        assert isinstance(rule.matcher, Joined)
        assert rule.matcher.kind == "any"
        names.append(" ".join(getattr(one, "value", "") for one in rule.matcher.matchers))
    assert names == ["rm mv cp chmod chown sudo", "pwd ls cat head tail wc grep rg"]
    assert runtime.policy.default == "ask"


def test_the_profile_workspace_development() -> None:
    runtime = built("builtin:workspace-development")
    powers = runtime.capabilities
    assert (powers.sandbox, paths(powers.read), paths(powers.write)) == (
        "preferred",
        ["${workspace}"],
        ["${workspace}"],
    )
    assert (powers.child_processes, powers.arbitrary_code) == (True, True)
    assert (powers.network, powers.privilege_change) == (False, False)
    assert paths(runtime.resolver.search_path) == SYSTEM
    assert (runtime.policy.default, runtime.policy.rules) == ("ask", ())


def test_the_profile_yolo() -> None:
    runtime = built("builtin:yolo@1")
    powers = runtime.capabilities
    assert (powers.sandbox, paths(powers.read), paths(powers.write)) == ("direct_unsafe", ["/"], ["/"])
    assert (powers.network, powers.child_processes, powers.arbitrary_code, powers.privilege_change) == (True,) * 4
    assert (runtime.resolver.search_path, paths(runtime.resolver.trusted_root)) == ((), ["/"])
    assert (runtime.environment.inherit, runtime.policy.default) == ("raw", "allow")
    assert (runtime.approvals.provider, runtime.approvals.scopes) == ("none", ("once", "exact_session"))


def test_the_profile_hook_worker() -> None:
    runtime = built("builtin:hook-worker")
    powers = runtime.capabilities
    assert (runtime.cwd.canonical, powers.sandbox, paths(powers.read)) == (
        "${source_dir}",
        "required",
        ["${source_dir}"],
    )
    assert (powers.arbitrary_code, powers.child_processes, powers.network) == (True, False, False)
    limits = runtime.limits
    assert (limits.wall_time, limits.idle_time, limits.max_stdin) == (5.0, 2.0, 2**20)
    assert (limits.stdout, limits.stderr, limits.total_output) == (256 * 1024, 64 * 1024, 320 * 1024)
    assert (runtime.policy.default, runtime.approvals.provider) == ("deny", "none")


@pytest.mark.parametrize(
    ("platform", "sandbox"),
    [("linux", ["builtin-bubblewrap"]), ("macos", ["builtin-seatbelt"]), ("any", [])],
)
def test_profiles_bring_the_backends_of_a_platform(platform: Platform, sandbox: list[str]) -> None:
    backends = {name: [one.id for one in built(name, platform).backends.backends] for name in profiles()}
    assert backends == {
        "builtin:workspace-readonly@1": sandbox,
        "builtin:workspace-development@1": [*sandbox, "builtin-direct"],
        "builtin:yolo@1": ["builtin-direct"],
        "builtin:hook-worker@1": sandbox,
    }


def test_the_source_directory_of_a_profile_is_that_of_the_runtime(tmp_path: Path) -> None:
    write(tmp_path, lib__x_chatmd=shell("", 'id="w" extends="builtin:hook-worker"'))
    runtime = resolved('<import src="lib/x.chatmd"/>', tmp_path)["w"]
    assert runtime.cwd.from_root == "${source_dir}/lib"
    assert [root.path and root.path.from_root for root in runtime.capabilities.read] == ["${source_dir}/lib"]


def test_legacy_tools_bring_a_runtime() -> None:
    """Section 7.6."""
    runtimes = resolved(shell() + '<tool name="t" command="rg"/>')
    assert list(runtimes) == ["s", "legacy:custom"]
    runtime = runtimes["legacy:custom"]
    assert runtime == legacy()
    powers = runtime.capabilities
    assert (powers.sandbox, paths(powers.read), paths(powers.write)) == ("direct_unsafe", ["/"], ["/"])
    assert (powers.network, powers.child_processes, powers.arbitrary_code, powers.privilege_change) == (True,) * 4
    assert (runtime.environment.inherit, runtime.policy.default) == ("raw", "ask")
    assert [(one.id, one.when) for one in runtime.backends.backends] == [("legacy-direct", "any")]
    reserved = shell("", 'id="legacy:custom"')
    assert resolved(reserved)["legacy:custom"].environment.inherit == "safe"
    assert problems(reserved + '<tool name="t" command="rg"/>') == [
        ("shell.duplicate_runtime", "runtime.legacy:custom.id", "legacy:custom")
    ]


def test_a_declared_runtime_comes_before_a_profile_of_its_name() -> None:
    runtimes = resolved(shell("<limits stdout='7'/>", 'id="builtin:yolo"') + shell("", 'id="a" extends="builtin:yolo"'))
    assert (runtimes["a"].limits.stdout, runtimes["a"].requested_profile) == (7, None)


def test_the_order_of_declarations_does_not_matter() -> None:
    parent = shell("<limits stdout='7'/>", 'id="p" extends="builtin:yolo"')
    child = shell("<limits stderr='8'/>", 'id="c" extends="p"')
    first, second = resolved(parent + child), resolved(child + parent)
    assert first == second
    assert (list(first), list(second)) == (["p", "c"], ["c", "p"])
    assert first["c"].span is not None
    assert first["c"].span.text == '<shell_access id="c" extends="p">'


def test_settings_win_unless_they_are_inherited() -> None:
    base = (
        '<capabilities sandbox="preferred" network="true"/><limits wall_time="1s" idle_time="none" memory="5"/>'
        '<approvals scopes="once" provider="none"/><secrets replacement="x"/>'
    )
    child = (
        '<capabilities network="false"/><limits idle_time="2s"/><approvals durable="true"/><secrets replacement=""/>'
    )
    runtime = derived(base, child)
    assert (runtime.capabilities.sandbox, runtime.capabilities.network) == ("preferred", False)
    assert (runtime.limits.wall_time, runtime.limits.idle_time, runtime.limits.memory) == (1.0, 2.0, 5)
    assert derived(base, "").limits.idle_time is CLEAR
    assert (runtime.approvals.scopes, runtime.approvals.provider, runtime.approvals.durable) == (
        ("once",),
        "none",
        True,
    )
    assert derived(base, '<approvals scopes="prefix_session"/>').approvals.scopes == ("prefix_session",)
    assert runtime.secrets.replacement == ""


def test_lists_are_joined_or_replaced() -> None:
    def inside(name: str, merge: str) -> str:
        return (
            f'<capabilities merge="{merge}"><read path="/{name}"/><write path="/{name}"/></capabilities>'
            f'<resolver merge="{merge}"><search_path path="/{name}"/>'
            f'<executable id="{name}" path="/{name}"/></resolver>'
            f'<environment merge="{merge}"><unset name="{name}"/></environment>'
            f'<secrets merge="{merge}"><literal value="{name}"/></secrets>'
            f'<backends merge="{merge}"><direct id="{name}"/></backends>'
        )

    def names(runtime: Runtime) -> set[tuple[str, ...]]:
        return {
            tuple(path[1:] for path in paths(runtime.capabilities.read)),
            tuple(path[1:] for path in paths(runtime.capabilities.write)),
            tuple(path[1:] for path in paths(runtime.resolver.search_path)),
            tuple(one.id for one in runtime.resolver.executables),
            tuple(getattr(one, "name", "") for one in runtime.environment.operations),
            tuple(getattr(one, "value", "") for one in runtime.secrets.sources),
            tuple(one.id or "" for one in runtime.backends.backends if not (one.id or "").startswith("builtin")),
        }

    assert names(derived(inside("a", "append"), inside("b", "append"))) == {("a", "b")}
    assert names(derived(inside("a", "append"), inside("b", "replace"))) == {("b",)}
    appended = resolved(
        shell(inside("a", "replace"), 'id="x"')
        + shell(inside("b", "append"), 'id="y" extends="x"')
        + shell(inside("c", "append"), 'id="z" extends="y"')
    )
    assert names(appended["z"]) == {("a", "b", "c")}


def test_a_backend_is_never_replaced_by_its_id() -> None:
    text = shell('<backends><direct id="builtin-linux"/><direct/><direct/></backends>')
    assert len(resolved(text)["s"].backends.backends) == 5
    assert problems(shell('<backends><direct id="builtin-bubblewrap"/></backends>')) == [
        ("shell.duplicate_named_entry", "runtime.s.backends.builtin-bubblewrap", "builtin-bubblewrap")
    ]
    replaced = shell('<backends merge="replace"><direct id="builtin-bubblewrap"/></backends>')
    assert [one.id for one in resolved(replaced)["s"].backends.backends] == ["builtin-bubblewrap"]


def test_accepting_declared_confinement_is_not_inherited_past_a_section() -> None:
    base = '<backends accept_declared_confinement="true"/>'
    assert derived(base, "").backends.accept_declared_confinement is True
    assert derived(base, '<backends merge="append"/>').backends.accept_declared_confinement is False


def test_an_executable_is_replaced_in_place() -> None:
    base = '<resolver><executable id="a" path="/a"/><executable id="b" path="/b"/></resolver>'
    runtime = derived(base, '<resolver><executable id="a" path="/c" override="true"/></resolver>')
    assert paths(runtime.resolver.executables) == ["/c", "/b"]


def test_check_reports_what_does_not_resolve(tmp_path: Path) -> None:
    write(tmp_path, p_chatmd=shell("", 'id="a" extends="b"'))
    (found,) = check(tmp_path / "p.chatmd")
    assert (found.code, place(found)[1:]) == ("shell.unknown_runtime", (30, "b"))
    assert [one["code"] for one in describe(load(shell("", 'id="a" extends="b"')))["findings"]] == [found.code]


def test_runtimes_are_described() -> None:
    text = shell('<capabilities><write path_env="OUT"/></capabilities>', 'id="a" extends="builtin:workspace-readonly"')
    description = describe(load(text + shell("", 'id="b"')))
    first, second = description["runtimes"]
    assert (first["profile"], first["sandbox"], first["powers"]) == ("builtin:workspace-readonly@1", "required", [])
    assert (first["read"], first["write"]) == (["${workspace}"], ["$OUT"])
    assert [rule["action"] for rule in first["rules"]] == ["deny", "allow"]
    assert second["profile"] is None
    assert show(description).splitlines()[-2:] == [
        "  a: builtin:workspace-readonly@1; sandbox required; read ${workspace}; write $OUT; powers nothing; "
        "policy ask with 2 rules",
        "  b: sandbox required; read nothing; write nothing; powers nothing; policy ask",
    ]
