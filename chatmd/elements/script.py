"""Scripts: programs that the host runs and the model never sees (chatmd.md section 9).

A script keeps its text and where each character of it was written, so that a finding about the program
can be shown in the document (or the file) that holds it: see `Script.place`.
"""

from __future__ import annotations

import bisect
import posixpath
from collections.abc import Sequence
from typing import Any, Literal

import attrs

from chatmd.elements.reading import Placed, Reading, literal_import
from chatmd.report.problems import Diagnostic, problem
from chatmd.sources.files import normalised_beside
from chatmd.text import attributes
from chatmd.text.attributes import WHITE
from chatmd.text.lines import MARK, digest
from chatmd.text.quantities import parse_bytes, parse_duration, parse_integer
from chatmd.text.tree import Element, Text
from chatml.diagnostics.suggest import did_you_mean
from chatml.source import Source, Span

KINDS = (
    "moderator",
    "shell_matcher",
    "shell_reviewer",
    "shell_before_interceptor",
    "shell_after_interceptor",
    "shell_effect_analyzer",
    "shell_audit_filter",
)
DEFAULT_ID = "main"


@attrs.frozen
class Inline:
    """A script written in the body of its element. `parts` are the texts that make it up, with their places."""

    text: str
    parts: tuple[tuple[int, Text], ...] = attrs.field(default=(), eq=False, repr=False)


@attrs.frozen(eq=False)
class Src:
    """A script in a file: `path` as written, relative to the declaring file, and the text read from it.

    `within` is the way from the root document's directory to the declaring file's. Two are equal when
    they have the same text and lead to the same file from the root (X-43).
    """

    path: str
    text: str
    within: str = ""
    source: Source | None = attrs.field(default=None, repr=False)

    @property
    def from_root(self) -> str:
        """The path as the root document would write it.

        >>> Src("m.chatml", "", within="lib").from_root
        'lib/m.chatml'
        """
        return f"{self.within}/{self.path}" if self.within and not self.path.startswith("/") else self.path

    @property
    def key(self) -> tuple[str, str]:
        """What equality compares."""
        return posixpath.normpath(self.from_root.replace("\\", "/")), self.text

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Src) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)


@attrs.frozen(kw_only=True)
class ScriptLimits:
    """The bounds of a script that extends the shell (shell.md section 8.2): seconds, counts and bytes."""

    wall_time: float = 2.0
    fuel: int = 100_000
    max_tasks: int = 256
    max_value: int = 256 * 1024
    max_output: int = 16 * 1024
    max_array_items: int = 256
    max_depth: int = 32


LIMITS: dict[str, tuple[Any, str]] = {
    "wall_time": (parse_duration, "a positive duration such as `2s` or `250ms`"),
    "fuel": (parse_integer, "a positive whole number"),
    "max_tasks": (parse_integer, "a positive whole number"),
    "max_value": (parse_bytes, "a positive size such as `256KiB`"),
    "max_output": (parse_bytes, "a positive size such as `16KiB`"),
    "max_array_items": (parse_integer, "a positive whole number"),
    "max_depth": (parse_integer, "a positive whole number"),
}
"""How each limit is read, and what its value must be."""

UNAVAILABLE = "chatmd.script_source_unavailable"
ATTRIBUTES = ("id", "language", "kind", "src", *LIMITS)


@attrs.frozen
class Script(Placed):
    """A script declaration; `id` is qualified by the namespace of its import."""

    id: str
    kind: str
    source: Inline | Src
    limits: ScriptLimits = ScriptLimits()
    language: Literal["chatml"] = "chatml"
    source_sha256: str = ""

    @property
    def text(self) -> str:
        """The program."""
        return self.source.text

    def place(self, left: int, right: int) -> Span:
        """Where `text[left:right]` stands: in the document for an inline script, else in the script's file.

        >>> import chatmd
        >>> document = chatmd.load('<script language="chatml" kind="moderator">let x = 1</script>', base_dir=".")
        >>> document.moderator.place(4, 5).start.column
        47
        """
        source = self.source
        if isinstance(source, Src):
            return (source.source or Source(source.path, source.text)).span(left, right)
        starts = [start for start, _ in source.parts]
        if not starts:
            return Source(self.id, source.text).span(left, right)
        start, part = source.parts[max(bisect.bisect_right(starts, left) - 1, 0)]
        inside = min(left - start, len(part.text))
        if right <= left:
            at = part.offset(inside)
            return part.source.span(at, at)
        return part.span_of(inside, max(inside + 1, min(right - start, len(part.text))))


@attrs.frozen
class ModeratorScript(Script):
    """The program that moderates the conversation; a document has one at most."""


@attrs.frozen
class ShellScript(Script):
    """A program that extends the shell runtime; `kind` says how."""


