"""``newsportal up``: the portal and the crawl together, until you stop it. One crawl at a time, as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from newsportal import report
from newsportal.commands import hints, network, serve
from newsportal.commands.hints import counted
from newsportal.commands.last_good import LastGood
from newsportal.commands.learning import Learning
from newsportal.commands.nightly import Nightly
from newsportal.errors import RunnerRefused, StoreError
from newsportal.portal.site import zone_named
from newsportal.runners.base import new_id
from newsportal.runners.records import Record, Records
from newsportal.sources import Sources, load
from newsportal.storage import open_store

DEFAULT_EVERY = 10.0
"""Minutes. Sources say themselves how often they are due; this is how often we look."""

RETRY_OFFLINE = 0.5
"""Minutes between two looks for a network that is away. Only names are looked up: it costs no site a request."""

STOP_PATIENCE = 20.0
"""Seconds a crawl gets to end by itself."""

LOOK = 10.0
"""Seconds between two looks at the log of a crawl that runs, whether it has become too long."""

WHERE = "up"
"""Who started the crawls, among the records of :mod:`newsportal.runners.records`."""


class Crawls(threading.Thread):
    """Starts ``newsportal crawl --due`` again and again, never two at a time, and tells what each brought."""

    def __init__(self, sources: Path | None, known: Sources, every: float, console: Console, *, everything: bool = False) -> None:
        super().__init__(daemon=True, name="crawls")
        self._sources = sources
        self._known = known
        self._every = every
        self._console = console
        self._everything = everything
        self._good = LastGood(sources, known, self._say)
        self._records = Records(known.jobs_folder)
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
        self._good.forget()
        self._learning.stop()
        self._nightly.stop()
        if child is not None and child.poll() is None:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(STOP_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()

    def _crawl(self) -> None:
        which, id = "--once" if self._everything else "--due", new_id()
        command = [sys.executable, "-m", "newsportal", "crawl", which, "--json"]
        file = self._good.file()
        self._known = self._good.known
        if file is not None:
            command += ["--sources", str(file)]
        command += self._logging(id)
        self._say("crawling what is due ...")
        with self._starting:
            if self._done.is_set():
                return
            self._child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True)
        output = self._output(self._child, id)
        if self._done.is_set():
            return
        try:
            self._tell(report.from_dict(json.loads(output.strip().splitlines()[-1])))
        except (ValueError, IndexError, KeyError):
            log = self._records.log_file(id)
            why = f"; its log says why: {log}" if log.exists() else ""
            again = f"the portal goes on, the next try is in {self._every:g} minutes"
            self._say(f"the crawl ended with status {self._child.returncode}; {again}{why}")

    def _logging(self, id: str) -> list[str]:
        """Options of a crawl that is remembered, with its log, beside those of ``newsportal schedule``; none where there is no writing."""
        try:
            self._records.forget()
            self._records.save(Record(id, "", (), datetime.now(UTC), WHERE))
        except RunnerRefused as error:
            self._say(str(error))
            return ["--log-level", "ERROR"]
        return ["--run-id", id, "--log-level", "INFO", "--log-file", str(self._records.log_file(id))]

    def _output(self, child: subprocess.Popen[str], id: str) -> str:
        """What the crawl says at its end."""
        while True:
            try:
                output, _ = child.communicate(timeout=LOOK)
            except subprocess.TimeoutExpired:
                with suppress(RunnerRefused):  # told when the next one starts
                    self._records.bound(id)
                continue
            if (record := self._records.get(id)) is not None:
                with suppress(RunnerRefused):
                    self._records.ended(record, child.returncode, datetime.now(UTC))
            return output

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
