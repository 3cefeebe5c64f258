"""From the text of a pattern to its operations in postfix order, by RE2's syntax as it is by default.

`ab|c*` is `[Set(a), Set(b), Cat(2), Set(c), Repeat(0, None), Cat(1), Alt(2)]`. Postfix order needs no recursion,
however deep the parentheses of a pattern nest.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from chatml.records import frozen, mutable
from chatml.text_match import sets
from chatml.text_match.sets import Ranges

MOST_TIMES = 1_000
"""The largest count of a repetition, and the largest product of the counts of nested ones."""


class PatternError(ValueError):
    """A pattern that is not one: `reason` says why, `position` where, as an offset in characters."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason}, at character {position + 1} of the pattern")
        self.reason = reason
        self.position = position


@frozen
class Set:
    """One character of a set."""

    ranges: Ranges


@frozen
class Look:
    """A place between characters: `\\A`, `\\z`, `^` and `$` of lines, `\\b` or `\\B`."""

    kind: str


@frozen
class Cat:
    """The last `count` parts, one after the other."""

    count: int


@frozen
class Alt:
    """One of the last `count` parts, an earlier one rather than a later one."""

    count: int


@frozen
class Repeat:
    """The last part so many times; `high` None is any number, `greedy` as often as possible first."""

    low: int
    high: int | None
    greedy: bool
    position: int


Operation: TypeAlias = Set | Look | Cat | Alt | Repeat

COUNT = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")
NAMED = re.compile(r"\(\?P?<(\w+)>")
FLAGS = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])")
HEX = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})")
OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
CATEGORY = re.compile(r"\{(\^?)([^}]*)\}|()([A-Z])")
NAMED_SET = re.compile(r"\[:(\^?)(\w+):\]")
CONTROLS = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
PLACES = {"A": "text_start", "z": "text_end", "b": "word", "B": "not_word"}
TIMES = {"*": (0, None), "+": (1, None), "?": (0, 1)}
LOOK_AROUND = ("(?=", "(?!", "(?<=", "(?<!", "(?>")


@mutable
class Group:
    """An open parenthesis: where it stands, the flags that hold after it, and what is inside so far."""

    position: int
    flags: frozenset[str]
    parts: int = 0
    branches: int = 0


