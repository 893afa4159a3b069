"""Several URLs of one article through the whole pipeline: they are joined if the contents agree, and never otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from link_rows import filtered
from scrapy.crawler import Crawler
from scrapy.utils.misc import load_object

from newsportal.crawl.link_tracker import LinkTracker
from newsportal.crawl.requests import is_entry, is_readable
from newsportal.dedup.canonical import bare, identity
from newsportal.items import Article, Link, Page
from newsportal.items.report import SourceReport
from newsportal.pipelines import ORDER
from newsportal.pipelines.base import ItemDone
from newsportal.pipelines.duplicate import TAKEN

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
SOURCE = "feed:乙"
NEWS = {
    "古镇的石板路重新铺好了": "山间古镇的石板路昨天重新铺好，镇上的老人说，走了六十年的路终于不再积水，豆腐店的凳子又搬到了门外。",
    "码头的渡船每天开二十班": "城南码头的渡船今天恢复开行，每天二十班，票价两元，渡口边的茶馆跟着渡船的钟点开门，雨天停航。",
    "老人们在社区学会网上挂号": "社区的课堂里坐着三十位老人，志愿者把字号调到最大，一步一步教他们在手机上预约医生，下课还要练三遍。",
    "菜市场换上了透光的新棚子": "菜市场的旧棚子拆了半个月，新棚子用的是透光的板，摊主说白天不用点灯，菜色也看得更真，顾客多了起来。",
}
TITLES = tuple(NEWS)
REAL = "https://www.b.example/news/12.html"
MOBILE = "https://m.b.example/view?id=12"


def page(url: str, title: str, canonical: str | None = None, tail: str = "", **link: Any) -> Article:
    body = "".join(f"<p>第{number}段，{NEWS[title]}这是当天记者看到的第{number}件事{tail}。</p>" for number in "一二三四五六")
    head = f'<link rel=canonical href="{canonical}">' if canonical else ""
    html = f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1><div class=text>{body}</div></body></html>"
    fetched = Page(url, html.encode(), NOW, content_type="text/html; charset=utf-8")
    return Article(url=url, link=Link(link.pop("link_url", url), SOURCE, **link), fetched=NOW, page=fetched)


def process_all(crawler: Crawler, tracker: LinkTracker, items: Sequence[Article]) -> SourceReport:
    """Process the articles by all stages in order and return the source's row of the report."""
    stages = [load_object(path).from_crawler(crawler) for _, path in ORDER]
    for item in items:
        moving = item
        try:
            for stage in stages:
                moving = asyncio.run(stage.process_item(moving))
        except ItemDone:
            continue
    return next(row for row in tracker.report() if row.source == SOURCE)


def urls(tracker: LinkTracker) -> set[str]:
    return {article.url for article in tracker.store.all_articles()}


@pytest.mark.parametrize("mobile_first", [True, False])
def test_mobile_and_desktop_url_are_one_article(crawler: Crawler, tracker: LinkTracker, mobile_first: bool) -> None:
    both = [page(MOBILE, TITLES[0], REAL), page(REAL, TITLES[0], REAL)]
    report = process_all(crawler, tracker, both if mobile_first else both[::-1])
    assert (report.stored, report.same) == (1, 1)
    names = {identity(MOBILE), identity(REAL)}
    assert tracker.stored_urls.find_stored(names) == names, "neither URL is fetched again"


def test_views_with_same_canonical_url_are_one_article(crawler: Crawler, tracker: LinkTracker) -> None:
    views = [page(MOBILE, TITLES[0], REAL), page("https://app.b.example/s?n=12", TITLES[0], REAL)]
    assert (process_all(crawler, tracker, views).same, len(urls(tracker))) == (1, 1)


def test_many_slugs_are_one_article(crawler: Crawler, tracker: LinkTracker) -> None:
    slugs = [page(f"https://www.b.example/tag{number}/gu-zhen-de-lu", TITLES[0], REAL, tail="，见本台") for number in range(12)]
    report = process_all(crawler, tracker, slugs)
    assert (report.stored, report.same) == (1, 11)


