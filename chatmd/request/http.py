"""Fetching over HTTP for hosts that want it: bounded in size, time and redirects (chatmd.md section 13.2).

Nothing imports this module by itself: a host that lets documents reach the network imports it and hands an
`HttpFetcher` over. It needs the extra `chatml-toolkit[http]` (httpx).
"""

from __future__ import annotations

import time
from types import TracebackType

import httpx

from chatmd.request.resources import REMOTE_BYTES
from chatmd.sources.files import UnreadableError

REDIRECTS = 5


class HttpFetcher:
    """Fetches the body behind an `http` or `https` URL, at most `limit` bytes within `seconds`.

    Call it with a URL; it raises `UnreadableError` with the reason when no usable answer comes. Use it as a
    context manager, or `close` it.
    """

    def __init__(
        self, *, limit: int = REMOTE_BYTES, seconds: float = 30.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.limit = limit
        self.seconds = seconds
        self.client = httpx.Client(
            headers={"Accept": "*/*"},
            timeout=seconds,
            follow_redirects=True,
            max_redirects=REDIRECTS,
            transport=transport,
        )

    def __call__(self, url: str) -> bytes:
        if not url.lower().startswith(("http://", "https://")):
            raise UnreadableError("only `http` and `https` URLs are fetched")
        try:
            return self._fetch(url)
        except httpx.HTTPStatusError as error:
            raise UnreadableError(f"the server answered {error.response.status_code}") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreadableError(str(error) or f"the request failed: {type(error).__name__}") from None

    def _fetch(self, url: str) -> bytes:
        deadline = time.monotonic() + self.seconds
        content = bytearray()
        with self.client.stream("GET", url) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > self.limit:
                    raise UnreadableError(f"the answer is larger than the limit of {self.limit} bytes")
                if time.monotonic() > deadline:
                    raise UnreadableError(f"the answer did not end within {self.seconds:g} seconds")
        return bytes(content)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def __enter__(self) -> HttpFetcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
