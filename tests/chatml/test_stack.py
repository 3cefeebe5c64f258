"""Deep recursion, and the host's own limit afterwards (X-04)."""

from __future__ import annotations

import sys
import threading

import pytest

from chatml.stack import deep


def descend(frames: int) -> int:
    return 0 if frames == 0 else 1 + descend(frames - 1)


def test_it_makes_room_and_restores_the_limit():
    before = sys.getrecursionlimit()
    with deep():
        assert descend(200_000) == 200_000
    assert sys.getrecursionlimit() == before


def test_it_nests_and_the_last_to_leave_restores():
    before = sys.getrecursionlimit()
    with deep(5_000):
        with deep(50_000):
            assert descend(40_000) == 40_000
        assert sys.getrecursionlimit() > before
        assert descend(4_000) == 4_000
    assert sys.getrecursionlimit() == before


def test_it_restores_after_an_exception_and_beyond_the_frames_a_recursion_error_is_clean():
    before = sys.getrecursionlimit()
    with pytest.raises(RecursionError), deep(10_000):
        descend(1_000_000)
    assert sys.getrecursionlimit() == before
    assert descend(100) == 100


def test_the_limit_the_host_set_is_the_one_restored():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 321)
    try:
        with deep():
            pass
        assert sys.getrecursionlimit() == before + 321
    finally:
        sys.setrecursionlimit(before)


def test_threads_share_it():
    before = sys.getrecursionlimit()
    start = threading.Barrier(4)
    failures: list[BaseException] = []

    def work(frames: int) -> None:
        try:
            start.wait()
            for _ in range(20):
                with deep(frames):
                    assert descend(frames - 10) == frames - 10
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(frames,)) for frames in (2_000, 3_000, 20_000, 40_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sys.getrecursionlimit() == before


def test_a_thread_that_stands_deeper_than_the_host_allows_leaves_quietly():
    before = sys.getrecursionlimit()
    outer = deep(10_000)
    outer.__enter__()

    def last_to_leave(frames: int) -> None:
        if frames:
            return last_to_leave(frames - 1)
        inner = deep(10_000)
        inner.__enter__()
        outer.__exit__(None, None, None)
        return inner.__exit__(None, None, None)

    last_to_leave(before + 100)
    with deep(10):
        pass
    assert sys.getrecursionlimit() == before
