"""Names of other languages: each report says what to write here, and what it says exists."""

from __future__ import annotations

import re

import pytest

import chatml
from chatml.types.report import habits

SURFACE = chatml.UI_MODERATOR
EXPORTS = {module.name: {export.name for export in module.exports} for module in SURFACE.modules}
GLOBALS = {builtin.name for builtin in SURFACE.globals}
TEXTS = [
    *habits.VARIABLES.values(),
    *habits.TYPES.values(),
    *habits.CONSTRUCTORS.values(),
    *(text for rows in habits.ABSENT.values() for text in rows.values()),
]


def helped(text: str) -> str:
    """The help of the first report on a script."""
    return chatml.check(text, surface=SURFACE)[0].help or ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("let f : list int -> int = fun x -> 1", "after its argument; lists are arrays: `int array`"),
        ("type t = array int", "`array` stands after the type that it is of: `int array`"),
        ("type t = option int", "`None | `Some(int)"),
        ("type t = int list", "`int array`"),
        ("type t = int result", "`Error(string) | `Ok(int)"),
        ('let x : str = "a"', "`string`"),
        ("let x : number = 1", "`int` or `float`"),
        ('let n = String.len("a")', "write `String.length`, which is a function (string -> int)"),
        ("let n = Array.size([1])", "write `Array.length`"),
        ('let n = String.substring("a", 0, 1)', "write `String.slice`"),
        ('let n = String.indexOf("a", "b")', "write `String.find`"),
        ('let n = Tool.deny("no")', "write `Tool.reject`"),
        ('let n = Json.dumps("no")', "write `Json.stringify`"),
        ("let n = String.of_int(1)", "`to_string(x)`"),
        ("let n = Option.map(`None, fun x -> x)", "`match x with"),
        ("let n = Int.to_string(1)", "`to_string(x)`"),
        ("let n = Integer.abs(1)", "`Int`"),
        ('let n = parseInt("1")', "`Text.parse_int(text)`"),
        ("let n = Regex.test(1)", "`Text.matches(text, pattern)`"),
        ("let n = Array.join([1])", "`Text.join(parts, separator)`"),
        ("let n = Array.sort([1])", "`Array.sort_by`"),
        ("let n = print_(1)", "`print`"),
        ("let n = List.map([1], fun x -> x)", "`Array`"),
        ('let n = "a".length', "write `String.length(...)`"),
        ("let n = [1].push(2)", "write `Array.append(...)`"),
        ('let n = "a".frob', "the functions for this are in the module `String`"),
        ("let n = ignore(1)", "let _unused"),
        ("let n = fst(1)", "there are no tuples"),
        ('printf("a")', "write `print(text)`"),
        ('let n = f"a{1}"', "a string has no prefix"),
        ('let n = Array.lenght("a")', "did you mean `length`?"),
    ],
)
def test_what_to_write_is_said(text: str, words: str) -> None:
    assert words in helped(text)


def test_a_module_of_the_script_is_not_the_builtin_one() -> None:
    assert helped("module String = struct let size = 1 end let x = String.len") == ""


@pytest.mark.parametrize("module", habits.EXPORTS)
def test_habits_lead_to_exports_that_exist(module: str) -> None:
    assert habits.EXPORTS[module].keys() <= EXPORTS[module]


@pytest.mark.parametrize("module", EXPORTS)
def test_a_habit_is_no_export_and_has_one_meaning(module: str) -> None:
    rows = [*habits.EXPORTS.get(module, {}).values(), *habits.ABSENT.get(module, {})]
    names = [name for others in rows for name in others.split()]
    assert not EXPORTS[module] & set(names)
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)


def test_no_habit_is_a_name_of_the_language() -> None:
    assert not habits.VARIABLES.keys() & (GLOBALS | EXPORTS.keys())
    assert not habits.TYPES.keys() & {"int", "float", "bool", "string", "unit"}


@pytest.mark.parametrize("text", sorted(set(TEXTS)))
def test_builtins_that_a_text_names_exist(text: str) -> None:
    for module, name in re.findall(r"\b([A-Z]\w*)\.(\w+)", text):
        assert name in EXPORTS[module]
    for code in re.findall(r"`([^`]+)`", text):
        calls = set(re.findall(r"(?<![\w.`])([a-z]\w*)\(", code))
        assert calls <= GLOBALS | {"f", "g", "ref"}, code
