"""An editor for tests: speaks the Language Server Protocol with a real process over pipes."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from types import TracebackType
from typing import Any

from tests.house import COMMANDS, ROOT, environment

TIMEOUT = 30


class Editor:
    """Starts `chatml lsp`, and reads what it says in a thread of its own."""

    def __init__(self, encodings: list[str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMANDS["chatml"], "lsp", "--stdio"],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.said: queue.Queue[dict[str, Any]] = queue.Queue()
        self.reader = threading.Thread(target=self.read_all, daemon=True)
        self.reader.start()
        self.notifications: list[dict[str, Any]] = []
        self.ids = 0
        general = {} if encodings is None else {"positionEncodings": encodings}
        self.greeting = self.ask("initialize", processId=None, rootUri=None, capabilities={"general": general})
        self.tell("initialized")

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    # What the editor says

    def send(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer to a request."""
        self.ids += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self.ids, "method": method}
        self.send(json.dumps(message | {"params": params or None}).encode())
        while True:
            heard = self.said.get(timeout=TIMEOUT)
            if heard.get("id") == self.ids:
                return heard
            self.notifications.append(heard)

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        return self.request(method, **params)["result"]

    def open(self, uri: str, text: str, language: str = "chatml") -> None:
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=item)

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=list(changes))

    def at(self, method: str, uri: str, line: int, character: int) -> Any:
        """The result of a request about a position."""
        position = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", textDocument={"uri": uri}, position=position)

    def leave(self) -> int:
        """Take leave as the protocol says; the exit status of the server."""
        self.ask("shutdown")
        self.send(json.dumps({"jsonrpc": "2.0", "method": "exit"}).encode())
        return self.process.wait(TIMEOUT)

    # What the server says

    def read_all(self) -> None:
        pipe = self.process.stdout
        assert pipe is not None
        while header := pipe.readline():
            size = int(header.split(b":")[1])
            while pipe.readline().strip():
                pass
            self.said.put(json.loads(pipe.read(size)))

    def diagnostics(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """The next diagnostics of a document, or those of a version."""
        while True:
            for index, heard in enumerate(self.notifications):
                params = heard.get("params", {})
                is_it = heard.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
                if is_it and version in (None, params.get("version")):
                    del self.notifications[index]
                    return list(params["diagnostics"])
            self.notifications.append(self.said.get(timeout=TIMEOUT))
