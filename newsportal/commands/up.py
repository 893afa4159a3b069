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
from newsportal.commands import hints, network, serve
from newsportal.commands.hints import counted
from newsportal.commands.learning import Learning
from newsportal.commands.nightly import Nightly
from newsportal.errors import SourcesError, StoreError
from newsportal.portal.site import zone_named
from newsportal.sources import Sources, load
from newsportal.storage import open_store

DEFAULT_EVERY = 10.0
"""Minutes. Sources say themselves how often they are due; this is how often we look."""

RETRY_OFFLINE = 0.5
"""Minutes between two looks for a network that is away. Only names are looked up: it costs no site a request."""

STOP_PATIENCE = 20.0
"""Seconds a crawl gets to end by itself."""


LAST_GOOD = ".last-good"
"""What the copy of a file is called that had no mistakes yet."""


class Crawls(threading.Thread):
    """Starts ``newsportal crawl --due`` again and again, never two at a time, and tells what each brought."""

    def __init__(self, sources: Path | None, known: Sources, every: float, console: Console, *, everything: bool = False) -> None:
        super().__init__(daemon=True, name="crawls")
        self._sources = sources
        self._known = known
        self._every = every
        self._console = console
        self._everything = everything
        self._good = _content(known)
        self._broken: str | None = None
        self._done = threading.Event()
        self._look = threading.Event()
        self._child: subprocess.Popen[str] | None = None
        self._starting = threading.Lock()
        self._learning = Learning(sources, known.classifier.least_new if known.classifier.retrain else 0, self._say)
        nightly = (known.store, known.recommendation.fit_hour, zone_named(known.portal.timezone), self._say)
        self._nightly = Nightly(sources, *nightly, learn=known.recommendation.enabled)

    def run(self) -> None:
        self._nightly.start()
        while not self._done.is_set():
            self._crawl()
            if self._everything:
                self._await_network()
            else:
                self._look.wait(self._every * 60)
                self._look.clear()

    def look(self) -> None:
        """Look at once what is due: a hub told of something new."""
        self._look.set()

    def _await_network(self) -> None:
        while not self._done.wait(RETRY_OFFLINE * 60):
            if not network.away(self._known):
                return

    def stop(self) -> None:
        """Ask a running crawl to end, and wait for it; end a training and a fit."""
        with self._starting:  # else one that is just being started would be left behind
            self._done.set()
            child = self._child
        self._look.set()
        if self._known.path is not None and self._broken is not None:
            self._known.path.with_name(f".{self._known.path.name}{LAST_GOOD}").unlink(missing_ok=True)
        self._learning.stop()
        self._nightly.stop()
        if child is not None and child.poll() is None:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(STOP_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()

    def _crawl(self) -> None:
        which = "--once" if self._everything else "--due"
        command = [sys.executable, "-m", "newsportal", "crawl", which, "--json", "--log-level", "ERROR"]
        if (file := self._file()) is not None:
            command += ["--sources", str(file)]
        self._say("crawling what is due ...")
        with self._starting:
            if self._done.is_set():
                return
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

    def _file(self) -> Path | None:
        """The file to crawl by: as it is; while it has mistakes, a copy beside it of what it said before."""
        try:
            self._known = load(self._sources)
        except SourcesError as error:
            path = self._known.path
            if path is None or self._good is None:
                return self._sources
            if str(error) != self._broken:
                self._say(f"{error}\nthe crawl goes on with the sources as they were before")
            self._broken = str(error)
            kept = path.with_name(f".{path.name}{LAST_GOOD}")
            try:
                kept.touch(mode=0o600)
                kept.write_bytes(self._good)
            except OSError as reason:
                self._say(f"{kept} cannot be written: {reason.strerror or reason}")
                return self._sources
            return kept
        if self._broken is not None:
            self._say("sources.yaml is mended, and read anew")
        self._broken, self._good = None, _content(self._known)
        return self._sources

    def _tell(self, run: report.Run) -> None:
        self._everything = hints.offline(run) and network.away(self._known)
        if not run.sources:
            self._say("nothing is due")
            return
        self._say(summary(run))
        for line in report.reasons(run):
            self._say(f"  {line}")
        if self._learning.crawled(run):
            self._say("training the models anew, beside everything else ...")
        if self._everything:
            self._say("there is no network; the portal serves what is stored, and the crawl goes on as soon as there is one")

    def _say(self, text: str) -> None:
        self._console.print(f"{datetime.now().astimezone():%H:%M:%S} {text}")


def _content(known: Sources) -> bytes | None:
    """What the file held when it was loaded; ``None`` where there is none."""
    try:
        return known.path.read_bytes() if known.path is not None else None
    except OSError:
        return None


def summary(run: report.Run) -> str:
    """What a crawl brought, in one line."""
    total = run.total
    failures = {"page": total.failures, "list page": sum(total.list_failed.values())}
    failed = " and ".join(counted(number, what) for what, number in failures.items() if number)
    brought = f"{counted(total.stored, 'new story')}, {total.folded} folded, {total.known} known"
    return f"{brought}, failed: {failed}" if failed else brought


def register(app: typer.Typer) -> None:
    app.command()(up)


def up(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; default: the first free one from 8000 on.")] = None,
    sources: Annotated[Path | None, typer.Option(help="The sources file; default: the nearest sources.yaml.")] = None,
    every: Annotated[float, typer.Option(min=0.1, help="Minutes between two looks at what is due.")] = DEFAULT_EVERY,
) -> None:
    """Serve the portal and keep it up to date: crawl what is due, again and again."""
    known = load(sources)  # every mistake is told before anything starts
    console = Console(emoji=False, highlight=False, markup=False, soft_wrap=True)
    if word := hints.packaged(known):
        console.print(word)
    crawls = Crawls(sources, known, every, console, everything=_was_offline(known))
    try:
        serve.run(host, port, sources, once_open=crawls.start, pushed=crawls.look)  # no crawl for a portal that cannot open
    finally:
        crawls.stop()


def _was_offline(known: Sources) -> bool:
    """Whether the latest crawl reached nothing: its sources need not wait for their turn, for nobody was asked."""
    try:
        store = open_store(known.store, create=False)
    except StoreError:
        return False
    try:
        return any(hints.offline(run) for run in store.runs(1))
    finally:
        store.close()
