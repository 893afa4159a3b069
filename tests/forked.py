"""Commands in processes of their own that fork from one that has imported and computed what a crawl needs (``tests/crawl_imports.py``).

Such a process does what ``python -m newsportal`` does, from its arguments to its exit status, for a tenth of the processor time where
there is little to crawl. Tests of how a process starts or of its memory start a real one.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
import sys
from contextlib import chdir
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Any


@cache
def _processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crawl_imports"])
    with chdir(Path(__file__).parent.parent):  # where the server of forks finds it
        forkserver.ensure_running()
    return context


def run(*words: str, module: str = "newsportal", cwd: Path | None = None, timeout: float = 600, **environ: str) -> CompletedProcess[str]:
    """Run ``python -m module words...`` to its end, with ``environ`` added to the environment."""
    with TemporaryDirectory() as folder:
        output, errors = Path(folder) / "output", Path(folder) / "errors"
        settled = (module, words, str(cwd or Path.cwd()), {**os.environ, **environ}, str(output), str(errors))
        process = _processes().Process(target=_become, args=settled)
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutExpired(words, timeout, output.read_text("utf-8"), errors.read_text("utf-8"))
        return CompletedProcess(words, process.exitcode, output.read_text("utf-8"), errors.read_text("utf-8"))


def crawl(sources: Path, *options: str) -> dict[str, Any]:
    """Run ``newsportal crawl`` and return its report."""
    done = run("crawl", "--json", "--sources", str(sources), *options)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _become(module: str, words: tuple[str, ...], cwd: str, environ: dict[str, str], output: str, errors: str) -> None:
    for number, path in ((1, output), (2, errors)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
