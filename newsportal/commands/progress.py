"""Live progress of a crawl on a terminal: what is under way, what came in, what failed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

from newsportal.report import SourceReport, add_up

REFRESH = 0.5
"""Seconds between two looks at the counters."""


class Progress:
    """A context in which a table of the spiders' counters is kept up to date on standard error."""

    def __init__(self, crawlers: Sequence[Crawler], *, enabled: bool) -> None:
        self._crawlers = crawlers
        self._live = Live(console=Console(stderr=True, emoji=False), refresh_per_second=4, transient=True) if enabled else None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="progress")

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._stop.set()
            self._thread.join()
            self._live.stop()

    def _watch(self) -> None:
        while self._live is not None and not self._stop.wait(REFRESH):
            self._live.update(self._table())

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 1))
        for heading in ("spider", "list pages", "entries", "new", "fetched", "stored", "folded", "failed", "to go"):
            table.add_column(heading, justify="left" if heading == "spider" else "right")
        for crawler in self._crawlers:
            total = _total(crawler)
            counts = (total.list_pages, total.entries, total.new, total.fetched, total.stored, total.folded, total.failures, total.left)
            table.add_row(crawler.spidercls.name, *map(str, counts))
        return table


def _total(crawler: Crawler) -> SourceReport:
    from newsportal.extensions import RunReport

    try:
        extension = crawler.get_extension(RunReport)
    except RuntimeError:  # the first look may come before the crawler has made its extensions
        extension = None
    return add_up("", extension.ledger.report() if extension is not None else ())
