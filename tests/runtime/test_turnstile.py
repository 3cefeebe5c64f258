"""The lock that threads and coroutines share (runtime.md section 20)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from chatml_runtime.moderation.turnstile import Turnstile, WouldDeadlock


@contextmanager
def holding(turnstile: Turnstile) -> Iterator[None]:
    """Inside as a thread."""
    ticket = turnstile.enter()
    try:
        yield
    finally:
        turnstile.leave(ticket)


@asynccontextmanager
async def aholding(turnstile: Turnstile) -> AsyncIterator[None]:
    """Inside as a coroutine."""
    ticket = await turnstile.aenter()
    try:
        yield
    finally:
        turnstile.leave(ticket)


def test_threads_pass_one_at_a_time() -> None:
    turnstile, inside, most = Turnstile(), 0, 0

    def visit() -> None:
        nonlocal inside, most
        for _ in range(50):
            with holding(turnstile):
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=visit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most == 1


def test_coroutines_pass_in_order_of_arrival() -> None:
    async def main() -> list[int]:
        turnstile, order = Turnstile(), list[int]()

        async def visit(number: int) -> None:
            async with aholding(turnstile):
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*(visit(number) for number in range(20)))
        return order

    assert asyncio.run(main()) == list(range(20))


def test_a_thread_waits_for_a_coroutine_of_another_thread() -> None:
    turnstile, order, entered = Turnstile(), list[str](), threading.Event()

    async def visit() -> None:
        async with aholding(turnstile):
            entered.set()
            await asyncio.sleep(0.05)
            order.append("coroutine")

    loop = threading.Thread(target=lambda: asyncio.run(visit()))
    loop.start()
    assert entered.wait(5)
    with holding(turnstile):
        order.append("thread")
    loop.join(5)
    assert order == ["coroutine", "thread"]


def test_a_cancelled_coroutine_gives_its_place_up() -> None:
    async def main() -> list[str]:
        turnstile, order = Turnstile(), list[str]()

        async def visit(name: str) -> None:
            async with aholding(turnstile):
                order.append(name)
                await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(visit(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return order

    assert asyncio.run(main()) == ["a", "c"]


def test_a_coroutine_cancelled_when_its_turn_has_come_lets_the_next_through() -> None:
    async def main() -> list[str]:
        turnstile, order = Turnstile(), list[str]()

        async def visit(name: str) -> None:
            async with aholding(turnstile):
                order.append(name)

        async with aholding(turnstile):
            tasks = [asyncio.create_task(visit(name)) for name in "ab"]
            await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return order

    assert asyncio.run(main()) == ["b"]


def test_a_thread_does_not_wait_for_its_own_event_loop() -> None:
    async def main() -> None:
        turnstile = Turnstile()
        async with aholding(turnstile):
            with pytest.raises(WouldDeadlock), holding(turnstile):
                pass
        with holding(turnstile):
            pass

    asyncio.run(main())
