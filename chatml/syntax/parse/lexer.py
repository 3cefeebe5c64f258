"""From text to tokens (language.md section 1): one regular expression, read from left to right in linear time.

A token is a triple of its kind (a number of `table.TERMINALS`), the offset of its first character and its text. The
last one is the end of the text, or stands where the text stops being one: kinds below 0 are accepted by no state of the
parser, so that of two errors in a text the first one is reported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TypeAlias

from chatml.syntax.parse.table import TERMINALS

Token: TypeAlias = tuple[int, int, str]

UNKNOWN = -1
"""The kind of a character that starts no token."""
OPEN_STRING = -2
"""The kind of the end of the text inside a string; its text is empty."""
OPEN_COMMENT = -3
"""The kind of the opener of a comment that never ends."""

TOKEN = re.compile(
    r"""[ \t\r\n]*+
    (?: ( let[*+] | [a-z_][A-Za-z0-9_]*+ | \((?!\*) | [),;.\[\]{}%] | <[-.] | [<>]=?\.? | ==? | -[>.]? | \+[+.]?
        | [*/]\.? | :=? | !=? | && | \|\|? )
    |   ( [0-9]++ (?!\.[0-9]) )
    |   ( [0-9]++\.[0-9]++ )
    |   ( " [^"\\]*+ (?: \\. [^"\\]*+ )*+ " )
    |   ( `[A-Za-z0-9_]++ )
    |   ( [A-Z][A-Za-z0-9_]*+ )
    |   ( \Z )
    |   ( \(\* )
    |   ( " )
    |   ( . )
    )""",
    re.VERBOSE | re.DOTALL,
)
GROUPS = ("", "", "INT", "FLOAT", "STRING", "TAG", "UIDENT", "$END")
KINDS = tuple(TERMINALS.get(name, 0) for name in GROUPS)
"""The kind of token for each group of the expression; the first one holds all words and signs."""
WORDS, END, COMMENT, QUOTE = 1, 7, 8, 9

COMMENT_EDGE = re.compile(r"\(\*|\*\)")

LIDENT = TERMINALS["LIDENT"]
CLASSES = {
    "BINCMP": "== != < > <= >= <. >. <=. >=.",
    "ADDOP": "+ ++ +.",
    "MULOP": "* / % *. /.",
    "BOOL": "true false",
    "TASKLET": "let* let+",
}
FIXED = TERMINALS | {text: TERMINALS[name] for name, texts in CLASSES.items() for text in texts.split()}
"""The kind of every keyword and sign. (The names of classes do no harm here: no word is written in upper case.)"""


def tokens(text: str, position: int = 0, end: int = sys.maxsize) -> Iterator[Token]:
    """The tokens of a text in order, from an offset up to its end (or an earlier one) or to what is not a token.

    >>> [word for _, _, word in tokens("f (* call *) (1.5)")]
    ['f', '(', '1.5', ')', '']
    """
    kind_of = FIXED.get
    while True:
        for match in TOKEN.finditer(text, position, end):
            group = match.lastindex or 0
            word = match[group]
            left = match.start(group)
            if group == WORDS:
                yield kind_of(word, LIDENT), left, word
            elif group < COMMENT:
                yield KINDS[group], left, word
                if group == END:
                    return
            elif group == COMMENT:
                position = comment_end(text, left, end)
                if position < 0:
                    yield OPEN_COMMENT, left, word
                    return
                break  # and go on after the comment
            elif group == QUOTE:
                yield OPEN_STRING, min(len(text), end), ""
                return
            else:
                yield UNKNOWN, left, word
                return


def comment_end(text: str, left: int, end: int = sys.maxsize) -> int:
    """The offset after the comment that opens at an offset, or -1; comments nest (X-03)."""
    level = 0
    for edge in COMMENT_EDGE.finditer(text, left, end):
        level += 1 if edge[0] == "(*" else -1
        if level == 0:
            return edge.end()
    return -1
