"""Each stage alone and all in order, with a real store: a stage returns a fuller copy or counts why an article is dropped."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from link_rows import let_wait, waiting
from scrapy.crawler import Crawler
from scrapy.utils.misc import load_object

from newsportal.crawl.link_tracker import LinkTracker
from newsportal.errors import StoreUnavailable
from newsportal.items import Article, Link, Page
from newsportal.items.report import SourceReport
from newsportal.pipelines import ORDER, base
from newsportal.pipelines.base import ItemDone, Stage
from newsportal.pipelines.classify import ClassifyPipeline
from newsportal.pipelines.content import ContentPipeline, WrapperPipeline
from newsportal.pipelines.duplicate import DuplicatePipeline, UrlFilterPipeline
from newsportal.pipelines.store import StorePipeline

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
URL = "https://b.example/2026/0305/1.html"
TEXT = "山间古镇的石板路昨天重新铺好，镇上的老人说，走了六十年的路终于不再积水。"
BODY = "".join(f"<p>{TEXT}第{number}天，来看路的人比买豆腐的人还多，店家把凳子搬到了门外。</p>" for number in "一二三四五")
HTML = f"<html><head><title>古镇的路铺好了</title></head><body><h1>古镇的路铺好了</h1><div class=text>{BODY}</div></body></html>"


def article(html: str | None = HTML, url: str = URL, source: str = "feed:乙", **link: Any) -> Article:
    page = Page(url, html.encode(), NOW, content_type="text/html; charset=utf-8") if html is not None else None
    return Article(url=url, link=Link(link.pop("link_url", url), source, **link), fetched=NOW, page=page)


def apply(stage: Stage, item: Any) -> Any:
    return asyncio.run(stage.process_item(item))


def row(tracker: LinkTracker, source: str = "feed:乙") -> SourceReport:
    return next((row for row in tracker.report() if row.source == source), SourceReport(source))


def dropped_counts(stage: Stage, item: Article) -> SourceReport:
    """Return the counts after the stage has dropped the article."""
    with pytest.raises(ItemDone):
        apply(stage, item)
    return row(stage.tracker, item.source)


def let_link_wait(tracker: LinkTracker, item: Article) -> Article:
    """Store the link of the article as waiting, as the spider does."""
    let_wait(tracker, item.link)
    return item


def process_all(crawler: Crawler, items: Sequence[Article]) -> list[Article]:
    """Process the items by all stages in order."""
    stages = [load_object(path).from_crawler(crawler) for _, path in ORDER]
    done = []
    for item in items:
        for stage in stages:
            item = apply(stage, item)
        done.append(item)
    return done


def test_article_passes_all_stages(crawler: Crawler, tracker: LinkTracker) -> None:
    found = process_all(crawler, [let_link_wait(tracker, article())])[0]
    assert (found.title, found.topics, found.page) == ("古镇的路铺好了", ("旅游",), None)
    stored = next(tracker.store.all_articles())
    assert (stored.identity, stored.title) == ("b.example/2026/0305/1.html", "古镇的路铺好了")
    assert TEXT in stored.text
    assert waiting(tracker.store, "feed:乙") == []
    assert (row(tracker).parsed, row(tracker).stored) == (1, 1)


def test_repost_is_folded_and_known_url_is_same(crawler: Crawler, tracker: LinkTracker) -> None:
    repost = article(url="https://c.example/2026/0305/9.html")
    process_all(crawler, [article(), repost])
    with pytest.raises(ItemDone):
        process_all(crawler, [article(link_url="https://b.example/go?1")])
    assert (row(tracker).stored, row(tracker).folded, row(tracker).same) == (1, 1, 1)
    assert tracker.stored_urls.find_stored(["b.example/go?1"]) == {"b.example/go?1"}, "the redirect is known from now on"


def test_other_items_pass_through(tracker: LinkTracker) -> None:
    item = {"not": "an article"}
    assert apply(ContentPipeline(tracker), item) is item


def test_wrapper_precedes_extractor(tracker: LinkTracker) -> None:
    html = HTML.replace("<div class=text>", "<h2 class=t>规则里的标题</h2><div class=text>")
    found = apply(WrapperPipeline(tracker), article(html, source="feed:甲"))
    assert (found.title, TEXT in found.text) == ("规则里的标题", True)
    assert apply(ContentPipeline(tracker), found).title == "规则里的标题"


def test_wrapper_without_body_is_noted_and_extractor_used(tracker: LinkTracker) -> None:
    found = apply(WrapperPipeline(tracker), article(HTML.replace("class=text", "class=other"), source="feed:甲"))
    assert found.text is None
    assert "finds no text" in str(row(tracker, "feed:甲").notes[0])
    assert TEXT in apply(ContentPipeline(tracker), found).text


def test_site_knowledge_is_used_and_saved(tracker: LinkTracker) -> None:
    line = "更多乙站新闻，欢迎关注“乙站发布”公众号，每天早上七点，我们准时送到您的手边。"
    stage = ContentPipeline(tracker)

    def text(number: int) -> str:
        page = HTML.replace("</div>", f"<p>{line}</p></div>").replace("古镇", f"{number}号镇").replace("石板路", f"石板路{number}")
        return apply(stage, article(page.replace("来看路", f"来看{number}号路"), url=f"https://b.example/2026/0305/{number}00.html")).text

    assert [line in text(number) for number in (1, 2, 3)] == [True, False, False]
    asyncio.run(stage.close_spider())
    assert len(tracker.store.site_lines("b.example")) == 3


def test_page_without_article_adds_no_site_knowledge(tracker: LinkTracker) -> None:
    stage = ContentPipeline(tracker)
    dropped_counts(stage, let_link_wait(tracker, article("<title>404 not found</title>")))
    apply(stage, article(None, title="题", content=f"<p>{TEXT}</p>"))
    assert tracker.sites.knowledge.pages() == []


def test_articles_are_read_without_site_knowledge(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    for name in ("site_lines", "save_site_lines"):
        monkeypatch.setattr(type(tracker.store), name, unavailable)
    stage = ContentPipeline(tracker)
    assert TEXT in apply(stage, article()).text
    asyncio.run(stage.close_spider())


def test_wrapper_stage_needs_a_rule(tracker: LinkTracker) -> None:
    item = article()
    assert apply(WrapperPipeline(tracker), item) is item


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (article("<html><title>空</title></html>"), "no-body"),
        (article(url="https://b.example/"), "front-page"),
        (article(None, content=""), "no-body"),
    ],
)
def test_page_without_article_is_counted_and_done(tracker: LinkTracker, item: Article, reason: str) -> None:
    counts = dropped_counts(ContentPipeline(tracker), let_link_wait(tracker, item))
    assert (list(counts.failed), counts.parsed) == ([reason], 0)
    assert waiting(tracker.store, "feed:乙") == []


def test_feed_content_replaces_page(tracker: LinkTracker) -> None:
    found = apply(ContentPipeline(tracker), article(None, title="题", content=f"<p>{TEXT}</p><script>x()</script>"))
    assert (found.title, found.text) == ("题", TEXT)


class Breaking(Stage):
    """A stage whose algorithm raises an unexpected error."""

    async def process(self, article: Article) -> Article:
        raise RecursionError("an unexpected page")


def test_error_in_stage_is_counted_and_crawl_continues(tracker: LinkTracker, caplog: pytest.LogCaptureFixture) -> None:
    assert dropped_counts(Breaking(tracker), let_link_wait(tracker, article())).failed == {"error: RecursionError": 1}
    assert waiting(tracker.store, "feed:乙") == [], "it would fail again"
    assert URL in caplog.text
    assert apply(ContentPipeline(tracker), article()).title


def test_identity_is_that_of_final_url(tracker: LinkTracker) -> None:
    found = apply(UrlFilterPipeline(tracker), article(link_url="https://b.example/go?1"))
    assert found.identity == "b.example/2026/0305/1.html"
    shared = apply(UrlFilterPipeline(tracker), article(identity="a.example/rss#1"))
    assert shared.identity == "a.example/rss#1"


def test_topics_come_from_keywords_source_and_search(tracker: LinkTracker) -> None:
    stage = ClassifyPipeline(tracker)
    plain = replace(article(), title="路铺好了", text="没有关键词")
    assert apply(stage, plain).topics == ()
    assert apply(stage, replace(plain, text=TEXT)).topics == ("旅游",), "the disabled topic has the same word"
    assert apply(stage, replace(plain, link=Link(URL, "feed:甲"))).topics == ("旅游",)
    assert apply(stage, replace(plain, link=Link(URL, "engine:x", topic="科技"))).topics == ("科技",)
    assert apply(stage, replace(plain, link=Link(URL, "feed:乙", category="体育"))).category == "体育"


def test_same_title_over_caption_has_same_keys(tracker: LinkTracker) -> None:
    stage = DuplicatePipeline(tracker)
    first, other = (
        apply(stage, replace(article(url=url), identity=url, title="古镇的路昨天铺好了", text="看图"))
        for url in (URL, "https://c.example/9")
    )
    assert first.keys
    assert first.keys == other.keys


def test_duplicate_stage_decides_which_story_is_repeated(tracker: LinkTracker) -> None:
    stage = DuplicatePipeline(tracker)
    text = "".join(f"{TEXT}第{number}天，来看路的人比买豆腐的人还多，店家把凳子搬到了门外。\n" for number in "一二三四五")
    first, other, third = (
        replace(article(url=url), identity=url, title="古镇的路铺好了", text=text, published=NOW)
        for url in (URL, "https://c.example/9", "https://d.example/9")
    )
    first, other = apply(stage, first), apply(stage, other)
    assert [item.decision.fold for item in (first, other)] == [None, None]
    stored = tracker.store.add(first, first.keys, now=NOW)
    assert tracker.store.add(other, other.keys, now=NOW).story_id == stored.story_id, "decided again: another was stored in between"
    found = apply(stage, third).decision
    assert (found.fold.story_id, found.fold.of, found.fold.reason) == (stored.story_id, stored.id, "same-text")
    added = tracker.store.add(replace(third, decision=replace(found, fold=replace(found.fold, reason="said"))), now=NOW)
    assert (added.story_id, added.reason) == (stored.story_id, "said"), "the store uses the decision of the stage"


def draft(**link: Any) -> Article:
    return replace(article(**link), identity="b.example/2026/0305/1.html", title="题", text=TEXT)


def test_failing_store_keeps_link_and_ends_crawl(tracker: LinkTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "RETRY_DELAYS", (0.01, 0.01))
    let_link_wait(tracker, draft())
    with closing(sqlite3.connect(tmp_path / "data" / "newsportal.db")) as connection:
        connection.execute("ALTER TABLE articles RENAME TO hidden")  # a failing store: each write raises
        connection.commit()
        stopped: list[bool] = []
        counts = dropped_counts(StorePipeline(tracker, lambda: stopped.append(True)), draft())
        connection.execute("ALTER TABLE hidden RENAME TO articles")
        connection.commit()
    assert counts.failed == {"store-unavailable": 1}
    assert (counts.parsed, counts.stored) == (0, 0)
    assert stopped == [True]
    assert waiting(tracker.store, "feed:乙") == [URL]
    assert tracker.stored_urls.find_stored(["b.example/2026/0305/1.html"]) == set()


def test_link_is_done_only_after_storing(tracker: LinkTracker) -> None:
    stage = StorePipeline(tracker)
    apply(stage, let_link_wait(tracker, draft()))
    assert waiting(tracker.store, "feed:乙") == []
    assert tracker.stored_urls.find_stored(["b.example/2026/0305/1.html"]) == {"b.example/2026/0305/1.html"}
    apply(stage, draft())
    assert (row(tracker).stored, row(tracker).same) == (1, 1)


def test_order_lists_only_stages() -> None:
    assert [issubclass(load_object(path), Stage) for _, path in ORDER] == [True] * len(ORDER)


WEATHER = (
    "{0}市气象台3月{1}日发布天气预报：今天白天多云，东风3级，最高气温{2}℃，相对湿度{3}%，空气质量指数{4}。"
    "气象专家提醒，近期气温变化较大，市民朋友要注意及时增减衣物，谨防感冒，早晚出行能见度较低，驾车请注意交通安全。"
)
MARKET = (
    "3月{1}日，沪深两市早盘平开，盘中震荡走高。截至收盘，沪指报31{3}点，涨0.{2}%，成交额50{4}亿元；深成指报80{2}点，跌0.{4}%。"
    "板块方面，煤炭、有色金属和旅游等板块涨幅居前，半导体和软件等板块跌幅居前，分析人士认为后市仍以震荡为主。"
)


@pytest.mark.parametrize(("title", "template"), [("{0}市天气预报", WEATHER), ("收评：三大指数走势分化 资金观望为主", MARKET)])
def test_refilled_template_is_new_story_and_its_repost_joins(crawler: Crawler, tracker: LinkTracker, title: str, template: str) -> None:
    numbers = [("青河", 4, 12, 35, 48), ("青河", 5, 17, 62, 73), ("白石", 5, 21, 47, 91), ("青河", 6, 26, 81, 55)]

    def page(at: int, host: str) -> Article:
        text = f"<p>{template.format(*numbers[at])}</p>"
        name = title.format(*numbers[at])
        html = f"<html><head><title>{name}</title></head><body><h1>{name}</h1><div class=text>{text}</div></body></html>"
        return article(html, url=f"https://{host}.example/2026/0305/{at}.html")

    process_all(crawler, [page(at, "bcd"[at % 3]) for at in range(4)])
    assert (tracker.store.tally().articles, tracker.store.tally().stories) == (4, 4)
    process_all(crawler, [page(1, "repost")])
    assert (tracker.store.tally().articles, tracker.store.tally().stories) == (5, 4)
