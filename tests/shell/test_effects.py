"""What commands do by the table, what they may, and what rules decide (shell.md sections 14 and 15)."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmd.shell.policy import Policy, ScriptMatcher
from chatmd.sources.paths import HostPaths
from chatml_shell.approvals.identity import identify
from chatml_shell.effects.capabilities import check_capabilities
from chatml_shell.effects.effect import Effect, parse_effect
from chatml_shell.effects.table import builtin_effects
from chatml_shell.errors import Refusal
from chatml_shell.plans.command import Command
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.grants import Grants
from chatml_shell.policy.decide import live_policy
from chatml_shell.policy.matcher import MatchFailed, Tools
from chatml_shell.policy.subject import Stdin, Subject
from chatml_shell.resolver.resolve import Resolver
from tests.shell.prompts import load, runtime

SYSTEM = Resolver({}, ("/usr/bin", "/bin", "/usr/local/bin"), ())
TRUSTING = Resolver({}, ("/usr/bin", "/bin"), ("/usr", "/bin"))
ANYTHING = ["arbitrary_code", "child_processes"]


def effects(line: str, cwd: str = "/w", resolver: Resolver = SYSTEM) -> list[str]:
    """The effects of some words."""
    program, *arguments = line.split()
    executable = resolver.resolve(program if shutil.which(program) or "/" in program else "true", cwd)
    return [str(one) for one in builtin_effects(Command(program, tuple(arguments)), executable, "structured", cwd)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pwd", []),
        ("echo /etc/passwd", []),
        ("cat a -n /etc/x -- -b", ["read:/w/a", "read:/etc/x", "read:/w/-b"]),
        ("wc --files0-from=x", ["unknown:an option names a file"]),
        ("ls", ["read:/w"]),
        ("ls -l a", ["read:/w/a"]),
        ("grep x a b", ["read:/w/a", "read:/w/b"]),
        ("grep -e x a", ["read:/w/x", "read:/w/a"]),
        ("grep -exx /etc/shadow", ["read:/etc/shadow"]),
        ("grep --rege=x /etc/shadow", ["read:/etc/shadow"]),
        ("grep -r x", ["read:/w"]),
        ("grep -nf pats a", ["read:/w/pats", "read:/w/a", "unknown:an option names a file"]),
        ("grep --fil=pats a", ["read:/w/a", "unknown:an option names a file"]),
        ("rm -rf a", ["write:/w/a"]),
        ("touch -r /etc/x a", ["write:/etc/x", "write:/w/a", "unknown:an option names a file"]),
        ("cp a b c", ["read:/w/a", "read:/w/b", "write:/w/c"]),
        ("cp -t d a", ["read:/w/d", "write:/w/a", "unknown:an option names a file"]),
        ("cp", ["unknown:nothing to copy"]),
        ("mv a b", ["read:/w/a", "write:/w/b", "write:/w/a"]),
        ("find", ["read:/w"]),
        ("find a /etc -name x", ["read:/w/a", "read:/etc"]),
        ("find -L /etc", ["read:/etc"]),
        ("find -D x -O3 /etc", ["read:/etc"]),
        ("find . -delete", ["read:/w/.", "write:/w/."]),
        ("find . -exec rm {} ;", ["read:/w/.", *ANYTHING]),
        ("find . -fprintf o %p", ["read:/w/.", "write:/w/o"]),
        ("find . -newer /etc/x", ["read:/w/.", "read:/etc/x"]),
        ("find -files0-from x", ["read:/w", "unknown:paths that a file names"]),
        ("sh -c x", ANYTHING),
        ("env ls", ANYTHING),
        ("chmod 777 a", ["privilege_change", "write:/w", "child_processes"]),
        ("awk x", [*ANYTHING, "unknown:the program awk"]),
        ("sed -n e a", [*ANYTHING, "unknown:the program sed"]),
        ("tar cf a", [*ANYTHING, "unknown:the program tar"]),
        ("git status", ["read:/w", "write:/w", *ANYTHING, "unknown:what a project's files ask for"]),
        ("curl x", ["network", "write:/w", "unknown:what comes over the network"]),
    ],
)
def test_the_table(line: str, expected: list[str]) -> None:
    assert effects(line) == expected


def test_rg_runs_programs_by_its_options(tmp_path: Path) -> None:
    """`rg` need not be installed here: a trusted file of its name is one."""
    (tmp_path / "rg").write_bytes(b"x")
    (tmp_path / "rg").chmod(0o755)
    trusted = Resolver({}, (str(tmp_path),), (str(tmp_path),))

    def found(*arguments: str) -> list[str]:
        executable = trusted.resolve("rg", "/w")
        return [str(one) for one in builtin_effects(Command("rg", arguments), executable, "structured", "/w")]

    assert found("x") == ["read:/w"]
    assert found("x", "a") == ["read:/w/a"]
    assert found("--files", "/etc") == ["read:/etc"]
    assert found("--pre=evil", "x") == ANYTHING
    assert found("--hostname-bin", "evil", "x") == ANYTHING
    assert found("-z", "x") == ["read:/w", "child_processes", "unknown:programs that unpack"]


def test_a_harmless_name_is_not_enough(tmp_path: Path) -> None:
    """E-23: a program of the workspace called `echo`, a link called `echo` to a shell, and one under trusted roots."""
    (tmp_path / "echo").write_bytes(Path("/bin/true").read_bytes())
    (tmp_path / "echo").chmod(0o755)
    (tmp_path / "cat").symlink_to("/bin/sh")
    (tmp_path / "chmod").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "chmod").chmod(0o755)
    for name in ("echo", "cat"):
        for resolver in (SYSTEM, TRUSTING, Resolver({}, (str(tmp_path),), ("/usr", "/bin"))):
            assert effects(f"./{name} x", str(tmp_path), resolver) == [*ANYTHING, f"unknown:the program {name}"]
    assert "arbitrary_code" in effects("./chmod x", str(tmp_path))


def test_raw_text_may_do_anything() -> None:
    executable = SYSTEM.resolve("sh", "/w")
    found = builtin_effects(Command("/bin/sh", ("-c", "x")), executable, "raw_shell", "/w")
    assert {one.kind for one in found} == {"arbitrary_code", "child_processes", "unknown"}


@given(st.text())
def test_every_text_names_an_effect(text: str) -> None:
    """A text of an extension is an effect; what is not known is unknown, and an effect's own text reads back."""
    found = parse_effect(text)
    assert parse_effect(str(found)) == found


