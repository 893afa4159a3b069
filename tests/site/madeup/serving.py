"""A small HTTP server that passes every request to a function, and closes all its connections at the end."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any

from madeup.exchange import Response

IDLE_SECONDS = 30.0  # maximum time that a connection waits for its next request

Answer = Callable[[str, str, Mapping[str, str]], Response | None]
"""Returns the response for method, target and headers; ``None`` closes the connection without one."""


class SiteServer(ThreadingMixIn, HTTPServer):
    """Joins the threads of its connections at the end, so that nothing outlives it. ``clock`` is the time of its Date header."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], answer: Answer, clock: datetime) -> None:
        self.answer = answer
        self.clock = clock
        self.leaving = threading.Event()
        self._open: set[socket.socket] = set()
        self._opening = threading.Lock()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind as HTTPServer does, without the name look-up that can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def server_activate(self) -> None:
        """Do not block in ``accept`` if a client disconnects between ``select`` and ``accept``."""
        super().server_activate()
        self.socket.setblocking(False)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        connection.setblocking(True)
        return connection, address

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._opening:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._opening:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; anything else is a bug and is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def leave(self) -> None:
        self.leaving.set()
        self.shutdown()
        with self._opening:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: SiteServer
    protocol_version = "HTTP/1.1"
    server_version = "madeup"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        response = self.server.answer(self.command, self.path, {name.title(): value for name, value in self.headers.items()})
        if response is None or self.server.leaving.wait(response.wait):
            self.close_connection = True
            return
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        for name, value in response.headers:
            self.send_header(name, value)
        if response.stream is not None:
            self._stream(response)
            return
        if response.status != 304:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _stream(self, response: Response) -> None:
        """Send chunks until the stream ends, the client disconnects or the server closes."""
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in response.stream or ():
            if self.server.leaving.is_set():
                self.close_connection = True
                return
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the made-up Web's own time, so that responses are reproducible."""
        return super().date_time_string(self.server.clock.timestamp())

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: ``MadeUpWeb.requests`` is the log."""
