"""From bytes to text: strict UTF-8, one leading byte-order mark dropped (X-44)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatml.diagnostics.errors import CompileError
from chatml.lazy import lazy
from chatml.source import Source

if TYPE_CHECKING:
    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
else:
    model = lazy("chatml.diagnostics.model")

BYTE_ORDER_MARK = "\ufeff"


def decode(name: str, data: bytes) -> Source:
    """The source in a file of that name. Raises `CompileError`, at the first invalid byte, for what is not UTF-8.

    >>> decode("a.chatml", b"print(1)").text
    'print(1)'
    """
    try:
        return Source(name, data.decode("utf-8").removeprefix(BYTE_ORDER_MARK))
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix(BYTE_ORDER_MARK)
        shown = Source(name, before + data[error.start :].decode("utf-8", "replace"))
        raise CompileError([invalid_bytes(shown, len(before), data[error.start : error.end])]) from None


def invalid_bytes(source: Source, offset: int, invalid: bytes) -> Diagnostic:
    """The report of bytes that are no text."""
    shown = " ".join(f"0x{byte:02x}" for byte in invalid)
    return model.Diagnostic(
        "syntax.invalid_utf8",
        f"this is not UTF-8 text: {shown} begins no character",
        source.span(offset, offset + 1),
        help="save the file as UTF-8",
    )
