"""The language server: what the editor says changes the documents, asks for an answer, or ends the conversation.

A document is checked when its editor pauses, so that typing never waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from chatml.cli.lsp.answers import ANSWERS
from chatml.cli.lsp.documents import Document, Documents
from chatml.cli.lsp.positions import Positions
from chatml.cli.lsp.reports import report

PAUSE = 0.15
"""Seconds without a change after which a document is checked."""


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
        super().__init__("chatml", "1", protocol_cls=Protocol)
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
        self.documents.add(params.text_document)
        self.files_changed(params)
        self.check_soon(params.text_document.uri, 0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        self.documents.change(params)
        self.check_soon(params.text_document.uri, PAUSE)
        self.files_changed(params)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self.documents.open.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        self.files_changed(params)

    def files_changed(self, params: Any) -> None:
        """Prompt documents depend on other files, so they are read again."""
        for document in self.documents.forget_files():
            self.check_soon(document.uri, PAUSE)

    def shut_down(self, params: Any) -> None:
        self.is_shut_down = True

    # What is checked meanwhile

    def check_soon(self, uri: str, pause: float) -> None:
        """Check a document after a pause, counted from its last change."""
        if uri in self.waiting:
            self.waiting[uri].cancel()
        self.waiting[uri] = asyncio.get_running_loop().call_later(pause, self.check, uri)

    def check(self, uri: str) -> None:
        """Tell the editor what is wrong with a document, and make completion ready for it."""
        del self.waiting[uri]
        document = self.documents.open.get(uri)
        if document is not None:
            found = report(self.documents, document)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, document.version))
            self.waiting[uri] = asyncio.get_running_loop().call_later(0, self.prepare, document)

    def prepare(self, document: Document) -> None:
        del self.waiting[document.uri]
        script = document.text.script
        if script is not None:
            document.remembered().move(script.text, len(script.text))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Say in a line what cannot be understood or answered; the editor is told by the protocol, if it asked."""
        print(f"chatml lsp: {error}", file=sys.stderr)


def serve() -> int:
    """Serve the editor at the other end of standard input and output; 0 if it has taken its leave before it goes."""
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    logging.getLogger("pygls").propagate = False
    server = Server()
    # Whatever else writes to standard output must not disturb the protocol, which gets a descriptor of its own.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server.start_io(sys.stdin.buffer, output)
    return 0 if server.is_shut_down else 1
