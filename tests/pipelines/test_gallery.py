"""The stage of photo stories: topics, category, storage, and waiting of incomplete stories."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import link_rows
import pytest

from newsportal.crawl.link_tracker import LinkTracker, utcnow
from newsportal.crawl.list_filters import MAX_FRUITLESS, filter_galleries
from newsportal.errors import StoreUnavailable
from newsportal.items import Article, Gallery, Image, Link
from newsportal.items.report import SourceReport
from newsportal.pipelines.base import ItemDone
from newsportal.pipelines.gallery import GalleryPipeline
from newsportal.store.results import StoredArticle

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
URL = "https://pic.example/s/1.html"
NAME = "pic.example/s/1.html"


def gallery(*numbers: int, **more: Any) -> Gallery:
    images = tuple(Image(f"https://pic.example/{number}.jpg", f"古镇清晨的第{number}条巷子") for number in numbers)
    link = Link(URL, "gallery:图站", category="风光")
    complete = numbers == (1, 2)
    default = Gallery(
        URL,
        "巷子里的早晨",
        link,
        NOW,
        images,
        complete=complete,
        identity=NAME,
        category="风光",
        pages=tuple(f"https://pic.example/s/1_{number}.html" for number in numbers),
        missing=() if complete else (2,),
        failure=None if complete else "http-503",
        later=not complete,
    )
    return replace(default, **more)


def process(tracker: LinkTracker, item: Any) -> Any:
    async def run() -> Any:
        stage = GalleryPipeline(tracker)
        try:
            return await stage.process_item(item)
        finally:
            await stage.close_spider()

    return asyncio.run(run())


def row(tracker: LinkTracker, source: str = "gallery:图站") -> SourceReport:
    return next(row for row in tracker.report() if row.source == source)


def stored_article(tracker: LinkTracker, id: str) -> StoredArticle:
    found = tracker.store.article(id)
    assert found is not None
    return found


def waiting(tracker: LinkTracker) -> list[str]:
    return link_rows.waiting(tracker.store, "gallery:图站")


def test_story_has_topics_category_and_known_pages(tracker: LinkTracker) -> None:
    item = gallery(1, 2)
    link_rows.let_wait(tracker, item.link)
    process(tracker, item)
    stored = tracker.store.galleries.find_stored(["pic.example/s/1_2.html"])["pic.example/s/1_2.html"]
    article = stored_article(tracker, stored.id)
    assert (article.topics, article.category, article.category_by) == (("旅游",), "风光", "source")
    assert article.topic_marks[0].by == "source"
    assert "古镇" in article.keywords or "巷子" in article.keywords
    assert tracker.stored_urls.find_stored([NAME, "pic.example/s/1_1.html"]) == {NAME, "pic.example/s/1_1.html"}
    report = row(tracker)
    assert (report.parsed, report.stored, str(report.notes[-1])) == (1, 1, "photo stories: 1 complete")
    assert waiting(tracker) == []


def test_captions_are_searched_for_keywords_and_classified(tracker: LinkTracker) -> None:
    link = Link("https://other.example/1.html", "gallery:别图")
    images = (Image("https://other.example/1.jpg", "足球联赛昨晚开赛，前锋射门得分，球迷欢呼，主教练说这场比赛踢得好"),)
    item = gallery(1, 2, link=link, url=link.url, identity="other.example/1.html", category=None, images=(*images, *gallery(1).images))
    process(tracker, item)
    article = stored_article(tracker, tracker.store.galleries.find_stored(["other.example/1.html"])["other.example/1.html"].id)
    assert article.topics == ("旅游",)
    assert article.topic_marks[0].by == "keywords"
    assert article.category_by == "lexicon"


def test_incomplete_story_is_stored_and_waits(tracker: LinkTracker) -> None:
    item = gallery(1)
    link_rows.let_wait(tracker, item.link)
    process(tracker, item)
    report = row(tracker)
    assert (report.stored, report.failures, str(report.notes[-1])) == (1, 0, "photo stories: 0 complete; 1 incomplete (http-503 × 1)")
    assert waiting(tracker) == [URL]
    process(tracker, gallery(1, 2))
    assert waiting(tracker) == []
    assert (row(tracker).same, str(row(tracker).notes[-1])) == (1, "photo stories: 0 complete; 1 finished")


def test_story_stops_waiting_after_max_vain_visits(tracker: LinkTracker) -> None:
    item = gallery(1)
    link_rows.let_wait(tracker, item.link)
    for _ in range(MAX_FRUITLESS):
        process(tracker, item)
        assert waiting(tracker) == [URL]
    process(tracker, item)
    assert waiting(tracker) == []
    assert "1 no longer retried" in str(row(tracker).notes[-1])


def test_forbidden_page_does_not_wait(tracker: LinkTracker) -> None:
    item = gallery(1, failure="robots", later=False)
    link_rows.let_wait(tracker, item.link)
    process(tracker, item)
    assert waiting(tracker) == []


def test_story_without_remaining_pictures_is_dropped(tracker: LinkTracker) -> None:
    item = gallery(1, 2)
    logos = replace(item, images=tuple(replace(image, dropped="frequent") for image in item.images))
    with pytest.raises(ItemDone):
        process(tracker, logos)
    assert row(tracker).failed == {"no-pictures": 1}
    assert tracker.store.tally().articles == 0
    assert tracker.store.galleries.filter_refused([NAME], now=utcnow()) == {NAME}


def test_unavailable_store_ends_crawl_and_link_waits(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    item, stopped = gallery(1, 2), []
    link_rows.let_wait(tracker, item.link)

    def unavailable(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(type(tracker.store.galleries), "save", unavailable)
    monkeypatch.setattr("newsportal.pipelines.base.RETRY_DELAYS", ())
    stage = GalleryPipeline(tracker, lambda: stopped.append(True))
    with pytest.raises(ItemDone):
        asyncio.run(stage.process_item(item))
    assert stopped == [True]
    assert waiting(tracker) == [URL]
    assert row(tracker).failed == {"store-unavailable": 1}


def test_other_items_pass_through(tracker: LinkTracker) -> None:
    article = Article(URL, Link(URL, "feed:甲"), NOW)
    assert process(tracker, article) is article


def test_filter_accepts_new_and_incomplete_stories(tracker: LinkTracker) -> None:
    def links(*urls: str) -> list[Link]:
        return [Link(url, "gallery:图站") for url in urls]

    process(tracker, gallery(1))
    tracker.store.galleries.refuse("pic.example/list.html", "index-page", now=utcnow())
    new = "https://pic.example/s/2.html"
    offered = links(URL, new, "https://pic.example/list.html", new, "https://x:99999/")
    found = asyncio.run(filter_galleries(tracker, offered, link_rows.SPIDER, link_rows.ask))
    assert [request.url for request in found.requests] == [URL, new]
    assert not found.stale
    report = row(tracker)
    assert (report.entries, report.known, report.repeated, report.new) == (5, 1, 1, 3)
    assert set(waiting(tracker)) == {URL, new}
    process(tracker, gallery(1, 2))
    again = asyncio.run(filter_galleries(tracker, links(URL, "https://pic.example/s/1_2.html"), link_rows.SPIDER, link_rows.ask))
    assert again.requests == ()
