"""Helpers for tests and benchmark of regions: crawl a made-up site from its front page and count the missed articles (漏采)."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from newsportal.store import open_store
from newsportal.store.results import SourceState
from tests import forked

NOW = datetime(2026, 3, 5, 9, tzinfo=timezone(timedelta(hours=8)))


@dataclass(frozen=True)
class Coverage:
    """``found`` of a site's ``articles`` are stored, with ``requests`` (including robots.txt), of which ``lists`` were for list pages."""

    articles: int
    found: int
    requests: int
    lists: int
    state: SourceState
    report: dict[str, Any]

    @property
    def share(self) -> float:
        return self.found / self.articles


def visit(folder: Path, address: str, articles: Collection[str], requests: Any, **keys: object) -> Coverage:
    """Make one visit of a region whose only seed is the front page of ``address``. ``requests()`` returns the site's number of requests."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "sources.yaml"
    settings = "".join(f", {key}: {value}" for key, value in keys.items())
    file.write_text(
        f"politeness: {{delay: 0, allow_private: [127.0.0.0/8]}}\nregions: [{{name: 首页, prefix: '{address}/'{settings}}}]\n", "utf-8"
    )
    before = requests()
    report = forked.crawl(file, "hub")
    store = open_store(f"sqlite:///{folder}/data/newsportal.db", create=False)
    try:
        stored = {article.url for article in store.all_articles()}
        state = store.source_state("region:首页")
    finally:
        store.close()
    row = report["sources"][0]
    return Coverage(len(articles), len(stored.intersection(articles)), requests() - before, row["list_pages"], state, report)


@contextmanager
def served(shape: Any) -> Iterator[str]:
    """Serve a site of ``madeup.regions`` and yield its URL."""
    from madeup.serving import SiteServer

    server = SiteServer(("127.0.0.1", 0), shape.answer, NOW)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{server.server_name}:{server.server_port}"
    finally:
        server.leave()
        thread.join()
        server.server_close()