def read_script(element: Element, reading: Reading) -> ModeratorScript | ShellScript:
    """A script, its file read if it has one.

    Raises `ChatmdError`: `shell.unknown_attribute`, `shell.duplicate_attribute`,
    `shell.attribute_value_required`, and `chatmd.script_*` in the order of section 9.2.
    """
    given = attributes.strict(element, ATTRIBUTES, ("script",), reading.record)
    _check_name(element, given, "language", ("chatml",), reading)
    _check_name(element, given, "kind", KINDS, reading)
    source = _read_source(element, given, reading)
    kind = given["kind"]
    identity = given.get("id")
    if identity is None:
        if kind != "moderator":
            raise reading.fault("chatmd.script_id_required", element.span, path=("script", "id"), kind=kind)
        identity = DEFAULT_ID
    elif not identity.strip(WHITE):
        place = attributes.place_of(element, "id")
        raise reading.fault("chatmd.script_invalid_id", place, path=("script", "id"))
    script = ModeratorScript if kind == "moderator" else ShellScript
    return script(
        reading.record.qualified(identity),
        kind,
        source,
        _read_limits(element, given, reading),
        source_sha256=digest(source.text),
        span=element.span,
        source_record=reading.record.at(element.span),
    )


def _check_name(element: Element, given: dict[str, str], name: str, known: tuple[str, ...], reading: Reading) -> None:
    written = given.get(name)
    if written in known:
        return
    raise reading.fault(
        f"chatmd.script_invalid_{name}",
        attributes.place_of(element, name),
        path=("script", name),
        help=did_you_mean(written or "", known),
        value="nothing" if written is None else f"`{written}`",
        known=", ".join(f"`{one}`" for one in known),
    )


def _read_source(element: Element, given: dict[str, str], reading: Reading) -> Inline | Src:
    body = _read_body(element, reading)
    src = given.get("src")
    blank = not body.text.strip(WHITE)
    if src is None:
        if blank:
            raise reading.fault("chatmd.script_empty_source", element.span, path=("script",))
        return body
    place = attributes.place_of(element, "src")
    if not blank:
        raise reading.fault("chatmd.script_conflicting_source", place, path=("script",))
    if not src.strip(WHITE):
        raise reading.fault("chatmd.script_empty_source", place, path=("script", "src"))
    data = reading.sources.read(src, reading.record, place, UNAVAILABLE, ("script", "src"))
    origin = _decode(data, normalised_beside(reading.shown, src), src, place, reading)
    return Src(src, origin.text, reading.record.within, origin)


def _decode(data: bytes, name: str, src: str, place: Span, reading: Reading) -> Source:
    """The text of a script file: UTF-8 without exceptions, one leading byte-order mark dropped (X-44)."""
    try:
        return Source(name, data.decode("utf-8").removeprefix(MARK))
    except UnicodeDecodeError as error:
        source = Source(name, data.decode("utf-8", "replace"))
        at = len(data[: error.start].decode("utf-8"))
        raise reading.fault(
            UNAVAILABLE,
            source.span(at, at + 1),
            path=("script", "src"),
            labels=[(place, "the script is named here")],
            src=src,
            importer=reading.record.file,
            why=f"byte {error.start} is not UTF-8",
        ) from None


def _read_body(element: Element, reading: Reading) -> Inline:
    parts: list[tuple[int, Text]] = []
    pieces: list[str] = []
    length = 0
    for child in element.children:
        if isinstance(child, Text):
            parts.append((length, child))
            pieces.append(child.text)
        elif child.tag == "import":
            pieces.append(literal_import(child))
            parts.append((length, Text(pieces[-1], child.source, child.left)))
        else:
            reading.ignore(child, element)
            continue
        length += len(pieces[-1])
    return Inline("".join(pieces), tuple(parts))


def _read_limits(element: Element, given: dict[str, str], reading: Reading) -> ScriptLimits:
    found = {}
    for name, (parse, wanted) in LIMITS.items():
        if name not in given:
            continue
        found[name] = parse(given[name])
        if not found[name]:
            place = attributes.place_of(element, name)
            raise reading.fault(
                "chatmd.script_invalid_limit",
                place,
                path=("script", name),
                attribute=name,
                value=given[name],
                wanted=wanted,
            )
    return ScriptLimits(**found)


def check_scripts(scripts: Sequence[Script]) -> list[Diagnostic]:
    """What is wrong with the scripts of a document taken together (section 9.4): all findings, none for
    none.
    """
    findings = []
    moderators = [script for script in scripts if isinstance(script, ModeratorScript)]
    if len(moderators) > 1:
        findings.append(_clash("chatmd.multiple_moderators", moderators, ("script",)))
    by_id: dict[str, list[Script]] = {}
    for script in scripts:
        by_id.setdefault(script.id, []).append(script)
    for identity, same in by_id.items():
        if len(same) > 1:
            findings.append(_clash("chatmd.duplicate_script", same, ("script", identity)))
    return findings


def _clash(code: str, scripts: Sequence[Script], path: tuple[str, ...]) -> Diagnostic:
    """The finding that several scripts exclude each other, at the second of them."""
    first, second, *_ = scripts
    return problem(
        code,
        second.span,
        path=path,
        source=second.source_record,
        labels=[(first.span, "the first one is here")] if first.span is not None else (),
        id=second.id,
        count=len(scripts),
    )
