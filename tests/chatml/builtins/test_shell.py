"""The surfaces of shell scripts (builtins.md section 7)."""

from __future__ import annotations

import pytest

from chatml.builtins.shell import SHELL
from chatml.surfaces.core import CORE
from chatml.surfaces.shell import SHELL_SURFACES
from chatml.values.model import BuiltinFailure

ADDED = {
    "shell_matcher": ({"Shell", "Match"}, {"shell_context", "shell_policy"}),
    "shell_reviewer": ({"Shell", "Review"}, {"shell_context", "shell_policy"}),
    "shell_before_interceptor": ({"Shell", "Intercept"}, {"shell_context", "shell_policy"}),
    "shell_after_interceptor": ({"Result"}, {"shell_result"}),
    "shell_effect_analyzer": ({"Shell", "Effect"}, {"shell_context", "shell_policy"}),
    "shell_audit_filter": ({"Audit"}, {"shell_audit"}),
}

EXPORTS = {
    "Shell": "argv capabilities cwd effects executable manifest_sha256 origin policy request_id request_kind "
    "runtime_id script_preview script_sha256 session_id stdin_bytes stdin_kind stdin_sha256",
    "Match": "no yes",
    "Review": "approve approve_for defer deny rewrite",
    "Intercept": "continue reject respond rewrite",
    "Result": "keep reject_disclosure replace",
    "Effect": "add arbitrary_code child_processes network privilege_change read_path replace write_path",
    "Audit": "drop_field keep replace",
}


def names(items: tuple) -> set[str]:
    return {item.name for item in items}


@pytest.mark.parametrize("kind", ADDED)
def test_members(kind: str) -> None:
    """A kind has `CORE` without `print`, and its own modules and aliases."""
    surface = SHELL_SURFACES[kind]
    modules, aliases = ADDED[kind]
    assert names(surface.globals) == names(CORE.globals) - {"print"}
    assert names(surface.modules) - names(CORE.modules) == modules
    assert names(surface.aliases) - names(CORE.aliases) == aliases
    for module in surface.modules:
        if module.name in modules:
            assert " ".join(sorted(names(module.exports))) == EXPORTS[module.name]


def test_there_are_six_kinds() -> None:
    assert SHELL_SURFACES.keys() == ADDED.keys()


@pytest.mark.parametrize("export", SHELL.exports, ids=lambda export: export.name)
def test_a_reader_reads_its_field(export: object) -> None:
    value = object()
    assert export.function({export.name: value, "other": 1}) is value
    with pytest.raises(BuiltinFailure, match=export.name):
        export.function({})
    with pytest.raises(BuiltinFailure, match="shell_context"):
        export.function(None)
