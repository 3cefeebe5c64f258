"""Completion: what may stand at the cursor, from the types in scope. Nothing runs, and nothing changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Protocol

from chatml.pipeline import environment
from chatml.records import evolve, frozen
from chatml.stack import deep
from chatml.surfaces.model import Surface
from chatml.syntax import ast
from chatml.syntax.parse.lexer import FIXED
from chatml.types import Statements
from chatml.types.checked import type_of_entry
from chatml.types.environment import CONSTRUCTORS, PRIMITIVES, Entry, ModuleType
from chatml.types.freeze import Freezer
from chatml.types.model import Fun, Record, Type, Var, Variant
from chatml.types.names import TypeNames
from chatml.types.scheme import Scheme
from chatml.types.show import Shower, flatten
from chatml.types.variables import CHILDREN, resolved, unfolded
from chatml_tools.completion.mend import HOLE, mended
from chatml_tools.completion.situation import situation

ANY, FITTING = Var("a"), Var("b")
FITS = Scheme(Fun([ANY], FITTING), (ANY, FITTING))
"""The type of the hole."""

LONGEST = 10_000
"""Characters before the cursor beyond which nothing is completed: typing must not wait."""

MOST_PARTS = 24
"""How many parts of a type a detail shows; a menu has room for a line."""

KEYWORDS = tuple(word for word in FIXED if word[0].islower() and word.isalpha())
NAME = re.compile(r"(?<![A-Za-z0-9_`.])[a-z_][A-Za-z0-9_]*")
TAG = re.compile(r"`[A-Za-z0-9_]+")


@frozen(eq=False)
class Completion:
    """A text that may stand in place of the last `size` characters before the cursor.

    `kind` is `name`, `module`, `field`, `tag`, `type` or `keyword`; `detail` tells its type, if it has one.
    """

    text: str
    size: int
    kind: str
    detail: Callable[[], str] = lambda: ""


class Surroundings(Protocol):
    """What was entered before the text to complete: the surface, the statements' types, and their texts."""

    surface: Surface
    types: Statements

    @property
    def texts(self) -> Iterable[str]:
        """The texts of the statements."""


def complete(around: Surroundings, text: str) -> list[Completion]:
    """What may stand at the end of a text, which is the beginning of an input.

    >>> from chatml.source import Source
    >>> from chatml_tools.workspace import Workspace
    >>> workspace = Workspace()
    >>> _ = workspace.enter(Source("one", "let user = { name = `Some(1); age = 2 }"))
    >>> [each.text for each in complete(workspace, "print(user.a")], complete(workspace, "user.")[1].detail()
    (['age'], '[`Some(int) | ...]')
    """
    if len(text) > LONGEST:
        return []
    at = situation(text)
    match at.wanted:
        case "field" if at.base is not None:
            found = fields(around, text, *at.base)
        case "tag":
            found = tags(around, text[: len(text) - len(at.word)])
        case "type":
            found = types(around)
        case "name":
            found = names(around, text[: len(text) - len(at.word)])
        case "module":
            found = (each for each in names(around, "") if each.kind == "module")
        case _:
            return []
    return [evolve(each, size=len(at.word)) for each in fitting(found, at.word)]


def fitting(found: Iterable[Completion], word: str) -> list[Completion]:
    """Those that go on from a word; if there is none, those that do so in other letter case."""
    candidates = list(found)
    exact = [each for each in candidates if each.text.startswith(word)]
    return exact or [each for each in candidates if each.text.lower().startswith(word.lower())]


def fields(around: Surroundings, text: str, left: int, right: int) -> Iterator[Completion]:
    """The fields of the record, or the exports of the module, that stands at a place of the text.

    A module inside a module is none of them: no path leads to it.
    """
    record = record_at(around, text[:right], left)
    naming = names_in_scope(around)
    row = {} if record is None else flatten(record.row)[0]
    for label in sorted(row):
        if not label[0].isupper():
            yield Completion(label, 0, "field", shown(naming, row[label]))


def record_at(around: Surroundings, text: str, left: int) -> Record | None:
    """The type of the record with which a text ends, as far as the text before it tells."""
    with deep():
        for script, start in mended(text, left):
            before = around.types.mark()
            around.types.scope.define(HOLE, FITS)
            try:
                types = around.types.extend(script).types
                found = outermost(types, script, start, start + len(text) - left)
                type = None if found is None else unfolded(resolved(found))
                if isinstance(type, Record):
                    copy = Freezer().freeze(type)
                    assert isinstance(copy, Record)
                    return copy
            finally:
                around.types.back(before)
    return None


