"""The findings about documents: facts in, one wording per code out (chatmd.md sections 10 and 18).

A phase says `raise fault("chatmd.mismatched_tag", span, open="user", close="msg")`; the sentence, the
help and the way facts are shown are decided here. Each code has an entry with examples in
`chatmd/catalogue/chatmd.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs

from chatmd.provenance import SourceRecord
from chatml import diagnostics
from chatml.errors import CompileError
from chatml.source import Span

LONGEST_FACT = 80


@attrs.frozen
class Diagnostic(diagnostics.Diagnostic):
    """A finding about a document.

    Beside the fields of the language's diagnostics: `path` names the declaration at fault
    (`("tool", "read", "0")`), `source` is the record of the file, `data` the facts behind the message.
    """

    path: tuple[str, ...] = ()
    source: SourceRecord | None = attrs.field(default=None, eq=False)
    data: Mapping[str, Any] = attrs.field(factory=dict, hash=False)

    def __str__(self) -> str:
        return diagnostics.draw(self)


class ChatmdError(CompileError):
    """A document (or an operation on one) that is at fault; `diagnostics` says why, most important first."""

    diagnostics: tuple[Diagnostic, ...]


@attrs.frozen
class Wording:
    """How a code is put into words: templates over the facts of a finding."""

    message: str
    help: str | None = None
    severity: Literal["error", "warning"] = "error"


WORDINGS: dict[str, Wording] = {
    # lexing and the tree
    "chatmd.unterminated_comment": Wording(
        "this comment is never closed", "close it with `-->`, or put the text into a RAW block to keep it"
    ),
    "chatmd.unterminated_raw": Wording(
        "this RAW block is never closed",
        "close it with `|RAW`; text that only mentions the opener must itself stand in a RAW block",
    ),
    "chatmd.unterminated_attribute": Wording(
        "the value of attribute `{attribute}` is never closed: its {quote} is missing in this tag",
        "a `>` ends the tag even inside quotes: write `&gt;`; a quoted value cannot end in a backslash: "
        "leave its quotes away",
    ),
    "chatmd.top_level_text": Wording(
        "text stands outside of any element: {token}",
        "put it into a message such as `<user>...</user>`; tags are lower case, unknown ones are text",
    ),
    "chatmd.mismatched_tag": Wording(
        "`</{close}>` closes `<{open}>`",
        "close `<{open}>` first, or write it as `<{open} .../>` if it is empty",
    ),
    "chatmd.unexpected_end_tag": Wording("`</{close}>` closes nothing: no element is open here"),
    "chatmd.unclosed_element": Wording(
        "`<{open}>` is never closed",
        "close it with exactly `</{open}>`, or write `<{open} .../>` if it is empty",
    ),
    # elements
    "shell.duplicate_attribute": Wording(
        "`<{tag}>` has attribute `{attribute}` twice", "keep one of the two: here none of them silently wins"
    ),
    "shell.unknown_attribute": Wording("`<{tag}>` has no attribute `{attribute}`", "it takes {allowed}"),
    "shell.attribute_value_required": Wording(
        "attribute `{attribute}` of `<{tag}>` needs a value", 'write `{attribute}="..."`'
    ),
    "shell.missing_attribute": Wording(
        "`<{tag}>` needs a non-empty attribute `{attribute}`", 'write `{attribute}="..."`'
    ),
}


def worded(
    wording: Wording,
    code: str,
    span: Span | None,
    *,
    path: tuple[str, ...] = (),
    source: SourceRecord | None = None,
    labels: Sequence[tuple[Span, str]] = (),
    notes: Sequence[str] = (),
    help: str | None = None,
    **data: Any,
) -> Diagnostic:
    """A finding put into words; the path, if any, is drawn as a note. `help` replaces the wording's own."""
    shown = {name: show_fact(value) for name, value in data.items()}
    advice = help or wording.help
    where = (f"at [{'.'.join(path)}]",) if path else ()
    return Diagnostic(
        code,
        wording.message.format_map(shown),
        span,
        wording.severity,
        tuple(diagnostics.Label(place, text) for place, text in labels),
        (*where, *notes),
        advice.format_map(shown) if advice is not None else None,
        path,
        source,
        data,
    )


def problem(code: str, span: Span | None, **facts: Any) -> Diagnostic:
    """The finding of a code of this package: an error, or a warning where section 18 says so.

    Keywords: `path`, `source`, `labels`, `notes` and `help` as in `worded`; everything else is a fact.
    """
    return worded(WORDINGS[code], code, span, **facts)


def fault(code: str, span: Span | None, **facts: Any) -> ChatmdError:
    """The exception for one finding of this package, ready to be raised."""
    return ChatmdError([problem(code, span, **facts)])


def encode(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding as plain data for `--json`: the language's fields, `path`, and the label of the source."""
    source = diagnostic.source
    return {
        **diagnostics.encode(diagnostic),
        "path": list(diagnostic.path),
        "source": None if source is None else source.file,
    }


def show_fact(value: object) -> str:
    """A fact for a sentence: on one line, and short."""
    text = str(value)
    if len(text) > LONGEST_FACT:
        text = text[: LONGEST_FACT - 3] + "..."
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
