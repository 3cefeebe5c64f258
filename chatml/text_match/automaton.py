"""Following all ways through the instructions at once, in states that are made when a text needs them."""

from __future__ import annotations

import re
from collections.abc import Callable

from chatml.records import mutable
from chatml.text_match.program import (
    EDGE,
    IN_WORD,
    JUMP,
    LINE,
    LOOK,
    LOOKS,
    MATCH,
    OTHER,
    SET,
    SPLIT,
    Alphabet,
    Classes,
    Instruction,
    absolute,
)
from chatml.text_match.sets import ANY, Ranges, union

Charge = Callable[[int], object]
"""Told of so many characters read; may raise, which ends the search."""

PER_LIVE = 64
"""To follow one live instruction over one character costs as much as to read so many characters."""
OFTEN = 1_024
"""The work after which `charge` is called at the latest."""
MOST_KEPT = 50_000
"""So many live instructions the states may hold before they are forgotten; they are made again when needed."""
END = -1
"""Stands for the class of a character where there is none."""


@mutable
class State:
    """Instructions that are live between two characters, the preferred first, and what the character before is.

    `next` holds under the class of the next character the state after it (None: nothing is live any more), whether a
    match ends here, and how many instructions were looked at.
    """

    live: tuple[int, ...]
    before: int
    idle: bool
    next: dict[int, tuple[State | None, bool, int]]


class Automaton:
    """Runs over texts in one direction. `first` wants the end that the pattern prefers, else the last one counts."""

    def __init__(self, code: list[Instruction], alphabet: Alphabet, *, first: bool, looks: bool) -> None:
        self.program = absolute(code)
        self.alphabet = alphabet
        self.first = first
        self.looks = looks
        self.classes = Classes(alphabet)
        self.states: dict[tuple[tuple[int, ...], int], State] = {}
        self.kept = 0

    def start(self, before: str) -> State:
        """The state at the start of a run, after a character or after nothing."""
        return self.state((0,), self.kind(self.classes[before]) if before else EDGE)

    def kind(self, number: int) -> int:
        return self.alphabet.kinds[number]

    def state(self, live: tuple[int, ...], before: int) -> State:
        key = live, before if self.looks else OTHER
        found = self.states.get(key)
        if found is None:
            if self.kept > MOST_KEPT:
                self.states = {}
                self.kept = 0
            found = self.states[key] = State(*key, live == (0,), {})
            self.kept += len(live) + 1
        return found

    def step(self, state: State, number: int) -> tuple[State | None, bool, int]:
        """What a character of a class, or the end, does to a state."""
        program = self.program
        members = self.alphabet.members[number] if number != END else frozenset()
        after = self.kind(number) if number != END else EDGE
        found: dict[int, None] = {}
        seen: set[int] = set()
        todo = list(state.live[::-1])
        matched = False
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            kind, one, other = program[place]
            if kind == SET:
                if one in members:
                    following = place + 1
                    found[program[following][1] if program[following][0] == JUMP else following] = None
            elif kind == SPLIT:
                todo += (other, one)
            elif kind == JUMP:
                todo.append(one)
            elif kind == LOOK:
                if HOLDS[LOOKS[one]](state.before, after):
                    todo.append(place + 1)
            else:
                matched = True
                if self.first:
                    break
        target = self.state(tuple(found), after) if found else None
        made = state.next[number] = (target, matched, len(seen))
        return made


HOLDS: dict[str, Callable[[int, int], bool]] = {
    "text_start": lambda before, after: before == EDGE,
    "text_end": lambda before, after: after == EDGE,
    "line_start": lambda before, after: before in (EDGE, LINE),
    "line_end": lambda before, after: after in (EDGE, LINE),
    "word": lambda before, after: (before == IN_WORD) != (after == IN_WORD),
    "not_word": lambda before, after: (before == IN_WORD) == (after == IN_WORD),
}

