"""`chatml lsp`: a real process, and an editor at the other end of its pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from chatml_tools.lsp.documents import Document
from chatml_tools.lsp.server import STEP, Server
from tests.cli.editor import TIMEOUT, Editor
from tests.house import COMMANDS, environment

URI = "file:///tmp/somewhere/script.chatml"
OPTIONS = {"tabSize": 2, "insertSpaces": True}

PROMPT = """\
<system>\U0001f600 Be brief.</system>
<script language="chatml" kind="moderator">RAW|
let initial_state = { seen = 0 }
let on_event ctx st ev =
  let _mark = "\U0001f600" in let _seen = st.seen in
  Task.pure(st)
|RAW</script>
"""


LONG = """\
type order_N = { lines : { price : float; count : int } array; paid : bool }
let total_N : order_N -> float = fun order ->
  Array.fold(order.lines, 0.0, fun sum line ->
    if line.count == 0 then sum
    else sum +. line.price)

let describe_N order =
  match order.state with
  | `Open -> "open"
  | `Paid(amount) -> "paid " ++ to_string(amount)
let sample_N = { lines = [{ price = 1.0; count = N }]; paid = true }
print(total_N(sample_N))
"""


def place(line: int, left: int, right: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": left}, "end": {"line": line, "character": right}}


def edit(text: str, line: int, left: int, right: int) -> dict[str, Any]:
    return {"range": place(line, left, right), "text": text}


def value(hover: Any) -> str:
    return str(hover["contents"]["value"]).removeprefix("```chatml\n").removesuffix("\n```")


def labels(completion: Any) -> list[str]:
    return [item["label"] for item in completion["items"]]


def test_a_conversation() -> None:
    with Editor() as editor:
        assert editor.greeting["capabilities"]["positionEncoding"] == "utf-16"
        editor.open(URI, "let twice f x = f(f(x))\nlet y = twice(fun n -> n + 1, true)\n")
        (found,) = editor.diagnostics(URI)
        assert (found["code"], found["severity"], found["source"]) == ("type.mismatch", 1, "chatml")
        assert found["range"] == place(1, 8, 35)
        assert found["message"].splitlines()[-1] == "more: chatml explain type.mismatch"
        assert found["relatedInformation"] == [
            {"location": {"uri": URI, "range": place(1, 30, 34)}, "message": "this is a bool"}
        ]
        editor.change(URI, 2, edit("20", 1, 30, 34))
        assert editor.diagnostics(URI, 2) == []
        assert value(editor.at("hover", URI, 1, 4)) == "y : int"
        assert editor.at("definition", URI, 1, 10) == {"uri": URI, "range": place(0, 4, 9)}
        symbols = editor.ask("textDocument/documentSymbol", textDocument={"uri": URI})
        assert [(each["name"], each["detail"], each["selectionRange"]) for each in symbols] == [
            ("twice", "((a -> a), a -> a)", place(0, 4, 9)),
            ("y", "int", place(1, 4, 5)),
        ]
        editor.change(URI, 3, edit("let r = { a = 1 }\nlet z = r.", 2, 0, 0))
        assert labels(editor.at("completion", URI, 3, 10)) == ["a"]
        assert editor.diagnostics(URI, 3)[0]["code"].startswith("syntax.")
        assert value(editor.at("hover", URI, 1, 4)) == "y : int"
        assert editor.leave() == 0
        assert editor.process.stderr is not None
        assert editor.process.stderr.read() == b""


def test_formatting_and_its_refusal() -> None:
    with Editor() as editor:
        editor.open(URI, "let  x=(1)\r\nlet y = 2")
        (change,) = editor.ask("textDocument/formatting", textDocument={"uri": URI}, options=OPTIONS)
        assert change == {
            "range": {"start": place(0, 0, 0)["start"], "end": place(1, 9, 9)["end"]},
            "newText": "let x = 1\nlet y = 2\n",
        }
        editor.change(URI, 2, {"text": "let x = 1\n"})
        assert editor.ask("textDocument/formatting", textDocument={"uri": URI}, options=OPTIONS) == []
        editor.change(URI, 3, {"text": "let x = 1\nlet y = ("})
        answer = editor.request("textDocument/formatting", textDocument={"uri": URI}, options=OPTIONS)
        assert answer["error"]["code"] == -32803
        assert answer["error"]["message"].startswith("not formatted: there is an error in line 2: ")


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_characters_are_counted_in_the_units_that_were_agreed_on(encoding: str, width: int) -> None:
    with Editor([encoding]) as editor:
        assert editor.greeting["capabilities"]["positionEncoding"] == encoding
        text = 'let s = "\U0001f600\U0001f600" let unknown_one = here_it_is\n'
        editor.open(URI, text)
        left = text.index("here") - 2 + 2 * width
        (found,) = editor.diagnostics(URI)
        assert found["range"] == place(0, left, left + len("here_it_is"))
        editor.change(URI, 2, edit("s", 0, left, left + len("here_it_is")))
        assert editor.diagnostics(URI, 2) == []
        assert editor.at("definition", URI, 0, left) == {"uri": URI, "range": place(0, 4, 5)}
        editor.change(URI, 3, edit("A", 0, 9, 9 + width), edit("\u2028B", 0, 10, 10 + width))
        assert value(editor.at("hover", URI, 0, 4)) == "s : string"
        (change,) = editor.ask("textDocument/formatting", textDocument={"uri": URI}, options=OPTIONS)
        assert change["newText"] == 'let s = "A\u2028B"\nlet unknown_one = s\n'


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_end_as_the_protocol_says(line_end: str) -> None:
    """Form feeds and line separators end no line, whatever Python thinks."""
    with Editor() as editor:
        editor.open(URI, f'let a = "\x0c\u2028\x85"{line_end}let b = a{line_end}let c = b')
        assert editor.at("definition", URI, 2, 8)["range"] == place(1, 4, 5)
        editor.change(URI, 2, edit("a", 2, 8, 100), edit("", 7, 0, 9))
        assert editor.at("definition", URI, 2, 8)["range"] == place(0, 4, 5)


def test_a_prompt_document_with_its_moderator() -> None:
    uri = "untitled:prompt.chatmd"
    with Editor() as editor:
        editor.open(uri, PROMPT, "chatmd")
        assert editor.diagnostics(uri) == []
        line = PROMPT.splitlines()[4]
        units = len(line[: line.index("st.seen")].encode("utf-16-le")) // 2
        assert value(editor.at("hover", uri, 4, units)).startswith("st : ")
        definition = editor.at("definition", uri, 4, units)
        assert definition == {"uri": uri, "range": place(3, len("let on_event ctx "), len("let on_event ctx st"))}
        assert editor.at("hover", uri, 0, 12) is None
        editor.change(uri, 2, edit("missing", 4, units, units + 2))
        (found,) = editor.diagnostics(uri, 2)
        assert (found["code"], found["range"]) == ("type.unknown_variable", place(4, units, units + 7))
        editor.change(uri, 3, edit("Task.", 4, units, units + 7))
        assert "pure" in labels(editor.at("completion", uri, 4, units + 5))
        editor.change(uri, 4, {"text": "<user>open"})
        assert [each["code"] for each in editor.diagnostics(uri, 4)] == ["chatmd.unclosed_element"]
        assert editor.at("completion", uri, 0, 3) is None
        assert editor.ask("textDocument/documentSymbol", textDocument={"uri": uri}) is None


def test_several_documents_that_depend_on_each_other(tmp_path: Path) -> None:
    """A prompt sees its moderator's file as it stands in the editor, then on disk, then that it is gone."""
    policy, prompt = tmp_path / "my policy.chatml", tmp_path / "prompt.md"
    policy.write_text("let initial_state = 0\nlet on_event c s e = Task.pure(s)\n", encoding="utf-8")
    prompt.write_text('<script language="chatml" kind="moderator" src="my policy.chatml" />\n', encoding="utf-8")
    with Editor() as editor:
        editor.open(prompt.as_uri(), prompt.read_text(encoding="utf-8"))
        assert editor.diagnostics(prompt.as_uri()) == []
        editor.open(policy.as_uri(), policy.read_text(encoding="utf-8"))
        assert editor.diagnostics(policy.as_uri()) == []
        assert editor.diagnostics(prompt.as_uri()) == []
        editor.change(policy.as_uri(), 2, edit("oops", 1, 31, 32))
        assert [each["code"] for each in editor.diagnostics(policy.as_uri(), 2)] == ["type.unknown_variable"]
        (found,) = editor.diagnostics(prompt.as_uri())
        assert found["range"] == place(0, 0, 0)
        assert found["relatedInformation"][0]["location"] == {"uri": policy.as_uri(), "range": place(1, 31, 35)}
        editor.tell("textDocument/didClose", textDocument={"uri": policy.as_uri()})
        assert editor.diagnostics(policy.as_uri()) == []
        assert editor.diagnostics(prompt.as_uri()) == []
        policy.unlink()
        editor.tell("workspace/didChangeWatchedFiles", changes=[{"uri": policy.as_uri(), "type": 3}])
        (found,) = editor.diagnostics(prompt.as_uri())
        assert found["code"] == "chatmd.script_source_unavailable"
        prompt.unlink()
        editor.change(prompt.as_uri(), 2, {"text": "<user>hello</user>"})
        assert editor.diagnostics(prompt.as_uri(), 2) == []