def outermost(types: Mapping[ast.Expr, Type], script: ast.Script, left: int, right: int) -> Type | None:
    """The type of the largest expression that lies between two offsets."""
    waiting: list[Any] = [script]
    while waiting:
        node = waiting.pop()
        span = node.span
        if left <= span.left and span.right <= right and node in types:
            return types[node]
        if span.left < right and left < span.right:
            waiting += ast.children(node)
    return None


def names(around: Surroundings, text: str) -> Iterator[Completion]:
    """Names in the text itself, then those in scope, the latest definition first, then keywords."""
    known = around.types.scope.entries
    naming = names_in_scope(around)
    seen = set(KEYWORDS) | known.keys()
    for name in reversed(NAME.findall(text)):
        if name not in seen:
            seen.add(name)
            yield Completion(name, 0, "name")
    for name in reversed(list(known)):
        entry = known[name]
        yield Completion(name, 0, "module" if isinstance(entry, ModuleType) else "name", shown_entry(naming, entry))
    for word in KEYWORDS:
        yield Completion(word, 0, "keyword")


def types(around: Surroundings) -> Iterator[Completion]:
    aliases = around.types.inference.elaborator.aliases
    naming = names_in_scope(around)
    for name in (*aliases, *PRIMITIVES, *sorted(CONSTRUCTORS), "array", "ref"):
        alias = aliases.get(name)
        yield Completion(name, 0, "type", str if alias is None else shown(naming, alias, declared=True))


def tags(around: Surroundings, text: str) -> Iterator[Completion]:
    """The tags of the text, of the inputs, and of the surface's types; in a pattern the host's events come first."""
    written: dict[str, None] = dict.fromkeys(TAG.findall(text))
    for entered in around.texts:
        written |= dict.fromkeys(TAG.findall(entered))
    written |= dict.fromkeys(tags_of(around.surface))
    host = around.surface.host
    if host is not None and text.rstrip().endswith(PATTERN_BEFORE):
        events = [f"`{tag}" for tag in (*host.events, *host.own)]
        yield from (Completion(tag, 0, "tag") for tag in events)
        written = {tag: None for tag in written if tag not in events}
    for tag in sorted(written):
        yield Completion(tag, 0, "tag")


PATTERN_BEFORE = ("|", " with", "\nwith")
"""What stands before the pattern of an arm: the events of the host are the first that may be meant there."""


@lru_cache(maxsize=16)
def tags_of(surface: Surface) -> tuple[str, ...]:
    """The tags in the types of a surface."""
    known = environment(surface)
    waiting: list[Type] = [*known.aliases.values(), *types_of(known.values)]
    seen: set[int] = set()
    found: dict[str, None] = {}
    while waiting:
        type = waiting.pop()
        if id(type) in seen:
            continue
        seen.add(id(type))
        if isinstance(type, Variant):
            row, _ = flatten(type.row)
            found |= dict.fromkeys([f"`{tag}" for tag in row])
        if type.__class__ in CHILDREN:
            waiting += CHILDREN[type.__class__](type)
    return tuple(found)


def types_of(entries: Mapping[str, Entry]) -> Iterator[Type]:
    for entry in entries.values():
        if isinstance(entry, ModuleType):
            yield from types_of(entry.exports)
        else:
            yield entry.type if isinstance(entry, Scheme) else entry


def names_in_scope(around: Surroundings) -> TypeNames:
    """By what names types are shown."""
    return TypeNames(around.types.inference.elaborator.aliases)


def shown(naming: TypeNames, type: Type, *, declared: bool = False) -> Callable[[], str]:
    """The text of a type by the names in scope, made when it is asked for; of a declared one, what it stands for."""

    def detail() -> str:
        shower = Shower(MOST_PARTS, naming)
        with deep():
            return shower.declaration(type) if declared else shower.show(type)

    return cache(detail)


def shown_entry(naming: TypeNames, entry: Entry) -> Callable[[], str]:
    if isinstance(entry, ModuleType):
        return lambda: "module"
    return shown(naming, type_of_entry(entry))
