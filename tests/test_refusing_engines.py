"""Search engines that refuse: other sources still feed the topics; engines are queried again after growing pauses, with few queries."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from forked import crawl
from madeup.exchange import Response
from madeup.serving import SiteServer
from madeup.sources import TOPICS
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.link_tracker import utcnow
from newsportal.errors import EngineBlocked
from newsportal.extractors.lists.engines import load_engine
from newsportal.extractors.lists.result_pages import read_results
from newsportal.items import Link, Page
from newsportal.sources.timing import refusal
from newsportal.spiders.metasearch import MetasearchSpider
from newsportal.store import open_store
from newsportal.store.results import SourceState
from newsportal.text import dom

NOW = datetime(2026, 3, 5, 9, tzinfo=UTC)
KEY = "engine:bing_news"
FILE = "{schedule: {usual: 180}, topics: [{name: 旅游, engines: [bing_news], query: [古镇, 海岛]}, {name: 航天, engines: [bing_news]}]}"
CAPTCHA = "<html><head><title>安全验证</title></head><body><p>请输入验证码</p></body></html>"


@pytest.fixture
def spider(tmp_path: Path) -> Any:
    file = tmp_path / "sources.yaml"
    file.write_text(FILE, "utf-8")
    crawler = Crawler(MetasearchSpider, Settings({"NEWSPORTAL_SOURCES": str(file), "ADDONS": {SourcesAddon: 1}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    metasearch = MetasearchSpider()
    metasearch._set_crawler(crawler)
    yield metasearch
    metasearch.tracker.store.close()


def queries_of(spider: Any, state: SourceState) -> list[tuple[str, int]]:
    """Return the queries of a visit with their numbers of pages."""

    async def visit() -> list[Request]:
        return [request async for request in spider.visit(next(iter(spider.sources())), state)]

    return [(request.cb_kwargs["query"], request.cb_kwargs["pages"]) for request in asyncio.run(visit())]


def rest_after_captcha(spider: Any, state: SourceState) -> timedelta:
    """Return how long the engine rests after a captcha, given its state."""
    spider.tracker.store.save_source_state(state)
    spider.forget_visit(KEY)

    async def visit() -> None:
        source = next(iter(spider.sources()))
        (request, *_) = [request async for request in spider.visit(source, state)]
        response = HtmlResponse(request.url, body=CAPTCHA.encode(), request=request)
        assert [result async for result in request.callback(response, **request.cb_kwargs)] == []

    asyncio.run(visit())
    until = spider.tracker.store.source_state(KEY).rest_until
    return timedelta(hours=round((until - utcnow()).total_seconds() / 3600))


def test_consecutive_refusals_double_pause_up_to_a_week(spider: Any) -> None:
    pauses = [rest_after_captcha(spider, SourceState(KEY, failures_in_row=times)) for times in (0, 1, 2, 30)]
    assert pauses == [timedelta(hours=hours) for hours in (2, 4, 8, 7 * 24)]


def test_refusing_engine_gets_one_query_for_one_page(spider: Any) -> None:
    fresh = SourceState(KEY)
    assert sorted(query for query, _ in queries_of(spider, fresh)) == ["古镇", "海岛", "航天"]
    assert len(queries_of(spider, replace(fresh, failures_in_row=1, last_error="blocked: captcha"))) == 1
    assert queries_of(spider, replace(fresh, failures_in_row=1, last_error="blocked: captcha"))[0][1] == 1
    assert len(queries_of(spider, replace(fresh, failures_in_row=1, last_error="http-503"))) == 3


def test_queries_rotate(spider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = []
    for hour in range(3):
        monkeypatch.setattr("newsportal.spiders.metasearch.utcnow", lambda hour=hour: NOW + timedelta(hours=hour))
        first.append(queries_of(spider, SourceState(KEY))[0][0])
    assert sorted(first) == ["古镇", "海岛", "航天"]


def test_robots_setting_of_engine_does_not_apply_to_articles(spider: Any) -> None:
    (source,) = spider.sources()
    polite = replace(source, robots_on_results=False)
    spider._searches, topic = (polite,), polite.topics[0]
    assert spider.result_page(polite, topic, "古镇", 0, 1).meta["obey_robots"] is False
    assert spider.article(Link("https://a.example/1.html", KEY)).meta["obey_robots"] is True


def test_report_lists_affected_topics(spider: Any) -> None:
    rest_after_captcha(spider, SourceState(KEY, last_success=NOW))
    (row,) = spider.tracker.report()
    (note,) = row.notes
    params = dict(note.params)
    assert (note.code, params["topics"]) == ("note.topics-failed", "旅游, 航天")
    details = dict(params["why"].params)
    assert (details["engine"], details["since"]) == ("bing_news", NOW)
    assert spider.tracker.store.source_state(KEY).last_error.startswith("blocked: captcha"), "known if this process is killed"
    asyncio.run(spider.tracker.close([KEY], utcnow()))
    planned = spider.timing.due_at(next(iter(spider.sources())), spider.tracker.store.source_state(KEY), utcnow())
    assert abs(details["again"] - planned) < timedelta(minutes=30), "three hours, doubled; the pause ends earlier"


def test_responding_engine_has_no_refusal() -> None:
    assert refusal("a", None, NOW) is None
    assert refusal("a", SourceState("engine:a", last_error="blocked: captcha"), NOW) is None
    never = refusal("a", SourceState("engine:a", last_error="blocked: captcha", failures_in_row=1), NOW)
    assert never is not None
    assert never.code == "engine.never-worked"


def page_of(text: str) -> dom.Document:
    return dom.document(Page("http://127.0.0.1:8888/search", text.encode(), NOW, content_type="application/json"))


def test_searxng_json_is_parsed() -> None:
    rows = [
        {
            "url": "https://a.example/1.html",
            "title": "海岛航线恢复",
            "content": "停了两周的航线…",
            "publishedDate": "2026-03-05T08:00:00",
            "engine": "x",
        },
        {"url": "https://b.example/2.html", "title": "古镇夜游", "content": None, "publishedDate": None},
        {"url": "javascript:1", "title": "坏"},
        {"title": "没有网址"},
        "什么",
    ]
    found = read_results(load_engine("bing_web"), page_of(json.dumps({"query": "古镇", "results": rows})), NOW)
    assert [(result.title, result.link, result.summary, result.published is not None) for result in found.results] == [
        ("海岛航线恢复", "https://a.example/1.html", "停了两周的航线…", True),
        ("古镇夜游", "https://b.example/2.html", None, False),
    ]
    assert not found.changed
    assert read_results(load_engine("bing_web"), page_of('{"results": []}'), NOW).results == ()


@pytest.mark.parametrize(("error", "reason"), [("CAPTCHA", "captcha"), ("Suspended: too many requests", "quota")])
def test_searxng_without_responsive_engines_is_blocked(error: str, reason: str) -> None:
    with pytest.raises(EngineBlocked) as refusal:
        read_results(load_engine("bing_web"), page_of(json.dumps({"results": [], "unresponsive_engines": [["google", error]]})), NOW)
    assert refusal.value.reason == reason


@contextmanager
def serving(answer: Callable[[str, str, Any], Response]) -> Iterator[int]:
    """Serve on a free port, and yield it."""
    server = SiteServer(("127.0.0.1", 0), answer, NOW)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.leave()
        thread.join()
        server.server_close()


@pytest.mark.slow
def test_own_searxng_instance_as_engine(web: Any, tmp_path: Path) -> None:
    web.reset()
    articles = [article for article in web.manifest()["articles"] if article["site"] == "kunzhou" and article["expect"] == "store"][:6]
    pages: list[str] = []

    def answer(method: str, target: str, headers: Any) -> Response:
        if urlsplit(target).path != "/search":
            return Response(content_type="text/plain", body=b"User-agent: *\nDisallow: /*?*q=*\n")
        words = parse_qs(urlsplit(target).query)
        pages.extend(words["pageno"])
        rows = [{"url": article["url"], "title": article["title"]} for article in articles] if words["pageno"] == ["1"] else []
        return Response(content_type="application/json", body=json.dumps({"results": rows}).encode())

    file = tmp_path / "sources.yaml"
    with serving(answer) as port:
        url = f"http://127.0.0.1:{port}/search?q=##QUERY##&format=json&pageno=##START##"
        file.write_text(
            "politeness: {delay: 0, allow_private: [127.0.0.0/8]}\ntopics: [{name: 新闻, engines: [自建], breadth: 2}]\n"
            f"engines: [{{name: 自建, url: '{url}', obey_robots: false}}]\n",
            "utf-8",
        )
        report = crawl(file, "metasearch")
    assert (report["total"]["stored"] + report["total"]["folded"], pages) == (len(articles), ["1", "2"])


@pytest.mark.slow
def test_article_has_every_topic_whose_search_lists_it(web: Any, tmp_path: Path) -> None:
    """The topic whose query is answered first stores it; the next visit adds the others."""
    web.reset()
    article = next(article for article in web.manifest()["articles"] if article["site"] == "kunzhou" and article["expect"] == "store")

    def answer(method: str, target: str, headers: Any) -> Response:
        if urlsplit(target).path != "/search":
            return Response(status=404)
        return Response(
            content_type="application/json", body=json.dumps({"results": [{"url": article["url"], "title": article["title"]}]}).encode()
        )

    file = tmp_path / "sources.yaml"
    with serving(answer) as port:
        file.write_text(
            "politeness: {delay: 0, allow_private: [127.0.0.0/8]}\ntopics: [{name: 甲, engines: [自建]}, {name: 乙, engines: [自建]}]\n"
            f"engines: [{{name: 自建, url: 'http://127.0.0.1:{port}/search?q=##QUERY##&format=json&pageno=##START##'}}]\n",
            "utf-8",
        )
        crawl(file, "metasearch")
        crawl(file, "metasearch")
    store = open_store(f"sqlite:///{tmp_path}/data/newsportal.db", create=False)
    try:
        assert [set(article.topics) for article in store.all_articles()] == [{"甲", "乙"}]
    finally:
        store.close()


def found_for_topics(folder: Path) -> int:
    """Return the number of articles with a topic. Which of two topics' queries met an article first does not change it."""
    store = open_store(f"sqlite:///{folder}/data/newsportal.db", create=False)
    try:
        return sum(not set(TOPICS).isdisjoint(article.topics) for article in store.all_articles())
    finally:
        store.close()


@pytest.mark.slow
def test_topics_are_fed_by_other_sources_while_engines_refuse(web: Any, tmp_path: Path) -> None:
    """The table of ``docs/sources.md``."""
    by_engines, found = [], []
    try:
        for refusing in ((), ("baixun", "wansou"), ("baixun", "wansou", "kuaiwen")):
            web.reset()
            web.router.refusing = set(refusing)
            file = web.sources(tmp_path / str(len(refusing)) / "sources.yaml")
            first = {row["source"]: row for row in crawl(file, "metasearch")["sources"]}
            by_engines.append(found_for_topics(file.parent))
            second = {row["source"]: row for row in crawl(file)["sources"]}
            found.append(found_for_topics(file.parent))
            for name in refusing:
                assert set(first[f"engine:{name}"]["list_failed"]) == {"blocked: captcha"}
                for report in (first, second):  # the engine rests in the second crawl
                    assert "note.topics-failed" in {note["code"] for note in report[f"engine:{name}"]["notes"]}
                assert second[f"engine:{name}"]["list_pages"] == 0
    finally:
        web.router.refusing = set()
    assert by_engines[2] == 0 < by_engines[1] <= by_engines[0]
    assert min(found) >= 0.65 * found[0], (by_engines, found)
