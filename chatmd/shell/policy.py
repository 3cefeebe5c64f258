"""Policies: rules, and the matchers that decide which command a rule is about (shell.md section 3.6)."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from chatmd.shell.shape import PART, Declared, Form, Slot, attribute, children, declared, needed, tag_name
from chatmd.shell.values import BOOL, LIST, MERGE, PATH, REFERENCE, TEXT, Merge, choice
from chatmd.sources.paths import PathExpr

Action = Literal["allow", "ask", "deny"]
Failure = Literal["deny", "error", "no_match", "unknown", "keep"]
Effect = Literal[
    "read_path", "write_path", "network", "child_processes", "arbitrary_code", "privilege_change", "unknown"
]

MATCHERS: dict[str, Form] = {}
"""The record of each matcher's tag; it is filled at the end, because combinations hold matchers again."""


def matchers(arity: str, *, least: int = 1, most: int | None = 1) -> Any:
    """A field for matchers; `arity` is the code for a wrong number of them."""
    single = most == 1
    slot = Slot(MATCHERS, single, least, most, arity, "shell.unknown_matcher")
    return attrs.field(metadata={PART: slot})


@declared
class Fact(Declared):
    """True of every command, or of one that the runtime knows something about."""

    kind: Literal["any_command", "trusted_executable", "no_unknown_effects", "raw_shell"] = tag_name()


@declared
class TextMatcher(Declared):
    """Compares the program (its text, its last component, a regular expression) or an argument with a text."""

    kind: Literal["program", "basename", "program_regex", "argument", "argument_contains"] = tag_name()
    value: str = needed(TEXT)


@declared
class ResolvedPath(Declared):
    """True of the executable at a path."""

    value: PathExpr = needed(PATH)


@declared
class ArgvPrefix(Declared):
    """True of a command whose words, the program first, begin with these."""

    values: tuple[str, ...] = needed(LIST)


@declared
class EffectMatcher(Declared):
    """True of a command that has such an effect; `under` asks for its path to be there or below."""

    name: Effect = needed(choice(Effect))
    under: PathExpr | None = attribute(PATH)


@declared
class ScriptMatcher(Declared):
    """Asks a script. None for `failure` counts a failing script by the action of the rule (section 8.5)."""

    script: str = needed(REFERENCE)
    function: str = attribute(TEXT, "match_command")
    failure: Failure | None = attribute(choice(Failure))


@declared
class Joined(Declared):
    """True when all of its matchers are, or any of them is."""

    kind: Literal["all", "any"] = tag_name()
    matchers: tuple[Matcher, ...] = matchers("shell.empty_matcher", most=None)


@declared
class Negated(Declared):
    """True when its matcher is not."""

    matcher: Matcher = matchers("shell.matcher_arity")


Leaf = Fact | TextMatcher | ResolvedPath | ArgvPrefix | EffectMatcher | ScriptMatcher
Matcher = Leaf | Joined | Negated

MATCHERS.update(
    {
        **dict.fromkeys(("any_command", "trusted_executable", "no_unknown_effects", "raw_shell"), Fact),
        **dict.fromkeys(("program", "basename", "program_regex", "argument", "argument_contains"), TextMatcher),
        "resolved_path": ResolvedPath,
        "argv_prefix": ArgvPrefix,
        "effect": EffectMatcher,
        "chatml_match": ScriptMatcher,
        "all": Joined,
        "any": Joined,
        "not": Negated,
    }
)


@declared
class Rule(Declared):
    """What happens to the commands that match. With `override` it replaces an inherited rule of the same id."""

    id: str = needed(TEXT)
    action: Action = needed(choice(Action))
    override: bool = attribute(BOOL, False)
    matcher: Matcher = matchers("shell.rule_matcher_arity")


@declared
class Match(Declared):
    """Which commands an interceptor is asked about."""

    matcher: Matcher = matchers("shell.matcher_arity")


@declared
class Policy(Declared):
    """The rules, and what happens to a command that matches none."""

    default: Action | None = attribute(choice(Action))
    merge: Merge = attribute(MERGE, "append")
    rules: tuple[Rule, ...] = children({"rule": Rule}, "named")
