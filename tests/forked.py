"""Commands in processes of their own that fork from one that has imported and computed what a crawl needs (``tests/crawl_imports.py``).

Such a process does what ``python -m newsportal`` does, from its arguments to its exit status, for a tenth of the processor time where
there is little to crawl. Tests of how a process starts or of its memory start a real one.
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
from multiprocessing.context import ForkServerContext
from pathlib import Path
from shutil import rmtree
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import mkdtemp
from typing import Any
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

    Output and errors are kept for :meth:`communicate`, or go to ``log`` as they come.
    """

    def __init__(self, *words: str, module: str = "newsportal", cwd: Path | None = None, log: Path | None = None, **environ: str) -> None:
        self.args = words
        folder = Path(mkdtemp())
        finalize(self, rmtree, folder, ignore_errors=True)
        self._written = tuple(log or folder / name for name in ("output", "errors"))
        for file in self._written:
            file.touch()
        settled = (module, words, str(cwd or Path.cwd()), {**os.environ, **environ}, *map(str, self._written))
        self._process = _processes().Process(target=_become, args=settled, daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

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
        self.wait(timeout)
        return self._texts()

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _texts(self) -> tuple[str, str]:
        output, errors = (file.read_text("utf-8") for file in self._written)
        return output, errors


def run(*words: str, module: str = "newsportal", cwd: Path | None = None, timeout: float = 600, **environ: str) -> CompletedProcess[str]:
    """:class:`Started`, to its end."""
    started = Started(*words, module=module, cwd=cwd, **environ)
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


def _become(module: str, words: tuple[str, ...], cwd: str, environ: dict[str, str], output: str, errors: str) -> None:
    for number, path in ((1, output), (2, errors)):
        opened = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    assert "tests.crawl_imports" in sys.modules, "the server of forks could not import it, and says nothing of that"
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
