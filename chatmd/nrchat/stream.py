"""Reading chats from files of any size, and from files that are still being written (nrchat.md 2 and 8)."""

from __future__ import annotations

import codecs
import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from chatmd.nrchat.errors import ChatFileError
from chatmd.nrchat.feed import Feed, Lines
from chatmd.nrchat.fences import Closers, fence_lines
from chatmd.nrchat.message import Message

ChatSource = str | os.PathLike[str] | IO[bytes] | IO[str]
"""A path, or an open file: binary, or text that was opened with `newline=""`."""

PIECE = 1 << 18
PAUSE = 0.2  # seconds between two looks at a file that is followed


def _pause() -> None:
    time.sleep(PAUSE)


def _never() -> bool:
    return False


def iter_messages(file: ChatSource) -> Iterator[Message]:
    """The messages of a file, one by one, as `parse` would find them, in memory for one message.

    A file that can be rewound is read twice: first for its fences (whether an opener is closed is only known
    at the end), then for its messages. From a pipe, messages below a fence that is never closed come at the
    end.

    A byte order mark at the start is dropped; spans count it, so they are offsets of the file. Raises
    `ChatSyntaxError` at the first meta that is not JSON5, after the messages before it, and `ChatFileError`
    for bytes that are not UTF-8.

    >>> import io
    >>> [message.body for message in iter_messages(io.BytesIO(b"%user\\nhi\\n%bot\\nhello\\n"))]
    ['hi', 'hello']
    """
    with _opened(file) as stream:
        if stream.seekable():
            start = stream.tell()
            closers, length = _survey(stream)
            stream.seek(start)
        else:
            closers, length = None, None
        feed = Feed(closers)
        for text in _texts(stream):
            if length is not None:
                text = text[:length]
                length -= len(text)
            yield from feed.add(text)
            if length == 0:
                break
        yield from feed.close()


def follow(
    file: ChatSource,
    *,
    wait: Callable[[], object] = _pause,
    stop: Callable[[], bool] = _never,
) -> Iterator[Message]:
    """The messages of a file that is being appended to, each as soon as it is complete.

    A message is complete when the next marker has been written, and no open fence above could still swallow
    that marker. When there is nothing to read, `wait` is called; when `stop` says so, the rest of the file is
    read and its last messages are given out. All in all these are the messages that `parse` finds in the
    final text.

    Raises like `iter_messages`, and `ChatFileError` when the file becomes shorter.

    >>> import io, threading
    >>> file, done = io.BytesIO(b"%user\\nhi\\n%bot\\nhel"), threading.Event()
    >>> messages = follow(file, wait=done.wait, stop=done.is_set)
    >>> next(messages).body
    'hi'
    >>> _ = file.write(b"lo\\n"), file.seek(-3, 2), done.set()
    >>> [message.body for message in messages]
    ['hello']
    """
    with _opened(file) as stream:
        feed = Feed()
        decode = _Decoder()
        while True:
            last = stop()
            piece = stream.read(PIECE)
            if piece:
                yield from feed.add(decode(piece))
            elif last:
                break
            else:
                _refuse_shrunk(stream)
                wait()
        yield from feed.add(decode(b"", final=True))
        yield from feed.close()


@contextmanager
def _opened(file: ChatSource) -> Iterator[IO[Any]]:
    """The file, opened here (and closed) if it is a path."""
    if isinstance(file, str | os.PathLike):
        with open(file, "rb") as stream:
            yield stream
    else:
        yield file


def _survey(stream: IO[Any]) -> tuple[Closers, int]:
    """The closing fences of what is left of a stream, and its length in code points."""
    closers = Closers()
    lines = Lines()
    length = 0
    for text in _texts(stream):
        length += len(text)
        block = lines.add(text)
        closers.extend(fence_lines(block), lines.offset - len(block))
    closers.extend(fence_lines(lines.rest()), lines.offset)
    return closers, length


def _texts(stream: IO[Any]) -> Iterator[str]:
    """What is left of a stream, in pieces of text."""
    decode = _Decoder()
    while piece := stream.read(PIECE):
        yield decode(piece)
    yield decode(b"", final=True)


class _Decoder:
    """Decodes UTF-8 that arrives in pieces; text passes through."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._done = 0  # bytes before the next piece

    def __call__(self, piece: bytes | str, *, final: bool = False) -> str:
        if isinstance(piece, str):
            return piece
        held = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(piece, final)
        except UnicodeDecodeError as error:
            at = self._done - held + error.start
            raise ChatFileError(f"byte {at} of the file is not UTF-8 ({error.reason})") from error
        self._done += len(piece)
        return text


def _refuse_shrunk(stream: IO[Any]) -> None:
    """Refuse a binary file that has become shorter than what was read of it."""
    if isinstance(stream, io.TextIOBase) or not stream.seekable():
        return
    position = stream.tell()
    size = stream.seek(0, os.SEEK_END)
    stream.seek(position)
    if size < position:
        raise ChatFileError(
            f"the file shrank to {size} while {position} bytes of it had been read; it is not append-only"
        )
