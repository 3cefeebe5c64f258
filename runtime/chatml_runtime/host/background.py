"""An event loop in a thread of its own, for hosts that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from chatml.diagnostics.errors import SessionError
from chatml_runtime.script import problems
from chatml_runtime.script.errors import SessionBusyError

Result = TypeVar("Result")


class BackgroundLoop:
    """An event loop that the host owns and closes; what runs in it is cancelled then.

    >>> with BackgroundLoop() as background:
    ...     background.run(asyncio.sleep(0, "slept"))
    'slept'
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="chatml-background", daemon=True)
        self._thread.start()
        self._lock = threading.Lock()

    def __enter__(self) -> BackgroundLoop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, coroutine: Coroutine[Any, Any, Result], timeout_s: float | None = None) -> Result:
        """The result of a coroutine that runs in the loop, while this thread waits.

        `TimeoutError` after `timeout_s` seconds, and the coroutine is cancelled. `SessionBusyError` in the loop's own
        thread, which would wait for itself, and `SessionError` once the loop is closed.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise SessionBusyError(problems.BUSY_BACKGROUND)
        if self.loop.is_closed():
            coroutine.close()
            raise SessionError(problems.CLOSED_BACKGROUND)
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return future.result(timeout_s)
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what runs in the loop, wait until it has ended, and end the loop. Closing twice is fine."""
        with self._lock:
            if self.loop.is_closed():
                return
            try:
                self.run(cancel_all())
            finally:
                self.loop.call_soon_threadsafe(self.loop.stop)
                self._thread.join()
                self.loop.close()


async def cancel_all() -> None:
    """Cancel the other tasks of the loop, and wait for them."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=PATIENCE_SECONDS)
    await asyncio.get_running_loop().shutdown_asyncgens()


PATIENCE_SECONDS = 5.0
"""How long a loop that closes waits for tasks that do not let themselves be cancelled."""
