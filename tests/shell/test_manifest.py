"""The manifest: what is in it, what its hash depends on, and why a document has none (shell.md section 9)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_shell.errors import ShellError
from chatml_shell.manifest.canonical import canonical
from chatml_shell.manifest.compile import compile_manifest
from chatml_shell.manifest.features import ALL
from tests.shell.prompts import ALLOW, DIRECT, codes, load, manifest, runtime, script

MATCHER = script("shell_matcher", "m", 'let initial_state = 0\nlet match_command ctx st = Match.yes("")')
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_canonical_text_reads_back_and_depends_on_the_value_alone(value: object) -> None:
    """Canonical JSON reads back as its value, and has no white space between its tokens."""
    text = canonical(value)
    assert json.loads(text) == value
    expected = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert text == expected


def test_s_010_profiles() -> None:
    """S-010: two spellings of a profile settle the same and hash differently; yolo is announced."""
    plain, versioned = (manifest(runtime("", more=f'extends="{name}"')) for name in ("builtin:yolo", "builtin:yolo@1"))
    one, other = plain.material.runtimes["r"], versioned.material.runtimes["r"]
    same = {"requested_profile": None, "source_record": None, "span": None}
    assert attrs.evolve(one, **same) == attrs.evolve(other, **same)
    assert plain.sha256 != versioned.sha256
    assert "CRITICAL" in plain.summary
    assert "CRITICAL" in versioned.summary


def imports(directory: Path, *names: str) -> str:
    """A root that only imports."""
    return "".join(f'<import src="{name}"/>' for name in names)


def test_s_011_what_the_hash_depends_on(tmp_path: Path) -> None:
    """S-011: not on the order of declarations or the place of the tree, but on all else."""
    (tmp_path / "a.md").write_text(runtime(name="a") + '<tool name="x" runtime="a" command="ls"/>')
    (tmp_path / "b.md").write_text(runtime(name="b") + '<tool name="y" runtime="b" command="ls"/>')
    first = manifest(imports(tmp_path, "a.md", "b.md"), tmp_path)
    assert manifest(imports(tmp_path, "b.md", "a.md"), tmp_path).sha256 == first.sha256
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("a.md", "b.md"):
        (moved / name).write_bytes((tmp_path / name).read_bytes())
    assert manifest(imports(moved, "a.md", "b.md"), moved).sha256 == first.sha256
    (tmp_path / "b.md").write_text((tmp_path / "b.md").read_text() + "\n")
    assert manifest(imports(tmp_path, "a.md", "b.md"), tmp_path).sha256 != first.sha256


def hashed(inside: str, more: str = "", script_body: str = "let initial_state = 0") -> str:
    """The hash of a runtime, its declaring file's digest left out so that one change at a time counts."""
    text = script("shell_matcher", "m", script_body) + runtime(inside, more=more)
    payload = json.loads(manifest(text).canonical_text)
    for one in (*payload["runtimes"], *payload["tools"]):
        one["source"] = None
    return canonical(payload)


RULES = ("<rule id='a' action='deny'><program value='a'/></rule>", "<rule id='b' action='ask'><raw_shell/></rule>")


def test_s_011_rules_scripts_and_settings_are_in_the_text_itself() -> None:
    """S-011: swapped rules, a changed script body and a flipped setting change more than the file's digest."""
    rules = DIRECT + "<policy>{}{}</policy>"
    assert hashed(rules.format(*RULES)) != hashed(rules.format(*reversed(RULES)))
    assert hashed(DIRECT) != hashed(DIRECT, 'pipefail="true"')
    uses = DIRECT + "<policy><rule id='a' action='deny'><chatml_match script='m'/></rule></policy>"
    assert hashed(uses) != hashed(uses, script_body="let initial_state = 1")


def test_s_011_literal_secrets_stay_out() -> None:
    """S-011: the text of a literal secret is not in the canonical text."""
    text = manifest(runtime(DIRECT + "<secrets><literal value='K3Y'/></secrets>")).canonical_text
    assert "K3Y" not in text
    assert "<literal-secret>" in text


