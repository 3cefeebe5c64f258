"""Path expressions, and the host's table of directories that they start from (chatmd.md section 17.1)."""

from __future__ import annotations

import os.path
import posixpath
import re

import attrs

from chatml.diagnostics.suggest import did_you_mean

BASES = ("workspace", "source_dir", "prompt_dir", "tool_dir", "session_dir", "cache_dir", "home")
"""The variables that may lead a path expression."""

VARIABLE = re.compile(r"\$\{([^}]*)\}")


class InvalidPathError(ValueError):
    """A text that is not a path expression; its message says why, as a sentence without a full stop."""


@attrs.frozen(eq=False)
class PathExpr:
    """A path as declared: absolute (`base` is None and `rest` the path), or `rest` below a base directory.

    `within` is the way from the root document's directory to the declaring file's; it matters only below
    `source_dir`, where two expressions are equal when they lead to the same place from the root (X-43).

    >>> parse_path("lib", "source_dir", within="shared") == parse_path("${source_dir}/shared/lib", "tool_dir")
    True
    """

    base: str | None
    rest: str
    within: str = ""

    @property
    def canonical(self) -> str:
        """The expression as its declaring file would write it.

        >>> parse_path("lib/x", "tool_dir").canonical
        '${tool_dir}/lib/x'
        """
        if self.base is None:
            return self.rest
        return f"${{{self.base}}}/{self.rest}" if self.rest else f"${{{self.base}}}"

    @property
    def from_root(self) -> str:
        """The expression as the root document would write it (X-43).

        >>> parse_path("a", "source_dir", within="lib").from_root
        '${source_dir}/lib/a'
        """
        if self.base != "source_dir" or not self.within:
            return self.canonical
        return "/".join(part for part in ("${source_dir}", self.within, self.rest) if part)

    @property
    def key(self) -> str:
        """What equality compares."""
        if self.base != "source_dir":
            return self.canonical
        return posixpath.normpath(self.from_root)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, PathExpr) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.canonical


def parse_path(text: str, default_base: str, *, within: str = "") -> PathExpr:
    """A path expression; a relative one is below `default_base`. Raises `InvalidPathError`.

    >>> parse_path("${home}/notes", "tool_dir").base
    'home'
    >>> parse_path("${hom}/notes", "tool_dir")
    Traceback (most recent call last):
    chatmd.sources.paths.InvalidPathError: unknown path variable `hom`: did you mean `home`?
    """
    if not text:
        raise InvalidPathError("a path must not be empty")
    if "\0" in text:
        raise InvalidPathError("a path must not hold the character NUL")
    if text.startswith("/"):
        return PathExpr(None, text)
    variable = VARIABLE.match(text)
    if variable is None:
        return PathExpr(default_base, text, within)
    name, rest = variable[1], text[variable.end() :]
    if name not in BASES:
        near = did_you_mean(name, BASES) or f"there are {', '.join(f'`{base}`' for base in BASES)}"
        raise InvalidPathError(f"unknown path variable `{name}`: {near}")
    if rest and not rest.startswith("/"):
        raise InvalidPathError(f"`${{{name}}}` must be followed by `/` or by nothing")
    return PathExpr(name, rest[1:], within)


@attrs.frozen(kw_only=True)
class HostPaths:
    """The directories that a host supplies for the variables; None for one that it has not.

    `source_dir` is not among them: it follows from `prompt_dir` and from where the declaration stands.
    """

    workspace: str | None = None
    prompt_dir: str | None = None
    tool_dir: str | None = None
    session_dir: str | None = None
    cache_dir: str | None = None
    home: str | None = None

    def resolve(self, expression: PathExpr) -> str:
        """The absolute path that an expression means here, not canonicalised: it need not exist.

        Raises `InvalidPathError` when the host has no value for the variable.

        >>> HostPaths(prompt_dir="/p").resolve(parse_path("a", "source_dir", within="lib"))
        '/p/lib/a'
        """
        if expression.base is None:
            return expression.rest
        in_source = expression.base == "source_dir"
        base: str | None = getattr(self, "prompt_dir" if in_source else expression.base)
        if base is None:
            raise InvalidPathError(f"this host has no value for `${{{expression.base}}}`")
        parts = (os.path.abspath(base), expression.within if in_source else "", expression.rest)
        return "/".join(part for part in parts if part)
