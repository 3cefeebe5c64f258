"""ChatML and ChatMD for Pygments, which finds these lexers as `chatml` and `chatmd` once the package is installed.

Needs the extra `chatml-toolkit[highlight]`. The editor grammars in `grammar/` do the same for editors.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, default, include, using, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from chatmd.text.tags import BASE_TAGS, SCOPED_TAGS
from chatml.syntax.parse.lexer import FIXED

__all__ = ["ChatmdLexer", "ChatmlLexer"]

DECLARING = ("let", "let*", "let+", "rec", "and", "type", "module", "struct", "end", "open", "in")
CONSTANTS = ("true", "false")
KEYWORDS = tuple(word for word in FIXED if word[0].islower() and word not in DECLARING + CONSTANTS)

NAME_END = r"(?![A-Za-z0-9_])"
BOUND = r"(\s+)([a-z_][A-Za-z0-9_]*)"


class ChatmlLexer(RegexLexer):
    """Tokens of a ChatML script (language.md section 1).

    >>> from pygments import highlight
    >>> from pygments.formatters import NullFormatter
    >>> highlight("let x = 1", ChatmlLexer(), NullFormatter())
    'let x = 1\\n'
    """

    name = "ChatML"
    aliases: ClassVar[list[str]] = ["chatml"]
    filenames: ClassVar[list[str]] = ["*.chatml"]
    mimetypes: ClassVar[list[str]] = ["text/x-chatml"]

    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (r"[ \t\r\n]+", Whitespace),
            (r"\(\*", Comment.Multiline, "comment"),
            (r'"', String.Double, "string"),
            (rf"(let)(\s+)(rec){BOUND}", bygroups(*[Keyword.Declaration, Whitespace] * 2, Name.Function)),
            (rf"(let|and){BOUND}", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
            (rf"(type){BOUND}", bygroups(Keyword.Declaration, Whitespace, Name.Class)),
            (r"let[*+]", Keyword.Declaration),
            (words(tuple(word for word in DECLARING if word.isalpha()), suffix=NAME_END), Keyword.Declaration),
            (words(CONSTANTS, suffix=NAME_END), Keyword.Constant),
            (words(KEYWORDS, suffix=NAME_END), Keyword.Reserved),
            (r"[a-z_][A-Za-z0-9_]*", Name),
            (r"[A-Z][A-Za-z0-9_]*", Name.Namespace),
            (r"`[A-Za-z0-9_]+", Name.Tag),
            (r"[0-9]+\.[0-9]+", Number.Float),
            (r"[0-9]+", Number.Integer),
            (r"->|<-|:=|==|!=|[<>]=?\.?|\+\+|[-+*/]\.?|%|&&|\|\||[=!|:]", Operator),
            (r"[()\[\]{},;.]", Punctuation),
            (r".", Text),
        ],
        "comment": [
            (r"[^(*]+", Comment.Multiline),
            (r"\(\*", Comment.Multiline, "#push"),
            (r"\*\)", Comment.Multiline, "#pop"),
            (r"[(*]", Comment.Multiline),
        ],
        "string": [
            (r'[^"\\]+', String.Double),
            (r'\\[nt"\\]', String.Escape),
            (r"\\.", String.Double),
            (r'"', String.Double, "#pop"),
        ],
    }


def tags(names: frozenset[str]) -> str:
    """An expression for one of some names of tags."""
    return f"(?:{'|'.join(sorted(names, key=len, reverse=True))})(?=[\\s/>])"


class ChatmdLexer(RegexLexer):
    """Tokens of a ChatMD document (chatmd.md section 1); scripts inside are ChatML, the text of messages stays text."""

    name = "ChatMD"
    aliases: ClassVar[list[str]] = ["chatmd"]
    filenames: ClassVar[list[str]] = ["*.chatmd"]
    mimetypes: ClassVar[list[str]] = ["text/x-chatmd"]

    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            include("markup"),
            (r"<script(?=[\s/>])", Name.Tag, ("script", "opening")),
            (r"<(?:shell_access|tool)(?=[\s/>])", Name.Tag, ("declaration", "opening")),
            (rf"</?{tags(BASE_TAGS)}", Name.Tag, "tag"),
            (r"[^<R]+|.|\n", Text),
        ],
        "markup": [
            (r"<!--", Comment.Multiline, "comment"),
            (r"(RAW\|)((?:(?!\|RAW)[\s\S])*)(\|RAW)", bygroups(Keyword.Pseudo, String.Other, Keyword.Pseudo)),
        ],
        "declaration": [
            include("markup"),
            (r"</(?:shell_access|tool)>", Name.Tag, "#pop"),
            (rf"</?{tags(SCOPED_TAGS)}", Name.Tag, "tag"),
            (r"[^<R]+|.|\n", Text),
        ],
        "script": [
            (r"<!--", Comment.Multiline, "comment"),
            (r"</script>", Name.Tag, "#pop"),
            (
                r"(RAW\|)((?:(?!\|RAW)[\s\S])*)(\|RAW)",
                bygroups(Keyword.Pseudo, using(ChatmlLexer), Keyword.Pseudo),
            ),
            (r"(?:(?!</script>|RAW\||<!--)[\s\S])+", using(ChatmlLexer)),
            (r".|\n", Text),
        ],
        "opening": [
            (r"/>", Name.Tag, "#pop:2"),
            include("tag"),
        ],
        "tag": [
            (r"\s+", Whitespace),
            (r"/?>", Name.Tag, "#pop"),
            (r"[A-Za-z0-9_:-]+", Name.Attribute, "after_name"),
            (r".", Punctuation),
        ],
        "after_name": [
            (r"(\s*)(=)(\s*)", bygroups(Whitespace, Operator, Whitespace), ("#pop", "value")),
            default("#pop"),
        ],
        "value": [
            (r'"(?:\\"|[^"])*"|\'(?:\\\'|[^\'])*\'', String, "#pop"),
            (r"(?:(?!/?>)\S)+", String, "#pop"),
            default("#pop"),
        ],
        "comment": [
            (r"-->", Comment.Multiline, "#pop"),
            (r"[^-]+|-", Comment.Multiline),
        ],
    }
