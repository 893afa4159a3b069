"""Commands in processes of their own that fork from one that has imported and computed what they need (``tests/crawl_imports.py``).

Such a process does what ``python -m newsportal`` does, from its arguments to its exit status, for a tenth of the processor time where
there is little to do. Tests of how a process starts or of its memory start a real one.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
import signal
import sys
from contextlib import chdir, suppress
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from shutil import rmtree
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import mkdtemp
from threading import Timer
from typing import Any, Self, TextIO
from weakref import finalize


@cache
def _processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crawl_imports"])
    with chdir(Path(__file__).parent.parent):  # where the server of forks finds it
        forkserver.ensure_running()
    return context


class Started:
    """``python -m module words...`` with ``environ`` added to the environment: what tests need of ``subprocess.Popen``.

    ``script``: a file of Python, or its text, instead of the module. Output and errors are kept for :meth:`communicate`, or go to ``log``
    as they come. ``piped``: ``stdin`` and ``stdout`` are pipes; ``merged``: errors go where the output goes. A ``with`` ends by killing it.
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
        streams: list[str | Connection] = [os.devnull, *map(str, self._written)]
        if piped:
            streams[0], self.stdin = _pipe("w")
            streams[1], self.stdout = _pipe("r")
            for pipe in (self.stdin, self.stdout):
                finalize(self, pipe.close)
        if merged:
            streams[2] = streams[1]
        program = (script, module, words, str(cwd or Path.cwd()), {**os.environ, **environ})
        self._process = _processes().Process(target=_become, args=(program, streams), daemon=True)
        self._process.start()
        for stream in streams[:2]:
            if isinstance(stream, Connection):
                stream.close()
        assert self._process.pid is not None
        self.pid = self._process.pid

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
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise TimeoutExpired(self.args, timeout or 0.0, *self._texts())
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        if self._piped:
            with suppress(BrokenPipeError):
                self.stdin.close()
            patience = Timer(timeout or 600.0, self.kill)
            patience.start()
            output = self.stdout.read()
            patience.cancel()
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

    def _texts(self) -> tuple[str, str]:
        output, errors = (file.read_text("utf-8") for file in self._written)
        return output, errors


def run(*words: str, timeout: float = 600, **how: Any) -> CompletedProcess[str]:
    """:class:`Started`, to its end."""
    started = Started(*words, **how)
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


def _pipe(ours: str) -> tuple[Connection, TextIO]:
    """The process's end of a pipe, and ours, to be written to or read from."""
    read, write = os.pipe()
    if ours == "w":
        return Connection(read, writable=False), open(write, "w", buffering=1, encoding="utf-8")
    return Connection(write, readable=False), open(read, encoding="utf-8")


def _become(program: tuple[Path | str | None, str, tuple[str, ...], str, dict[str, str]], streams: list[str | Connection]) -> None:
    script, module, words, cwd, environ = program
    for number, stream in enumerate(streams):
        opened = os.open(stream, os.O_RDWR | os.O_APPEND) if isinstance(stream, str) else stream.fileno()
        os.dup2(opened, number)
        if isinstance(stream, str):
            os.close(opened)
    for stream in streams:
        if isinstance(stream, Connection):
            stream.close()
    assert "tests.crawl_imports" in sys.modules, "the server of forks could not import it, and says nothing of that"
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # it may have processes of its own
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", 1 if "PYTHONUNBUFFERED" in environ else -1, encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.argv = [module, *words]
    if script is None:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    elif isinstance(script, Path):
        sys.path.insert(0, str(script.parent))
        runpy.run_path(str(script), run_name="__main__")
    else:
        exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
