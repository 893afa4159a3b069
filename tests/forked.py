"""Commands in processes of their own that import nothing: they fork from one that has imported what a crawl needs.

Such a process does what ``python -m newsportal`` does, from its arguments to its exit status, for a fifth of the processor time where
there is little to crawl. Tests of how a process starts, of its memory, or that kill one, start a real one.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pkgutil
import runpy
import sys
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Any

import newsportal

PACKAGES = ("spiders", "pipelines", "middlewares", "extensions", "handlers", "frontier")
"""All of what is in them is imported beforehand."""


@cache
def _processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    folders = [f"{newsportal.__path__[0]}/{package}" for package in PACKAGES]
    modules = [f"newsportal.{Path(found.module_finder.path).name}.{found.name}" for found in pkgutil.iter_modules(folders)]  # type: ignore[union-attr]
    context.set_forkserver_preload(["newsportal.commands.crawl", "scrapy.crawler", "scrapy.core.engine", *modules])
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
