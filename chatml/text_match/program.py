"""From operations to instructions, and from characters to the classes that the instructions tell apart.

Instructions jump by distances while they are put together, so that a repeated part is a list that is copied.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chatml.records import frozen, mutable
from chatml.text_match import sets
from chatml.text_match.parse import MOST_TIMES, Alt, Cat, Look, Operation, PatternError, Repeat, Set
from chatml.text_match.sets import Ranges

SET, SPLIT, JUMP, LOOK, MATCH = range(5)
Instruction = tuple[int, int, int]
"""`(SET, set, 0)`, `(SPLIT, preferred, other)`, `(JUMP, target, 0)`, `(LOOK, look, 0)`, `(MATCH, 0, 0)`."""

LARGEST = 50_000
"""So many instructions a pattern may have."""
LOOKS = ("text_start", "text_end", "line_start", "line_end", "word", "not_word")
REVERSED = {"text_start": "text_end", "text_end": "text_start", "line_start": "line_end", "line_end": "line_start"}


@mutable
class Fragment:
    """The instructions of a part, whether it matches the empty text, and how often its innermost part is repeated."""

    code: list[Instruction]
    nullable: bool
    times: int = 1


def assemble(operations: Sequence[Operation], numbers: dict[Ranges, int], *, backward: bool) -> list[Instruction]:
    """The instructions of a pattern; `numbers` says which set is which. `backward` ones match its texts reversed.

    Raises `PatternError` for a pattern that is too large, and for repetitions that nest too often.
    """
    stack: list[Fragment] = []
    for operation in operations:
        match operation:
            case Set(ranges):
                stack.append(Fragment([(SET, numbers[ranges], 0)], False))
            case Look(kind):
                look = LOOKS.index(REVERSED.get(kind, kind) if backward else kind)
                stack.append(Fragment([(LOOK, look, 0)], True))
            case Repeat():
                stack.append(repeat(stack.pop(), operation))
            case Cat(count) | Alt(count):
                parts = stack[len(stack) - count :]
                del stack[len(stack) - count :]
                stack.append((sequence if isinstance(operation, Cat) else choice)(parts[::-1] if backward else parts))
        if len(stack[-1].code) > LARGEST:
            raise PatternError("the pattern is too large", 0)
    return [*stack.pop().code, (MATCH, 0, 0)]


def sequence(parts: list[Fragment]) -> Fragment:
    if len(parts) == 1:
        return parts[0]
    code = [instruction for part in parts for instruction in part.code]
    return Fragment(code, all(part.nullable for part in parts), max([part.times for part in parts], default=1))


def choice(parts: list[Fragment]) -> Fragment:
    if len(parts) == 1:
        return parts[0]
    total = sum(len(part.code) for part in parts) + 2 * (len(parts) - 1)
    code: list[Instruction] = []
    for part in parts[:-1]:
        code.append((SPLIT, 1, len(part.code) + 2))
        code += part.code
        code.append((JUMP, total - len(code), 0))
    code += parts[-1].code
    return Fragment(code, any(part.nullable for part in parts), max(part.times for part in parts))


def split(enter: int, leave: int, greedy: bool) -> Instruction:
    return (SPLIT, enter, leave) if greedy else (SPLIT, leave, enter)


def repeat(part: Fragment, operation: Repeat) -> Fragment:
    """A part several times, by the counts of a repetition."""
    low, high, greedy = operation.low, operation.high, operation.greedy
    times = part.times * max(1, low if high is None else high) if (low, high) not in UNCOUNTED else part.times
    if times > MOST_TIMES:
        raise PatternError(f"nested counts come to {times:,}: {MOST_TIMES:,} are the most", operation.position)
    size = len(part.code)
    if (size + 1) * max(1, low, high or 0) > LARGEST:
        raise PatternError("the pattern is too large", operation.position)
    if high is None:
        code = part.code * max(1, low) + [split(-size, 1, greedy)]
        if low == 0:
            # A part that may be empty is entered once more than it is left, so `x*` is `(x+)?`: the order of
            # preference would else depend on where the round of empty texts began.
            code = [split(1, len(code) + 1, greedy), *code]
    else:
        optional = high - low
        ends = [split(1, (size + 1) * left, greedy) for left in range(optional, 0, -1)]
        code = part.code * low + [each for end in ends for each in (end, *part.code)]
    return Fragment(code, part.nullable or low == 0, times)


UNCOUNTED = {(0, None), (1, None), (0, 1)}
"""The counts of `*`, `+` and `?`."""


def absolute(code: Sequence[Instruction]) -> list[Instruction]:
    """Instructions whose jumps name their target."""
    found: list[Instruction] = []
    for place, (kind, first, second) in enumerate(code):
        if kind == SPLIT:
            found.append((kind, place + first, place + second))
        elif kind == JUMP:
            found.append((kind, place + first, 0))
        else:
            found.append((kind, first, second))
    return found


# Characters

EDGE, OTHER, LINE, IN_WORD = range(4)
"""What stands beside a place: an end of the text, a character, the end of a line, a character of a word."""
MOST_KNOWN = 4_096


@frozen(eq=False)
class Alphabet:
    """The classes of characters that a pattern tells apart.

    `members[c]` are the numbers of the sets that the characters of class `c` are in, `kinds[c]` what they are to a
    look. The class of the characters from `starts[i]` on is `numbers[i]`.
    """

    starts: list[int]
    numbers: list[int]
    members: list[frozenset[int]]
    kinds: list[int]


def divide(found: dict[Ranges, int], *, looks: bool) -> Alphabet:
    """The classes of the characters: those that are in the same sets, and the same to a look if there are any."""
    line, word = len(found), len(found) + 1
    changes: dict[int, list[int]] = {0: []}
    numbered = [*found.items(), *([(sets.NEWLINE, line), (sets.WORD, word)] if looks else [])]
    for ranges, number in numbered:
        for low, high in ranges:
            changes.setdefault(low, []).append(number)
            changes.setdefault(high + 1, []).append(number)
    classes: dict[frozenset[int], int] = {}
    inside: set[int] = set()
    starts = sorted(changes)
    numbers: list[int] = []
    for start in starts:
        inside.symmetric_difference_update(changes[start])
        numbers.append(classes.setdefault(frozenset(inside), len(classes)))
    members = list(classes)
    return Alphabet(starts, numbers, members, [LINE if line in m else IN_WORD if word in m else OTHER for m in members])


class Classes(dict[str, int]):
    """The class of each character, looked up when it first occurs."""

    def __init__(self, alphabet: Alphabet) -> None:
        super().__init__()
        self.alphabet = alphabet

    def __missing__(self, char: str) -> int:
        if len(self) >= MOST_KNOWN:
            self.clear()
        found = self.alphabet.numbers[bisect_right(self.alphabet.starts, ord(char)) - 1]
        self[char] = found
        return found
