"""The types of attribute values (shell.md section 2): how each is read, written, and what a bad one is called."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Collection
from typing import Any, Literal, get_args

import attrs

from chatmd.report.provenance import SourceRecord
from chatmd.sources.paths import parse_path
from chatmd.text.attributes import WHITE
from chatmd.text.lines import SURROGATE
from chatmd.text.quantities import parse_bytes, parse_duration, parse_integer, show_bytes, show_duration

RUNTIME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*", re.ASCII)
DEFAULT_BASE = "source_dir"
"""Where a relative path of a shell declaration begins (chatmd.md section 17.1)."""

Merge = Literal["append", "replace"]


class Clear(enum.Enum):
    """What a limit says that lifts the inherited one."""

    CLEAR = "none"


CLEAR = Clear.CLEAR


class EmptyEntryError(ValueError):
    """A list of names with an empty entry (`shell.invalid_list`)."""


@attrs.frozen
class Value:
    """A type of values.

    `parse` makes a value of a text and the record of the file that it stands in; it returns None for a text
    that is not such a value, or raises `InvalidPathError` or `EmptyEntryError`. `show` is its inverse, in canonical
    form. `code` is the finding about a bad text, `wanted` says what a good one is, `known` lists the texts if there
    are few.
    """

    code: str
    wanted: str
    parse: Callable[[str, SourceRecord], Any]
    show: Callable[[Any], str] = str
    known: tuple[str, ...] = ()


def among(names: Collection[str]) -> Value:
    """One of some names."""
    known = tuple(names)
    return Value(
        "shell.invalid_attribute", one_of(known), lambda text, record: text if text in known else None, known=known
    )


def choice(names: Any) -> Value:
    """One of the names of a `Literal` type.

    >>> choice(Merge).wanted
    '`append` or `replace`'
    """
    return among(get_args(names))


def choices(names: Any) -> Value:
    """Several of the names of a `Literal` type, with commas between them."""
    known = get_args(names)

    def parse(text: str, record: SourceRecord) -> tuple[str, ...] | None:
        entries = split(text)
        if entries is None:
            raise EmptyEntryError
        return entries if set(entries) <= set(known) else None

    return Value("shell.invalid_attribute", f"a list of {one_of(known)}", parse, ",".join, known)


def one_of(names: tuple[str, ...]) -> str:
    """Names as a sentence offers them.

    >>> one_of(("a", "b", "c"))
    '`a`, `b` or `c`'
    """
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} or {last}" if others else last


def split(text: str) -> tuple[str, ...] | None:
    """The entries of a list with commas; None when one of them is empty.

    >>> split("git, -C"), split("git,,x")
    (('git', '-C'), None)
    """
    entries = tuple(entry.strip(WHITE) for entry in text.split(","))
    return entries if all(entries) else None


def parse_strings(text: str) -> tuple[str, ...] | None:
    """The strings of a JSON array; None when the text is not such an array.

    >>> parse_strings('["-e", ""]'), parse_strings("[1]"), parse_strings("-c")
    (('-e', ''), None, None)
    """
    try:
        strings = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(strings, list) or not all(isinstance(one, str) for one in strings):
        return None
    return None if any(SURROGATE.search(one) for one in strings) else tuple(strings)


def show_strings(strings: tuple[str, ...]) -> str:
    """Strings as a JSON array.

    >>> show_strings(("-c", "é"))
    '["-c","é"]'
    """
    return json.dumps(strings, ensure_ascii=False, separators=(",", ":"))


def _parse_limit(text: str, record: SourceRecord) -> float | Clear | None:
    return CLEAR if text == CLEAR.value else parse_duration(text)


def _show_limit(limit: float | Clear) -> str:
    return limit.value if isinstance(limit, Clear) else show_duration(limit)


def _parse_runtime(text: str, record: SourceRecord) -> str | None:
    qualified = record.qualified(text)
    return qualified if RUNTIME.fullmatch(qualified) else None


BOOLEANS = ("false", "true")
DURATION_FORM = "a positive duration such as `2.5m`, `30s` or `250ms`"
INTEGER_FORM = "a whole number such as `64`"

TEXT = Value("shell.invalid_attribute", "a text", lambda text, record: text)
BOOL = Value(
    "shell.invalid_attribute",
    one_of(BOOLEANS),
    lambda text, record: text == "true" if text in BOOLEANS else None,
    lambda value: BOOLEANS[value],
    BOOLEANS,
)
DURATION = Value("shell.invalid_duration", DURATION_FORM, lambda text, record: parse_duration(text), show_duration)
LIMIT = Value("shell.invalid_duration", f"{DURATION_FORM}, or `none`", _parse_limit, _show_limit)
BYTES = Value(
    "shell.invalid_bytes",
    "a size such as `4096`, `64KiB` or `2MiB`",
    lambda text, record: parse_bytes(text),
    show_bytes,
)
INTEGER = Value("shell.invalid_integer", INTEGER_FORM, lambda text, record: parse_integer(text))
PATH = Value(
    "shell.invalid_path",
    "a path",
    lambda text, record: parse_path(text, DEFAULT_BASE, within=record.within),
    lambda path: str(path.from_root),
)
LIST = Value("shell.invalid_list", "a list such as `git,log`", lambda text, record: split(text), ",".join)
ENV_NAME = Value(
    "shell.invalid_env_name",
    "the name of an environment variable: not empty, without `=` and NUL",
    lambda text, record: text if text and not set("=\0") & set(text) else None,
)
RUNTIME_ID = Value("shell.invalid_runtime_id", "the id of a runtime", _parse_runtime)
REFERENCE = Value("shell.invalid_attribute", "an id", lambda text, record: record.qualified(text))
STRINGS = Value(
    "shell.tool_invalid_attribute",
    'a JSON array of strings such as `["-c"]`',
    lambda text, record: parse_strings(text),
    show_strings,
)
MERGE = choice(Merge)
