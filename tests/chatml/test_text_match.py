"""Patterns, held equal to RE2, and their cost (builtins.md section 10, `chatml.text_match`)."""

from __future__ import annotations

import unicodedata

import pytest
import re2
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import chatml
from chatml.text_match import PatternError, compile, sets

QUIET = re2.Options()
QUIET.log_errors = False

LETTERS = "aabbckAK0_ é\n.-ſK"
ATOM_TEXTS = r"""
    a b c k é _ 0 . ^ $ () [a-c] [^a] [^\d_] []a] [a-] [[:alpha:]] [[:^word:]x] \d \D \w \W \s \S \b \A \z \pL \PL
    \p{Lu} \p{^L} [\P{Nd}] \Qa.\E \x41 \x{e9} \101 \n \. (?i) (?s) (?m)
    """
ATOMS = st.sampled_from([*ATOM_TEXTS.split(), "\n", " "])
SUFFIXES = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}?", "{0}", "{0,2}"])
OPENINGS = st.sampled_from(["(", "(?:", "(?i:", "(?U:", "(?s-i:"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        st.tuples(OPENINGS, inner).map(lambda pair: f"{pair[0]}{pair[1]})"),
        st.tuples(OPENINGS, inner, SUFFIXES).map(lambda parts: f"{parts[0]}{parts[1]}){parts[2]}"),
        st.tuples(ATOMS, SUFFIXES).map("".join),
    ),
    max_leaves=12,
)
PIECE_TEXTS = r"""
    a b 1 é * + ? { } {2} {2, {,3} {3,1} {1001} ( ) (? (?: (?i (?P<n> (?<m> (?= (?! (?> [ ] [^ - [:alpha:] [:no:] ^ $ .
    | \ \d \1 \8 \0 \x \x4 \x41 \x{41} \p \pL \p{L} \p{No \pQ \Q \E \Z \_ \e \é \z U m : < = , 0 (a{20}){60} -- a- \-
    """
PIECES = PIECE_TEXTS.split()


def spans(pattern: str, text: str) -> list[tuple[int, int]]:
    """The matches that RE2 finds; its iterator repeats an empty match that it has looked ahead to."""
    return list(dict.fromkeys(match.span() for match in re2.compile(pattern, QUIET).finditer(text)))


def is_pattern(pattern: str) -> bool:
    try:
        re2.compile(pattern, QUIET)
    except re2.error:
        return False
    return True


@settings(max_examples=1_500)
@given(PATTERNS, st.text(LETTERS, max_size=10))
@example("(|a)*", "aa")
@example("(|a)+", "aa")
@example("(a|ab)(c|bcd)(d*)", "abcd")
@example("(a*)*?b|a", "aaab")
@example("(?:a??){2,3}$", "aa")
@example("a|ab", "ab")
@example("x*", "")
@example("(?i)k[^s]ſ", "KKS")
def test_matches_are_those_of_re2(pattern: str, text: str) -> None:
    """Whatever the pattern and the text, the matches are those that RE2 finds, and they are found alike in each way."""
    assume(is_pattern(pattern))
    matcher = compile(pattern)
    expected = spans(pattern, text)
    assert list(matcher.find_all(text)) == expected
    assert matcher.search(text) == (expected[0] if expected else None)
    assert matcher.matches(text) == bool(expected)


@settings(max_examples=1_500)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_patterns_are_those_of_re2(pattern: str) -> None:
    """A text is a pattern exactly if it is one to RE2; any other is refused at a place inside it."""
    if is_pattern(pattern):
        compile(pattern)
    else:
        with pytest.raises(PatternError) as caught:
            compile(pattern)
        assert 0 <= caught.value.position < len(pattern)


@given(st.text(LETTERS, max_size=8))
def test_not_a_word_boundary(text: str) -> None:
    """`\\B` is everywhere where `\\b` is not. (RE2 also finds it inside characters, between their bytes.)"""
    boundaries = {start for start, _ in compile(r"\b").find_all(text)}
    assert {start for start, _ in compile(r"\B").find_all(text)} == set(range(len(text) + 1)) - boundaries


def test_case_is_folded_as_re2_does_it() -> None:
    cased = [chr(point) for point in sets.all_orbits()]
    text = "".join(cased)
    for char in cased:
        ranges = sets.fold(sets.single(ord(char)))
        alike = {chr(point) for low, high in ranges for point in range(low, high + 1)}
        assert alike == set(re2.findall(f"(?i){char}", text))


@pytest.mark.parametrize("name", ["L", "Lu", "Ll", "Lt", "Lm", "M", "Nd", "N", "P", "Sm", "S", "Zs", "C", "Co", "Cc"])
def test_categories_are_those_of_re2(name: str) -> None:
    """For each character that has been assigned; a later version of Unicode assigns more."""
    assigned = [chr(point) for point in range(0x20000) if unicodedata.category(chr(point)) not in ("Cn", "Cs")]
    found = re2.findall(rf"\p{{{name}}}", "".join(assigned))
    points = {point for low, high in sets.categories()[name] for point in range(low, min(high, 0x20000) + 1)}
    assert found == [char for char in assigned if ord(char) in points]


