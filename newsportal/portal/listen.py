"""The portal's server: a port that is checked before anything starts, a quiet uvicorn, and a clean shutdown."""

import errno
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from newsportal.errors import NewsportalError
from newsportal.portal.guard import is_wildcard

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
MAX_PORT = 65535
PORTS_TRIED = 20  # ports tried, from the first one on, if none was given
SHUTDOWN_SECONDS = 5  # seconds for open connections at shutdown


class CannotListen(NewsportalError):
    """Raised when it is impossible to listen on the host or port. The message names the remedy."""


def listen(host: str = DEFAULT_HOST, port: int | None = None) -> socket.socket:
    """Return a socket bound to ``host`` and ``port``; without a port, to the first free one from 8000 on. Raises ``CannotListen``."""
    if port is not None:
        return _bind(host, port)
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED):
        try:
            return _bind(host, candidate)
        except PortInUse:
            continue
    raise CannotListen(f"ports {DEFAULT_PORT} to {DEFAULT_PORT + PORTS_TRIED - 1} are all in use; name a free one with --port")


class PortInUse(CannotListen):
    """Raised when another program listens on the port."""


def _bind(host: str, port: int) -> socket.socket:
    name = host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise CannotListen(f"there is no address {host!r} on this machine; try --host 127.0.0.1") from error
    bound = socket.socket(family, kind, protocol)  # asyncio sets TCP_NODELAY only if the protocol is given: 40 ms a response
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()  # only now is it certain that no other program listens
    except (OSError, OverflowError) as error:
        bound.close()
        raise _listen_error(host, port, error) from error
    bound.set_inheritable(False)
    return bound


def _listen_error(host: str, port: int, error: Exception) -> CannotListen:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        other = port + 1 if port < MAX_PORT else DEFAULT_PORT
        return PortInUse(f"port {port} is in use by another program; stop it, or choose another port: --port {other}")
    if number == errno.EACCES:
        return CannotListen(f"port {port} needs more rights than you have; choose one above 1023: --port {DEFAULT_PORT}")
    if number == errno.EADDRNOTAVAIL:
        return CannotListen(f"{host} is not an address of this machine; try --host 127.0.0.1, or --host 0.0.0.0 for all")
    return CannotListen(f"cannot listen on {host} port {port}: {error}; try another with --port")


def address_of(listening: socket.socket, host: str) -> str:
    """Return the URL to open in a browser on this machine."""
    port = listening.getsockname()[1]
    name = "127.0.0.1" if is_wildcard(host) else host.strip("[]")
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def serve_forever(app: ASGIApp, listening: socket.socket) -> None:
    """Serve ``app`` on a socket of :func:`listen` until SIGTERM or Ctrl-C (outside of the main thread: until the process ends)."""
    config = uvicorn.Config(
        app, log_config=None, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        proxy_headers=False, ws="none",
    )  # fmt: skip
    server = uvicorn.Server(config)
    with listening, exit_quietly(server):
        server.run(sockets=[listening])


@contextmanager
def exit_quietly(server: uvicorn.Server) -> Iterator[None]:
    """Exit with status 0: uvicorn shuts down and then raises the signal again for the previous handler, which here is ``server``'s."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
