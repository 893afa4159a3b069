"""Articles waiting for a transaction are written together in the next one; errors concern single articles."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import empty_store

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.seen_filter import LocalFilter
from newsportal.errors import StoreError, StoreUnavailable
from newsportal.items import Article, FoldKey, Link
from newsportal.pipelines import base
from newsportal.pipelines import store as store_stage
from newsportal.pipelines.store import BatchWriter
from newsportal.store.results import AddResult
from newsportal.store.store import Store


def draft(name: str, **changes: Any) -> Article:
    url = f"https://a.example/{name}"
    fields = {"identity": f"a.example/{name}", "title": f"题 {name}", "text": f"正文 {name}", **changes}
    return Article(url=url, link=Link(url=url, source="feed:快讯"), fetched=utcnow(), **fields)


class Watched(Store):
    """A store whose first write blocks until ``go`` is set, and which records the sizes of its transactions."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.sizes: list[int] = []
        self.go = threading.Event()

    def add_all(self, articles: Any, *, now: Any) -> list[AddResult]:
        self.sizes.append(len(articles))
        assert self.go.wait(600)
        return super().add_all(articles, now=now)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Watched]:
    opened = Watched(f"sqlite:///{tmp_path}/news.db")
    yield opened
    opened.close()


async def begin(line: BatchWriter, store: Watched, article: Article) -> asyncio.Task[AddResult]:
    task = asyncio.create_task(line.add(article))
    while not store.sizes and not task.done():  # noqa: ASYNC110 - another thread sets it
        await asyncio.sleep(0.001)
    return task


async def add_all_at_once(store: Watched, articles: list[Article]) -> list[AddResult | BaseException]:
    """Add the articles while the write of the first is in progress."""
    line = BatchWriter(store, LocalFilter(store))
    tasks = [await begin(line, store, articles[0]), *(asyncio.ensure_future(line.add(article)) for article in articles[1:])]
    await asyncio.sleep(0)
    store.go.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_articles_arriving_during_transaction_share_the_next(store: Watched) -> None:
    answers = asyncio.run(add_all_at_once(store, [draft(str(n)) for n in range(8)]))
    assert [answer.outcome for answer in answers if isinstance(answer, AddResult)] == ["stored"] * 8
    assert store.sizes == [1, 7]


def test_batch_size_is_limited(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_stage, "MAX_BATCH", 3)
    asyncio.run(add_all_at_once(store, [draft(str(n)) for n in range(8)]))
    assert store.sizes == [1, 3, 3, 1]
    assert store.tally().articles == 8


def test_articles_of_one_transaction_can_fold(store: Watched) -> None:
    keys = (FoldKey("title:一", "same-title"),)
    answers = asyncio.run(add_all_at_once(store, [draft(str(n), keys=keys) for n in range(4)]))
    assert sorted(answer.outcome for answer in answers if isinstance(answer, AddResult)) == ["folded", "folded", "folded", "stored"]


def test_invalid_article_fails_alone(store: Watched) -> None:
    answers = asyncio.run(add_all_at_once(store, [draft("0"), draft("1"), draft("bad", text=None), draft("2")]))
    assert [type(answer) for answer in answers] == [AddResult, AddResult, StoreError, AddResult]
    assert store.tally().articles == 3


def test_store_outage_is_reported_to_every_waiter(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "RETRY_DELAYS", (0.0,))

    def unavailable(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as broken:
        broken.setattr(store, "add_all", unavailable)
        broken.setattr(store, "add", unavailable)
        answers = asyncio.run(add_all_at_once(store, [draft(str(n)) for n in range(5)]))
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 5
    assert store.tally().articles == 0
    assert asyncio.run(add_all_at_once(store, [draft("later")])) != []
    assert store.tally().articles == 1


def test_cancelled_waiter_does_not_affect_others(store: Watched) -> None:
    async def cancelling() -> list[AddResult | BaseException]:
        line = BatchWriter(store, LocalFilter(store))
        tasks = [await begin(line, store, draft("0")), *(asyncio.create_task(line.add(draft(str(n)))) for n in range(1, 4))]
        await asyncio.sleep(0)
        tasks[2].cancel()
        store.go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(cancelling())
    assert [type(answer) for answer in answers] == [AddResult, AddResult, asyncio.CancelledError, AddResult]


def test_several_writers_share_one_store(tmp_path: Path) -> None:
    opened = empty_store(tmp_path / "news.db")
    seen = LocalFilter(opened)

    async def many() -> None:
        lines = [BatchWriter(opened, seen) for _ in range(3)]
        await asyncio.gather(*(line.add(draft(f"{number} {n}")) for number, line in enumerate(lines) for n in range(10)))

    asyncio.run(many())
    assert opened.tally().articles == 30
    assert len(seen.find_stored([f"a.example/{number} {n}" for number in range(3) for n in range(10)])) == 30
    opened.close()
