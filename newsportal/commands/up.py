"""``newsportal up``: the portal and the crawl together, until you stop it. One crawl at a time, as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from newsportal import report
from newsportal.commands import serve
from newsportal.sources import load

DEFAULT_EVERY = 10.0
"""Minutes. Sources say themselves how often they are due; this is how often we look."""

STOP_PATIENCE = 20.0
"""Seconds a crawl gets to end by itself."""


class Crawls(threading.Thread):
    """Starts ``newsportal crawl --due`` again and again, never two at a time, and tells what each brought."""

    def __init__(self, sources: Path | None, every: float, console: Console) -> None:
        super().__init__(daemon=True, name="crawls")
        self._sources = sources
        self._every = every
        self._console = console
        self._done = threading.Event()
        self._child: subprocess.Popen[str] | None = None

    def run(self) -> None:
        while not self._done.is_set():
            self._crawl()
            self._done.wait(self._every * 60)

    def stop(self) -> None:
        """Ask a running crawl to end, and wait for it."""
        self._done.set()
        child = self._child
        if child is not None and child.poll() is None:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(STOP_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()

    def _crawl(self) -> None:
        command = [sys.executable, "-m", "newsportal", "crawl", "--due", "--json", "--log-level", "ERROR"]
        if self._sources is not None:
            command += ["--sources", str(self._sources)]
        self._say("crawling what is due ...")
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True)
        output, _ = self._child.communicate()
        if self._done.is_set():
            return
        try:
            self._tell(report.from_dict(json.loads(output.strip().splitlines()[-1])))
        except (ValueError, IndexError, KeyError):
            self._say(
                f"the crawl ended with status {self._child.returncode}; the portal goes on, the next try is in {self._every:g} minutes"
            )

    def _tell(self, run: report.Run) -> None:
        total = run.total
        if not run.sources:
            self._say("nothing is due")
            return
        self._say(f"{total.stored} new stories, {total.folded} folded, {total.known} known, {total.failures} pages failed")
        for line in report.reasons(run):
            self._say(f"  {line}")

    def _say(self, text: str) -> None:
        self._console.print(f"{datetime.now().astimezone():%H:%M:%S} {text}")


def register(app: typer.Typer) -> None:
    app.command()(up)


def up(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; default: the first free one from 8000 on.")] = None,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")] = None,
    every: Annotated[float, typer.Option(min=0.1, help="Minutes between two looks at what is due.")] = DEFAULT_EVERY,
) -> None:
    """Serve the portal and keep it up to date: crawl what is due, again and again."""
    load(sources)  # every mistake is told before anything starts
    console = Console(emoji=False, highlight=False, markup=False, soft_wrap=True)
    crawls = Crawls(sources, every, console)
    crawls.start()
    try:
        serve.run(host, port, sources)
    finally:
        crawls.stop()
