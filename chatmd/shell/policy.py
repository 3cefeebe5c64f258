"""Policies: rules, and the matchers that decide which command a rule is about (shell.md section 3.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, Literal

import attrs

from chatmd.paths import PathExpr
from chatmd.shell.shape import PART, Declared, Form, Slot, attribute, children, needed, tag_name
from chatmd.shell.values import BOOL, LIST, MERGE, PATH, REFERENCE, TEXT, Merge, choice

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


@attrs.frozen(kw_only=True)
class Fact(Declared):
    """True of every command, or of one that the runtime knows something about."""

    kind: Literal["any_command", "trusted_executable", "no_unknown_effects", "raw_shell"] = tag_name()


@attrs.frozen(kw_only=True)
class TextMatcher(Declared):
    """Compares the program (its text, its last component, a regular expression) or an argument with a text."""

    kind: Literal["program", "basename", "program_regex", "argument", "argument_contains"] = tag_name()
    value: str = needed(TEXT)


@attrs.frozen(kw_only=True)
class ResolvedPath(Declared):
    """True of the executable at a path."""

    value: PathExpr = needed(PATH)


@attrs.frozen(kw_only=True)
class ArgvPrefix(Declared):
    """True of a command whose words, the program first, begin with these."""

    values: tuple[str, ...] = needed(LIST)


@attrs.frozen(kw_only=True)
class EffectMatcher(Declared):
    """True of a command that has such an effect; `under` asks for its path to be there or below."""

    name: Effect = needed(choice(Effect))
    under: PathExpr | None = attribute(PATH)


@attrs.frozen(kw_only=True)
class ScriptMatcher(Declared):
    """Asks a script. None for `failure` counts a failing script by the action of the rule (section 8.5)."""

    script: str = needed(REFERENCE)
    function: str = attribute(TEXT, "match_command")
    failure: Failure | None = attribute(choice(Failure))


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Combination(Declared):
    """Matchers joined by `all`, `any` or `not`.

    Combinations may be nested deeper than any call stack, so comparing them does not recurse.
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Combination):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip_longest(flatten([self]), flatten([other])))

    def __hash__(self) -> int:
        return hash(tuple(flatten([self])))

    def __repr__(self) -> str:
        return f"<{' '.join(show(part) for part in flatten([self]))}>"


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Joined(Combination):
    """True when all of its matchers are, or any of them is."""

    kind: Literal["all", "any"] = tag_name()
    matchers: tuple[Matcher, ...] = matchers("shell.empty_matcher", most=None)


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Negated(Combination):
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


def flatten(of: Iterable[Any]) -> Iterator[Leaf | str | None]:
    """Matchers in order without nesting: leaves, the kind where a combination opens, None where it closes."""
    stack: list[Iterator[Matcher]] = [iter(of)]
    while stack:
        for matcher in stack[-1]:
            if isinstance(matcher, Joined):
                yield matcher.kind
                stack.append(iter(matcher.matchers))
            elif isinstance(matcher, Negated):
                yield "not"
                stack.append(iter([matcher.matcher]))
            else:
                yield matcher
                continue
            break
        else:
            stack.pop()
            if stack:
                yield None


def show(part: Leaf | str | None) -> str:
    """A part of a flattened combination for people."""
    return ")" if part is None else f"{part}(" if isinstance(part, str) else repr(part)


@attrs.frozen(kw_only=True)
class Rule(Declared):
    """What happens to the commands that match. With `override` it replaces an inherited rule of the same id."""

    id: str = needed(TEXT)
    action: Action = needed(choice(Action))
    override: bool = attribute(BOOL, False)
    matcher: Matcher = matchers("shell.rule_matcher_arity")


@attrs.frozen(kw_only=True)
class Match(Declared):
    """Which commands an interceptor is asked about."""

    matcher: Matcher = matchers("shell.matcher_arity")


@attrs.frozen(kw_only=True)
class Policy(Declared):
    """The rules, and what happens to a command that matches none."""

    default: Action | None = attribute(choice(Action))
    merge: Merge = attribute(MERGE, "append")
    rules: tuple[Rule, ...] = children({"rule": Rule}, "named")