def cost(pattern: str, text: str, *, all: bool = True) -> int:
    """What a search charges."""
    charged: list[int] = []
    matcher = compile(pattern)
    if all:
        list(matcher.find_all(text, charged.append))
    else:
        matcher.matches(text, charged.append)
    return sum(charged)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a*)*b", "a"),
        ("(a|aa)+$", "ab"),
        ("(?:a?){30}a{30}", "a"),
        ("([a-z]+)*=", "x"),
        (".*.*.*x", "y"),
        ("(?i)(password|secret)\\s*[:=]\\s*\\S+", "pass secret = x "),
        ("sk-[A-Za-z0-9]+", "sk- "),
        ("\\bfoo\\b", "foot "),
        ("^a", "b"),
    ],
)
def test_cost_grows_with_the_text(pattern: str, text: str) -> None:
    """Twice the text costs about twice as much, also for patterns that take a backtracking matcher for ever."""
    small, large = (cost(pattern, text * times) for times in (1_000, 2_000))
    assert 0 < small < large < 2.2 * small
    assert cost(pattern, text * 2_000, all=False) <= large


def test_cost_grows_with_the_live_states() -> None:
    text = "a" * 1_000
    few, many = (cost(f"(?:a?){{{count}}}b", text, all=False) for count in (10, 100))
    assert 5 * few < many < 15 * few


def test_cost_does_not_depend_on_what_is_kept() -> None:
    """A matcher that has seen texts before charges as one that has not."""
    pattern, text = "(?:ab|b[ac])*[0-9]", "abbabcab1" * 50
    compile.cache_clear()
    first = cost(pattern, text)
    assert [cost(pattern, text) for _ in range(2)] == [first, first]


def test_charge_ends_a_search() -> None:
    class Enough(Exception):
        pass

    def charge(size: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        compile("a*b").matches("a" * 100_000, charge)


@pytest.mark.parametrize("engine", ["compiled", "walk"])
def test_a_run_is_bounded(engine: chatml.EngineName) -> None:
    """Neither a text nor a pattern that the script did not write takes more than its steps allow."""
    for call in ('Text.matches(text, "(a*)*b")', 'Text.find_all(text, "(a|aa)*b|a")', 'Text.matches("a", text)'):
        program = chatml.compile(f"let f text = (let x = {call} in 1)")
        instance = program.run(limits=chatml.Limits(steps=100_000), engine=engine)
        assert instance.call("f", "a" * 100) == 1
        with pytest.raises(chatml.RuntimeFailure, match="limit `steps`"):
            instance.call("f", "a" * 40_000)


@pytest.mark.parametrize("engine", ["compiled", "walk"])
def test_steps_are_the_same_in_both_engines(engine: chatml.EngineName) -> None:
    """The least number of steps under which a search comes through."""
    program = chatml.compile('let x = Text.replace_matches("key = sk-abcdef, " ++ "and sk-xyz", "sk-[a-z]+", "*")')

    def passes(steps: int) -> bool:
        try:
            program.run(limits=chatml.Limits(steps=steps), engine=engine)
        except chatml.RuntimeFailure:
            return False
        return True

    least = next(steps for steps in range(2_000) if passes(steps))
    assert 20 < least < 1_000
    assert least == LEAST.setdefault("steps", least)


LEAST: dict[str, int] = {}


@pytest.mark.parametrize(
    ("pattern", "position", "words"),
    [
        ("a(b", 1, "not closed"),
        ("a)", 1, "closes nothing"),
        ("a[b", 1, "not closed"),
        ("*a", 0, "nothing stands before"),
        ("a|+", 2, "nothing stands before"),
        ("a**", 2, "not repeated"),
        ("a{2,1}", 1, "wrong order"),
        ("a{1001}", 1, "1,000"),
        ("(?:a{500}){3}", 10, "1,500"),
        ("ab\\1", 2, "back references"),
        ("a(?=b)", 1, "look-around"),
        ("(?P<n>a)(?P<n>b)", 8, "`n` already"),
        ("[z-a]", 1, "before it begins"),
        ("\\p{Greek}", 0, "`Greek`"),
        ("[[:digits:]]", 1, "[:digits:]"),
        ("\\y", 0, "\\y"),
        ("a\\", 1, "escapes nothing"),
        ("(?:[ab]{60}[cd]{60}){1000}", 20, "60,000"),
        ("(?:abcdefghij){1000}" * 6, 0, "too large"),
    ],
)
def test_what_is_wrong_with_a_pattern(pattern: str, position: int, words: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile(pattern)
    assert words in caught.value.reason
    assert caught.value.position == position


def test_deep_parentheses_need_no_stack() -> None:
    deep = compile("(" * 50_000 + "a" + ")" * 50_000)
    assert deep.search("ba") == (1, 2)


def test_states_are_forgotten_when_they_are_too_many() -> None:
    """A text that needs another state for each character does not fill the memory."""
    matcher = compile("(?:a|b)*a(?:a|b){12}c")
    text = "".join("ab"[(number * number // 7) % 2] for number in range(30_000))
    assert not matcher.matches(text)
    assert matcher.matches(text + "a" + "b" * 12 + "c")
    assert matcher.forward.kept < 60_000
