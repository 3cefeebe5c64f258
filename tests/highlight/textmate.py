"""A small interpreter of TextMate grammars: what an editor would make of a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

Rule = dict[str, Any]


@attrs.frozen
class Scoped:
    """A piece of a line and its scopes, outermost first."""

    offset: int
    text: str
    scopes: tuple[str, ...]


@attrs.frozen
class Open:
    """A rule whose end has not come: the scopes around its inside, and the grammar that it is from."""

    rule: Rule
    grammar: Rule
    scopes: tuple[str, ...]


class Grammars:
    """The grammars of a folder, by their scopes."""

    def __init__(self, folder: Path) -> None:
        texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.tmLanguage.json"))]
        self.by_scope: dict[str, Rule] = {grammar["scopeName"]: grammar for grammar in map(json.loads, texts)}

    def rules(self, grammar: Rule, patterns: list[Rule]) -> Iterator[tuple[Rule, Rule]]:
        """The rules of some patterns, included ones in their place, each with its grammar."""
        for pattern in patterns:
            name = pattern.get("include")
            if name is None:
                if "match" in pattern or "begin" in pattern:
                    yield pattern, grammar
                else:
                    yield from self.rules(grammar, pattern["patterns"])
            elif name.startswith("#"):
                yield from self.rules(grammar, [grammar["repository"][name[1:]]])
            else:
                other = self.by_scope[name]
                yield from self.rules(other, other["patterns"])

    def tokenize(self, scope: str, text: str) -> Iterator[Scoped]:
        """The pieces of a text in order, line by line as editors do."""
        root = self.by_scope[scope]
        stack = [Open(root, root, (scope,))]
        start = 0
        for line in text.splitlines(keepends=True):
            place = 0
            while place < len(line):
                top = stack[-1]
                found = self.first(top, line, place)
                if found is None:
                    yield Scoped(start + place, line[place:], top.scopes)
                    break
                match, rule, grammar = found
                if place < match.start():
                    yield Scoped(start + place, line[place : match.start()], top.scopes)
                if rule is top.rule and "end" in rule and grammar is None:
                    stack.pop()
                    outer = stack[-1].scopes + tuple(filter(None, [rule.get("name")]))
                    yield from captured(match, start, outer, rule.get("endCaptures", {}))
                elif "begin" in rule:
                    outer = top.scopes + tuple(filter(None, [rule.get("name")]))
                    yield from captured(match, start, outer, rule.get("beginCaptures", {}))
                    inside = outer + tuple(filter(None, [rule.get("contentName")]))
                    stack.append(Open(rule, grammar or top.grammar, inside))
                else:
                    outer = top.scopes + tuple(filter(None, [rule.get("name")]))
                    yield from captured(match, start, outer, rule.get("captures", {}))
                assert match.end() > place or rule is top.rule, f"{rule} matches nothing at {line!r}"
                place = match.end()
            start += len(line)

    def first(self, top: Open, line: str, place: int) -> tuple[re.Match[str], Rule, Rule | None] | None:
        """The match that begins first; of several, the end of the open rule, then the rule that stands first."""
        best: tuple[re.Match[str], Rule, Rule | None] | None = None
        if "end" in top.rule and (match := re.compile(top.rule["end"]).search(line, place)):
            best = match, top.rule, None
        for rule, grammar in self.rules(top.grammar, top.rule.get("patterns", [])):
            match = re.compile(rule.get("match") or rule["begin"]).search(line, place)
            if match and (best is None or match.start() < best[0].start()):
                best = match, rule, grammar
        return best


def captured(match: re.Match[str], start: int, scopes: tuple[str, ...], captures: Rule) -> Iterator[Scoped]:
    """The pieces of a match, with the scopes of its groups."""
    if "0" in captures:
        scopes = (*scopes, captures["0"]["name"])
    place = match.start()
    for group in range(1, (match.re.groups or 0) + 1):
        if match.start(group) < 0 or str(group) not in captures:
            continue
        if place < match.start(group):
            yield Scoped(start + place, match.string[place : match.start(group)], scopes)
        yield Scoped(start + match.start(group), match[group], (*scopes, captures[str(group)]["name"]))
        place = match.end(group)
    if place < match.end():
        yield Scoped(start + place, match.string[place : match.end()], scopes)
