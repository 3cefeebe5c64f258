"""Highlighting agrees with the lexers: what is a keyword, a text or a comment there is shown as one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pygments.lexer import RegexLexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String

from chatmd.text.tags import BASE_TAGS, SHELL_TAGS
from chatml.syntax.parse.lexer import FIXED, tokens
from chatml_tools.highlight import ChatmdLexer, ChatmlLexer
from tests.highlight.textmate import Grammars, Scoped
from tests.house import ROOT

GRAMMARS = Grammars(ROOT / "grammar")
SAMPLE = """\
(* outer (* inner "not a text" *) still *) let rec go x = "say \\"hi\\"\\n \\d (* text *)"
let* () = Task.pure(`Done(1, 2.5)) in if x && !r then M.f(x) else -. 1.0
module M = struct type t = [ `A | `B ] let letter = true let+ y = z in y end open M
"""
SCRIPTS = {
    "sample": SAMPLE,
    **{str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / "examples").rglob("*.chatml")},
}
DOCUMENTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / "examples").rglob("?*.chatmd")
}
DOCUMENT = """\
<!-- a <user> in a comment -->
<config model="gpt-5" show_tool_call/>
<script id='g' kind="moderator">
(* </user> *) let initial_state = "text"
</script>
<shell_access id="s"><rule id="r"><program name="ls"/></rule></shell_access>
<user>Is 1 < 2? RAW|<user> &|RAW <b>bold</b> <rule></user>
"""


def kind(word: str) -> tuple[Any, str]:
    """What a token of the language must be shown as."""
    if word in ("true", "false"):
        return Keyword, "constant.language"
    if word[0].islower() and word in FIXED:
        return Keyword, "keyword"
    for pattern, shown in (
        (r'"', (String, "string")),
        (r"`", (Name.Tag, "constant.other.tag")),
        (r"\d", (Number, "constant.numeric")),
        (r"[A-Z]", (Name, ("support.class", "entity.name"))),
        (r"[a-z_]", (Name, ("variable", "entity.name"))),
        (r"[()\[\]{},;.]$", (Punctuation, "punctuation")),
    ):
        if re.match(pattern, word):
            return shown
    return Operator, "keyword.operator"


def words(text: str) -> Iterator[tuple[int, str]]:
    """The tokens of a script with their offsets."""
    return ((left, word) for _, left, word in tokens(text) if word)


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_pygments_agrees_with_the_lexer(text: str) -> None:
    """Every token of a script has its kind; between them are blanks and comments; nothing is an error."""
    shown: list[Any] = [None] * len(text)
    for start, token, piece in ChatmlLexer(stripnl=False, ensurenl=False).get_tokens_unprocessed(text):
        assert token is not Error
        shown[start : start + len(piece)] = [token] * len(piece)
    end = 0
    for left, word in words(text):
        wanted, _ = kind(word)
        assert all(token in wanted for token in shown[left : left + len(word)]), (word, shown[left])
        assert all(token in Comment for token, char in zip(shown[end:left], text[end:left], strict=True) if char > " ")
        end = left + len(word)


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_textmate_agrees_with_the_lexer(text: str) -> None:
    """The same holds for editors."""
    shown = [
        scopes for piece in GRAMMARS.tokenize("source.chatml", text) for scopes in [piece.scopes] * len(piece.text)
    ]
    assert len(shown) == len(text)
    end = 0
    for left, word in words(text):
        _, wanted = kind(word)
        for scopes in shown[left : left + len(word)]:
            assert any(scope.startswith(wanted) for scope in scopes), (word, scopes)
        for scopes, char in zip(shown[end:left], text[end:left], strict=True):
            assert char <= " " or any(scope.startswith("comment") for scope in scopes)
        end = left + len(word)


@pytest.mark.parametrize("text", [DOCUMENT, *DOCUMENTS.values()], ids=["sample", *DOCUMENTS])
def test_documents_have_no_errors(text: str) -> None:
    pieces = list(ChatmdLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert all(token is not Error for token, _ in pieces)
    assert "".join(piece for _, piece in pieces) == text
    assert "".join(piece.text for piece in GRAMMARS.tokenize("text.chatmd", text)) == text


def test_pygments_of_a_document() -> None:
    pieces = [(piece, token) for token, piece in ChatmdLexer().get_tokens(DOCUMENT)]
    assert ("<config", Name.Tag) in pieces
    assert ("model", Name.Attribute) in pieces
    assert ('"gpt-5"', String) in pieces
    assert ("let", Keyword.Declaration) in pieces
    assert ("<program", Name.Tag) in pieces
    assert ("<user> &", String.Other) in pieces
    assert ("<rule", Name.Tag) in pieces
    assert [token for piece, token in pieces if piece == "<rule"] == [Name.Tag]


def test_textmate_of_a_document() -> None:
    pieces = list(GRAMMARS.tokenize("text.chatmd", DOCUMENT))

    def of(text: str) -> list[Scoped]:
        return [piece for piece in pieces if piece.text == text]

    assert "entity.name.tag.chatmd" in of("<config")[0].scopes
    assert "entity.other.attribute-name.chatmd" in of("model")[0].scopes
    assert "keyword.declaration.chatml" in of("let")[0].scopes
    assert "entity.name.tag.chatmd" in of("</script>")[0].scopes
    assert "string.unquoted.raw.chatmd" in of("<user> &")[0].scopes
    assert any("comment.block.chatmd" in piece.scopes and "<user>" in piece.text for piece in pieces)


def every_rule(of: object) -> Iterator[dict[str, Any]]:
    if isinstance(of, dict):
        yield of
    for part in of.values() if isinstance(of, dict) else of if isinstance(of, list) else ():
        yield from every_rule(part)


@pytest.mark.parametrize("scope", GRAMMARS.by_scope)
def test_grammars_are_whole(scope: str) -> None:
    """Every expression compiles, every include leads somewhere, every rule that begins can end."""
    grammar = GRAMMARS.by_scope[scope]
    used = set()
    for rule in every_rule(grammar):
        for key in ("match", "begin", "end"):
            if isinstance(rule.get(key), str):
                re.compile(rule[key])
        assert ("begin" in rule) == ("end" in rule)
        if isinstance(name := rule.get("include"), str):
            used.add(name)
            assert name.lstrip("#") in (grammar["repository"] if name.startswith("#") else GRAMMARS.by_scope)
    assert {f"#{name}" for name in grammar["repository"]} <= used


def test_vocabularies_are_whole() -> None:
    """Editors know every keyword of the language and every tag of documents, and no other."""
    keywords = re.findall(r"[a-z]+", " ".join(re.findall(r"\(\?:([a-z|]+)\)", str(GRAMMARS.by_scope["source.chatml"]))))
    assert set(keywords) == {word for word in FIXED if word.isalpha() and word.islower()}
    tags = [rule["begin"] for rule in GRAMMARS.by_scope["text.chatmd"]["repository"]["tag"]["patterns"]]
    assert [set(re.findall(r"\w+", begin.split(")")[0].split("(?:")[1])) for begin in tags] == [BASE_TAGS, SHELL_TAGS]


@pytest.mark.parametrize("name", ["chatml", "chatmd"])
def test_entry_points(name: str) -> None:
    """An installation tells Pygments where the lexers are."""
    project = tomllib.loads(Path(ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, attribute = project["entry-points"]["pygments.lexers"][name].partition(":")
    lexer = getattr(import_module(module), attribute)
    assert issubclass(lexer, RegexLexer)
    assert lexer.aliases == [name]
    assert lexer.filenames == [f"*.{name}"]