class Parser:
    """Reads one pattern; `operations` is what it has read so far."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.operations: list[Operation] = []
        self.flags: frozenset[str] = frozenset()
        self.group = Group(0, self.flags)
        self.outer: list[Group] = []
        self.names: set[str] = set()
        self.repeated = False

    def parse(self) -> list[Operation]:
        pattern = self.pattern
        while self.position < len(pattern):
            start = self.position
            char = pattern[start]
            repeated, self.repeated = self.repeated, False
            if char in "*+?" or (char == "{" and COUNT.match(pattern, start)):
                self.repetition(repeated)
            elif char == "(":
                self.open()
            elif char == ")":
                self.close()
            elif char == "|":
                self.position += 1
                self.branch()
            elif char == "[":
                self.emit(Set(self.bracket()))
            elif char == "\\":
                self.backslash()
            else:
                self.position += 1
                self.emit(self.plain(char))
        if self.outer:
            raise PatternError("this `(` is not closed", self.group.position)
        self.end_group()
        return self.operations

    def emit(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.group.parts += 1

    def plain(self, char: str) -> Operation:
        """A character that stands for itself, `.`, `^` or `$`."""
        if char == ".":
            return Set(sets.ANY if "s" in self.flags else sets.negate(sets.NEWLINE))
        if char == "^":
            return Look("line_start" if "m" in self.flags else "text_start")
        if char == "$":
            return Look("line_end" if "m" in self.flags else "text_end")
        return self.literal(ord(char))

    def literal(self, point: int) -> Set:
        return Set(self.cased(sets.single(point)))

    def cased(self, ranges: Ranges) -> Ranges:
        """A set as it is without or with regard to case."""
        return sets.fold(ranges) if "i" in self.flags else ranges

    # Groups

    def open(self) -> None:
        pattern, start = self.pattern, self.position
        flags = self.flags
        if not pattern.startswith("(?", start):
            self.position += 1
        elif named := NAMED.match(pattern, start):
            if named[1] in self.names:
                raise PatternError(f"a group is called `{named[1]}` already", start)
            self.names.add(named[1])
            self.position = named.end()
        elif found := FLAGS.match(pattern, start):
            self.position = found.end()
            flags = (flags | set(found[1])) - set(found[2] or "")
            if found[3] == ")":
                self.flags = flags
                return
        elif pattern.startswith(LOOK_AROUND, start):
            raise PatternError("look-around is not supported: it has no linear-time match", start)
        else:
            raise PatternError("not a group: `(?` is followed by flags, `:`, or the name of a group", start)
        self.outer.append(self.group)
        self.group = Group(start, self.flags)
        self.flags = flags

    def close(self) -> None:
        if not self.outer:
            raise PatternError("this `)` closes nothing", self.position)
        self.position += 1
        self.end_group()
        self.flags = self.group.flags
        self.group = self.outer.pop()
        self.group.parts += 1

    def branch(self) -> None:
        """A branch of the group at hand ends."""
        self.operations.append(Cat(self.group.parts))
        self.group.parts = 0
        self.group.branches += 1

    def end_group(self) -> None:
        self.branch()
        self.operations.append(Alt(self.group.branches))

    # Repetition

    def repetition(self, repeated: bool) -> None:
        pattern, start = self.pattern, self.position
        low: int
        high: int | None
        if found := COUNT.match(pattern, start):
            self.position = found.end()
            if max(len(found[1]), len(found[3] or "")) > 4:
                raise PatternError(f"a count is {MOST_TIMES:,} at most", start)
            low = int(found[1])
            high = int(found[3]) if found[3] else None if found[2] else low
            if max(low, high or 0) > MOST_TIMES:
                raise PatternError(f"a count is {MOST_TIMES:,} at most", start)
            if high is not None and high < low:
                raise PatternError("the counts are in the wrong order", start)
        else:
            self.position += 1
            low, high = TIMES[pattern[start]]
        greedy = "U" not in self.flags
        if pattern.startswith("?", self.position):
            self.position += 1
            greedy = not greedy
        if not self.group.parts:
            raise PatternError(f"nothing stands before `{pattern[start]}` to be repeated", start)
        if repeated:
            raise PatternError("a repetition is not repeated; put parentheses around the inner one", start)
        self.operations.append(Repeat(low, high, greedy, start))
        self.repeated = True

    # Escapes

    def backslash(self) -> None:
        pattern, start = self.pattern, self.position
        letter = pattern[start + 1 : start + 2]
        if letter in PLACES:
            self.position += 2
            self.emit(Look(PLACES[letter]))
        elif letter == "Q":
            end = pattern.find("\\E", start + 2)
            quoted = pattern[start + 2 : len(pattern) if end < 0 else end]
            self.position = len(pattern) if end < 0 else end + 2
            for char in quoted:
                self.emit(self.literal(ord(char)))
        else:
            ranges = self.escaped_set()
            self.emit(Set(self.cased(sets.single(self.escaped())) if ranges is None else ranges))

    def escaped_set(self) -> Ranges | None:
        """The set of an escape such as `\\d` or `\\pL`; None if it is none of these."""
        pattern, start = self.pattern, self.position
        letter = pattern[start + 1 : start + 2]
        if letter in ("p", "P"):
            found = CATEGORY.match(pattern, start + 2)
            name = "" if found is None else found[2] or found[4] or ""
            if found is None or name not in sets.categories():
                raise PatternError(f"unknown category `{name}` of characters", start)
            self.position = found.end()
            return self.signed(sets.categories()[name], (letter == "P") != bool(found[1]))
        if letter and letter in "dswDSW":
            self.position += 2
            return self.signed(sets.PERL[letter.lower()], letter.isupper())
        return None

    def signed(self, ranges: Ranges, negative: bool) -> Ranges:
        return sets.negate(self.cased(ranges)) if negative else self.cased(ranges)

    def escaped(self) -> int:
        """The code point of an escape of one character."""
        pattern, start = self.pattern, self.position
        letter = pattern[start + 1 : start + 2]
        if octal := OCTAL.match(pattern, start + 1):
            self.position = octal.end()
            return int(octal[0], 8)
        if letter in "123456789" and letter:
            raise PatternError("back references are not supported: they have no linear-time match", start)
        if letter == "x" and (found := HEX.match(pattern, start + 2)):
            point = int(found[1] or found[2], 16)
            if point <= sets.LAST:
                self.position = found.end()
                return point
        if letter in CONTROLS:
            self.position += 2
            return CONTROLS[letter]
        if not letter or not letter.isascii() or letter.isalnum():
            raise PatternError(f"unknown escape `\\{letter}`" if letter else "a `\\` at the end escapes nothing", start)
        self.position += 2
        return ord(letter)

    # Sets in brackets

    def bracket(self) -> Ranges:
        pattern, start = self.pattern, self.position
        self.position += 1
        negative = pattern.startswith("^", self.position)
        self.position += negative
        first = self.position
        parts: list[tuple[int, int]] = []
        while not pattern.startswith("]", self.position) or self.position == first:
            if self.position >= len(pattern):
                raise PatternError("this `[` is not closed", start)
            parts += self.bracket_part()
        self.position += 1
        return sets.negate(sets.union(parts)) if negative else sets.union(parts)

    def bracket_part(self) -> Ranges:
        pattern, start = self.pattern, self.position
        if found := NAMED_SET.match(pattern, start):
            if found[2] not in sets.POSIX:
                raise PatternError(f"unknown set `[:{found[2]}:]`", start)
            self.position = found.end()
            return self.signed(sets.POSIX[found[2]], bool(found[1]))
        if pattern[start] == "\\" and (ranges := self.escaped_set()) is not None:
            return ranges
        low = high = self.bracket_char()
        if pattern.startswith("-", self.position) and pattern[self.position + 1 : self.position + 2] not in ("]", ""):
            self.position += 1
            high = self.bracket_char()
            if high < low:
                raise PatternError("this range ends before it begins", start)
        return self.cased(((low, high),))

    def bracket_char(self) -> int:
        char = self.pattern[self.position]
        if char == "\\":
            return self.escaped()
        self.position += 1
        return ord(char)


def parse(pattern: str) -> list[Operation]:
    """The operations of a pattern. Raises `PatternError`.

    >>> parse("a{2,5}?")
    [Set(ranges=((97, 97),)), Repeat(low=2, high=5, greedy=False, position=1), Cat(count=1), Alt(count=1)]
    """
    return Parser(pattern).parse()
