"""The answers to what an editor asks about an open document; None where there is nothing to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from chatml.diagnostics.errors import CompileError
from chatml.records import frozen
from chatml.source import Source
from chatml.syntax.format import format_script
from chatml_tools.lsp.documents import Document, Documents
from chatml_tools.lsp.texts import PromptText
from chatml_tools.navigation import Analysis, Symbol, outline

MOST_COMPLETIONS = 200
"""How many completions are sent at once; the editor asks again when more is typed."""

COMPLETION_KINDS = {
    "name": types.CompletionItemKind.Variable,
    "module": types.CompletionItemKind.Module,
    "field": types.CompletionItemKind.Field,
    "tag": types.CompletionItemKind.EnumMember,
    "type": types.CompletionItemKind.Struct,
    "keyword": types.CompletionItemKind.Keyword,
}
SYMBOL_KINDS = {
    "function": types.SymbolKind.Function,
    "value": types.SymbolKind.Variable,
    "type": types.SymbolKind.Struct,
    "module": types.SymbolKind.Module,
}


def hover(documents: Documents, params: types.HoverParams) -> types.Hover | None:
    """The type of what stands at a position."""
    found = place_of(documents, params)
    sight = None if found is None else found.analysis.describe(found.offset)
    if sight is None:
        return None
    text = types.MarkupContent(types.MarkupKind.Markdown, f"```chatml\n{sight.text}\n```")
    return types.Hover(text, documents.positions.range(sight.span))


def definition(documents: Documents, params: types.DefinitionParams) -> types.Location | None:
    """Where the name at a position is bound."""
    found = place_of(documents, params)
    span = None if found is None else found.analysis.definition(found.offset)
    return None if span is None else documents.location(span)


def completion(documents: Documents, params: types.CompletionParams) -> types.CompletionList | None:
    """What may stand at a position, each with its type."""
    found = place_of(documents, params)
    if found is None:
        return None
    completions = found.document.remembered().complete(found.script.text, found.offset)
    items = []
    for rank, each in enumerate(completions[:MOST_COMPLETIONS]):
        place = documents.positions.range(found.script.span(found.offset - each.size, found.offset))
        items.append(
            types.CompletionItem(
                each.text,
                kind=COMPLETION_KINDS[each.kind],
                detail=each.detail() or None,
                sort_text=f"{rank:04}",
                text_edit=types.TextEdit(place, each.text),
            )
        )
    return types.CompletionList(is_incomplete=len(completions) > MOST_COMPLETIONS, items=items)


def symbols(documents: Documents, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
    """The outline of a script."""
    document = documents.open.get(params.text_document.uri)
    analysis = None if document is None else document.text.analysis
    return None if analysis is None else [symbol(documents, each) for each in outline(analysis.checked)]


def symbol(documents: Documents, one: Symbol) -> types.DocumentSymbol:
    to_range = documents.positions.range
    inside = [symbol(documents, each) for each in one.inside]
    return types.DocumentSymbol(
        one.name,
        SYMBOL_KINDS[one.kind],
        to_range(one.span),
        to_range(one.place),
        detail=one.detail or None,
        children=inside or None,
    )


def formatting(documents: Documents, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """The edit that gives a script its canonical layout; refused for a text that is not a script."""
    document = documents.open.get(params.text_document.uri)
    if document is None or isinstance(document.text, PromptText):
        return None
    source = document.text.source
    try:
        text = format_script(source)
    except CompileError as error:
        first = error.diagnostics[0]
        line = "" if first.span is None else f" in line {first.span.start.line}"
        message = f"not formatted: there is an error{line}: {first.message}"
        raise JsonRpcException(message, types.LSPErrorCodes.RequestFailed) from None
    whole = documents.positions.range(source.span(0, len(source.text)))
    return [] if text == source.text else [types.TextEdit(whole, text)]


@frozen
class Place:
    """A position in an open script: the document, the script, and the offset in it."""

    document: Document
    script: Source
    offset: int

    @property
    def analysis(self) -> Analysis:
        """What is known of the script."""
        analysis = self.document.text.analysis
        assert analysis is not None
        return analysis


def place_of(
    documents: Documents, params: types.HoverParams | types.DefinitionParams | types.CompletionParams
) -> Place | None:
    """The place that a position means; None outside of a script."""
    document = documents.open.get(params.text_document.uri)
    if document is None or document.text.script is None:
        return None
    offset = document.text.inside(documents.positions.offset(document.text.source, params.position))
    return None if offset is None else Place(document, document.text.script, offset)


ANSWERS: dict[str, tuple[Callable[[Documents, Any], object], object]] = {
    types.TEXT_DOCUMENT_HOVER: (hover, None),
    types.TEXT_DOCUMENT_DEFINITION: (definition, None),
    types.TEXT_DOCUMENT_COMPLETION: (completion, types.CompletionOptions(trigger_characters=[".", "`"])),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (symbols, None),
    types.TEXT_DOCUMENT_FORMATTING: (formatting, None),
}
"""What is answered, and what the editor is told about it at the start."""
