"""Real servers of portals on loopback, for the duration of a test."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from newsportal.portal.listen import listen

STARTED_WITHIN = 600.0
"""Seconds; on an idle machine a start takes some milliseconds."""


class Server(uvicorn.Server):
    """Server that waits for an event to stop. uvicorn polls ten times a second, and a file of tests has up to a hundred servers to stop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.tried = threading.Event()  # set when it has started, or failed to

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        try:
            await super().startup(sockets)
        finally:
            self.tried.set()

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
        config = uvicorn.Config(app, log_config=None, log_level="critical", ws="none", timeout_graceful_shutdown=1, proxy_headers=False)
        server = Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        running.append((server, thread, bound))
        thread.start()
        assert server.tried.wait(STARTED_WITHIN), "the server did not start in time"
        assert server.started, "the server ended instead of starting"
        return f"http://127.0.0.1:{bound.getsockname()[1]}"

    try:
        yield serve
    finally:
        for server, _, _ in running:
            server.stop()
        for _, thread, bound in running:
            thread.join(STARTED_WITHIN)
            bound.close()
