"""The token rules of chatmd.md section 1, followed to the letter, one character at a time.

Nothing here is fast or clever: the lexer is held against it.
"""

from __future__ import annotations

from chatmd.text.tags import BASE_TAGS, SHELL_TAGS

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
NAME_START = LETTERS + "_"
NAME = LETTERS + "0123456789_:-"
WHITE = " \t\n\v\f\r"
KNOWN_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}

Attributes = list[tuple[str, str | None]]
Token = tuple[str, str, Attributes]


class SlowError(Exception):
    """A lexical error: its code without the package, and its offset."""

    def __init__(self, code: str, offset: int) -> None:
        super().__init__(code, offset)
        self.code = code
        self.offset = offset


class SlowLexer:
    """Tokens of a text: (kind, text or tag, attributes)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.scopes: list[int] = []

    def run(self) -> list[Token]:
        tokens: list[Token] = []
        while self.at < len(self.text):
            tokens += self.next()
        return tokens

    def next(self) -> list[Token]:
        text, at = self.text, self.at
        if text[at : at + 4] == "<!--":
            end = text.find("-->", at + 4)
            if end == -1:
                raise SlowError("unterminated_comment", at)
            self.at = end + 3
            return []
        if text[at] == "<" and text[at + 1 : at + 2] and text[at + 1] in NAME_START and ">" in text[at:]:
            self.at = text.index(">", at) + 1
            return [self.tag_like(text[at : self.at], at)]
        if text[at : at + 2] == "</" and text[at + 2 : at + 3] and text[at + 2] in NAME_START and ">" in text[at:]:
            self.at = text.index(">", at) + 1
            return [self.end_tag(text[at : self.at])]
        if text[at] == "<":
            while self.at < len(text) and text[self.at] == "<":
                self.at += 1
            return [("TEXT", text[at : self.at], [])]
        if text[at] == "|":
            self.at += 1
            return [("TEXT", "|", [])]
        while self.at < len(text) and text[self.at] not in "<|":
            self.at += 1
        run = text[at : self.at]
        if not (run.endswith("RAW") and text[self.at : self.at + 1] == "|"):
            return [("TEXT", run, [])]
        return self.raw(run[:-3])

    def raw(self, prefix: str) -> list[Token]:
        tokens: list[Token] = []
        if any(character not in " \t\r\n" for character in prefix):
            tokens.append(("TEXT", prefix, []))
        start = self.at + 1
        end = self.text.find("|RAW", start)
        if end == -1:
            raise SlowError("unterminated_raw", start - 4)
        self.at = end + 4
        return [*tokens, ("TEXT", self.text[start:end], [])]

    def tag_like(self, raw: str, at: int) -> Token:
        self_closed = raw[-2] == "/"
        inside = raw[1:-2] if self_closed else raw[1:-1]
        space = 0
        while space < len(inside) and inside[space] not in WHITE:
            space += 1
        name, rest = inside[:space], inside[space + 1 :]
        attributes = self.attributes(rest, at + 1 + space + 1)
        if not self.known(name):
            return "TEXT", raw, []
        if self_closed:
            return "SELF", name, attributes
        self.depth += 1
        first: dict[str, str | None] = {}
        for key, value in attributes:
            first.setdefault(key, value)
        read_file = first.get("name") in ("read_file", "get_contents")
        if name == "shell_access" or (name == "tool" and (first.get("type") == "shell" or read_file)):
            self.scopes.append(self.depth)
        return "START", name, attributes

    def end_tag(self, raw: str) -> Token:
        name = raw[2:-1]
        if not self.known(name):
            return "TEXT", raw, []
        if self.scopes and self.scopes[-1] == self.depth:
            self.scopes.pop()
        self.depth = max(self.depth - 1, 0)
        return "END", name, []

    def known(self, name: str) -> bool:
        return name in BASE_TAGS or (bool(self.scopes) and name in SHELL_TAGS)

    def attributes(self, text: str, offset: int) -> Attributes:
        found: Attributes = []
        at = 0

        def skip() -> None:
            nonlocal at
            while at < len(text) and text[at] in WHITE:
                at += 1

        while True:
            skip()
            if at == len(text):
                return found
            start = at
            while at < len(text) and text[at] in NAME:
                at += 1
            if at == start:
                at += 1
                continue
            name = text[start:at]
            skip()
            if at == len(text) or text[at] != "=":
                found.append((name, None))
                continue
            at += 1
            skip()
            if at == len(text):
                found.append((name, None))
            elif text[at] in "\"'":
                quote, opening = text[at], at
                at += 1
                value = ""
                while True:
                    if at == len(text):
                        raise SlowError("unterminated_attribute", offset + opening)
                    if text[at] == "\\" and text[at + 1 : at + 2] == quote:
                        value += quote
                        at += 2
                    elif text[at] == quote:
                        at += 1
                        break
                    else:
                        value += text[at]
                        at += 1
                found.append((name, entities(value)))
            else:
                start = at
                while at < len(text) and text[at] not in WHITE:
                    at += 1
                found.append((name, text[start:at]))


def entities(value: str) -> str:
    """Known entities replaced, once, from the left."""
    result = ""
    at = 0
    while at < len(value):
        end = value.find(";", at) if value[at] == "&" else -1
        if end == -1:
            result += value[at]
            at += 1
            continue
        result += KNOWN_ENTITIES.get(value[at + 1 : end], value[at : end + 1])
        at = end + 1
    return result


def merged(tokens: list[Token]) -> list[Token]:
    """Tokens with neighbouring texts made one."""
    result: list[Token] = []
    for kind, value, attributes in tokens:
        if kind == "TEXT" and result and result[-1][0] == "TEXT":
            result[-1] = ("TEXT", result[-1][1] + value, [])
        else:
            result.append((kind, value, attributes))
    return result