def grants(read: tuple[str, ...] = (), write: tuple[str, ...] = (), **powers: bool) -> Grants:
    """Capabilities of a test: nothing but what is named."""
    names = ("network", "child_processes", "arbitrary_code", "privilege_change")
    given = {name: powers.get(name, False) for name in names}
    return Grants(read_roots=read, write_roots=write, sandbox="required", **given)


def test_s_025_capabilities(tmp_path: Path) -> None:
    """S-025: a link out of a root, a program that is not known, and one that is."""
    (tmp_path / "e").symlink_to("/etc")
    (tmp_path / "mystery-tool").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "mystery-tool").chmod(0o755)
    root = grants(read=(str(tmp_path),))

    def check(line: str) -> None:
        program, *words = line.split()
        executable = SYSTEM.resolve(program, str(tmp_path))
        found = builtin_effects(Command(program, tuple(words)), executable, "structured", str(tmp_path))
        check_capabilities(found, root)

    check("ls")
    check("cat sub/missing")
    for line in ("cat e/passwd", "./mystery-tool", "cat ../x", "touch a"):
        with pytest.raises(Refusal) as raised:
            check(line)
        assert raised.value.code == "capability_violation"


def subject(*argv: str, cwd: str = "/", **changes: object) -> Subject:
    """A command under review."""
    program, *arguments = argv
    executable: Executable = SYSTEM.resolve(program, cwd)
    command = Command(program, tuple(arguments))
    values: dict[str, object] = {
        "request_id": "shell-00000001",
        "runtime_id": "r",
        "manifest_sha256": "0" * 64,
        "session_id": "s",
        "origin": "tool",
        "rationale": None,
        "kind": "structured",
        "command": command,
        "executable": executable,
        "cwd": cwd,
        "environment": {"A": "b"},
        "stdin": Stdin(),
        "script": None,
        "effects": builtin_effects(command, executable, "structured", cwd),
        **changes,
    }
    return Subject(**values)  # type: ignore[arg-type]


