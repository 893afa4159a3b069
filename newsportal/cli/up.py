"""``newsportal up``: run the portal, and a supervisor for crawls, training and nightly work, until it is stopped."""

import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from newsportal.cli import hints, serve
from newsportal.cli.options import LogFile, LogFormat, SourcesFile, load
from newsportal.cli.schedule import event_printer
from newsportal.errors import StoreError
from newsportal.services.jobs.duties import Nightly, RepeatedCrawl, Retraining
from newsportal.services.jobs.local import LocalRunner
from newsportal.services.jobs.records import Records
from newsportal.services.jobs.supervisor import SourcesReloader, Supervisor
from newsportal.sources import Sources
from newsportal.store import open_store

DEFAULT_EVERY = 10.0  # minutes between checks; sources determine themselves when they are due
MAX_STOP_SECONDS = 15.0  # seconds for a crawl to end by itself
CHECK_SECONDS = 10.0  # seconds between two checks of the supervisor; the end of a job wakes it


class Background(threading.Thread):
    """The supervisor of ``newsportal up`` in a thread. ``everything``: the first crawl visits every source, due or not."""

    def __init__(self, sources: Path | None, config: Sources, every: float, *, everything: bool = False, log_format: str = "text") -> None:
        super().__init__(daemon=True, name="supervisor")
        emit = event_printer(as_json=False, log_format=log_format)
        file = SourcesReloader(sources, config, lambda text: emit("hindered", {"message": text}))
        records = Records(config.jobs_folder)
        self.runner = LocalRunner(
            records, Path(), {}, origin="up", warn=lambda text: emit("hindered", {"message": text}), on_end=lambda: self.supervisor.wake()
        )  # fmt: skip
        self._crawl = RepeatedCrawl(every * 60, lambda: hints.is_network_down(file.sources), hints.is_offline, emit, everything=everything)
        settings = config.recommendation
        nightly = Nightly(file, settings.fit_hour, ZoneInfo(config.portal.timezone), learn=settings.enabled)
        duties = (self._crawl, Retraining(config.classifier.least_new if config.classifier.retrain else 0), nightly)
        self.supervisor = Supervisor(file, self.runner, records, duties, emit, every=CHECK_SECONDS, use_sources=self.runner.use_sources)

    def run(self) -> None:
        self.supervisor.run()

    def crawl(self) -> None:
        """Visit due sources at once, after a push from a hub."""
        self._crawl.trigger()
        self.supervisor.wake()

    def stop(self) -> None:
        """End the jobs: a crawl gracefully, a training or fit at once. Jobs that have ended are reported first."""
        self.supervisor.stop()
        self.runner.close(MAX_STOP_SECONDS)
        if self.is_alive():
            self.join(MAX_STOP_SECONDS)
        self.supervisor.close()


def up(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; default: the first free one from 8000 on.")] = None,
    sources: SourcesFile = None,
    every: Annotated[float, typer.Option(min=0.1, help="Minutes between checks for due sources.")] = DEFAULT_EVERY,
    log_file: LogFile = None,
    log_format: LogFormat = "text",
    access: serve.AccessLog = False,
) -> None:
    """Serve the portal, and crawl the sources whenever they are due."""
    config = load(sources)  # mistakes are reported before anything starts
    serve.write_log(log_format, log_file, access=access)
    if word := hints.packaged_file_hint(config):
        typer.echo(word)
    everything = False
    with suppress(StoreError), closing(open_store(config.store, create=False)) as store:
        everything = any(hints.is_offline(run) for run in store.runs(1))  # then its sources need not wait: no server was reached
    background = Background(sources, config, every, everything=everything, log_format=log_format)
    try:
        serve.run(host, port, sources, once_open=background.start, pushed=background.crawl)  # no crawl for a portal that cannot listen
    finally:
        background.stop()
