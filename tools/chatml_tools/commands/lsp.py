"""Serve an editor: the Language Server Protocol over standard input and output, for scripts and prompt documents.

Editors start it: docs/cli.md shows how VS Code, Neovim, Helix and Emacs are told to. It needs the extra
`chatml-toolkit[lsp]`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace

from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError

NEEDED = ("pygls", "lsprotocol", "cattrs")


def configure(arguments: Arguments) -> None:
    arguments.add("--stdio", action="store_true", help="the way to talk, which is the only one; editors may say so")


def execute(args: SimpleNamespace) -> int:
    try:
        serve: Callable[[], int] = importlib.import_module("chatml_tools.lsp.server").serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise UsageError("the language server needs pygls: `pip install 'chatml-toolkit[lsp]'`") from None
    return serve()