async def no_script(matcher: ScriptMatcher, subject: Subject) -> bool:
    """A script that gives no answer."""
    raise MatchFailed


def decide(rules: str, about: Subject, default: str = "ask") -> tuple[str, str]:
    """What a policy says."""
    (access,) = load(runtime(f'<policy default="{default}">{rules}</policy>')).shell_runtimes
    policy = access.policy or Policy()
    tools = Tools(
        HostPaths(workspace="/w", prompt_dir="/").resolve, lambda text: lambda program: text in program, no_script
    )
    decision = asyncio.run(live_policy(policy, tools).decide(about))
    return decision.action, decision.reason


def rule(action: str, matcher: str, name: str = "x") -> str:
    """A rule."""
    return f"<rule id='{name}' action='{action}'>{matcher}</rule>"


def test_s_026_the_strongest_action_wins() -> None:
    """S-026: in any order; the default counts only when nothing matches."""
    about = subject("echo", "a")
    rules = [
        rule("allow", "<any_command/>", "a"),
        rule("deny", "<any_command/>", "d"),
        rule("ask", "<any_command/>", "q"),
    ]
    assert decide("".join(rules), about)[0] == decide("".join(reversed(rules)), about)[0] == "deny"
    assert decide(rules[0] + rules[2], about) == ("ask", "q")
    assert decide(rule("deny", "<raw_shell/>"), about, "allow")[0] == "allow"
    assert decide(rules[0], about, "deny") == ("allow", "a")


@pytest.mark.parametrize(
    ("matcher", "matches"),
    [
        ("<program value='echo'/>", True),
        ("<program value='/usr/bin/echo'/>", False),
        ("<basename value='echo'/>", True),
        ("<resolved_path value='/bin/../bin/echo'/>", True),
        ("<trusted_executable/>", False),
        ("<program_regex value='ch'/>", True),
        ("<argv_prefix values='echo, a'/>", True),
        ("<argv_prefix values='echo, a, b, c'/>", False),
        ("<argument value='b'/>", True),
        ("<argument value='echo'/>", False),
        ("<argument_contains value='b'/>", True),
        ("<effect name='network'/>", False),
        ("<no_unknown_effects/>", True),
        ("<raw_shell/>", False),
        ("<all><any_command/><raw_shell/></all>", False),
        ("<any><raw_shell/><any_command/></any>", True),
        ("<not><any><raw_shell/><not><any_command/></not></any></not>", True),
        ("<all><any><raw_shell/><basename value='echo'/></any><not><argument value='z'/></not></all>", True),
    ],
)
def test_matchers(matcher: str, matches: bool) -> None:
    assert decide(rule("deny", matcher), subject("echo", "a", "b"), "allow")[0] == ("deny" if matches else "allow")


def test_effects_below_a_place() -> None:
    about = subject("cat", "/w/sub/../a", "/etc/passwd")
    assert decide(rule("deny", "<effect name='read_path' under='/etc'/>"), about, "allow")[0] == "deny"
    assert decide(rule("deny", "<effect name='read_path' under='/w/sub'/>"), about, "allow")[0] == "allow"
    assert decide(rule("deny", "<effect name='read_path' under='/w'/>"), about, "allow")[0] == "deny"