ANYWHERE: list[Instruction] = [(SPLIT, 3, 1), (SET, 0, 0), (JUMP, -2, 0)]
"""Before a pattern: it begins here rather than after another character. Set 0 has all characters."""


class Forward(Automaton):
    """Finds where the first match ends."""

    def __init__(self, code: list[Instruction], alphabet: Alphabet, sets: list[Ranges], *, looks: bool) -> None:
        super().__init__([*ANYWHERE, *code], alphabet, first=True, looks=looks)
        self.skip = candidates(code, sets)

    def end(self, text: str, start: int, charge: Charge, *, any: bool = False) -> int | None:
        """The end of the first match that begins at `start` or later; with `any` that of some match."""
        classes = self.classes
        state = self.start(text[start - 1] if start else "")
        found: int | None = None
        place, work, size = start, 0, len(text)
        while place < size:
            if state.idle and self.skip is not None:
                candidate = self.skip(text, place)
                if candidate is None:
                    charge(size - place + work * PER_LIVE)
                    return found
                if candidate.start() > place:
                    charge(candidate.start() - place)
                    place = candidate.start()
                    state = self.start(text[place - 1])
            number = classes[text[place]]
            target, matched, live = state.next.get(number) or self.step(state, number)
            work += live
            if matched:
                found = place
                if any:
                    break
            if target is None:
                break
            state = target
            place += 1
            if work > OFTEN:
                charge(work * PER_LIVE)
                work = 0
        else:
            _, matched, live = state.next.get(END) or self.step(state, END)
            work += live
            if matched:
                found = size
        charge(work * PER_LIVE)
        return found


class Backward(Automaton):
    """Finds where a match began, from its end."""

    def __init__(self, code: list[Instruction], alphabet: Alphabet, *, looks: bool) -> None:
        super().__init__(code, alphabet, first=False, looks=looks)

    def start_of(self, text: str, end: int, floor: int, charge: Charge) -> int:
        """The first place from `floor` on at which a match begins that ends at `end`."""
        classes = self.classes
        state = self.start(text[end] if end < len(text) else "")
        found = end
        place, work = end, 0
        while True:
            number = classes[text[place - 1]] if place else END
            target, matched, live = state.next.get(number) or self.step(state, number)
            work += live
            if matched:
                found = place
            if target is None or place <= floor:
                break
            state = target
            place -= 1
            if work > OFTEN:
                charge(work * PER_LIVE)
                work = 0
        charge(work * PER_LIVE)
        return found


LONGEST_PREFIX = 16
Skip = Callable[[str, int], "re.Match[str] | None"]


def candidates(code: list[Instruction], sets: list[Ranges]) -> Skip | None:
    """A search for the next place where a match can begin, or None: one may begin anywhere.

    It looks for the characters that the pattern begins with, one set after the other, with Python's `re`: without
    repetition or choice that takes no longer than reading the text.
    """
    prefix: list[Ranges] = []
    for kind, one, _ in code[:LONGEST_PREFIX]:
        if kind != SET:
            break
        prefix.append(sets[one])
    if not prefix:
        first = first_set(code, sets)
        if first is None:
            return None
        prefix = [first]
    if prefix[0] == ANY or () in prefix:
        return None
    return re.compile("".join(f"[{''.join(map(spelled, ranges))}]" for ranges in prefix)).search


def spelled(run: tuple[int, int]) -> str:
    return f"\\U{run[0]:08x}-\\U{run[1]:08x}"


def first_set(code: list[Instruction], sets: list[Ranges]) -> Ranges | None:
    """The characters that a match begins with; None if it can be empty, or depends on what stands around it."""
    program = absolute(code)
    parts: list[tuple[int, int]] = []
    todo, seen = [0], {0}
    while todo:
        kind, one, other = program[todo.pop()]
        if kind in (LOOK, MATCH):
            return None
        if kind == SET:
            parts += sets[one]
            continue
        for target in (one, other) if kind == SPLIT else (one,):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return union(parts)
