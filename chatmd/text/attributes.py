"""Attributes: from the text of a tag, and back (chatmd.md sections 1.5, 5.3 and 15.2).

`scan` is what the lexer calls on every tag. Readers of elements use one of two policies of section 5.3: a
lenient element takes `value`, `last` and `present` and ignores what it does not know; a strict one takes
`strict`, which refuses repeated, unknown and valueless attributes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import attrs

from chatmd.report.problems import fault
from chatmd.report.provenance import SourceRecord
from chatmd.text.tree import Attributes, Element
from chatml.diagnostics.suggest import did_you_mean
from chatml.source import Source, Span

WHITE = " \t\n\v\f\r"
"""The six characters that count as white space."""

ATTRIBUTE = re.compile(
    r"""
    ([A-Za-z0-9_:-]++) [ \t\n\v\f\r]*+
    (?: = [ \t\n\v\f\r]*+
        (?: "( [^"\\]*+ (?: \\"?+ [^"\\]*+ )*+ )"     # a backslash keeps its quote from ending the value
          | '( [^'\\]*+ (?: \\'?+ [^'\\]*+ )*+ )'
          | (["'])                                    # a quote without a partner
          | ([^ \t\n\v\f\r]++)
        )?+
    )?+
    """,
    re.VERBOSE,
)
ENTITY = re.compile(r"&([^;]*+);")
ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
ESCAPES = {ord(character): f"&{name};" for name, character in ENTITIES.items()}
UNQUOTABLE = re.compile(r"""^["']|[ \t\n\v\f\r>]""")
"""What a value without quotes cannot hold: it ends at white space, and a quote at its start would open a quoted one."""


def scan(source: Source, left: int, right: int) -> Attributes:
    """The attributes written in `[left, right)` of a source, in order, repeated ones included.

    Raises `ChatmdError` (`chatmd.unterminated_attribute`) at a quote that has no partner.

    >>> scan(Source("tag", "src='a.txt' local t=\\"1 &lt; 2\\""), 0, 30)
    (('src', 'a.txt'), ('local', None), ('t', '1 < 2'))
    """
    found: list[tuple[str, str | None]] = []
    for match in ATTRIBUTE.finditer(source.text, left, right):
        name, double, single, open_quote, bare = match.groups()
        if double is not None:
            found.append((name, _decode(double, '"')))
        elif single is not None:
            found.append((name, _decode(single, "'")))
        elif open_quote is not None:
            at = match.start(4)
            raise fault(
                "chatmd.unterminated_attribute",
                source.span(at, at + 1),
                attribute=name,
                quote=open_quote,
                attr_offset=at + 1 - left,
            )
        else:
            found.append((name, bare))
    return tuple(found)


def _decode(value: str, quote: str) -> str:
    if "\\" in value:
        value = value.replace("\\" + quote, quote)
    return decode_entities(value) if "&" in value else value


def decode_entities(value: str) -> str:
    """A quoted value with the five known entities replaced; any other text stays as it is.

    >>> decode_entities("a &lt; b &#65; & c")
    'a < b &#65; & c'
    """
    end = value.rfind(";") + 1
    return ENTITY.sub(_entity, value[:end]) + value[end:]


def _entity(match: re.Match[str]) -> str:
    return ENTITIES.get(match[1], match[0])


def encode(name: str, value: str, span: Span | None = None) -> str:
    """An attribute as text that `scan` reads back as the same value (section 15.2).

    Raises `ChatmdError` (`chatmd.unserialisable_attribute`) for a value that ends in a backslash and also needs
    quotes: a value that can only come from one that had white space stripped off its end. `span` is the place that an
    error points to.

    >>> encode("title", 'Ann & "Bob"'), encode("dir", "C:\\\\")
    ('title="Ann &amp; &quot;Bob&quot;"', 'dir=C:\\\\')
    """
    if not value.endswith("\\"):
        return f'{name}="{value.translate(ESCAPES)}"'
    if UNQUOTABLE.search(value):
        raise fault("chatmd.unserialisable_attribute", span, attribute=name, value=value)
    return f"{name}={value}"


