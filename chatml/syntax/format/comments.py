"""Comments put back where they were: beside the same tokens, at the end of a line or on lines of their own.

The parser skips comments. Here the tokens of the source are walked along the tokens of the document, which are the
same but for parentheses and trailing semicolons, and what stands between two of them in the source is put there too.
"""

from __future__ import annotations

from collections.abc import Iterator

from chatml.records import evolve, frozen
from chatml.syntax.ast_text.document import Comment, Document, Mark
from chatml.syntax.parse.lexer import comment_end, tokens

DROPPED = frozenset("();")
"""Tokens of a source that the document may lack."""
PARENTHESES = frozenset("()")
SEPARATORS = frozenset(",;")
CLOSERS = frozenset((")", "]", "}", "end", "done", "in"))
"""Tokens that end what stands before them."""
JOINTS = frozenset(
    ("|", "then", "else", "do", "with", "+", "+.", "++", "-", "-.", "*", "*.", "/", "/.", "%")
) | frozenset(("==", "!=", "<", "<=", ">", ">=", "<.", "<=.", ">.", ">=.", "&&", "||", "->", ":=", "<-", "="))
"""Tokens that go on after what stands before them: a comment beside that stays with it."""
INDENT = 2
"""The columns of a level of indentation."""
NO_SPACE_AFTER = frozenset("([")

GROUPS = frozenset((Mark.OPEN, Mark.FILL, Mark.HEAD, Mark.ALIGN))
ENDS = frozenset((Mark.CLOSE, Mark.DEDENT))
LINES = frozenset((Mark.SOFT, Mark.LINE, Mark.LAST_SOFT, Mark.LAST_LINE, Mark.HARD))


@frozen
class Remark:
    """A comment of a source and how it stands there."""

    comment: Comment
    begins_line: bool
    ends_line: bool
    """Whether the next token begins a line."""
    after_blank: bool
    """Whether an empty line stands before it."""

    @property
    def is_inside_line(self) -> bool:
        """Whether tokens stand on its line both before and after it."""
        return not self.begins_line and not self.ends_line


@frozen
class Token:
    """A token of a source, the comments before it, whether an empty line stands right before it, and its column."""

    text: str
    remarks: tuple[Remark, ...] = ()
    after_blank: bool = False
    column: int = 0


def source_tokens(text: str) -> Iterator[Token]:
    """The tokens of a script with what stands between them; the last one is empty.

    >>> [(token.text, len(token.remarks)) for token in source_tokens("f (* a *) (* b *)(1) (* c *)")]
    [('f', 0), ('(', 1), ('1', 0), (')', 0), ('', 1)]
    """
    end = 0
    for _, left, word in tokens(text):
        if left - end > 1:
            yield Token(word, *between(text, end, left), left - text.rfind("\n", 0, left) - 1)
        else:
            yield Token(word)
        end = left + len(word)


def between(text: str, start: int, end: int) -> tuple[tuple[Remark, ...], bool]:
    """The comments between two tokens, and whether the last one, or the first token, is followed by an empty line.

    Comments that stand on one line together are one remark. One of several lines has its last line for itself.
    """
    remarks = []
    left = text.find("(*", start, end)
    while left >= 0:
        right = comment_end(text, left)
        comments = [text[left:right]]
        following = text.find("(*", right, end)
        while following >= 0 and "\n" not in text[right:following]:
            comments.append(text[following : comment_end(text, following)])
            right = comment_end(text, following)
            following = text.find("(*", right, end)
        gap = text[start:left]
        behind = text[right : end if following < 0 else following]
        words = " ".join(comments)
        ends_line = "\n" in behind or "\n" in words or right == len(text)
        comment = Comment(words, left - text.rfind("\n", 0, left) - 1, not ends_line)
        remarks.append(Remark(comment, start == 0 or "\n" in gap, ends_line, gap.count("\n") > 1))
        start, left = right, following
    return tuple(remarks), text.count("\n", start, end) > 1


def place_comments(document: Document, source: Iterator[Token]) -> Document:
    """The document of a script with the comments and the empty lines of its source."""
    placer = Placer(source)
    for item in document:
        if isinstance(item, str):
            placer.token(item)
        else:
            placer.out.append(item)
    placer.end()
    return placer.out


