"""The findings about documents: facts in, one wording per code out (chatmd.md sections 10 and 18).

A phase says `raise fault("chatmd.mismatched_tag", span, open="user", close="msg")`; the sentence, the
help and the way facts are shown are decided here. Each code has an entry with examples in
`chatmd/catalogue/chatmd.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from chatmd.report.provenance import SourceRecord
from chatmd.report.shell import SHELL_WORDINGS
from chatmd.report.wording import Wording
from chatml.diagnostics import model
from chatml.diagnostics.errors import CompileError
from chatml.records import frozen
from chatml.source import Span

LONGEST_FACT = 80


@frozen
class Diagnostic(model.Diagnostic):
    """A finding about a document.

    Beside the fields of the language's diagnostics: `path` names the declaration at fault
    (`("tool", "read", "0")`), `source` is the record of the file, `data` the facts behind the message.
    """

    path: tuple[str, ...] = ()
    source: SourceRecord | None = None
    data: Mapping[str, Any] = MappingProxyType({})

    def __str__(self) -> str:
        return model.draw(self)

    def __hash__(self) -> int:
        return hash((self.code, self.message, self.span))


class ChatmdError(CompileError):
    """A document (or an operation on one) that is at fault; `diagnostics` says why, most important first."""

    diagnostics: tuple[Diagnostic, ...]


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
    # files
    "chatmd.document_unavailable": Wording("cannot read the document {file}: {why}"),
    "chatmd.artifact_absolute_path": Wording(
        "`{src}` is an absolute path; here every file must be named by a path below the prompt's directory",
        "copy the file below the directory of the root document and name it from there",
    ),
    "chatmd.artifact_path_escape": Wording(
        "`{src}` leads out of the prompt's directory",
        "copy the file below the directory of the root document; a symbolic link must not lead out of it either",
    ),
    "chatmd.artifact_missing": Wording("cannot read `{src}`, which {importer} names: {why}"),
    # imports
    "chatmd.import_missing_src": Wording("`<import>` does not say what to import", 'write `src="FILE"`'),
    "chatmd.import_invalid_attribute": Wording(
        "attribute `{attribute}` of `<import>` needs a value", 'write `{attribute}="..."`'
    ),
    "chatmd.import_duplicate_attribute": Wording("`<import>` has attribute `{attribute}` twice"),
    "chatmd.import_unknown_attribute": Wording(
        "`<import>` has no attribute `{attribute}`", "it takes `src` and `namespace`"
    ),
    "chatmd.import_invalid_namespace": Wording(
        "`{namespace}` is not a namespace",
        "a namespace begins with a letter or `_`, and goes on with letters, digits, `_`, `.` and `-`",
    ),
    "chatmd.import_duplicate_namespace": Wording(
        "another import beside this one has the namespace `{namespace}`", "give each of them its own namespace"
    ),
    "chatmd.import_unavailable": Wording("cannot import `{src}` into {importer}: {why}"),
    "chatmd.import_cycle": Wording("`{src}` imports itself: {route}"),
    "chatmd.import_too_deep": Wording("`{src}` is imported through more than {limit} files"),
    "chatmd.import_too_large": Wording(
        "the imports of this document bring in more than {limit}",
        "files that import each other several times multiply: import shared text once",
    ),
    "chatmd.import_local_ignored": Wording(
        "`local` means nothing on an `<import>`: its `src` is always a file", "leave it away", "warning"
    ),
    # elements
    "chatmd.ignored_top_level": Wording(
        "`<{tag}>` means nothing outside of a message and is left out", "put it into a message", "warning"
    ),
    "chatmd.ignored_child": Wording(
        "`<{tag}>` means nothing inside of `<{parent}>` and is left out",
        "move it out of `<{parent}>`, or put it into a RAW block if it is meant as text",
        "warning",
    ),
    "chatmd.duplicate_moderator_runtime": Wording(
        "another `<moderator_runtime>` below overrides this one", "keep one of them", "warning"
    ),
    "chatmd.missing_attribute": Wording(
        "`<{tag}>` needs a non-empty attribute `{attribute}`", 'write `{attribute}="..."`'
    ),
    "chatmd.tool_call_missing_content": Wording(
        "this tool call has no arguments", "write them between the tags, in a RAW block: at least `{{}}`"
    ),
    "chatmd.invalid_history_id": Wording(
        "`ochat-history-id` is not valid: {why}",
        "it reads `LENGTH:NAMESPACE:NUMBER`, the length of the namespace in bytes; or leave it away",
    ),
    "chatmd.duplicate_history_id": Wording(
        "two entries have the history identity `{id}`: one in {first}, one in {second}",
        "leave the attribute away in one of them: it gets a fresh identity",
    ),
    "chatmd.invalid_config": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "chatmd.invalid_reasoning_effort": Wording("`{value}` is not a reasoning effort", "the efforts are {known}"),
    # tools
    "chatmd.tool_conflicting_attributes": Wording(
        "this tool has {attributes}; each of them makes a different kind of tool", "keep one of them"
    ),
    "chatmd.tool_empty_name": Wording("this tool has no name", 'write `name="..."`'),
    "chatmd.tool_empty_command": Wording("this tool has an empty command", 'write `command="PROGRAM"`'),
    "chatmd.tool_empty_agent": Wording("this tool names no prompt", 'write `agent="FILE-OR-URL"`'),
    "chatmd.tool_empty_mcp_server": Wording(
        "this tool names no server", 'write `mcp_server="https://..."` or `mcp_server="stdio:COMMAND"`'
    ),
    "chatmd.tool_empty_selector": Wording(
        "`{attribute}` selects no tool", "list names with commas between them, or leave it away to take all"
    ),
    "read_file.invalid_name": Wording("`{value}` is not exactly a name of the tool `read_file`"),
    "read_file.unexpected_child": Wording(
        "`<{tag}>` has no place in a `read_file` declaration", "it holds `<read/>` elements and nothing else"
    ),
    "read_file.unexpected_text": Wording(
        "text has no place inside of `<{tag}>`",
        "a `read_file` declaration holds `<read/>` elements and nothing else; unknown tags are text",
    ),
    "read_file.invalid_root_id": Wording("the id of a root must not be blank"),
    "read_file.invalid_path": Wording("`{value}` is not a path: {why}"),
    "read_file.duplicate_root": Wording("another root has the id `{id}`", "give each root its own id"),
    "shell.directory_unavailable": Wording(
        "the root `{directory}` cannot be used: {why}", "a root must be a directory that exists"
    ),
    "tool.unknown_builtin": Wording("unknown built-in tool `{name}`"),
    "agent.duplicate_tool_name": Wording("another tool is called `{name}` by the model", "give each tool its own name"),
    # scripts
    "chatmd.script_invalid_language": Wording(
        "a script needs a language that is known here, not {value}", "the languages are {known}"
    ),
    "chatmd.script_invalid_kind": Wording(
        "a script needs a kind that is known here, not {value}", "the kinds are {known}"
    ),
    "chatmd.script_conflicting_source": Wording("this script has both a `src` and a body", "keep one of them"),
    "chatmd.script_empty_source": Wording(
        "this script has no source", "write the program between the tags, or name its file with `src`"
    ),
    "chatmd.script_source_unavailable": Wording("cannot read the script `{src}`, which {importer} names: {why}"),
    "chatmd.script_id_required": Wording(
        "a script of kind `{kind}` needs an id", "write `id` and refer to the script by it"
    ),
    "chatmd.script_invalid_id": Wording("the id of a script must not be blank"),
    "chatmd.script_invalid_limit": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "chatmd.multiple_moderators": Wording(
        "this document has {count} moderator scripts", "a conversation has one moderator: keep one"
    ),
    "chatmd.duplicate_script": Wording(
        "another script has the id `{id}`", "give each script its own id, also across kinds"
    ),
    # conversion and writing
    "chatmd.unknown_role": Wording("`{value}` is not a role of a message", "the roles are {known}"),
    "chatmd.assistant_status_without_id": Wording(
        "this assistant message has a status but no id",
        "only a model's output has a status, and it has an id: write `id`, or leave `status` away",
    ),
    "chatmd.doc_unavailable": Wording("cannot bring in the document `{src}`: {why}"),
    "chatmd.image_unavailable": Wording(
        "cannot bring in the image `{src}`: {why}", "the path of a local image is relative to the prompt's directory"
    ),
    "chatmd.agent_failed": Wording("the sub-agent `{src}` gave no answer: {why}"),
    "chatmd.unserialisable_attribute": Wording(
        "no text reads back as this value of `{attribute}`: it ends in a backslash and needs quotes",
        "change the value so that it does not end in a backslash",
    ),
    # strict elements
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
    **SHELL_WORDINGS,
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
    if help is None and wording.help is not None:
        help = wording.help.format_map(shown)
    where = (f"at [{'.'.join(path)}]",) if path else ()
    return Diagnostic(
        code,
        wording.message.format_map(shown),
        span,
        wording.severity,
        tuple(model.Label(place, text) for place, text in labels),
        (*where, *notes),
        help,
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
        **model.encode(diagnostic),
        "path": list(diagnostic.path),
        "source": None if source is None else source.file,
    }


def show_fact(value: object) -> str:
    """A fact for a sentence: on one line, and short."""
    text = str(value)
    if len(text) > LONGEST_FACT:
        text = text[: LONGEST_FACT - 3] + "..."
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
