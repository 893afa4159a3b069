"""Real servers of portals on loopback, for the duration of a test."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from newsportal.portal.listen import listen

STARTED_WITHIN = 600.0
"""Seconds; on an idle machine a start takes some milliseconds."""

POLL_SECONDS = 0.002
"""Seconds between two checks whether a server has started."""


class Server(uvicorn.Server):
    """Server that waits for an event to stop. uvicorn polls ten times a second, and a file of tests has up to a hundred servers to stop."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._end.wait()

    def stop(self) -> None:
        if self.started:
            self._loop.call_soon_threadsafe(self._end.set)


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve ``app`` on a free port and yield its URL."""
    with servers() as serve:
        yield serve(app)


@contextmanager
def servers() -> Iterator[Callable[[ASGIApp], str]]:
    """Yield a function that serves an app and returns its URL. All servers are stopped together, since each takes a step of 0.1 s."""
    running: list[tuple[Server, threading.Thread, socket.socket]] = []

    def serve(app: ASGIApp) -> str:
        bound = listen("127.0.0.1", 0)
        server = Server(uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1, proxy_headers=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        running.append((server, thread, bound))
        thread.start()
        until = time.monotonic() + STARTED_WITHIN
        while not server.started:
            assert thread.is_alive(), "the server ended instead of starting"
            assert time.monotonic() < until, "the server did not start in time"
            time.sleep(POLL_SECONDS)
        return f"http://127.0.0.1:{bound.getsockname()[1]}"

    try:
        yield serve
    finally:
        for server, _, _ in running:
            server.stop()
        for _, thread, bound in running:
            thread.join(STARTED_WITHIN)
            bound.close()
