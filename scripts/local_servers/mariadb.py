"""MariaDB (or MySQL if that is installed), from the system's packages. Its root has no password: it is for tests."""

from __future__ import annotations

import signal
import socket
import tempfile
from contextlib import closing
from pathlib import Path

from local_servers.machine import Missing, apt, output, program
from local_servers.running import Place, prepared

NAME = "mariadb"
VERSIONS = "10.6 and later"
STOP = signal.SIGTERM

OPTIONS = (
    "--no-defaults",
    "--bind-address=127.0.0.1",
    "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=2",  # a killed server loses nothing by it, only a machine that loses its power would
    "--innodb-buffer-pool-size=64M",
    "--character-set-server=utf8mb4",
    "--default-time-zone=+08:00",  # not the one that everything is stored in
)


def programs() -> tuple[str, str]:
    """Return the server and the program that creates its data directory."""
    server, maker = program("mariadbd"), program("mariadb-install-db", "mysql_install_db")
    if server is None or maker is None:
        raise Missing("no mariadbd; install it with: sudo apt install mariadb-server")
    return server, maker


def install() -> None:
    try:
        programs()
    except Missing:
        apt("mariadb-server")


def version() -> str:
    words = output(programs()[0], "--version").split()
    return words[words.index("Ver") + 1].partition("-")[0]


def prepare(place: Place) -> None:
    _, maker = programs()
    options = ("--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
    prepared("mariadb-install-db", place, maker, *options, f"--datadir={place.data}")


def sockets(place: Place) -> Path:
    """Return a path for the Unix socket, which has at most 107 bytes: a path deep in a folder may be too long."""
    near = place.folder / "mariadb.sock"
    return near if len(bytes(near)) < 100 else Path(tempfile.gettempdir()) / f"newsportal-mariadb-{place.port}.sock"


def command(place: Place) -> list[str]:
    args = (f"--datadir={place.data}", f"--port={place.port}", f"--socket={sockets(place)}", f"--pid-file={place.folder / 'mariadb.pid'}")
    return [programs()[0], *OPTIONS, *args]


def answers(port: int) -> bool:
    """The server speaks first: protocol 10, or an error."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=5)) as connection:
        greeting = connection.recv(5)
        return len(greeting) == 5 and greeting[4] == 10


def uri(port: int, database: str) -> str:
    return f"mysql://root@127.0.0.1:{port}/{database}"
