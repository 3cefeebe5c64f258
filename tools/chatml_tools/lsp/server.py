"""The language server: what the editor says changes the documents, asks for an answer, or ends the conversation.

A document is checked when its editor pauses, so that typing never waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import metadata
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from chatml_tools.console import UsageError
from chatml_tools.lsp.answers import ANSWERS
from chatml_tools.lsp.documents import Document, Documents
from chatml_tools.lsp.positions import Positions
from chatml_tools.lsp.reports import report

PAUSE = 0.15
"""Seconds without a change after which a document is checked."""

BREATH = 0.01
"""Seconds between two steps of a check, in which a message can come in."""

STEP = 10_000
"""Characters that are read and checked for completion in one step."""


class Protocol(LanguageServerProtocol):
    """The protocol with our own documents, whose lines and positions are counted as the protocol says."""

    _server: Server

    def structure_message(self, data: dict[str, Any]) -> Any:
        """What a message says. A request that cannot be understood is answered before that is raised."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.opened(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.closed(params)


class Server(LanguageServer):
    """Serves one editor."""

    def __init__(self) -> None:
        super().__init__("chatml", metadata.version("chatml-toolkit"), protocol_cls=Protocol)
        self.documents = Documents()
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self.is_shut_down = False
        heard = {
            types.INITIALIZE: self.initialized,
            types.SHUTDOWN: self.shut_down,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self.files_changed,
        }
        for method, handler in heard.items():
            self.feature(method)(partial(handler))
        for method, (answer, options) in ANSWERS.items():
            self.feature(method, options)(partial(answer, self.documents))

    # What the editor says

    def initialized(self, params: Any) -> None:
        self.documents.positions = Positions(types.PositionEncodingKind(self.workspace.position_encoding).value)

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        document = self.documents.add(params.text_document)
        self.files_changed(params)
        self.later(0, self.parse, document)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self.documents.change(params)
        if document is not None:
            self.later(PAUSE, self.parse, document)
            self.files_changed(params)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self.documents.open.pop(uri, None)
        self.forget(uri)
        self.publish(uri, [], None)
        self.files_changed(params)

    def files_changed(self, params: Any) -> None:
        """Prompt documents depend on other files, so they are read again."""
        for document in self.documents.forget_files():
            self.later(PAUSE, self.parse, document)

    def shut_down(self, params: Any) -> None:
        self.is_shut_down = True

    # What is done meanwhile, in steps: between two of them the editor is answered

    def later(self, pause: float, step: Callable[[Document], None], document: Document) -> None:
        """Take a step with a document after a pause, in place of the one that waits."""
        self.forget(document.uri)
        self.waiting[document.uri] = asyncio.get_running_loop().call_later(pause, step, document)

    def forget(self, uri: str) -> None:
        if uri in self.waiting:
            self.waiting.pop(uri).cancel()

    def parse(self, document: Document) -> None:
        """Read a document; without a script there is nothing more to it."""
        if document.text.analysis is None:
            self.check(document)
        else:
            self.later(BREATH, self.check, document)

    def check(self, document: Document) -> None:
        """Tell the editor what is wrong with a document."""
        self.publish(document.uri, report(self.documents, document), document.version)
        self.later(BREATH, self.get_ahead, document)

    def get_ahead(self, document: Document, offset: int = 0) -> None:
        """Let completion be ready for the next key, wherever that is."""
        script = document.text.script
        if script is not None:
            preceding = document.remembered()
            offset = max(offset, preceding.reach) + STEP
            preceding.move(script.text, offset)
            if offset < len(script.text):
                self.later(BREATH, partial(self.get_ahead, offset=offset), document)

    def publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        """Tell the editor; if it does not listen any more, its input will end, too."""
        with suppress(BrokenPipeError):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Say in a line what cannot be understood or answered; the editor is told by the protocol, if it asked."""
        print(f"chatml lsp: {error}", file=sys.stderr)


def serve() -> int:
    """Serve the editor at the other end of standard input and output; 0 if it has taken its leave before it goes."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("the language server talks to an editor over standard input and output: an editor starts it")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # while a thread waits for input, nothing else ends it
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    logging.getLogger("pygls").propagate = False
    server = Server()
    # Whatever else writes to standard output must not disturb the protocol, which gets a descriptor of its own.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server.start_io(sys.stdin.buffer, output)
    return 0 if server.is_shut_down else 1
