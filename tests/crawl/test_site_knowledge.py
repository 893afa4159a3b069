"""Lines learnt of a site in one crawl are used by the next; without a store the crawl continues. A wrong clock ends it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import time

import pytest
from scrapy.settings import Settings

from newsportal.crawl.record import SiteMemory, record_of
from newsportal.errors import StoreUnavailable
from newsportal.extractors.article.site import SiteKnowledge
from newsportal.sources import load
from newsportal.store.store import Store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOTICE = "本网所有内容未经书面许可不得转载。"
BODY = ["码头今天有了新的进展，当地的居民都在谈论它。", "记者从现场发回了报道，船班明天恢复。", NOTICE]


def crawl(store: Store, *urls: str) -> list[frozenset[str]]:
    """Crawl pages that contain the notice; return the lines recognised as the site's, page by page."""
    knowledge = SiteKnowledge()
    memory = SiteMemory(store, knowledge)
    found = []
    for url in urls:
        memory.recall(url)
        knowledge.learn(url, [url, NOTICE])
        found.append(knowledge.repeated(url, BODY))
    memory.save(NOW)
    return found


def test_next_crawl_knows_the_site(store: Store) -> None:
    assert crawl(store, "https://a.example/x100", "https://b.example/x100") == [frozenset(), frozenset()]
    assert crawl(store, "https://a.example/x200", "https://c.example/x200") == [{NOTICE}, frozenset()]
    assert list(store.site_lines("a.example")) == ["https://a.example/x100", "https://a.example/x200"]
    assert list(store.site_lines("b.example")) == ["https://b.example/x100"]


def test_url_without_site_is_ignored(store: Store) -> None:
    assert crawl(store, "about:blank") == [frozenset()]


class UnavailableStore:
    """A store that is unavailable or returns invalid lines."""

    def __init__(self, lines: Mapping[str, bytes] | None = None) -> None:
        self.lines = lines

    def site_lines(self, site: str) -> Mapping[str, bytes]:
        if self.lines is None:
            raise StoreUnavailable("away")
        return self.lines

    def save_site_lines(self, sites: Mapping[str, Mapping[str, bytes]], *, now: datetime, max_sites: int) -> None:
        raise StoreUnavailable("away")


@pytest.mark.parametrize("lines", [None, {"https://a.example/1": b"123"}])
def test_unavailable_store_or_invalid_lines_are_not_an_error(lines: Mapping[str, bytes] | None, caplog: pytest.LogCaptureFixture) -> None:
    assert crawl(UnavailableStore(lines), "https://a.example/x100") == [frozenset()]  # type: ignore[arg-type]
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


def test_unreadable_lines_are_not_overwritten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl(store, "https://a.example/x100", "https://a.example/x200")
    with monkeypatch.context() as outage:
        outage.setattr(type(store), "site_lines", UnavailableStore().site_lines)
        crawl(store, "https://a.example/x300")
    assert list(store.site_lines("a.example")) == ["https://a.example/x100", "https://a.example/x200"]


def pages(site: str, *numbers: int) -> list[str]:
    return [f"https://{site}.example/x{number}00" for number in numbers]


def test_evicted_site_is_recalled(store: Store) -> None:
    crawl(store, *pages("a", 1, 2))
    knowledge = SiteKnowledge(sites=1)
    memory = SiteMemory(store, knowledge)
    for url in (*pages("a", 3), *pages("b", 1)):
        memory.recall(url)
        knowledge.learn(url, [url, NOTICE])
    memory.recall(pages("a", 4)[0])
    assert knowledge.repeated(pages("a", 4)[0], BODY) == {NOTICE}


def test_evicted_pages_stay_in_the_store(store: Store) -> None:
    crawl(store, *pages("a", 1, 2, 3, 4, 5))
    knowledge = SiteKnowledge(sites=1)
    memory = SiteMemory(store, knowledge)
    memory.recall(pages("a", 6)[0])
    for url in (*pages("b", 1), *pages("a", 6, 2)):  # evicted between recall and learn
        knowledge.learn(url, [url, NOTICE])
    memory.save(NOW)
    assert list(store.site_lines("a.example")) == pages("a", 1, 3, 4, 5, 6, 2)


def test_last_pages_of_a_site_are_kept(store: Store) -> None:
    crawl(store, *pages("a", *range(1, 9)))
    knowledge = SiteKnowledge(sites=1)
    memory = SiteMemory(store, knowledge)
    memory.recall(pages("a", 9)[0])
    for url in (*pages("b", 1), *pages("a", 9, 10)):
        knowledge.learn(url, [url, NOTICE])
    memory.save(NOW)
    assert list(store.site_lines("a.example")) == pages("a", *range(3, 11))


def test_invalid_lines_are_replaced(store: Store) -> None:
    store.save_site_lines({"a.example": {"https://a.example/x100": b"123"}}, now=NOW, max_sites=9)
    crawl(store, "https://a.example/x200")
    assert list(store.site_lines("a.example")) == ["https://a.example/x200"]


def test_machine_with_a_wrong_clock_does_not_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.yaml").write_text("feeds: []", "utf-8")
    monkeypatch.setattr("newsportal.store.links.time", lambda: time() + 8 * 3600)  # this machine's clock
    with pytest.raises(StoreUnavailable, match="differ by 8:00:00; correct the wrong one"):
        record_of(load(tmp_path / "sources.yaml"), Settings())
