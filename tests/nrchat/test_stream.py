"""Chats in files: of any size, from pipes, while they grow, with a byte order mark (nrchat.md sections 2 and 8)."""

from __future__ import annotations

import io
import itertools
import threading
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatmd.nrchat import (
    ChatFile,
    ChatFileError,
    ChatSyntaxError,
    Message,
    Span,
    follow,
    iter_messages,
    parse,
    stringify,
)
from chatmd.nrchat import stream as stream_module
from chatmd.nrchat.feed import Feed
from chatmd.nrchat.read import read_messages
from tests.nrchat.strategies import chats

Outcome = tuple[list[tuple[Message, Span | None]], int | None]


class Pipe(io.BytesIO):
    """Bytes that can only be read once."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation


def outcome(messages: Iterable[Message]) -> Outcome:
    """The messages that came, with their spans, and the line of the fault that ended them."""
    came: list[tuple[Message, Span | None]] = []
    iterator = iter(messages)
    while True:
        try:
            message = next(iterator)
        except StopIteration:
            return came, None
        except ChatSyntaxError as error:
            return came, error.line
        came.append((message, message.span))


def expected(text: str) -> Outcome:
    """What a file of this text gives: as `parse`, with a byte order mark dropped and counted."""
    if not text.startswith("\ufeff"):
        return outcome(read_messages(text))
    came, line = outcome(read_messages(text[1:]))
    return [(m, Span(m.span.start + 1, m.span.end + 1)) for m, _ in came if m.span is not None], line


@given(chats, st.sampled_from([1, 2, 3, 7, 40]))
@example("\ufeff%a\nx\n%b {", 3)
@example("````\n%x\n````", 2)
@example("%a\n%b\n%c\n", 100)
def test_every_way_to_read_gives_what_parse_gives(text: str, size: int) -> None:
    """Files, pipes, text files and followed files give the messages of `parse`, whatever the pieces."""
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_module, "PIECE", size)
        for messages in (
            iter_messages(io.BytesIO(data)),
            iter_messages(Pipe(data)),
            iter_messages(io.StringIO(text, newline="")),
            follow(io.BytesIO(data), stop=lambda: True),
            follow(Pipe(data), stop=lambda: True),
        ):
            assert outcome(messages) == expected(text)


@given(chats, st.lists(st.integers(0, 400), max_size=8))
def test_what_is_given_out_is_final(text: str, cuts: list[int]) -> None:
    """A message given out early is a message of every text that the file can still become."""
    feed = Feed()
    came, line = expected(text)
    so_far: list[tuple[Message, Span | None]] = []
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    for start, end in itertools.pairwise(places):
        more, fault = outcome(feed.add(text[start:end]))
        so_far += more
        assert came[: len(so_far)] == so_far
        if fault is not None:
            assert fault == line
            return


def pieces(feed: Feed, *texts: str) -> list[list[str]]:
    return [[message.role for message in feed.add(text)] for text in texts]


def test_a_message_is_complete_when_the_next_marker_shows() -> None:
    assert pieces(Feed(), "%a\n", "x", "\n", "%", "b", " Kim\n") == [[], [], [], [], ["a"], []]
    assert pieces(Feed(), "%a\n", "% x\n", "%%p\n", "%b") == [[], [], ["a"], ["%p"]]


def test_nothing_below_an_open_fence_is_complete() -> None:
    feed = Feed()
    assert pieces(feed, "%a\n````\n", "%b\n%c\n", "```\n") == [[], [], []]
    assert pieces(feed, "````\n", "%d\n", "%e\n") == [[], ["a"], ["d"]]
    feed = Feed()
    assert pieces(feed, "%a\n````\n%b\n", "%c\n") == [[], []]
    assert [message.role for message in feed.close()] == ["a", "b", "c"]


def test_a_longer_fence_opened_later_waits_too() -> None:
    feed = Feed()
    assert pieces(feed, "%a\n%b\n`````\n````\n%c\n````\n%d\n") == [["a"]]
    assert [message.role for message in feed.close()] == ["b", "d"]


def test_a_file_is_not_held_up_by_a_fence_that_is_never_closed(tmp_path: Path) -> None:
    path = tmp_path / "log.chat"
    path.write_text("%a\n````\n" + "%b\nx\n" * 1000, "utf-8")
    messages = iter_messages(path)
    assert next(messages).body == "````"
    assert sum(1 for _ in messages) == 1000


def test_a_growing_file_is_followed(tmp_path: Path) -> None:
    """A writer appends in odd pieces while the file is followed; every message comes before the next is written."""
    path = tmp_path / "live.chat"
    path.write_bytes(b"")
    steps = [
        (b"%user Kim {id: 1}\r\nhel", None),
        (b"lo \xe2\x82", None),
        (b"\xac\r\n%b", "hello €"),
        (b"ot\r\n````\r\n%no\r\n", None),
        (b"````\r\n", None),
        (b"%user\r\nlast", "````\n%no\n````"),
    ]
    came: list[Message] = []
    arrived = threading.Semaphore(0)
    idle = threading.Event()
    done = threading.Event()

    def wait() -> None:
        idle.set()
        done.wait(0.001)

    def read() -> None:
        for message in follow(path, wait=wait, stop=done.is_set):
            came.append(message)
            arrived.release()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with open(path, "ab", buffering=0) as file:
            for data, body in steps:
                idle.clear()
                file.write(data)
                if body is None:
                    assert idle.wait(10)
                    idle.clear()
                    assert idle.wait(10)
                    assert not arrived.acquire(blocking=False)
                else:
                    assert arrived.acquire(timeout=10)
                    assert came[-1].body == body
    finally:
        done.set()
        reader.join(10)
    text = path.read_bytes().decode()
    assert came == parse(text)
    assert [m.span for m in came] == [m.span for m in parse(text)]
    assert came[-1].body == "last"


def test_what_was_written_before_the_stop_is_read() -> None:
    file = io.BytesIO(b"%a\n")
    stops = itertools.chain([False, False], itertools.repeat(True))

    def wait() -> None:
        file.write(b"x\n")
        file.seek(-2, io.SEEK_END)

    (message,) = follow(file, wait=wait, stop=lambda: next(stops))
    assert message.body == "x"


def test_without_a_wait_of_its_own_it_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Binary files, pipes and text files alike are looked at again after a pause, until told to stop."""
    monkeypatch.setattr(stream_module, "PAUSE", 0)
    for file in (io.BytesIO(b"%a\nx"), Pipe(b"%a\nx"), io.StringIO("%a\nx", newline="")):
        stops = itertools.chain([False, False, False], itertools.repeat(True))
        assert [m.body for m in follow(file, stop=lambda stops=stops: next(stops))] == ["x"]


