"""What the scripts of a shell can name, a small surface for each kind of script (builtins.md section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from chatml.builtins.shell import (
    AUDIT,
    AUDIT_TYPE,
    CONTEXT_TYPE,
    EFFECT,
    INTERCEPT,
    MATCH,
    POLICY_TYPE,
    RESULT,
    RESULT_TYPE,
    REVIEW,
    SHELL,
)
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Alias, Module, Surface

BASE = Surface(tuple([each for each in CORE.globals if each.name != "print"]), CORE.modules, CORE.aliases)
"""`CORE` without `print`: such a script speaks through its answer alone."""

REQUEST = (Alias("shell_context", CONTEXT_TYPE), Alias("shell_policy", POLICY_TYPE))


def surface(*modules: Module, aliases: tuple[Alias, ...] = REQUEST) -> Surface:
    return BASE.combine(Surface(modules=modules, aliases=aliases))


SHELL_SURFACES: Mapping[str, Surface] = MappingProxyType(
    {
        "shell_matcher": surface(SHELL, MATCH),
        "shell_reviewer": surface(SHELL, REVIEW),
        "shell_before_interceptor": surface(SHELL, INTERCEPT),
        "shell_after_interceptor": surface(RESULT, aliases=(Alias("shell_result", RESULT_TYPE),)),
        "shell_effect_analyzer": surface(SHELL, EFFECT),
        "shell_audit_filter": surface(AUDIT, aliases=(Alias("shell_audit", AUDIT_TYPE),)),
    }
)
"""The surface of each kind of shell script, under the name of the kind."""
