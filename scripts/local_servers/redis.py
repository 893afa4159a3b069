"""Redis, from the system's packages."""

from __future__ import annotations

import signal
import socket
from contextlib import closing

from local_servers.machine import Missing, apt, output, program
from local_servers.running import Place

NAME = "redis"
VERSIONS = "6 and later"
STOP = signal.SIGTERM


def programs() -> str:
    found = program("redis-server", "valkey-server")
    if found is None:
        raise Missing("no redis-server; install it with: sudo apt install redis-server")
    return found


def install() -> None:
    if program("redis-server", "valkey-server") is None:
        apt("redis-server")


def version() -> str:
    words = output(programs(), "--version").split()
    return next((word[2:] for word in words if word.startswith("v=")), "?")


def prepare(place: Place) -> None:
    """No-op: a folder is enough."""


def command(place: Place) -> list[str]:
    return [programs(), "--port", str(place.port), "--bind", "127.0.0.1", "--dir", str(place.data), "--save", "", "--appendonly", "no"]


def answers(port: int) -> bool:
    with closing(socket.create_connection(("127.0.0.1", port), timeout=2)) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(64).startswith(b"+PONG")


def uri(port: int, database: str) -> str:
    """Return the URI of database 0: databases of Redis are numbered."""
    return f"redis://127.0.0.1:{port}/0"