def test_what_is_not_open_has_no_answers() -> None:
    with Editor() as editor:
        for method in ("hover", "definition", "completion"):
            assert editor.at(method, URI, 0, 0) is None
        editor.change(URI, 2, {"text": "let x = 1"})
        editor.tell("textDocument/didClose", textDocument={"uri": URI})
        assert editor.ask("textDocument/formatting", textDocument={"uri": URI}, options=OPTIONS) is None
        assert editor.leave() == 0


def test_malformed_messages_are_passed_over() -> None:
    with Editor() as editor:
        assert editor.process.stdin is not None
        editor.process.stdin.write(b"\r\nnonsense\r\n")
        for content in (b"{nonsense", b"[]", b'"text"', b"\xff\xfe", b"{}", b'{"jsonrpc": "2.0", "method": 7}'):
            editor.send(content)
        editor.tell("textDocument/didOpen", textDocument={"uri": 7})
        assert editor.request("textDocument/hover", textDocument="what")["error"]["code"] < 0
        assert editor.request("no/such")["error"]["code"] == -32601
        editor.open(URI, "let x = 1")
        assert value(editor.at("hover", URI, 0, 4)) == "x : int"
        assert editor.leave() == 0
        assert editor.process.stderr is not None
        assert b"Traceback" not in editor.process.stderr.read()


