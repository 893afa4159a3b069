"""Commands in separate processes, forked from one that has already imported and computed what they need (``tests/crawl_imports.py``).

Such a process behaves like ``python -m newsportal``, from arguments to exit status, for a tenth of the processor time if there is little to
do. Tests of process startup or memory start a real one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from multiprocessing.connection import wait
from pathlib import Path
from shutil import rmtree
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import mkdtemp
from threading import Lock, Timer
from typing import Any, Self, TextIO
from weakref import finalize

from tests import fork_server


@cache
def _keep_server() -> int:
    """Keep a connection from this process's first command to its end; its file is never closed."""
    return fork_server.connect().detach()


class Started:
    """``python -m module words...`` with ``environ`` added to the environment: the part of ``subprocess.Popen`` that tests need.

    ``script``: a Python file, or its text, instead of the module. Output and errors are saved for :meth:`communicate`, or written to
    ``log``. ``piped``: ``stdin`` and ``stdout`` are pipes; ``merged``: errors go to the output. Leaving a ``with`` block kills the process.
    """

    stdin: TextIO
    stdout: TextIO

    def __init__(
        self,
        *words: str,
        module: str = "newsportal",
        script: Path | str | None = None,
        cwd: Path | None = None,
        log: Path | None = None,
        piped: bool = False,
        merged: bool = False,
        **environ: str,
    ) -> None:
        self.args = words
        folder = Path(mkdtemp())
        finalize(self, rmtree, folder, ignore_errors=True)
        self._written = tuple(log or folder / name for name in ("output", "errors"))
        for file in self._written:
            file.touch()
        self._piped = piped
        files = [os.open(path, os.O_RDWR | os.O_APPEND) for path in (os.devnull, *self._written)]
        if piped:
            self.stdin, self.stdout = _pipe(files, 0, "w"), _pipe(files, 1, "r")
            for pipe in (self.stdin, self.stdout):
                finalize(self, pipe.close)
        program = (script, module, words, str(cwd or Path.cwd()), {**os.environ, **environ}, sys.path)
        _keep_server()
        self._reading = Lock()
        self._connection = fork_server.connect()
        finalize(self, self._connection.close)
        self._ended: int | None = None
        self.pid = fork_server.ask(self._connection, program, [*files[:2], files[1 if merged else 2]])
        for file in files:
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        if self._piped:
            with suppress(BrokenPipeError):
                self.stdin.close()
            self.stdout.close()

    @property
    def returncode(self) -> int | None:
        with self._reading:
            if self._ended is None and wait([self._connection], 0):
                self._ended = fork_server.read_number(self._connection)
        return self._ended

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        wait([self._connection], timeout)
        if (status := self.returncode) is None:
            raise TimeoutExpired(self.args, timeout or 0.0, *self._texts())
        return status

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        if self._piped:
            with suppress(BrokenPipeError):
                self.stdin.close()
            late = list[float]()

            def end() -> None:
                late.append(timeout or 600.0)
                self.kill()

            patience = Timer(timeout or 600.0, end)
            patience.start()
            output = self.stdout.read()
            patience.cancel()
            if late:
                raise TimeoutExpired(self.args, late[0], output, self._texts()[1])
            self.wait(timeout)
            return output, self._texts()[1]
        self.wait(timeout)
        return self._texts()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    @property
    def errors(self) -> str:
        """Errors so far."""
        return self._written[1].read_text("utf-8", "replace")

    def _texts(self) -> tuple[str, str]:
        output, errors = (file.read_text("utf-8") for file in self._written)
        return output, errors


def run(*words: str, timeout: float = 600, **options: Any) -> CompletedProcess[str]:
    """Run :class:`Started` to its end."""
    started = Started(*words, **options)
    try:
        output, errors = started.communicate(timeout)
    except TimeoutExpired:
        started.kill()
        raise
    return CompletedProcess(words, started.wait(), output, errors)


def crawl(sources: Path, *options: str) -> dict[str, Any]:
    """Run ``newsportal crawl`` and return its report."""
    done = run("crawl", "--json", "--sources", str(sources), *options)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _pipe(files: list[int], number: int, ours: str) -> TextIO:
    """Return our end of a pipe; the other end becomes the process's file ``number``."""
    os.close(files[number])
    read, write = os.pipe()
    files[number] = read if ours == "w" else write
    return open(write, "w", buffering=1, encoding="utf-8") if ours == "w" else open(read, encoding="utf-8")