class Placer:
    """Copies a document and puts comments between its tokens."""

    def __init__(self, source: Iterator[Token]) -> None:
        self.source = source
        self.next = next(source)
        self.carried: list[Remark] = []
        """Comments from before a separator, which stand before the token after it."""
        self.out: Document = []
        self.after = 0
        """Where in the copy the marks after its last token or comment begin."""

    def token(self, text: str) -> None:
        """Copies a token of the document, with what stands before it in the source.

        A comment that begins or ends a line before a comma or semicolon is moved behind that, so that no line begins
        with one.
        """
        remarks, self.carried = self.carried, []
        after_blank, column = False, 0
        while self.next.text != text and self.next.text in DROPPED and text not in PARENTHESES:
            remarks += self.next.remarks
            self.next = next(self.source)
        if self.next.text == text:
            remarks += self.next.remarks
            after_blank, column = self.next.after_blank, self.next.column
            self.next = next(self.source, self.next)
        if text in SEPARATORS:
            while remarks and remarks[0].is_inside_line:
                self.behind(remarks.pop(0).comment, needs_room=True)
            self.add(text)
            while remarks and not remarks[-1].ends_line:
                self.carried.insert(0, remarks.pop())
            self.place(remarks, closed=True)
            return
        keeps = not self.after or Mark.KEEP in self.out[self.after :]
        while text in JOINTS and remarks and remarks[0].is_inside_line:
            self.behind(remarks.pop(0).comment)
        self.place(remarks, closed=text in CLOSERS, keeps=keeps, column=column if keeps or text == "else" else None)
        if after_blank and (keeps or remarks):
            self.out.insert(self.before_groups(), Mark.BLANK)
        self.add(text)

    def end(self) -> None:
        """Puts in what stands after the last token of the document."""
        remarks = list(self.next.remarks)
        for token in self.source:
            remarks += token.remarks
        self.place(remarks, keeps=True, column=0)

    def add(self, text: str) -> None:
        self.out.append(text)
        self.after = len(self.out)

    def place(
        self, remarks: list[Remark], *, closed: bool = False, keeps: bool = False, column: int | None = None
    ) -> None:
        """Puts in remarks before the token that comes next, or when that closes something, inside that.

        When the column of that token is given, a remark that is indented deeper is put inside what ends there.
        """
        for remark in remarks:
            comment = remark.comment
            blank = [Mark.BLANK] if keeps and remark.after_blank else []
            keeps = True
            if self.after and not remark.begins_line and (remark.ends_line or closed):
                self.behind(comment, ends_line=remark.ends_line)
            elif remark.ends_line or closed:
                deeper = comment.column - column if column is not None and remark.begins_line else 0
                place = self.inside(max((deeper + 1) // INDENT, closed))
                self.insert(place, [Mark.HARD, *blank, comment], [Mark.HARD])
            else:
                place = self.before_groups()
                glued = place == self.after and (place == 0 or self.out[place - 1] in NO_SPACE_AFTER)
                space = [] if glued else [Mark.SPACE]
                self.insert(place, [*blank, *space, comment], [Mark.SPACE])

    def insert(self, place: int, items: Document, marks: Document) -> None:
        """Puts in what ends with a comment, and the marks after it."""
        self.out[place:place] = [*items, *marks]
        self.after = place + len(items)

    def behind(self, comment: Comment, *, ends_line: bool = False, needs_room: bool = False) -> None:
        """Puts a comment behind the last token; when it ends its line, the next possible line begins there."""
        if ends_line:
            marks = range(self.after, len(self.out))
            place = next((place for place in marks if self.out[place] in LINES), None)
            if place is None:
                place = next((place for place in marks if self.out[place] not in ENDS), len(self.out))
            self.out.insert(place, Mark.HARD)
        space = [] if self.out[self.after - 1] in NO_SPACE_AFTER else [Mark.SPACE]
        self.insert(self.after, [*space, evolve(comment, needs_room=needs_room)], [])

    def before_groups(self) -> int:
        """The place before the groups that the next token begins."""
        place = len(self.out)
        while place > self.after and self.out[place - 1] in GROUPS:
            place -= 1
        return place

    def inside(self, levels: int) -> int:
        """The place before the next token where lines are still indented, by so many levels if there are as many."""
        ends = [place for place in range(self.after, len(self.out)) if self.out[place] is Mark.DEDENT]
        return ends[-levels:][0] if ends and levels > 0 else self.before_groups()