def test_s_012_backends_must_fit() -> None:
    """S-012: the default backends fit Linux and no unknown platform; `preferred` takes what it declares."""
    assert manifest(runtime("")).platform == "linux"
    assert codes(runtime(""), platform="any") == ["shell.incompatible_backend"]
    other = '<capabilities sandbox="preferred"/><backends merge="replace"><direct when="windows"/></backends>'
    assert manifest(runtime(other))


HOOK = '<reviewers><reviewer id="p" kind="executable" executable="/bin/true" runtime="w"/></reviewers>'


def test_s_013_references_of_extensions() -> None:
    """S-013: a worker that inherits its hook is a cycle; workers must exist; scripts must be of the kind."""
    inherited = runtime(DIRECT + HOOK, "main") + runtime("", "w", 'extends="main"')
    assert codes(inherited) == ["shell.runtime_dependency_cycle"]
    assert codes(runtime(DIRECT + HOOK)) == ["shell.unknown_worker_runtime"]
    wrong = MATCHER + runtime(DIRECT + '<reviewers><reviewer id="s" kind="chatml" script="m"/></reviewers>')
    assert codes(wrong) == ["shell.script_kind_mismatch"]


def test_all_findings_come_sorted() -> None:
    tools = '<tool name="t" runtime="nope" command="x"/><tool name="s" runtime="no" command="x"/>'
    text = runtime(DIRECT + HOOK) + tools + '<moderator_runtime shell_runtime="none"/>'
    with pytest.raises(ShellError) as raised:
        manifest(text)
    found = [(one.code, one.path) for one in raised.value.diagnostics]
    assert found == sorted(found)
    assert [code for code, _ in found] == ["shell.unknown_runtime"] * 3 + ["shell.unknown_worker_runtime"]


def test_duplicates_are_reported_before_anything_else() -> None:
    text = runtime("", more='extends="nope"') + '<tool name="t" command="x"/><tool name="t" command="y"/>'
    assert codes(text) == ["shell.duplicate_tool"]


def test_a_missing_feature_is_refused() -> None:
    """The document is not run with less."""
    document = load(runtime(DIRECT + "<limits memory='1MiB'/>"))
    with pytest.raises(ShellError) as raised:
        compile_manifest(document, platform="linux", supported=ALL - {"shell.resource_limits.v1"})
    (found,) = raised.value.diagnostics
    assert (found.code, found.path) == ("shell.unsupported_feature", ("features", "shell.resource_limits.v1"))


def test_a_changed_manifest_is_not_taken_for_what_it_was() -> None:
    made = manifest(runtime())
    made.verify()
    with pytest.raises(ShellError, match="does not describe the runtimes"):
        attrs.evolve(made, payload={**made.payload, "platform": "macos"}).verify()


def test_unused_scripts_are_a_warning_and_not_part_of_it() -> None:
    made = manifest(MATCHER + runtime())
    assert [one.code for one in made.warnings] == ["chatmd.unused_script"]
    assert made.payload["extension_scripts"] == []


def test_deep_matchers_and_many_rules_take_linear_time() -> None:
    """Hostile documents: matchers nested 5,000 deep, 10,000 rules."""
    deep = "<not>" * 5_000 + "<any_command/>" + "</not>" * 5_000
    many = "".join(f"<rule id='r{n}' action='ask'><program value='p{n}'/></rule>" for n in range(10_000))
    policy = f"<policy><rule id='deep' action='deny'>{deep}</rule>{many}</policy>"
    started = time.perf_counter()
    made = manifest(runtime(DIRECT + policy))
    assert time.perf_counter() - started < 20
    assert made.canonical_text.count('"element":"not"') == 5_000


def test_a_hundred_runtimes_compile_quickly() -> None:
    """The bound is ten times the figure of the benchmarks: a shared machine is slow."""
    document = load("".join(runtime(DIRECT + ALLOW, f"r{n}") for n in range(100)))
    compile_manifest(document, platform="linux")
    started = time.perf_counter()
    compile_manifest(document, platform="linux")
    assert time.perf_counter() - started < 1.0
