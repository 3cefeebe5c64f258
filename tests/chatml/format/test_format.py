"""The layout: what is kept of a script, and what its lines look like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.syntax import ast
from chatml.syntax.ast_text import dump, show
from chatml.syntax.format import COLUMNS, format_script
from chatml.syntax.parse import parse
from chatml.syntax.parse.lexer import comment_end, tokens
from tests.chatml.cases import read_corpus
from tests.chatml.parse.trees import scripts
from tests.chatml.program_choices import RandomChooser
from tests.chatml.programs import write_program
from tests.house import ROOT


def is_script(text: str) -> bool:
    try:
        parse(Source("case", text))
    except CompileError:
        return False
    return True


PROGRAMS = {
    **{case.id: case.program for case in read_corpus() if is_script(case.program)},
    **{
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "examples").rglob("*.chatml"))
    },
    **{f"random-{seed}": write_program(RandomChooser(Random(seed))) for seed in range(40)},
}

SHORT = [text for text in PROGRAMS.values() if len(text) < 300]

GAPS = ["", " ", "\n", "\n\n\n", "\t(* c *)", " (* c *)\n", "\n (* own *)\n", "\n\n(* two *) (* on a line *)\n\n"]
GAPS += ["\n  (* one\n       two (* deep *)\n  *)\n", " (* a\n b *) ", "\r\n(* r *)\r\n"]


def formatted(text: str) -> str:
    return format_script(Source("given", text))


def comments(text: str) -> Iterator[str]:
    """The comments of a script in order, one blank for each run of blanks."""
    end = 0
    for _, left, word in tokens(text):
        start = text.find("(*", end, left)
        while start >= 0:
            end = comment_end(text, start)
            yield re.sub(r"\s+", " ", text[start:end])
            start = text.find("(*", end, left)
        end = left + len(word)


def check(text: str) -> str:
    """Formats a script and holds what must hold of any; returns the result."""
    page = formatted(text)
    assert dump(parse(Source("page", page))) == dump(parse(Source("given", text)))
    assert list(comments(page)) == list(comments(text))
    assert formatted(page) == page
    assert page == "" or (page.endswith("\n") and not page.endswith("\n\n"))
    assert "\n\n\n" not in page or "\n\n\n" in text
    return page


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_programs(text: str) -> None:
    """A script keeps its tree and its comments, and formatting it again changes nothing."""
    check(text)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_on_one_line(text: str) -> None:
    """The layout does not depend on where the lines of a script without comments ended."""
    line = " ".join(word for _, _, word in tokens(text)).strip()
    spread = "\n".join(word for _, _, word in tokens(text)).strip()
    assert check(line) == check(spread)


@given(scripts)
def test_trees(script: ast.Script) -> None:
    """Every script keeps its tree."""
    check(show(script))


@st.composite
def commented(draw: st.DrawFn) -> str:
    """A script with comments and line ends between any of its tokens."""
    words = [word for _, _, word in tokens(draw(st.sampled_from(SHORT) | scripts.map(show)))]
    gaps = draw(st.lists(st.sampled_from(GAPS), min_size=1, max_size=12))
    often = draw(st.integers(1, 12))
    random = Random(draw(st.integers(0, 1000)))
    out = []
    for word in words:
        out.append(" ")
        out.append(random.choice(gaps) if random.randrange(often) == 0 else "")
        out.append(" ")
        out.append(word)
    return "".join(out)


@given(commented())
def test_comments_anywhere(text: str) -> None:
    """Comments may stand between any two tokens: none is lost, moved over another, or changes the tree."""
    check(text)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_columns(text: str) -> None:
    """A line is longer than the page only for a long literal, or for a comment."""
    page = formatted(" ".join(word for _, _, word in tokens(text)))
    for line in page.splitlines():
        assert len(line) <= COLUMNS or any(len(word) > COLUMNS // 2 for _, _, word in tokens(line.strip()))


LAYOUTS = {
    "a short definition": "let  f x\n=x",
    "a match of several arms": "let f x = match x with | `A -> 1 | `B(y) -> match y with | 0 -> 2 | _ -> 3",
    "a chain": "let f x = let a = 1 in let* b = g(a) in let+ () = h(b) in a",
    "a last function": f'Array.iter(items, fun item -> print("{"long " * 16}" ++ item))',
    "a long condition": f"let f x = if first_condition_{'x' * 40}(x) && second_condition_{'x' * 40}(x) then 1 else 2",
    "a record": f'let r = {{ first = "{"x" * 40}"; second = (fun x -> x); third = "{"y" * 40}"; }}',
    "a sequence": "let f x = print(1); print(2); x",
    "a loop": "let u = while !i > 0 do i := !i - 1; print(!i) done",
    "a module": "module M = struct let a = 1\n\n\n\n(* b *) let b = 2 module N = struct end end open M",
    "declarations": f"type t = [ `A | `B ] type u = [ {' | '.join(f'`Case_{n}(int)' for n in range(9))} ]",
    "a name after a type": "type t = int (print(1))",
    "comments": "(* head *)\n\n\n"
    "let r = { a = 1; (* of a *)\n  (* own *)\n  b = 2 (* of b *) }\n\nlet f x = (* why *) x\n"
    "let g x =\n  match x with\n  (* first *)\n  | `A -> 1 (* one *)\n\n  (* second *)\n  | `B -> 2\n(* end *)",
    "comments inside of lines": "let f x = match x with (* on *) | `A (* a *) -> (* one *) 1 (* of a *) | `B -> "
    "g(2 (* b *), [3 (* c *)]) let r = { a = 1 (* a *); b = 2 (* b *) } let y = if a "
    "(* if *) then b (* then *) else c (* else *)",
    "comments at the end of what they belong to": "module M = struct\n  let f x =\n    match x with\n    | `A ->\n"
    "      g(1);\n      2\n      (* of the arm *)\n    (* of the match *)\n\n  let y = 1\n  (* of the module *)\nend\n"
    "let z =\n  h(\n    1\n    (* of the call *)\n  )\n  (* of z *)\n(* of the script *)",
    "lines of a comment": "module M = struct\n      (* one\n         two\n       three *)\n      let a = 1\nend",
}


def test_layouts(update: bool) -> None:
    """How each form is laid out, recorded."""
    recorded = Path(__file__).with_name("layouts.txt")
    pages = "".join(f"(* --- {name} *)\n{check(text)}" for name, text in LAYOUTS.items())
    if update:
        recorded.write_text(pages, encoding="utf-8")
    assert pages == recorded.read_text(encoding="utf-8")


def test_what_does_not_parse_is_refused() -> None:
    with pytest.raises(CompileError) as caught:
        formatted("let f = (* open")
    assert caught.value.diagnostics[0].code == "syntax.unterminated_comment"


@pytest.mark.parametrize(
    "text",
    ["let a = 1 in " * 10_000 + "a", "a" + ".b" * 10_000, "f(" * 999 + "1" + ")" * 999, "1" + " + 1" * 10_000],
    ids=["lets", "fields", "calls", "sums"],
)
def test_long_and_deep(text: str) -> None:
    check(text)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.chatml")), ids=lambda path: path.stem)
def test_examples_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text