def test_a_file_that_shrinks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.chat"
    path.write_bytes(b"%a\nx\n%b\n")

    def wait() -> None:
        path.write_bytes(b"%a\n")

    messages = follow(path, wait=wait)
    assert next(messages).role == "a"
    with pytest.raises(ChatFileError, match="shrank to 3 while 8 bytes"):
        next(messages)


@pytest.mark.parametrize("read", [iter_messages, lambda file: follow(file, stop=lambda: True)])
@pytest.mark.parametrize(
    ("data", "byte"), [(b"%a\nx\xff\n", 4), (b"%a\n\xe2\x82", 3), (b"\xc0\x80", 0), (b"%a\n%b\n" + b"\xed\xa0\x80", 6)]
)
def test_bytes_that_are_not_utf8_are_named(read: object, data: bytes, byte: int) -> None:
    with pytest.raises(ChatFileError, match=f"byte {byte} "):
        list(read(io.BytesIO(data)))  # type: ignore[operator]
    with pytest.raises(ChatFileError, match=f"byte {byte} "):
        ChatFile.from_bytes(data)


def test_the_byte_is_counted_over_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "PIECE", 4)
    with pytest.raises(ChatFileError, match="byte 10 "):
        list(iter_messages(Pipe("%a\n€€x".encode() + b"\xff")))


def test_a_fault_comes_after_the_messages_before_it() -> None:
    messages = iter_messages(io.BytesIO(b"p\n%a\nx\n%b {\n%c\n"))
    assert next(messages).role == "a"
    with pytest.raises(ChatSyntaxError) as caught:
        next(messages)
    assert caught.value.line == 4


def test_reading_starts_where_the_file_stands() -> None:
    file = io.BytesIO(b"%a\n%b\n%c\n")
    file.seek(3)
    assert [(m.role, m.span) for m in iter_messages(file)] == [("b", Span(0, 2)), ("c", Span(3, 5))]
    assert not file.closed


def test_what_is_appended_while_a_file_is_read_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.chat"
    path.write_bytes(b"%a\n````\n%b\n")
    messages = iter_messages(path)
    first = next(messages)
    with open(path, "ab") as file:
        file.write(b"````\n%c\n")
    assert [first.body, *(message.role for message in messages)] == ["````", "b"]


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "bom.chat"
    path.write_bytes(b"\xef\xbb\xbf%a\r\nx\r\n")
    chat = ChatFile.read(path)
    assert (chat.text, chat.bom) == ("%a\r\nx\r\n", True)
    assert parse(chat.text)[0].span == Span(0, 5)
    assert [message.span for message in iter_messages(path)] == [Span(1, 6)]
    ChatFile(stringify(parse(chat.text)), chat.bom).write(path)
    assert path.read_bytes() == b"\xef\xbb\xbf%a\nx\n"


def test_a_lone_surrogate_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "kept.chat"
    path.write_bytes(b"%a\n")
    with pytest.raises(UnicodeEncodeError):
        ChatFile("%a\n\ud800\n").write(path)
    assert path.read_bytes() == b"%a\n"


class Endless(io.RawIOBase):
    """A log of many messages that is made while it is read."""

    def __init__(self, first: bytes, piece: bytes, count: int) -> None:
        self.first, self.piece, self.count, self.left = first, piece, count, count

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.count - self.left

    def seek(self, place: int, whence: int = 0) -> int:
        self.left = self.count - place
        return place

    def read(self, size: int = -1) -> bytes:
        if size == 0 or not self.left:
            return b""
        self.left -= 1
        return self.first + self.piece if self.left + 1 == self.count else self.piece


def peak(messages: Iterator[Message]) -> tuple[int, int]:
    """How many messages came, and the most memory that was in use meanwhile, in bytes."""
    tracemalloc.start()
    try:
        return sum(1 for _ in messages), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("before", [b"", b"%first\n```````\n", b"```````\n"])
def test_memory_does_not_grow_with_the_file(before: bytes) -> None:
    """Twenty times the file, the same memory, also below a fence that is never closed."""
    piece = b"%user {id: 1}\n" + b"some text of a message\n" * 200 + b"````\n%no\n````\n"
    small = peak(iter_messages(Endless(before, piece, 50)))
    large = peak(iter_messages(Endless(before, piece, 1000)))
    assert large[0] >= 1000 > small[0]
    assert large[1] < 1.5 * small[1] + 100_000


def test_a_zone_in_the_preamble_takes_no_memory() -> None:
    closing = io.BytesIO(b"`````\n" + b"%x {no meta\n" * 500_000 + b"`````\n%a\nx\n")
    count, most = peak(iter_messages(closing))
    assert count == 1
    assert most < 12_000_000
