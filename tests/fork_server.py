"""The process from which test commands fork: one per run, since its imports take seconds.

The first process that needs it starts it. It ends when no client is connected any more, and a command ends with its client's connection, so
nothing outlives a killed run.

A client sends the size of a pickled program with three open files (input, output, errors), then the program. It receives the process id
and, at the end, the exit status. A client that sends nothing only keeps the server running.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import pickle
import runpy
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from socket import AF_UNIX, recv_fds, send_fds, socket
from subprocess import Popen
from tempfile import gettempdir

ADDRESS = Path(gettempdir(), f"newsportal-forks-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}")
NUMBER = struct.Struct("q")

Program = tuple[Path | str | None, str, tuple[str, ...], str, dict[str, str], list[str]]
"""Script, module, arguments, current directory, environment, import path."""


@contextmanager
def _locked() -> Iterator[None]:
    """Lock out other processes that connect, start or end a server."""
    with Path(gettempdir(), f"newsportal-forks-{os.getuid()}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def connect() -> socket:
    """Return a connection to the server of the run, which is started if necessary."""
    client = socket(AF_UNIX)
    with _locked():
        try:
            client.connect(str(ADDRESS))
        except (FileNotFoundError, ConnectionRefusedError):
            ADDRESS.unlink(missing_ok=True)
            _start_server()
            client.connect(str(ADDRESS))
    return client


def _start_server() -> None:
    with socket(AF_UNIX) as listener:
        listener.bind(str(ADDRESS))
        listener.listen(256)
        words = [sys.executable, "-m", "tests.fork_server", str(ADDRESS), str(listener.fileno())]
        server = Popen(words, cwd=Path(__file__).parent.parent, pass_fds=[listener.fileno()])
        server.returncode = 0  # it ends by itself: suppress the warning about an unwaited process


def ask(client: socket, program: Program, files: list[int]) -> int:
    """Start ``program``; return its process id."""
    message = pickle.dumps(program)
    send_fds(client, [NUMBER.pack(len(message))], files)
    client.sendall(message)
    return read_number(client)


def read_number(client: socket) -> int:
    message = client.recv(NUMBER.size)
    assert message, "the fork server ended: its errors are above"
    number: int = NUMBER.unpack(message)[0]
    return number


def serve(listener: socket, address: Path) -> None:
    commands: dict[socket, ForkProcess | None] = {}  # by client
    while commands or _is_asked(listener, address):
        ready = wait([listener, *commands, *(command.sentinel for command in commands.values() if command)])
        if listener in ready:
            commands[listener.accept()[0]] = None
        for client, command in list(commands.items()):
            if command is None and client in ready:
                command = commands[client] = _start(client, [listener, *commands])
                ended = command is None
            else:
                ended = command is not None and (command.sentinel in ready or client in ready)
            if ended:
                del commands[client]
                _end(client, command)


def _is_asked(listener: socket, address: Path) -> bool:
    """Return whether a client waits to be accepted; otherwise remove the address, so that none can connect."""
    with _locked():
        if wait([listener], 0):
            return True
        address.unlink()
        return False


def _start(client: socket, inherited: list[socket]) -> ForkProcess | None:
    """Return the process that ``client`` requests; ``None`` if it has left."""
    size, files, *_ = recv_fds(client, NUMBER.size, 3)
    if not size:
        return None
    with client.makefile("rb") as sent:
        message = sent.read(NUMBER.unpack(size)[0])
    if len(message) < NUMBER.unpack(size)[0]:  # the client was killed
        for file in files:
            os.close(file)
        return None
    program: Program = pickle.loads(message)
    command = multiprocessing.get_context("fork").Process(target=_become, args=(program, files, inherited))
    command.start()
    for file in files:
        os.close(file)
    with suppress(ConnectionError):  # the main loop notices the closed connection and kills the command
        client.sendall(NUMBER.pack(command.pid or 0))
    return command


def _end(client: socket, command: ForkProcess | None) -> None:
    if command is not None:
        if not wait([command.sentinel], 0):
            command.kill()
        command.join()
        with suppress(ConnectionError):
            client.sendall(NUMBER.pack(command.exitcode or 0))
    client.close()


def _become(program: Program, files: list[int], inherited: list[socket]) -> None:
    script, module, words, cwd, environ, sys.path[:] = program
    for connection in inherited:
        connection.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", 1 if "PYTHONUNBUFFERED" in environ else -1, encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.argv = [module, *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if script is None:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    elif isinstance(script, Path):
        sys.path.insert(0, str(script.parent))
        runpy.run_path(str(script), run_name="__main__")
    else:
        exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_module("tests.crawl_imports")
    serve(socket(fileno=int(sys.argv[2])), Path(sys.argv[1]))