def value(element: Element, name: str) -> str | None:
    """A lenient attribute: the first one of that name, a flag as the empty string, None when it is absent."""
    return next((written or "" for found, written in element.attrs if found == name), None)


def last(element: Element, name: str) -> str | None:
    """Like `value`, for the elements where the last of several wins."""
    return next((written or "" for found, written in reversed(element.attrs) if found == name), None)


def present(element: Element, name: str) -> bool:
    """Whether an attribute is there, in any form and with any value (presence flags, D-11)."""
    return any(found == name for found, _ in element.attrs)


@attrs.frozen
class Place:
    """Where an attribute was written: its name, and its value without quotes (None for a flag)."""

    name: Span
    value: Span | None


def places(element: Element) -> list[Place]:
    """The places of an element's attributes, in the order of `element.attrs`."""
    source = element.source
    found = []
    for match in ATTRIBUTE.finditer(source.text, *element.attribute_range()):
        group = next((group for group in (2, 3, 5) if match[group] is not None), None)
        found.append(Place(source.span(*match.span(1)), None if group is None else source.span(*match.span(group))))
    return found


def place_of(element: Element, name: str) -> Span:
    """The place of the value of the last attribute of that name; of the name for a flag, else of the start
    tag.
    """
    for (found, _), place in zip(reversed(element.attrs), reversed(places(element)), strict=True):
        if found == name:
            return place.value or place.name
    return element.span


def name_of(element: Element, name: str) -> Span:
    """The place of the name of the last attribute of that name, which is there."""
    return next(
        place.name
        for (found, _), place in zip(reversed(element.attrs), reversed(places(element)), strict=True)
        if found == name
    )


def strict(
    element: Element,
    allowed: Collection[str],
    path: tuple[str, ...],
    source: SourceRecord | None = None,
    *,
    required: Collection[str] = (),
) -> dict[str, str]:
    """The attributes of a strict element (section 5.3, shell.md section 1.1), in the order written.

    In this order: a repeated attribute is `shell.duplicate_attribute`, one that is not `allowed` is
    `shell.unknown_attribute`, one without a value `shell.attribute_value_required`, a `required` one that is
    absent or empty `shell.missing_attribute`. `path` names the element in the findings; where a rule
    speaks of one attribute its name is added to the path.
    """
    found: dict[str, str] = {}
    seen: dict[str, int] = {}
    for index, (name, _) in enumerate(element.attrs):
        if name in seen:
            place = places(element)
            raise fault(
                "shell.duplicate_attribute",
                place[index].name,
                path=path,
                source=source,
                labels=[(place[seen[name]].name, "it was already given here")],
                tag=element.tag,
                attribute=name,
            )
        seen[name] = index
    for index, (name, _) in enumerate(element.attrs):
        if name not in allowed:
            raise fault(
                "shell.unknown_attribute",
                places(element)[index].name,
                path=path,
                source=source,
                help=did_you_mean(name, allowed),
                tag=element.tag,
                attribute=name,
                allowed=", ".join(f"`{one}`" for one in sorted(allowed)) or "no attributes",
            )
    for index, (name, written) in enumerate(element.attrs):
        if written is None:
            raise fault(
                "shell.attribute_value_required",
                places(element)[index].name,
                path=(*path, name),
                source=source,
                tag=element.tag,
                attribute=name,
            )
        found[name] = written
    require(element, found, required, path, source)
    return found


def require(
    element: Element,
    given: Mapping[str, str],
    names: Collection[str],
    path: tuple[str, ...],
    source: SourceRecord | None = None,
    *,
    code: str = "shell.missing_attribute",
) -> None:
    """Raise `ChatmdError` with `code` for the first of some attributes that is absent or empty."""
    for name in names:
        if not given.get(name):
            span = place_of(element, name)
            raise fault(code, span, path=(*path, name), source=source, tag=element.tag, attribute=name)
