"""PostgreSQL, from the system's packages. Any local user may connect: it is for tests."""

from __future__ import annotations

import signal
import socket
import struct
from contextlib import closing
from pathlib import Path

from local_servers.machine import Missing, apt, output, program
from local_servers.running import Place, prepared

NAME = "postgresql"
VERSIONS = "13 and later"
STOP = signal.SIGINT
""""Fast" shutdown: open connections are closed."""

SUPERUSER = "postgres"
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # a killed server loses nothing by it, only a machine that loses its power would
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",  # in its folder: a killed server leaves nothing elsewhere
    "max_wal_size": "256MB",
    "timezone": "Asia/Shanghai",  # not the one that everything is stored in
}


def folders() -> list[Path]:
    """Return Debian's program directories, one per version, the newest first."""
    return sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda found: int(found.parent.name), reverse=True)


def programs() -> tuple[str, str]:
    """Return the paths of ``postgres`` and ``initdb``."""
    postgres, initdb = program("postgres", folders=folders()), program("initdb", folders=folders())
    if postgres is None or initdb is None:
        raise Missing("no postgres; install it with: sudo apt install postgresql")
    return postgres, initdb


def install() -> None:
    try:
        programs()
    except Missing:
        apt("postgresql")


def version() -> str:
    return output(programs()[0], "--version").split()[2]


def prepare(place: Place) -> None:
    _, initdb = programs()
    options = ("--auth=trust", f"--username={SUPERUSER}", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
    prepared("initdb", place, initdb, *options, "-D", str(place.data))


def command(place: Place) -> list[str]:
    options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
    return [programs()[0], "-D", str(place.data), "-p", str(place.port), *options]


def answers(port: int) -> bool:
    """Protocol 3: the server answers a start-up message with R (authentication) or E (not ready)."""
    words = b"\0".join((b"user", SUPERUSER.encode(), b"database", b"postgres")) + b"\0\0"
    with closing(socket.create_connection(("127.0.0.1", port), timeout=5)) as connection:
        connection.sendall(struct.pack("!ii", 8 + len(words), 196608) + words)
        answer = connection.recv(1)
        connection.sendall(b"X" + struct.pack("!i", 4))
        return answer == b"R"


def uri(port: int, database: str) -> str:
    return f"postgresql://{SUPERUSER}@127.0.0.1:{port}/{database}"
