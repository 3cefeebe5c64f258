"""Chat files as a whole: bytes on one side, text with its line ends untouched on the other (nrchat.md 2)."""

from __future__ import annotations

import os
from pathlib import Path

import attrs

from chatmd.nrchat.errors import ChatFileError
from chatmd.nrchat.feed import BOM


@attrs.frozen
class ChatFile:
    """The text of a chat file, and whether a byte order mark stands before it.

    The mark is not part of `text`: with it, the first line would be no marker. Spans that `parse` finds in
    `text` are those of the file less one when there is a mark.

    >>> chat = ChatFile.from_bytes(b"\\xef\\xbb\\xbf%user\\r\\nhi\\r\\n")
    >>> chat.text, chat.bom
    ('%user\\r\\nhi\\r\\n', True)
    >>> ChatFile("%bot\\n", chat.bom).to_bytes()
    b'\\xef\\xbb\\xbf%bot\\n'
    """

    text: str
    bom: bool = False

    @classmethod
    def from_bytes(cls, data: bytes) -> ChatFile:
        """The chat in the bytes of a file. Raises `ChatFileError` if they are not UTF-8."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ChatFileError(f"byte {error.start} of the file is not UTF-8 ({error.reason})") from error
        return cls(text.removeprefix(BOM), text.startswith(BOM))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ChatFile:
        """The chat in a file. Raises `OSError`, and `ChatFileError` if the file is not UTF-8."""
        return cls.from_bytes(Path(path).read_bytes())

    def to_bytes(self) -> bytes:
        """The bytes of the file. Raises `UnicodeEncodeError` for a lone surrogate (T5)."""
        return ((BOM if self.bom else "") + self.text).encode("utf-8")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, line ends as they are. Raises `OSError`, and like `to_bytes` (file untouched)."""
        Path(path).write_bytes(self.to_bytes())
