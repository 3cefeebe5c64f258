"""How long an editor waits for `chatml lsp` in a script of 2,000 lines.

    python -m benchmarks.lsp [RUNS]

Prints one table, milliseconds: medians and the worst of RUNS runs (default 30), from the request to the answer of a
real process over pipes. `after a key` is a completion right behind the change that makes it necessary. Needs the extra
`chatml-toolkit[lsp]`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.frontend import script
from tests.cli.editor import Editor

LINES = 2_000
URI = "file:///script.chatml"
TYPED = "let here = sample_7."


def main(runs: int) -> None:
    text = script(LINES)
    last, middle = text.count("\n"), text[: len(text) // 2].count("\n")
    print(f"{'':<52}{'median':>10}{'worst':>10}")
    with Editor() as editor:
        editor.open(URI, text)
        editor.diagnostics(URI)
        show("hover", [timed(lambda: editor.at("hover", URI, middle, 6)) for _ in range(runs)])
        show("hover: before the check of a change", list(changes(editor, middle, runs)))
        show("go to definition", [timed(lambda: editor.at("definition", URI, middle, 6)) for _ in range(runs)])
        show("completion: every name", [timed(lambda: editor.at("completion", URI, last, 0)) for _ in range(runs)])
        show("completion: after a key", list(keys(editor, last, runs)))
        show("diagnostics: after a key, with the pause of 150 ms", list(pauses(editor, last, runs)))


def keys(editor: Editor, line: int, runs: int) -> Iterator[float]:
    """Type a line again and again, with a completion at each key."""
    for version in range(runs):
        column = version % len(TYPED)
        if column == 0:
            change(editor, line, 0, 1_000, "")
        change(editor, line, column, column, TYPED[column])
        yield timed(lambda column=column: editor.at("completion", URI, line, column + 1))


def changes(editor: Editor, line: int, runs: int) -> Iterator[float]:
    for _ in range(runs):
        change(editor, line, 0, 0, " ")
        yield timed(lambda: editor.at("hover", URI, line, 6))


def pauses(editor: Editor, line: int, runs: int) -> Iterator[float]:
    for _ in range(min(runs, 10)):
        change(editor, line, 0, 1_000, "let x = 1 + true")
        yield timed(lambda: editor.diagnostics(URI, change.version))


def change(editor: Editor, line: int, left: int, right: int, text: str) -> None:
    change.version += 1
    place = {"start": {"line": line, "character": left}, "end": {"line": line, "character": right}}
    editor.change(URI, change.version, {"range": place, "text": text})


change.version = 1


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def show(name: str, taken: list[float]) -> None:
    print(f"{name:<52}{median(taken) * 1000:>10.1f}{max(taken) * 1000:>10.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