@pytest.mark.parametrize("how", ["closes its end", "leaves in the middle of a message", "exits without shutdown"])
def test_an_editor_that_goes_away(how: str) -> None:
    with Editor() as editor:
        editor.open(URI, "let x = 1")
        assert editor.process.stdin is not None
        if how == "exits without shutdown":
            editor.tell("exit")
        else:
            if how != "closes its end":
                editor.process.stdin.write(b'Content-Length: 1000\r\n\r\n{"jsonrpc"')
            editor.process.stdin.close()
        assert editor.process.wait(TIMEOUT) == 1
        assert editor.process.stderr is not None
        assert b"Traceback" not in editor.process.stderr.read()


def test_an_editor_that_does_not_listen() -> None:
    with Editor() as editor:
        assert editor.process.stdin is not None
        os.dup2(os.open(os.devnull, os.O_RDONLY), editor.process.stdout.fileno())
        for version in range(20):
            editor.open(URI, f"let x = {version} + true")
        editor.process.stdin.close()
        assert editor.process.wait(TIMEOUT) in (1, 2)
        assert editor.process.stderr is not None
        assert b"Traceback" not in editor.process.stderr.read()


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_an_interrupt_ends_it_at_once() -> None:
    with Editor() as editor:
        editor.process.send_signal(signal.SIGINT)
        assert editor.process.wait(TIMEOUT) == -signal.SIGINT


def test_without_the_library_one_line_says_what_to_install() -> None:
    program = f"import sys; sys.modules['pygls'] = None; sys.argv = ['chatml', 'lsp']; {COMMANDS['chatml']}"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False, timeout=TIMEOUT
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "chatml: the language server needs pygls: `pip install 'chatml-toolkit[lsp]'`\n"


@pytest.mark.parametrize("text", [LONG * 300, f"module M = struct\n{'  let a = 1' * 3_000}\nend", " " * 50_000, ""])
def test_getting_ahead_comes_to_an_end(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a single statement is longer than a step."""
    server = Server()
    document = server.documents.add(types.TextDocumentItem(URI, "chatml", 1, text))
    steps: list[Callable[[Document], None]] = []
    monkeypatch.setattr(server, "later", lambda pause, step, document: steps.append(step))
    server.get_ahead(document)
    taken = 1
    while steps:
        steps.pop()(document)
        taken += 1
    assert taken <= len(text) // STEP + 1


def test_a_key_is_answered_quickly_in_a_long_script() -> None:
    text = "".join([LONG.replace("N", str(number)) for number in range(2_000 // LONG.count("\n"))])
    last = text.count("\n")
    with Editor() as editor:
        editor.open(URI, text)
        assert editor.diagnostics(URI) == []
        editor.at("hover", URI, last // 2, 5)
        times = []
        for version, typed in enumerate("let here = sample_7.", start=2):
            editor.change(URI, version, edit(typed, last, version - 2, version - 2))
            start = time.perf_counter()
            found = editor.at("completion", URI, last, version - 1)
            times.append(time.perf_counter() - start)
        assert "lines" in labels(found)
        assert sorted(times)[len(times) // 2] < 0.5, "ten times what it takes on an idle machine"
