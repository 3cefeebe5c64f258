"""An effect: a power that a command uses, or a path that it reads or writes."""

from __future__ import annotations

from typing import Literal

import attrs

EffectKind = Literal[
    "read_path", "write_path", "network", "child_processes", "arbitrary_code", "privilege_change", "unknown"
]
POWERS: dict[str, EffectKind] = {
    "network": "network",
    "child_processes": "child_processes",
    "arbitrary_code": "arbitrary_code",
    "privilege_change": "privilege_change",
}
PREFIXES: dict[str, EffectKind] = {"read:": "read_path", "write:": "write_path"}


@attrs.frozen
class Effect:
    """A kind of effect with its absolute path, or what is not known about it.

    >>> str(Effect("read_path", "/etc")), str(Effect("unknown", "options"))
    ('read:/etc', 'unknown:options')
    """

    kind: EffectKind
    detail: str = ""

    def __str__(self) -> str:
        prefix = {"read_path": "read:", "write_path": "write:", "unknown": "unknown:"}.get(self.kind)
        return self.kind if prefix is None else prefix + self.detail


Effects = tuple[Effect, ...]
NETWORK, CHILDREN = Effect("network"), Effect("child_processes")
CODE, PRIVILEGE = Effect("arbitrary_code"), Effect("privilege_change")


def read(path: str) -> Effect:
    return Effect("read_path", path)


def write(path: str) -> Effect:
    return Effect("write_path", path)


def unknown(why: str) -> Effect:
    return Effect("unknown", why)


def parse_effect(text: str) -> Effect:
    """The effect that an extension names; a text that names none is an unknown effect (section 14.4).

    >>> parse_effect("network").kind, parse_effect("write:/tmp").detail, parse_effect("magic").kind
    ('network', '/tmp', 'unknown')
    """
    if text in POWERS:
        return Effect(POWERS[text])
    for prefix, kind in PREFIXES.items():
        if text.startswith(prefix + "/"):
            return Effect(kind, text.removeprefix(prefix))
    return unknown(text.removeprefix("unknown:"))


def joined(effects: Effects, more: Effects) -> Effects:
    """Effects without repetitions, in order."""
    return tuple(dict.fromkeys((*effects, *more)))


def kinds(effects: Effects) -> tuple[str, ...]:
    """The kinds of effects, each once, sorted."""
    return tuple(sorted({effect.kind for effect in effects}))