def tree(depth: int) -> st.SearchStrategy[tuple[str, bool]]:
    """Matchers with whether they match anything."""
    leaf = st.sampled_from([("<any_command/>", True), ("<raw_shell/>", False)])
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            inner.map(lambda one: (f"<not>{one[0]}</not>", not one[1])),
            st.lists(inner, min_size=1, max_size=4).map(
                lambda many: (f"<all>{''.join(one for one, _ in many)}</all>", all(true for _, true in many))
            ),
            st.lists(inner, min_size=1, max_size=4).map(
                lambda many: (f"<any>{''.join(one for one, _ in many)}</any>", any(true for _, true in many))
            ),
        ),
        max_leaves=depth,
    )


ECHO = subject("echo")


@given(tree(20))
def test_programs_of_matchers_mean_their_trees(case: tuple[str, bool]) -> None:
    """A matcher's program answers as its tree does."""
    text, expected = case
    assert decide(rule("deny", text), ECHO, "allow")[0] == ("deny" if expected else "allow")


def test_matchers_nest_deeper_than_the_call_stack() -> None:
    deep = "<not>" * 20_000 + "<any_command/>" + "</not>" * 20_000
    assert decide(rule("deny", deep), ECHO, "allow")[0] == "deny"


@pytest.mark.parametrize(
    ("action", "failure", "outcome"),
    [
        ("allow", "", "ask"),
        ("ask", "", "ask"),
        ("deny", "", "deny"),
        ("deny", "no_match", "allow"),
        ("deny", "keep", "allow"),
        ("deny", "error", "deny"),
        ("ask", "deny", "allow"),
    ],
)
def test_s_031_what_a_failing_script_counts_as(action: str, failure: str, outcome: str) -> None:
    """S-031: by the action of its rule, or as its declaration says."""
    more = f"failure='{failure}'" if failure else ""
    default = "allow" if action != "allow" else "ask"
    assert decide(rule(action, f"<chatml_match script='m' {more}/>"), ECHO, default)[0] == outcome


PARTS = st.lists(st.text(alphabet="ab:1=\0", max_size=3), min_size=1, max_size=3)


@given(
    PARTS,
    PARTS,
    st.dictionaries(st.text("ab", min_size=1), st.text("a=\n")),
    st.dictionaries(st.text("ab", min_size=1), st.text("a=\n")),
)
def test_two_requests_never_share_an_identity(
    first: list[str], second: list[str], one: dict[str, str], other: dict[str, str]
) -> None:
    """Commands with different words or variables have different identities, equal ones the same."""
    base = subject("true")
    identities = [
        identify(Subject(**{**fields(base), "command": Command(words[0], tuple(words[1:])), "environment": variables}))  # type: ignore[arg-type]
        for words, variables in ((first, one), (second, other))
    ]
    same = (first, one) == (second, other)
    assert (identities[0].command_hash == identities[1].command_hash) == same
    assert (identities[0] == identities[1]) == same


def fields(about: Subject) -> dict[str, object]:
    """The fields of a subject."""
    return {name: getattr(about, name) for name in Subject.__annotations__}


def test_every_part_of_an_identity_counts() -> None:
    base = subject("true", "a")
    changes: dict[str, object] = {
        "manifest_sha256": "1" * 64,
        "runtime_id": "s",
        "kind": "raw_shell",
        "cwd": "/tmp",
        "environment": {"A": "c"},
        "stdin": Stdin.of(b"x", is_first=True),
        "executable": SYSTEM.resolve("false", "/"),
    }
    hashes = {identify(base).command_hash}
    hashes |= {identify(subject("true", "a", **{name: value})).command_hash for name, value in changes.items()}
    assert len(hashes) == len(changes) + 1
    piped = subject("sh", stdin=Stdin.of(b"", is_first=False))
    assert identify(piped, "one").command_hash != identify(piped, "two").command_hash


def test_effects_of_extensions() -> None:
    assert parse_effect("read:/etc") == Effect("read_path", "/etc")
    assert parse_effect("read:etc").kind == "unknown"
