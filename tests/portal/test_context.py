"""Values used by every page are computed once for concurrent requests."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

from factories import empty_store

from newsportal.items.visits import Visit
from newsportal.portal.context import Portal
from newsportal.services.accounts import open_accounts
from newsportal.sources import load
from newsportal.sources.timing import SourceHealth

FEEDS = """\
feeds:
  - {name: 好报, url: "https://good.example/feed"}
  - {name: 坏报, url: "https://bad.example/feed"}
"""


def test_source_health_is_computed_once_for_concurrent_readers(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text(FEEDS, "utf-8")
    sources = load(tmp_path / "sources.yaml")
    with closing(empty_store(tmp_path / "store.db")) as store, closing(open_accounts("sqlite://")) as accounts:
        for number in range(40):
            store.visits.add(Visit("feed:坏报", datetime.now(UTC) - number * timedelta(hours=1), list_failed={"dns": 1}))
        portal = Portal(store, None, sources, accounts)
        barrier = Barrier(8)

        def ask() -> list[SourceHealth]:
            barrier.wait()
            return portal.health()

        with ThreadPoolExecutor(8) as readers:
            results = [future.result() for future in [readers.submit(ask) for _ in range(8)]]
    assert [judged.source.name for judged in results[0]][:1] == ["坏报"]
    assert all(judged is results[0] for judged in results)