def test_canonical_url_is_unknown_until_fetched(crawler: Crawler, tracker: LinkTracker) -> None:
    """A page of the same site declares another article's URL: that article is fetched and stored all the same."""
    process_all(crawler, tracker, [page("https://blog.b.example/evil/1.html", TITLES[0], REAL)])
    assert tracker.stored_urls.find_stored([identity(REAL)]) == set()
    report = process_all(crawler, tracker, [page(REAL, TITLES[1], REAL)])
    assert (report.stored, report.same) == (2, 0)
    assert urls(tracker) == {"https://blog.b.example/evil/1.html", REAL}


def test_shared_canonical_url_of_template_joins_nothing(crawler: Crawler, tracker: LinkTracker) -> None:
    pages = [page(f"https://www.b.example/news/{number}.html", title, REAL) for number, title in enumerate(TITLES, 12)]
    report = process_all(crawler, tracker, pages)
    assert (report.stored, report.same) == (len(TITLES), 0)
    assert report.notes.count(TAKEN) == 1


def test_invalid_canonical_url_of_template_joins_nothing(crawler: Crawler, tracker: LinkTracker) -> None:
    wrong = "https://www.b.example/2026/0305/7654321.html"
    pages = [page(f"https://www.b.example/2026/0305/{1234567 + number}.html", title, wrong) for number, title in enumerate(TITLES)]
    assert process_all(crawler, tracker, pages).stored == len(TITLES)
    assert tracker.stored_urls.find_stored([identity(wrong)]) == set()


def test_parameters_missing_in_canonical_url_are_dropped(crawler: Crawler, tracker: LinkTracker) -> None:
    plain = "https://www.b.example/2026/0305/1234567.html"
    process_all(crawler, tracker, [page(f"{plain}?maca=rss", TITLES[0], plain)])
    stored = next(tracker.store.all_articles())
    assert stored.identity == identity(plain)
    names = {identity(plain), identity(f"{plain}?maca=rss")}
    assert tracker.stored_urls.find_stored(names) == names


def test_canonical_url_of_another_article_is_not_used(crawler: Crawler, tracker: LinkTracker) -> None:
    plain = "https://www.b.example/2026/0305/1234567.html"
    report = process_all(crawler, tracker, [page(plain, TITLES[0]), page(f"{plain}?part=b", TITLES[1], plain)])
    assert (report.stored, report.same) == (2, 0)


def test_entries_sharing_a_link_are_separate_articles(crawler: Crawler, tracker: LinkTracker) -> None:
    entries = [
        Article(
            url="https://b.example/",
            link=Link("https://b.example/", SOURCE, title=title, identity=f"b.example/rss#{number}", content=f"<p>{text}</p>" * 2),
            fetched=NOW,
        )
        for number, (title, text) in enumerate(NEWS.items())
    ]
    report = process_all(crawler, tracker, entries)
    assert (report.stored, report.folded, report.same) == (len(entries), 0, 0)
    assert tracker.stored_urls.find_stored([identity("https://b.example/")]) == set(), "the shared page belongs to none of them"


@pytest.mark.parametrize("source", ["engine:搜", "region:栏", SOURCE])
def test_links_with_same_normalized_url_are_all_fetched(crawler: Crawler, tracker: LinkTracker, source: str) -> None:
    links = [Link(f"https://b.example/view.php?sid={number:032x}", source, title=title) for number, title in enumerate(TITLES, 1)]
    fresh = filtered(tracker, links).fresh
    assert [link.url for link in fresh] == [link.url for link in links]
    assert not any(is_entry(link) for link in fresh), "their pages are requested"
    assert all(is_readable(link) for link in fresh)
    articles = [page(link.url, str(link.title), identity=link.identity, link_url=link.url) for link in fresh]
    process_all(crawler, tracker, articles)
    assert urls(tracker) == {article.url for article in articles}
    again = filtered(tracker, links)
    assert (again.fresh, len(tracker.stored_urls.find_stored([bare(link.url) for link in links]))) == ((), len(links))


def test_results_sharing_a_url_are_fetched_once_and_noted(tracker: LinkTracker) -> None:
    links = [Link("https://b.example/jump", "engine:搜", title=title) for title in TITLES]
    assert len(filtered(tracker, links).fresh) == 1
    assert "link to the same URL" in str(tracker.report()[0].notes[0])
